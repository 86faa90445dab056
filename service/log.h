/* SPDX-License-Identifier: MIT */
/*
 * The daemon's log: one line an event, to standard error or a file. A line is made of an event's
 * name, a message with places for the fields, and the fields: see log_line.h. Messages are lower
 * case, with objects in quotes, the cause in parentheses and no full stop. Any thread may log; a
 * line is one write.
 *
 *	log_info("store.serve", "serving store '{store}' in '{path}'", log_text("store", name),
 *		 log_text("path", path));
 */
#pragma once

#include "base/attr.h"
#include "chistore/types.h"
#include "service/log_line.h"

struct chi_log_options {
	enum chi_log_level level; /* and those above it */
	enum chi_log_format format;
	const char *path;    /* appended to, must stay valid; NULL: standard error */
	const char *program; /* the same: who logs; NULL: chistored */
};

/* Routes libevent's messages here too. Call before any thread starts. -CHI_EIO: the file cannot be
 * opened. Where standard error is the journal, lines carry their priority for it. */
CHI_MUSTUSE int chi_log_open(const struct chi_log_options *options, struct chi_fault *fault);
void chi_log_close(void);

/* Opens the file again, after it has been renamed away; nothing on standard error. */
void chi_log_reopen(void);

/* The log's descriptor. */
int chi_log_descriptor(void);

/* Says to standard error, regardless of the log's level and place, that clients are served; as text
 * it is the line that scripts wait for, and begins with the program's name. */
void chi_log_ready(const char *addresses);

bool chi_log_wants(enum chi_log_level level);

/* `fields` end with one without a key. */
void chi_log(const struct chi_event *event);

/*
 * For what any client can cause at will: of each name no more than CHI_LOG_BURST lines
 * in CHI_LOG_WINDOW_MS. What is left out is counted, and reported before the next line of that
 * name, by chi_log_tick and at the end.
 */
void chi_log_limited(const struct chi_event *event);

#define CHI_LOG_BURST	  10
#define CHI_LOG_WINDOW_MS 10000

/* Tells of lines left out in windows that are over; to be called now and then. */
void chi_log_tick(void);

static inline struct chi_log_field log_text(const char *key, const char *value)
{
	return (struct chi_log_field){key, CHI_FIELD_TEXT, {.text = value}};
}

static inline struct chi_log_field log_number(const char *key, uint64_t value)
{
	return (struct chi_log_field){key, CHI_FIELD_NUMBER, {.number = value}};
}

static inline struct chi_log_field log_seconds(const char *key, double value)
{
	return (struct chi_log_field){key, CHI_FIELD_SECONDS, {.seconds = value}};
}

#define CHI_LOG_FIELDS(...)                                                                        \
	((const struct chi_log_field[]){__VA_ARGS__ __VA_OPT__(, ){.key = NULL}})

/* Fields are looked at only if the line is wanted. */
#define CHI_LOG_AT(write, level, name, message, ...)                                               \
	do {                                                                                       \
		if (chi_log_wants(level)) {                                                        \
			write(&(struct chi_event){(level), (name), (message),                      \
						  CHI_LOG_FIELDS(__VA_ARGS__)});                   \
		}                                                                                  \
	} while (0)

#define log_error(...)		 CHI_LOG_AT(chi_log, CHI_LOG_ERROR, __VA_ARGS__)
#define log_warning(...)	 CHI_LOG_AT(chi_log, CHI_LOG_WARNING, __VA_ARGS__)
#define log_info(...)		 CHI_LOG_AT(chi_log, CHI_LOG_INFO, __VA_ARGS__)
#define log_debug(...)		 CHI_LOG_AT(chi_log, CHI_LOG_DEBUG, __VA_ARGS__)
#define log_limited_error(...)	 CHI_LOG_AT(chi_log_limited, CHI_LOG_ERROR, __VA_ARGS__)
#define log_limited_warning(...) CHI_LOG_AT(chi_log_limited, CHI_LOG_WARNING, __VA_ARGS__)
#define log_limited_info(...)	 CHI_LOG_AT(chi_log_limited, CHI_LOG_INFO, __VA_ARGS__)
