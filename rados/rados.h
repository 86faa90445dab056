/* SPDX-License-Identifier: MIT */
/*
 * A store of positions in objects of a Ceph cluster: all that other rooms see of it. A call is one
 * or a few rounds of operations on the shards; nothing is kept between calls but a scan's listings,
 * so that there is nothing to settle and nothing to flush.
 *
 * A store belongs to one thread at a time. Failures have a text in the fault that was given when it
 * was opened, or none: then the status says it all. Every call that asks the cluster may fail with
 * -CHI_ETIMEOUT, -CHI_ECONNECT, -CHI_EACCES, -CHI_EIO, -CHI_EFORK (a child of the process that
 * opened it), -CHI_ESTALE (another store has its place), -CHI_ECORRUPT, -CHI_ENOMEM; one that
 * writes with -CHI_EFULL, -CHI_EBUSY (others were faster for `call_ms`).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/record.h"
#include "chistore/games.h"
#include "chistore/types.h"
#include "store/store.h"

#define CHI_RADOS_NAME_MAX 128 /* bytes of a pool's or a store's name, or of a user's */
#define CHI_RADOS_CONF_MAX 1023

struct chi_rados_place {
	char pool[CHI_RADOS_NAME_MAX + 1];
	char name[CHI_RADOS_NAME_MAX + 1];
	char conf[CHI_RADOS_CONF_MAX + 1]; /* file; "": where Ceph looks for it */
	char user[CHI_RADOS_NAME_MAX + 1]; /* without "client."; "": admin */
	uint32_t shards; /* a new store gets so many, one that is there must have them; 0: not given
			  */
	uint32_t connect_ms; /* how long a monitor may take, and the cluster to answer anything of
				what a call waits for */
	uint32_t call_ms;
};

struct chi_rados;

/* Of games only counts are kept (`keep`). -CHI_EEXIST, -CHI_EUNSUPPORTED (also: no librados),
 * -CHI_EBUSY: another one creates it. */
CHI_MUSTUSE int chi_rados_create(const struct chi_rados_place *place, enum chi_statistic statistic,
				 enum chi_keep keep, struct chi_fault *fault);

/* `fault` must live as long as the store. -CHI_ENOSTORE; -CHI_EINVAL: it has other shards. */
CHI_MUSTUSE int chi_rados_open(const struct chi_rados_place *place, struct chi_fault *fault,
			       struct chi_rados **out);
void chi_rados_close(struct chi_rados *rados); /* NULL is fine */

CHI_MUSTUSE int chi_rados_ping(struct chi_rados *rados);

/* Whether another store has its place by now. */
CHI_MUSTUSE int chi_rados_changed(struct chi_rados *rados, bool *changed);
CHI_MUSTUSE int chi_rados_info(struct chi_rados *rados, struct chi_info *out);

/* ---- Positions --------------------------------------------------------------------------- */

/* Keys are in shape everywhere here. What a record leads to lies in the arena. */
CHI_MUSTUSE int chi_rados_probe(struct chi_rados *rados, const struct chi_key *keys, size_t n,
				struct chi_row *rows);

/* CHI_NONE: it is not stored. */
CHI_MUSTUSE int chi_rados_get(struct chi_rados *rados, const struct chi_key *key,
			      struct chi_arena *arena, struct chi_record *out);

/* NULL for what is not stored; the arena is emptied between some of the calls of `each`, whose
 * status other than CHI_OK ends it. */
typedef int chi_rados_take(void *context, size_t i, const struct chi_record *record);
CHI_MUSTUSE int chi_rados_get_many(struct chi_rados *rados, const struct chi_key *keys, size_t n,
				   struct chi_arena *arena, chi_rados_take *take, void *context);
CHI_MUSTUSE int chi_rados_explore(struct chi_rados *rados, const struct chi_key *key,
				  const struct chi_evidence *evidence, struct chi_arena *arena,
				  struct chi_explored *out);

/* The entry that is refused is named; nothing is stored then, nor if all are checked and one would
 * be too large. After another failure some shards may have their part, which the fault says. */
CHI_MUSTUSE int chi_rados_put(struct chi_rados *rados, const struct chi_put_entry *entries,
			      size_t n, struct chi_put_result *result);
CHI_MUSTUSE int chi_rados_del(struct chi_rados *rados, const struct chi_key *keys, size_t n,
			      uint64_t *deleted);

/* Base rates NULL: as chi_store_rescore has it. */
CHI_MUSTUSE int chi_rados_rescore(struct chi_rados *rados, const struct chi_counts *base,
				  uint64_t *changed);

/* Up to `max` games that are counted, which is not 0, with ids after `after` (CHI_GAME_ID_SIZE
 * bytes; NULL: from the first). */
CHI_MUSTUSE int chi_rados_game_ids(struct chi_rados *rados, const uint8_t *after,
				   struct chi_game_id *out, size_t max, size_t *n);

/* ---- Scans ------------------------------------------------------------------------------- */

struct chi_rados_scan;

/* The spec's filter is checked; of `games` there are none. `shows`, if not NULL, leaves out
 * positions as in chi_scan_sift; `pattern` must live until the scan is closed. Closed also after a
 * failure. */
CHI_MUSTUSE int chi_rados_scan_open(struct chi_rados *rados, const struct chi_scan_spec *spec,
				    chi_scan_wanted *shows, const void *pattern,
				    struct chi_rados_scan **out);
void chi_rados_scan_close(struct chi_rados_scan *scan); /* NULL is fine */

/* More rows, perhaps none, until the next call: struct chi_entry if records are wanted, else struct
 * chi_row. *mixed: they are not of one state. CHI_NONE: these are the last. */
CHI_MUSTUSE int chi_rados_scan_next(struct chi_rados_scan *scan, const void **rows, size_t *n,
				    bool *mixed);
CHI_MUSTUSE int chi_rados_count(struct chi_rados *rados, const struct chi_scan_spec *spec,
				chi_scan_wanted *shows, const void *pattern, uint64_t *count,
				bool *mixed);

/* ---- The whole --------------------------------------------------------------------------- */

/* -CHI_ECORRUPT without a text: damage was reported. */
CHI_MUSTUSE int chi_rados_verify(struct chi_rados *rados, chi_verify_report *report, void *context,
				 struct chi_verify_result *result);

/* In place. */
CHI_MUSTUSE int chi_rados_repair(struct chi_rados *rados, chi_verify_report *report, void *context,
				 struct chi_repair_result *result);

/* An import, which reads into a store in a file without a name in TMPDIR. */
struct chi_importer;
struct chi_rados_import;

/* Applies what an import left that was committed and did not end. The importer is the import's; it
 * is freed by the caller, before the import. The rados and what the options lead to must outlive
 * it. *out is NULL after a failure. */
CHI_MUSTUSE int chi_rados_import_open(struct chi_rados *rados,
				      const struct chi_import_options *options,
				      struct chi_rados_import **out,
				      struct chi_importer **importer);
CHI_MUSTUSE int chi_rados_import_commit(struct chi_rados_import *import,
					struct chi_import_result *result);
void chi_rados_import_close(struct chi_rados_import *import); /* NULL is fine */
