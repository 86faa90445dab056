/* SPDX-License-Identifier: MIT */
/*
 * A line of the log: an event with its fields, as a sentence for people or as an object of JSON for
 * programs. Both are made of one description, and both are safe to read line by line, whatever
 * bytes a client has put into a field. Nothing here allocates, fails or writes anywhere.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Longest line, with its newline: what a pipe takes whole or not at all (PIPE_BUF of Linux). */
#define CHI_LOG_LINE_SIZE 4096

enum chi_log_level {
	CHI_LOG_ERROR,
	CHI_LOG_WARNING,
	CHI_LOG_INFO,
	CHI_LOG_DEBUG,
	CHI_LOG_LEVELS,
};

enum chi_log_format {
	CHI_LOG_TEXT,
	CHI_LOG_JSON,
	CHI_LOG_FORMATS,
};

enum chi_field_kind {
	CHI_FIELD_TEXT,
	CHI_FIELD_NUMBER,
	CHI_FIELD_SECONDS,
};

/* Texts are borrowed; NULL is taken for "". */
struct chi_log_field {
	const char *key; /* a constant of letters, digits, '_'; NULL ends a list */
	enum chi_field_kind kind;
	union {
		const char *text;
		uint64_t number;
		double seconds; /* three places are printed */
	} u;
};

struct chi_event {
	enum chi_log_level level;
	const char *name;    /* a constant such as "client.refused", by which programs know it */
	const char *message; /* a constant; "{key}" stands for that field, "'{key}'" for its text
				in quotes, which no text can end */
	const struct chi_log_field *fields;
};

/* What is before an event; parts that are not wanted are NULL or negative. */
struct chi_log_head {
	const char *program; /* text only; NULL: chistored */
	const char *time;    /* as it is to be printed */
	int priority;	     /* of syslog, printed as "<N>": a journal takes it off again */
	int pid;	     /* JSON only */
};

/* Prints the event with a newline and no NUL; returns the number of bytes. What does not fit is
 * cut, and the line is whole nevertheless: JSON is then closed, and says "truncated". */
size_t chi_log_line(enum chi_log_format format, const struct chi_log_head *head,
		    const struct chi_event *event, char out[CHI_LOG_LINE_SIZE]);
