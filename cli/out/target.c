/* SPDX-License-Identifier: MIT */
/* A file under another name until it is whole. */
#include "cli/out/target.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/attr.h"
#include "base/file.h"

void target_discard(struct target *target)
{
	if (target->path != NULL && target->file != NULL) {
		(void)fclose(target->file);
	}
	if (target->temporary != NULL) {
		(void)unlink(target->temporary);
		free(target->temporary);
	}
	*target = (struct target){0};
}

int target_fail(const struct target *target)
{
	if (target->path == NULL) {
		cli_output_tell(errno);
	} else {
		cli_message("%s: %s", target->path, strerror(errno));
	}
	return EXIT_STORE;
}

/* The temporary name is beside the final one, in the same file system: rename() then is one
 * step. The process number keeps two writers of one file apart. */
int target_open(struct target *target, const char *path)
{
	struct stat status;
	*target = (struct target){.file = stdout};
	if (path == NULL || strcmp(path, "-") == 0) {
		return EXIT_DONE;
	}
	target->path = path;
	target->file = NULL;
	struct chi_fault fault;
	int rc = chi_dir_files_spare(path, &fault);
	if (rc < 0) {
		return cli_fault(rc, &fault);
	}
	if (stat(path, &status) != 0 || S_ISREG(status.st_mode)) {
		if (asprintf(&target->temporary, "%s.%ld.tmp", path, (long)getpid()) < 0) {
			target->temporary = NULL;
			return target_fail(target);
		}
		/* An unfinished file is removed, also on Ctrl-C. */
		cli_catch_signals();
	}
	/* Where others write, a file of that name may be theirs, or a link of theirs. */
	target->file =
		target->temporary != NULL ? fopen(target->temporary, "wxe") : fopen(path, "we");
	if (target->file != NULL) {
		return EXIT_DONE;
	}
	int code = target_fail(target);
	free(target->temporary); /* not ours to remove */
	target->temporary = NULL;
	return code;
}

bool target_remove_old(const struct target *target)
{
	if (target->temporary == NULL) {
		return true; /* a pipe, a device */
	}
	if (unlink(target->path) != 0) {
		return errno == ENOENT;
	}
	const char *slash = strrchr(target->path, '/');
	size_t len = slash != NULL ? (size_t)(slash - target->path) + 1 : 0;
	_cleanup_(chi_freep) char *name = strndup(len > 0 ? target->path : ".", len > 0 ? len : 1);
	int dir = name != NULL ? open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	bool done = dir >= 0 && fsync(dir) == 0;
	int error = errno;
	if (dir >= 0) {
		(void)close(dir);
	}
	errno = error;
	return done;
}

/* Everything written, synced and under its name. */
int target_finish(struct target *target)
{
	if (target->path == NULL) {
		return EXIT_DONE; /* main() looks at standard output */
	}
	bool failed = fflush(target->file) != 0 ||
		      (target->temporary != NULL && fsync(fileno(target->file)) != 0);
	failed = fclose(target->file) != 0 || failed;
	target->file = NULL;
	if (failed || (target->temporary != NULL && rename(target->temporary, target->path) != 0)) {
		return target_fail(target);
	}
	free(target->temporary);
	target->temporary = NULL;
	return EXIT_DONE;
}

int target_write(struct target *target, const void *bytes, size_t len)
{
	return fwrite(bytes, 1, len, target->file) == len ? EXIT_DONE : target_fail(target);
}
