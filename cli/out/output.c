/* SPDX-License-Identifier: MIT */
/* Printing, in the two forms that are an interface. */
#include "cli/out/output.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/fault.h"
#include "base/num.h"

/* 255.99 is the longest statistic: five digits say it exactly as it is meant, where seventeen
 * would print 57.990000000000002. */
#define JSON_FORM (JSON_COMPACT | JSON_REAL_PRECISION(5))

/* JSON lets control characters above ASCII be in strings, and terminals obey them: U+007F to
 * U+009F are escaped as well. */
static void print_json(FILE *file, json_t *object)
{
	_cleanup_(chi_freep) char *text = json_dumps(object, JSON_FORM);
	json_decref(object);
	if (text == NULL) {
		cli_output_lost();
	}
	for (const char *at = text; at != NULL && *at != '\0'; at++) {
		size_t plain = strcspn(at, "\x7f\xc2");
		(void)fwrite(at, 1, plain, file);
		at += plain;
		bool pair = at[0] == '\xc2' && (unsigned char)at[1] < 0xa0;
		if (at[0] == '\0') {
			break;
		}
		if (pair || at[0] == 0x7f) {
			at += pair;
			fprintf(file, "\\u%04x", (unsigned char)*at);
		} else {
			(void)putc(*at, file);
		}
	}
	(void)putc('\n', file);
}

/* Takes the object over. NULL is what jansson gives when it runs out of memory. */
void output_json(json_t *object)
{
	if (object == NULL) {
		if (!cli_output_failed()) {
			cli_message("out of memory, or text that is not UTF-8");
		}
		cli_output_lost();
		return;
	}
	print_json(stdout, object);
}

/* Without what a terminal would obey. */
static void print_string(const char *string)
{
	_cleanup_(chi_freep) char *text = strdup(string);
	if (text == NULL) {
		cli_output_lost();
		return;
	}
	chi_text_clean(text, strlen(text) + 1, text);
	printf("%s", text);
}

/* A value as text: null is a dash, as in every other column. */
static void print_value(const json_t *value)
{
	switch (json_typeof(value)) {
	case JSON_STRING:
		print_string(json_string_value(value));
		break;
	case JSON_INTEGER:
		printf("%" JSON_INTEGER_FORMAT, json_integer_value(value));
		break;
	case JSON_REAL:
		printf("%.3f", json_real_value(value));
		break;
	case JSON_TRUE:
		printf("yes");
		break;
	case JSON_FALSE:
		printf("no");
		break;
	default:
		printf("-");
		break;
	}
}

/* The members' order is that of the lines: jansson keeps it as it was packed. */
int output_object(const struct cli *cli, json_t *object)
{
	const char *name;
	json_t *value;
	if (cli->json || object == NULL) {
		output_json(object);
		return EXIT_DONE;
	}
	json_object_foreach(object, name, value)
	{
		printf("%s\t", name);
		print_value(value);
		(void)putchar('\n');
	}
	json_decref(object);
	return EXIT_DONE;
}

/* Hundredths fit a double exactly enough for two decimals; see JSON_FORM. */
json_t *json_chi2(uint16_t chi2)
{
	return chi2 == CHI_CHI2_UNKNOWN ? json_null() : json_real(chi2 / 100.0);
}

/* JSON integers are signed here; no count of games comes near the bound. */
json_t *json_count(uint64_t count)
{
	return json_integer(count > INT64_MAX ? INT64_MAX : (json_int_t)count);
}

json_t *json_time(uint64_t seconds)
{
	char text[CHI_TIME_TEXT_SIZE];
	return chi_num_time_print(seconds, text) > 0 ? json_string(text) : json_null();
}

json_t *json_text(const char *text, size_t len)
{
	return json_stringn(text, len);
}

/* JSON is UTF-8 and a path need not be. */
json_t *json_path(const char *path)
{
	size_t len = strlen(path);
	if (chi_utf8_valid(path, len)) {
		return json_string(path);
	}
	_cleanup_(chi_freep) char *copy = strdup(path);
	for (size_t i = 0; copy != NULL && i < len; i++) {
		if ((unsigned char)copy[i] >= 0x80) {
			copy[i] = '?';
		}
	}
	return copy != NULL ? json_string(copy) : NULL;
}

uint64_t games_of(const struct chi_counts *counts)
{
	return counts->white + counts->draws + counts->black;
}

void uuid_print(const uint8_t uuid[16], char out[UUID_SIZE])
{
	char hex[33];
	chi_hex_print(uuid, 16, hex);
	(void)snprintf(out, UUID_SIZE, "%.8s-%.4s-%.4s-%.4s-%.12s", hex, hex + 8, hex + 12,
		       hex + 16, hex + 20);
}
