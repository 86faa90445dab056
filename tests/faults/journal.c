/* SPDX-License-Identifier: MIT */
/* A growing array; a test that gets no memory has nothing to say and ends. */
#include "tests/faults/journal.h"

#include <stdlib.h>
#include <string.h>

struct journal_call *journal_add(struct journal *journal, enum journal_op op)
{
	if (journal->n == journal->room) {
		journal->room = journal->room == 0 ? 256 : journal->room * 2;
		journal->calls = realloc(journal->calls, journal->room * sizeof(*journal->calls));
		if (journal->calls == NULL) {
			abort();
		}
	}
	struct journal_call *call = &journal->calls[journal->n++];
	memset(call, 0, sizeof(*call));
	call->op = op;
	return call;
}

void journal_mark(struct journal *journal, enum journal_op op, unsigned target, uint64_t sequence)
{
	struct journal_call *call = journal_add(journal, op);
	call->target = target;
	call->sequence = sequence;
}

static void cut_behind(struct journal *journal, enum journal_op op)
{
	while (journal->n > 0 && journal->calls[journal->n - 1].op != op) {
		free(journal->calls[--journal->n].bytes);
	}
	if (journal->n == 0) {
		abort();
	}
}

void journal_kill(struct journal *journal)
{
	cut_behind(journal, JOURNAL_RENAME);
}

void journal_kill_write(struct journal *journal)
{
	cut_behind(journal, JOURNAL_WRITE);
	if (!journal->calls[journal->n - 1].durable) {
		abort();
	}
	journal->calls[journal->n - 1].durable = false;
}

const char *journal_name(enum journal_op op)
{
	static const char *const names[] = {
		[JOURNAL_WRITE] = "write",     [JOURNAL_TRUNCATE] = "truncate",
		[JOURNAL_SYNC] = "sync",       [JOURNAL_LOSE] = "failed sync",
		[JOURNAL_CREATE] = "create",   [JOURNAL_MKDIR] = "mkdir",
		[JOURNAL_RENAME] = "rename",   [JOURNAL_EXCHANGE] = "exchange",
		[JOURNAL_REMOVE] = "remove",   [JOURNAL_BEGIN] = "begin",
		[JOURNAL_ACK] = "acknowledge",
	};
	return names[op];
}

void journal_deinit(struct journal *journal)
{
	for (size_t i = 0; i < journal->n; i++) {
		free(journal->calls[i].bytes);
	}
	free(journal->calls);
	*journal = (struct journal){0};
}
