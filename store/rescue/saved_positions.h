/* SPDX-License-Identifier: MIT */
/*
 * Records of a damaged store on their way into a new one: kept as bytes in a file without a name,
 * as they are found, and handed on by ascending key. Of a position that was found more than once
 * the last record stays that a tree led to; one of a page that nothing leads to replaces another
 * only if it has more games, which only grow unless they are taken out.
 */
#pragma once

#include <lmdb.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/sorter.h"
#include "chistore/types.h"
#include "store/store.h"

struct chi_saved_positions {
	int file;	/* -1: not open */
	const char *to; /* of the caller */
	uint64_t end;
	uint8_t *buffer; /* what is not in the file yet */
	size_t buffered;
	struct chi_filler filler;
	struct chi_key last; /* of those that a tree led to, */
	uint64_t in_tree;    /* so many different ones */
	bool astray;	     /* and their keys do not ascend */
	/* Since chi_saved_positions_seal. */
	const uint8_t *kept;
	struct chi_sort_reader *reader;
	struct chi_sort_item next; /* the item that comes next */
	bool over;
	uint64_t handed; /* positions */
	uint64_t found;	 /* of them, those that no tree led to */
};

/* Files are made in directory `dir`, which faults name `to`, a text that lives as long. Is to be
 * ended by chi_saved_positions_deinit in every case. */
CHI_MUSTUSE int chi_saved_positions_init(struct chi_saved_positions *saved, const char *dir,
					 const char *to, struct chi_fault *fault);
void chi_saved_positions_deinit(struct chi_saved_positions *saved);

/* Keeps a record that was examined. `lost`: no tree led to it. */
CHI_MUSTUSE int chi_saved_positions_add(struct chi_saved_positions *saved, const MDB_val *key,
					const MDB_val *value, bool lost, struct chi_fault *fault);

/* When all have come. */
CHI_MUSTUSE int chi_saved_positions_seal(struct chi_saved_positions *saved,
					 struct chi_fault *fault);

/* The next position; its record is in memory of `arena`, without its list of games. CHI_NONE: there
 * are no more. */
CHI_MUSTUSE int chi_saved_positions_next(void *saved, struct chi_arena *arena, struct chi_key *key,
					 struct chi_record *record, struct chi_fault *fault);
