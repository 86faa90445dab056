/* SPDX-License-Identifier: MIT */
/*
 * What a program asked of the disk, in the order in which the calls returned, and what it promised
 * to others in between. A journal holds enough to rebuild every state that a power cut could have
 * left behind.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum journal_op {
	JOURNAL_WRITE,
	JOURNAL_TRUNCATE,
	JOURNAL_SYNC,
	JOURNAL_LOSE, /* a sync that failed: what was not synced before may never be any more */
	JOURNAL_CREATE,
	JOURNAL_MKDIR,
	JOURNAL_RENAME,
	JOURNAL_EXCHANGE, /* `path` and `to` have each other's name */
	JOURNAL_REMOVE,
	JOURNAL_BEGIN, /* a mark: the work may reach `sequence` from now on */
	JOURNAL_ACK,   /* a mark: `sequence` was acknowledged, it must not be lost any more */
};

/* Paths are relative to the watched directory; "" is that directory itself. */
#define JOURNAL_PATH 128

struct journal_call {
	enum journal_op op;
	uint64_t ino;	   /* of the file or directory written, synced, made or renamed */
	uint64_t offset;   /* of a write; the new length of a truncation */
	uint64_t len;	   /* of a write */
	uint8_t *bytes;	   /* of a write; owned */
	bool durable;	   /* a write that is synced by itself (O_DSYNC) */
	unsigned target;   /* of a mark: which store */
	uint64_t sequence; /* of a mark */
	char path[JOURNAL_PATH];
	char to[JOURNAL_PATH]; /* of a renaming or an exchange */
};

struct journal {
	struct journal_call *calls;
	size_t n;
	size_t room;
};

/* Appends a zeroed call and returns it; valid until the next one. Aborts without memory. */
struct journal_call *journal_add(struct journal *journal, enum journal_op op);
void journal_mark(struct journal *journal, enum journal_op op, unsigned target, uint64_t sequence);
/* Forgets what came after the last renaming, as if the process had been killed then. */
void journal_kill(struct journal *journal);
/* The same for the last write, which is left unsynced though it should have been. */
void journal_kill_write(struct journal *journal);
const char *journal_name(enum journal_op op);
void journal_deinit(struct journal *journal);
