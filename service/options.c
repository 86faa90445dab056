/* SPDX-License-Identifier: MIT */
/* Rows of the table are options of getopt_long with values above every character. */
#include "service/options.h"

#include <assert.h>
#include <getopt.h>
#include <string.h>

#include "base/fault.h"
#include "base/num.h"

#define MIB	    (UINT64_C(1) << 20)
#define FIRST_VALUE 1000

/* Of the help: where texts begin, and where they end. */
#define TEXT_COLUMN 25
#define LAST_COLUMN 80

/* In the order of their enumerations. */
const char *const chi_log_levels[] = {"error", "warning", "info", "debug"};
const char *const chi_log_formats[] = {"text", "json"};
const char *const chi_sandboxes[] = {"auto", "require", "off"};

static bool is_number(const struct chi_option *option)
{
	return option->argument != NULL &&
	       (strcmp(option->argument, "N") == 0 || strcmp(option->argument, "MS") == 0 ||
		strcmp(option->argument, "BYTES") == 0);
}

static void *setting_of(const struct chi_option *option, void *settings)
{
	return (char *)settings + option->offset;
}

void chi_options_init(const struct chi_option_table *table, void *settings)
{
	for (size_t i = 0; i < table->n; i++) {
		if (is_number(&table->options[i])) {
			*(uint64_t *)setting_of(&table->options[i], settings) =
				table->options[i].initial;
		}
	}
}

static int choose_word(const struct chi_option *option, const char *text, unsigned *out,
		       struct chi_fault *fault)
{
	char list[64] = "";
	size_t len = 0;
	for (unsigned i = 0; i < option->n_words; i++) {
		const char *word = option->words[i] != NULL ? option->words[i] : "";
		if (word[0] != '\0' && strcmp(text, word) == 0) {
			*out = i;
			return CHI_OK;
		}
		len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%s", len > 0 ? ", " : "",
					word);
	}
	return chi_fail(fault, -CHI_ESYNTAX, "--%s: '%s' is none of %s", option->name, text, list);
}

/* Bounds are the table's; the text names them. */
static int parse_number(const struct chi_option *option, const char *text, uint64_t *out,
			struct chi_fault *fault)
{
	uint64_t value = 0;
	size_t len = strlen(text);
	int status = option->argument[0] == 'B' ? chi_num_size(text, len, &value)
						: chi_num_u64(text, len, UINT64_MAX, &value);
	if (status < 0) {
		return chi_fail(fault, status, "--%s: '%s' is not a number", option->name, text);
	}
	if (value < option->least || value > option->most) {
		return chi_fail(fault, -CHI_EINVAL, "--%s: %s is outside %llu..%llu", option->name,
				text, (unsigned long long)option->least,
				(unsigned long long)option->most);
	}
	*out = value;
	return CHI_OK;
}

static int apply(const struct chi_option *option, void *settings, const char *text,
		 struct chi_fault *fault)
{
	void *at = setting_of(option, settings);
	if (option->apply != NULL) {
		return option->apply(at, option, text, fault);
	}
	if (option->words != NULL) {
		return choose_word(option, text, at, fault);
	}
	if (is_number(option)) {
		return parse_number(option, text, at, fault);
	}
	if (option->argument != NULL) {
		*(const char **)at = text;
	} else {
		*(bool *)at = true;
	}
	return CHI_OK;
}

/* What getopt is to know: long options in the order of the table, and letters. */
static void describe_options(const struct chi_option_table *table, struct option *all,
			     char *letters)
{
	*letters++ = '+';
	*letters++ = ':';
	for (size_t i = 0; i < table->n; i++) {
		const struct chi_option *option = &table->options[i];
		bool argument = option->argument != NULL;
		all[i] = (struct option){option->name, argument ? required_argument : no_argument,
					 NULL, FIRST_VALUE + (int)i};
		if (option->letter != '\0') {
			*letters++ = option->letter;
			*letters = ':';
			letters += argument ? 1 : 0;
		}
	}
	*letters = '\0';
}

static const struct chi_option *find_option(const struct chi_option_table *table, int value)
{
	size_t i = value >= FIRST_VALUE ? (size_t)(value - FIRST_VALUE) : 0;
	while (value < FIRST_VALUE && table->options[i].letter != value) {
		i++;
	}
	return &table->options[i];
}

