/* SPDX-License-Identifier: MIT */
/*
 * The daemon's log: one line a message, to standard error or a file. Lower case, objects in
 * quotes, the cause in parentheses, no full stop. Any thread may log; a line is one write.
 */
#pragma once

#include "base/attr.h"
#include "chistore/types.h"

enum chi_log_level {
	CHI_LOG_ERROR,
	CHI_LOG_WARNING,
	CHI_LOG_INFO,
	CHI_LOG_DEBUG,
	CHI_LOG_LEVELS,
};

/* Of "error", "warning", "info", "debug"; negative if `name` is none of them. */
int chi_log_level_from_name(const char *name);

/* Messages up to `level` go to the file at `path`, appended, or to standard error if NULL. The
 * path must stay valid. Routes libevent's messages here too. Call before any thread starts. */
CHI_MUSTUSE int chi_log_open(enum chi_log_level level, const char *path, struct chi_fault *fault);
void chi_log_close(void);

/* Opens the file anew, after it has been renamed away; nothing on standard error. */
void chi_log_reopen(void);

CHI_PRINTF(2, 3) void chi_log(enum chi_log_level level, const char *format, ...);

#define log_error(...)	 chi_log(CHI_LOG_ERROR, __VA_ARGS__)
#define log_warning(...) chi_log(CHI_LOG_WARNING, __VA_ARGS__)
#define log_info(...)	 chi_log(CHI_LOG_INFO, __VA_ARGS__)
#define log_debug(...)	 chi_log(CHI_LOG_DEBUG, __VA_ARGS__)
