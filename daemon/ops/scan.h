/* SPDX-License-Identifier: MIT */
/*
 * Scans and counts in progress, and lists of games. A worker runs them in slices of a millisecond,
 * one slice a turn of its loop, so that a probe never waits for more than that; a scan's snapshot
 * is given up after a second and the scan goes on, by its cursor, on a new one.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "chistore/games.h"
#include "chistore/types.h"
#include "daemon/net/net.h"
#include "daemon/ops/page.h"
#include "proto/msg.h"

struct chi_read;
struct chi_scan;
struct chi_served;

struct chi_scan_run {
	struct chi_call call;
	TAILQ_ENTRY(chi_scan_run) all_link;
	TAILQ_ENTRY(chi_scan_run) run_link;
	struct chi_worker *worker;
	struct chi_served *served;
	struct chi_scan_spec spec; /* as asked; release brings `after` and `limit` up to date */
	struct chi_cursor sent;	   /* where the last response sent ends */
	uint64_t left;		   /* of the limit; 0 if there is none */
	struct chi_read *read;	   /* NULL between two snapshots */
	struct chi_scan *scan;
	int64_t read_since; /* ms */
	uint64_t sequence;  /* of the first snapshot */
	bool has_sequence;
	bool mixed;	  /* a later snapshot showed another state */
	bool is_runnable; /* on the worker's list */
	uint64_t count;
	bool has_after; /* GAMES: where they begin */
	uint8_t after[CHI_GAME_ID_SIZE];
	struct chi_page page;
	size_t accounted; /* bytes counted in server->buffered */
};

/* Runs one slice of the scan whose turn it is. */
void chi_scan_slice(struct chi_worker *worker);

/* Ends snapshots that have grown old while their scan stood still, and when memory is short, lets
 * paused scans forget what they have collected. True if there is any to be looked at
 * again. */
bool chi_scan_tick(struct chi_worker *worker, int64_t now);

/* Ends all snapshots of the worker's scans. */
void chi_scan_release(struct chi_worker *worker);
