/* SPDX-License-Identifier: MIT */
/* Rows of the table are options of getopt_long with values above every character. */
#include "service/options.h"

#include <assert.h>
#include <string.h>

#include "base/fault.h"
#include "base/num.h"

#define MIB	     (UINT64_C(1) << 20)
#define FIRST_NUMBER 1000

/* In the order of their enumerations. */
static const char *const levels[] = {"error", "warning", "info", "debug"};
static const char *const formats[] = {"text", "json"};
static const char *const sandboxes[] = {"auto", "require", "off"};

static uint64_t *number_at(void *settings, const struct chi_number_option *option)
{
	return (uint64_t *)(void *)((char *)settings + option->offset);
}

void chi_options_init(const struct chi_option_table *table, void *settings)
{
	for (size_t i = 0; i < table->n_numbers; i++) {
		*number_at(settings, &table->numbers[i]) = table->numbers[i].initial;
	}
}

int chi_option_choose(const char *option, const char *const words[], size_t n, const char *text,
		      unsigned *out, struct chi_fault *fault)
{
	char list[64] = "";
	size_t len = 0;
	for (unsigned i = 0; i < n; i++) {
		if (words[i] != NULL && strcmp(text, words[i]) == 0) {
			*out = i;
			return CHI_OK;
		}
		len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%s", len > 0 ? ", " : "",
					words[i] != NULL ? words[i] : "");
	}
	return chi_fail(fault, -CHI_ESYNTAX, "--%s: '%s' is none of %s", option, text, list);
}

/* Bounds are the table's; the text names them. */
static int parse_number(const struct chi_number_option *option, const char *text, void *settings,
			struct chi_fault *fault)
{
	uint64_t value = 0;
	size_t len = strlen(text);
	int status = strcmp(option->argument, "BYTES") == 0
			     ? chi_num_size(text, len, &value)
			     : chi_num_u64(text, len, UINT64_MAX, &value);
	if (status < 0) {
		return chi_fail(fault, status, "--%s: '%s' is not a number", option->name, text);
	}
	if (value < option->least || value > option->most) {
		return chi_fail(fault, -CHI_EINVAL, "--%s: %s is outside %llu..%llu", option->name,
				text, (unsigned long long)option->least,
				(unsigned long long)option->most);
	}
	*number_at(settings, option) = value;
	return CHI_OK;
}

/* One option as getopt found it; `word` is what was typed. */
static int apply(const struct chi_option_table *table, void *settings, int option, const char *word,
		 struct chi_fault *fault)
{
	if (option == ':' || option == '?') {
		return chi_fail(fault, -CHI_EINVAL,
				option == ':' ? "option '%s' needs an argument"
					      : "unknown option '%s'",
				word);
	}
	return option >= FIRST_NUMBER ? parse_number(&table->numbers[option - FIRST_NUMBER], optarg,
						     settings, fault)
				      : table->apply(settings, option, optarg, fault);
}

int chi_options_parse(const struct chi_option_table *table, void *settings, int argc,
		      char *const argv[], struct chi_fault *fault)
{
	struct option all[CHI_OPTIONS_MAX + 1] = {{0}};
	char letters[16];
	size_t n = table->n_texts;
	assert(n + table->n_numbers <= CHI_OPTIONS_MAX);
	memcpy(all, table->texts, n * sizeof(*all));
	for (size_t i = 0; i < table->n_numbers; i++) {
		all[n + i] = (struct option){table->numbers[i].name, required_argument, NULL,
					     FIRST_NUMBER + (int)i};
	}
	(void)snprintf(letters, sizeof(letters), "+:%s", table->letters);
	optind = 0; /* glibc: start afresh, also the second time in a process */
	opterr = 0;
	for (;;) {
		int before = optind > 0 ? optind : 1;
		int option = getopt_long(argc, argv, letters, all, NULL);
		if (option == -1) {
			break;
		}
		const char *word = before < argc ? argv[before] : "";
		int status = apply(table, settings, option, word, fault);
		if (status != CHI_OK) {
			return status < 0 ? status : CHI_OK;
		}
	}
	return optind < argc
		       ? chi_fail(fault, -CHI_EINVAL, "unexpected argument '%s'", argv[optind])
		       : CHI_OK;
}

/* Whole MiB as such, everything else as a plain number. */
static void print_initial(FILE *out, uint64_t initial)
{
	bool mib = initial % MIB == 0;
	if (initial > 0) {
		fprintf(out, " (default: %llu%s)",
			(unsigned long long)(mib ? initial / MIB : initial), mib ? "M" : "");
	}
}

void chi_options_help(const struct chi_option_table *table, FILE *out)
{
	for (size_t i = 0; i < table->n_numbers; i++) {
		const struct chi_number_option *option = &table->numbers[i];
		char head[40];
		(void)snprintf(head, sizeof(head), "--%s %s", option->name, option->argument);
		fprintf(out, "  %-22s %s", head, option->help);
		print_initial(out, option->initial);
		fputc('\n', out);
	}
}

/* ---- Options that every server has --------------------------------------------------------- */

bool chi_server_option(struct chi_server_settings *settings, int option, const char *text,
		       int *status, struct chi_fault *fault)
{
	struct chi_log_options *log = &settings->log;
	*status = CHI_OK;
	switch (option) {
	case 'L':
		*status = CHI_OPTION_CHOOSE("log-level", levels, text, &log->level, fault);
		return true;
	case 'F':
		log->path = text;
		return true;
	case 'O':
		*status = CHI_OPTION_CHOOSE("log-format", formats, text, &log->format, fault);
		return true;
	case 'u':
		*status = chi_user_parse(text, &settings->user, fault);
		return true;
	case 'b':
		*status = CHI_OPTION_CHOOSE("sandbox", sandboxes, text, &settings->sandbox, fault);
		return true;
	default:
		return false;
	}
}

int chi_server_listen(struct chi_listen listens[CHI_LISTENS_MAX], size_t *n, const char *text,
		      struct chi_fault *fault)
{
	if (*n == CHI_LISTENS_MAX) {
		return chi_fail(fault, -CHI_EINVAL, "--listen: more than %d addresses",
				CHI_LISTENS_MAX);
	}
	int status = chi_listen_parse(text, &listens[*n], fault);
	*n += status == CHI_OK ? 1 : 0;
	return status;
}
