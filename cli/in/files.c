/* SPDX-License-Identifier: MIT */
/* What can be learned about files before they are imported. */
#include "cli/in/files.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int files_check(const struct cli *cli, int n, char **paths, uint64_t *total)
{
	bool sized = true;
	*total = 0;
	for (int i = 0; i < n; i++) {
		struct stat status;
		if (strcmp(paths[i], "-") == 0) {
			sized = sized && fstat(STDIN_FILENO, &status) == 0 &&
				S_ISREG(status.st_mode);
		} else if (stat(paths[i], &status) != 0 || access(paths[i], R_OK) != 0) {
			return cli_usage(cli, "%s: %s", paths[i], strerror(errno));
		} else if (S_ISDIR(status.st_mode)) {
			return cli_usage(cli, "%s: %s", paths[i], strerror(EISDIR));
		} else {
			sized = sized && S_ISREG(status.st_mode);
		}
		*total += sized ? (uint64_t)status.st_size : 0;
	}
	*total = sized ? *total : 0;
	return EXIT_DONE;
}

int files_exit_of(int status)
{
	return status == -CHI_EIO || status == -CHI_ENOMEM ? EXIT_STORE : EXIT_USAGE;
}

int files_open(const struct cli *cli, const char *path, const char *name,
	       const struct chi_source_options *options, struct chi_source **out)
{
	struct chi_fault fault = {.text = ""};
	int status = chi_source_open(path, options, out, &fault);
	if (status != CHI_OK && files_exit_of(status) == EXIT_USAGE) {
		return cli_usage(cli, "%s: %s", name, fault.text);
	}
	if (status != CHI_OK) {
		cli_message("%s: %s", name, fault.text);
		return EXIT_STORE;
	}
	return EXIT_DONE;
}

int files_format(const char *path, enum chi_format *format, struct chi_source **source)
{
	struct chi_source_options options = {.cancel = &cli_stop};
	struct chi_fault fault = {.text = ""};
	struct stat file;
	const char *bytes = NULL;
	size_t len = 0;
	*source = NULL;
	*format = chi_format_of_path(path);
	if (*format != CHI_FORMAT_AUTO) {
		return EXIT_DONE;
	}
	int status = chi_source_open(path, &options, source, &fault);
	if (status == CHI_OK) {
		/* One that cannot be unpacked is no PGN: the import says what is wrong. What is no
		 * text at all is refused here, before a store is asked for. */
		status = chi_source_peek(*source, &bytes, &len, &fault);
		*format = status == CHI_OK && chi_text_is_pgn(bytes, len) ? CHI_FORMAT_PGN
									  : CHI_FORMAT_AUTO;
		status = status == -CHI_EUNSUPPORTED ? status : CHI_OK;
	}
	if (status != CHI_OK) {
		cli_message("%s: %s", path, fault.text);
		return files_exit_of(status);
	}
	/* What can be read twice is closed again, so that any number of files can be named. */
	if (strcmp(path, "-") != 0 && stat(path, &file) == 0 && S_ISREG(file.st_mode)) {
		chi_source_close(*source);
		*source = NULL;
	}
	return EXIT_DONE;
}
