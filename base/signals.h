/* SPDX-License-Identifier: MIT */
/* What a signal that ended a process says of the process. */
#pragma once

#include <signal.h>
#include <stdbool.h>

/*
 * True of signals that a program brings on itself, by memory that is not there or a check that
 * failed: what reads a damaged page ends by one of these. False of those that others send; the
 * kernel sends SIGKILL when memory is short.
 */
static inline bool chi_signal_is_crash(int number)
{
	return number == SIGSEGV || number == SIGBUS || number == SIGABRT || number == SIGFPE ||
	       number == SIGILL;
}
