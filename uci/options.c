/* SPDX-License-Identifier: MIT */
/* The table of options. */
#include "uci/options.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "base/attr.h"
#include "base/fault.h"
#include "base/num.h"
#include "uci/search/engine.h"

enum kind {
	SPIN,
	CHECK,
	COMBO,
	STRING,
	BUTTON
};

struct option {
	const char *name;
	enum kind kind;
	size_t at; /* in struct chi_uci_options */
	int64_t value;
	int64_t min;
	int64_t max;
	const char *choices; /* separated by spaces, of a COMBO */
};

#define AT(member) offsetof(struct chi_uci_options, member)

/* The first are shared with another engine that has them, too. */
#define SHARED 6
static const struct option table[] = {
	{"Hash", SPIN, AT(hash), 64, 1, CHI_HASH_MIB_MAX, NULL},
	{"Clear Hash", BUTTON, 0, 0, 0, 0, NULL},
	{"MultiPV", SPIN, AT(lines), 1, 1, 256, NULL},
	{"Ponder", CHECK, AT(ponder), 0, 0, 1, NULL},
	{"UCI_Chess960", CHECK, AT(chess960), 0, 0, 1, NULL},
	{"Move Overhead", SPIN, AT(lag), 30, 0, 10000, NULL},
	{"Store", STRING, AT(store), 0, 0, 0, NULL},
	{"Probe", SPIN, AT(probe), 5, 0, 64, NULL},
	{"Book", COMBO, AT(book), CHI_BOOK_WEIGHTED, 0, 2, "off best weighted"},
	{"BookMinGames", SPIN, AT(book_games), 5, 1, 1000000000, NULL},
	{"BookDepth", SPIN, AT(book_depth), 40, 0, CHI_PLY_MAX, NULL},
	{"BookVariety", SPIN, AT(variety), 0, 0, 100, NULL},
	{"BookFilter", STRING, AT(filter), 0, 0, 0, NULL},
	{"Learn", COMBO, AT(learn), CHI_LEARN_OFF, 0, 2, "off root pv"},
	{"AnswerFromStore", SPIN, AT(answer), 0, 0, 65535, NULL},
	{"Seed", SPIN, AT(seed), 0, 0, INT32_MAX, NULL},
	{"Engine", STRING, AT(engine), 0, 0, 0, NULL},
};

static int64_t *number_of(struct chi_uci_options *options, const struct option *option)
{
	return (int64_t *)(void *)((char *)options + option->at);
}

void chi_uci_options_init(struct chi_uci_options *options)
{
	memset(options, 0, sizeof(*options));
	for (size_t i = 0; i < CHI_COUNT(table); i++) {
		if (table[i].kind != STRING && table[i].kind != BUTTON) {
			*number_of(options, &table[i]) = table[i].value;
		}
	}
}

/* The choice with that number, or the number of the choice that `text` is; -1: none. */
static int choice(const struct option *option, int64_t wanted, const char *text, size_t *len,
		  const char **found)
{
	const char *at = option->choices;
	for (int i = 0; *at != '\0'; i++) {
		size_t n = strcspn(at, " ");
		if (i == wanted ||
		    (text != NULL && strlen(text) == n && strncasecmp(at, text, n) == 0)) {
			*found = at;
			*len = n;
			return i;
		}
		at += n + (at[n] == ' ');
	}
	return -1;
}

static void print_combo(FILE *out, const struct option *option)
{
	const char *text = "";
	size_t len = 0;
	(void)choice(option, option->value, NULL, &len, &text);
	fprintf(out, "combo default %.*s", (int)len, text);
	for (int64_t i = 0; i <= option->max; i++) {
		(void)choice(option, i, NULL, &len, &text);
		fprintf(out, " var %.*s", (int)len, text);
	}
}

void chi_uci_options_print(FILE *out)
{
	for (size_t i = 0; i < CHI_COUNT(table); i++) {
		const struct option *o = &table[i];
		fprintf(out, "option name %s type ", o->name);
		switch (o->kind) {
		case SPIN:
			fprintf(out, "spin default %" PRId64 " min %" PRId64 " max %" PRId64,
				o->value, o->min, o->max);
			break;
		case CHECK:
			fprintf(out, "check default %s", o->value ? "true" : "false");
			break;
		case COMBO:
			print_combo(out, o);
			break;
		case STRING:
			fputs("string default <empty>", out);
			break;
		case BUTTON:
			fputs("button", out);
			break;
		}
		fputc('\n', out);
	}
}