int chi_options_parse(const struct chi_option_table *table, void *settings, int argc,
		      char *const argv[], struct chi_fault *fault)
{
	struct option all[CHI_OPTIONS_MAX + 1] = {{0}};
	char letters[2 * CHI_OPTIONS_MAX + 3];
	assert(table->n <= CHI_OPTIONS_MAX);
	describe_options(table, all, letters);
	optind = 0; /* glibc: start afresh, also the second time in a process */
	opterr = 0;
	for (;;) {
		int before = optind > 0 ? optind : 1;
		int value = getopt_long(argc, argv, letters, all, NULL);
		if (value == -1) {
			break;
		}
		if (value == ':' || value == '?') {
			return chi_fail(fault, -CHI_EINVAL,
					value == ':' ? "option '%s' needs an argument"
						     : "unknown option '%s'",
					before < argc ? argv[before] : "");
		}
		int status = apply(find_option(table, value), settings, optarg, fault);
		if (status != CHI_OK) {
			return status < 0 ? status : CHI_OK;
		}
	}
	return optind < argc
		       ? chi_fail(fault, -CHI_EINVAL, "unexpected argument '%s'", argv[optind])
		       : CHI_OK;
}

/* ---- Help ---------------------------------------------------------------------------------- */

/* Words with line breaks between them; returns the column reached. */
static int print_words(FILE *out, const char *text, int column)
{
	while (*text != '\0') {
		int n = (int)strcspn(text, " ");
		if (column > TEXT_COLUMN && column + n >= LAST_COLUMN) {
			column = fprintf(out, "\n%*s", TEXT_COLUMN, "") - 1;
		} else if (column > TEXT_COLUMN) {
			column += fprintf(out, " ");
		}
		column += fprintf(out, "%.*s", n, text);
		text += n;
		text += *text == ' ' ? 1 : 0;
	}
	return column;
}

/* Whole MiB as such, everything else as a plain number. */
static void print_initial(FILE *out, uint64_t initial, int column)
{
	char text[48];
	bool mib = initial % MIB == 0;
	if (initial > 0) {
		(void)snprintf(text, sizeof(text), "(default: %llu%s)",
			       (unsigned long long)(mib ? initial / MIB : initial), mib ? "M" : "");
		print_words(out, text, column);
	}
}

void chi_options_help(const struct chi_option_table *table, FILE *out)
{
	fputs(table->usage, out);
	for (size_t i = 0; i < table->n; i++) {
		const struct chi_option *option = &table->options[i];
		char letter[] = "-x, ";
		letter[1] = option->letter;
		int column = fprintf(out, "  %s--%s%s%s", option->letter != '\0' ? letter : "",
				     option->name, option->argument != NULL ? " " : "",
				     option->argument != NULL ? option->argument : "");
		bool fits = column < TEXT_COLUMN;
		fprintf(out, "%s%*s", fits ? "" : "\n", fits ? TEXT_COLUMN - column : TEXT_COLUMN,
			"");
		column = print_words(out, option->help, TEXT_COLUMN);
		print_initial(out, is_number(option) ? option->initial : 0, column);
		fputc('\n', out);
	}
	fputs(table->notes != NULL ? table->notes : "", out);
}

/* ---- Options that every server has --------------------------------------------------------- */

int chi_option_user(void *at, const struct chi_option *option, const char *text,
		    struct chi_fault *fault)
{
	(void)option;
	return chi_user_parse(text, at, fault);
}

int chi_option_action(void *at, const struct chi_option *option, const char *text,
		      struct chi_fault *fault)
{
	(void)text;
	(void)fault;
	*(enum chi_action *)at = option->letter == 'h' ? CHI_ACTION_HELP : CHI_ACTION_VERSION;
	return CHI_NONE;
}

int chi_option_listen(void *at, const struct chi_option *option, const char *text,
		      struct chi_fault *fault)
{
	struct chi_server_settings *settings = at;
	(void)option;
	if (settings->n_listens == CHI_LISTENS_MAX) {
		return chi_fail(fault, -CHI_EINVAL, "--listen: more than %d addresses",
				CHI_LISTENS_MAX);
	}
	int status = chi_listen_parse(text, &settings->listens[settings->n_listens], fault);
	settings->n_listens += status == CHI_OK ? 1 : 0;
	return status;
}
