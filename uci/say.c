/* SPDX-License-Identifier: MIT */
#include "uci/say.h"

#include <stdarg.h>
#include <stdio.h>

void chi_session_say(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	flockfile(stdout);
	fputs("info string ", stdout);
	vprintf(format, args);
	putchar('\n');
	fflush(stdout);
	funlockfile(stdout);
	va_end(args);
}