static int set_number(const struct option *o, const char *value, int64_t *out,
		      struct chi_fault *fault)
{
	uint64_t number = 0;
	if (chi_num_u64(value, strlen(value), INT64_MAX, &number) != CHI_OK ||
	    (int64_t)number < o->min || (int64_t)number > o->max) {
		return chi_fail(fault, -CHI_EINVAL,
				"%s is a number from %" PRId64 " to %" PRId64 ", not '%.40s'",
				o->name, o->min, o->max, value);
	}
	*out = (int64_t)number;
	return CHI_OK;
}

static int set_text(const struct option *o, const char *value, char *out, struct chi_fault *fault)
{
	value = strcmp(value, "<empty>") == 0 ? "" : value;
	if (strlen(value) >= CHI_UCI_TEXT) {
		return chi_fail(fault, -CHI_EINVAL, "%s is longer than %d bytes", o->name,
				CHI_UCI_TEXT - 1);
	}
	strcpy(out, value);
	return CHI_OK;
}

static int set(struct chi_uci_options *options, const struct option *o, const char *value,
	       struct chi_fault *fault)
{
	const char *found;
	size_t len;
	int i;
	switch (o->kind) {
	case SPIN:
		return set_number(o, value, number_of(options, o), fault);
	case CHECK:
		if (strcasecmp(value, "true") != 0 && strcasecmp(value, "false") != 0) {
			return chi_fail(fault, -CHI_EINVAL, "%s is true or false, not '%.40s'",
					o->name, value);
		}
		*number_of(options, o) = strcasecmp(value, "true") == 0;
		return CHI_OK;
	case COMBO:
		i = choice(o, -1, value, &len, &found);
		if (i < 0) {
			return chi_fail(fault, -CHI_EINVAL, "%s is one of: %s; not '%.40s'",
					o->name, o->choices, value);
		}
		*number_of(options, o) = i;
		return CHI_OK;
	case STRING:
		return set_text(o, value, (char *)options + o->at, fault);
	case BUTTON:
		break;
	}
	return CHI_OK;
}

/* -1: none. */
static int index_of(const char *name)
{
	for (size_t i = 0; i < CHI_COUNT(table); i++) {
		if (strcasecmp(table[i].name, name) == 0) {
			return (int)i;
		}
	}
	return -1;
}

bool chi_uci_options_has(const char *name)
{
	return index_of(name) >= 0;
}

bool chi_uci_options_shared(const char *name)
{
	int i = index_of(name);
	return i >= 0 && i < SHARED;
}

bool chi_uci_options_has_line(const char *line)
{
	static const char begin[] = "option name ";
	char name[64];
	const char *from = line + strlen(begin);
	const char *end = strncmp(line, begin, strlen(begin)) == 0 ? strstr(from, " type ") : NULL;
	if (end == NULL || (size_t)(end - from) >= sizeof(name)) {
		return false;
	}
	memcpy(name, from, (size_t)(end - from));
	name[end - from] = '\0';
	return chi_uci_options_has(name);
}

bool chi_uci_options_line(const struct chi_uci_options *options, size_t i, const char **name,
			  char *line, size_t size)
{
	size_t n = 0;
	for (size_t at = 0; at < SHARED; at++) {
		const struct option *o = &table[at];
		if (o->kind == BUTTON || n++ != i) {
			continue;
		}
		int64_t value;
		memcpy(&value, (const char *)options + o->at, sizeof(value));
		*name = o->name;
		if (o->kind == CHECK) {
			snprintf(line, size, "setoption name %s value %s", o->name,
				 value != 0 ? "true" : "false");
		} else {
			snprintf(line, size, "setoption name %s value %" PRId64, o->name, value);
		}
		return true;
	}
	return false;
}

int chi_uci_options_set(struct chi_uci_options *options, const char *name, const char *value,
			struct chi_fault *fault)
{
	int i = index_of(name);
	return i >= 0 ? set(options, &table[i], value != NULL ? value : "", fault)
		      : chi_fail(fault, -CHI_EINVAL, "there is no option '%.80s'", name);
}
