/* SPDX-License-Identifier: MIT */
/*
 * The bytes of a store on RADOS (FORMAT.md): names of objects, keys and values of their omaps.
 * Knows nothing of librados.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chistore/types.h"

/* The first byte of an omap key says what the entry is of. Their order is that of a shard. */
enum chi_omap_tree {
	CHI_OMAP_STAMP = 'a',	 /* the shard: which store it is of */
	CHI_OMAP_CLIENT = 'c',	 /* a writer: what it has counted, and its last write */
	CHI_OMAP_GAME = 'g',	 /* a game that is counted */
	CHI_OMAP_IMPORT = 'i',	 /* the head: a journal that is in the pool */
	CHI_OMAP_LAST = 'l',	 /* the head: the import that was committed last */
	CHI_OMAP_POSITION = 'p', /* the position tree */
	CHI_OMAP_STRENGTH = 's', /* the strength tree */
};

/* ---- Keys -------------------------------------------------------------------------------- */

/* Tree, statistic, position key, each byte of which may take two; and a NUL. */
#define CHI_OMAP_KEY_MAX (1 + 2 * (2 + CHI_KEY_MAX))

struct chi_omap_key {
	size_t len;
	char bytes[CHI_OMAP_KEY_MAX + 1]; /* none of the first `len` is NUL */
};

/* The tree's byte, then `bytes`, at most 2 + CHI_KEY_MAX, escaped so that their order stays and
 * there is no NUL. */
void chi_omap_key_make(enum chi_omap_tree tree, const uint8_t *bytes, size_t len,
		       struct chi_omap_key *out);

/* The key of a position's strength entry: whole part, hundredths, position. */
void chi_omap_strength(uint16_t chi2, const struct chi_key *key, struct chi_omap_key *out);

/* Below, above 0, or 0: the order of omap keys. */
int chi_omap_compare(const char *a, size_t a_len, const char *b, size_t b_len);

/* What is after the tree's byte of an omap key, unescaped into `out` of `room` bytes.
 * -CHI_ECORRUPT: it was not escaped so, or is too long. */
CHI_MUSTUSE int chi_omap_bytes(const char *key, size_t key_len, uint8_t *out, size_t room,
			       size_t *len);

/* The position of a key of either tree, and the statistic in that of the strength tree.
 * -CHI_ECORRUPT. */
CHI_MUSTUSE int chi_omap_position(const char *key, size_t key_len, uint16_t *chi2,
				  struct chi_key *out);

/* The shard that a position or a game belongs to. */
uint32_t chi_shard_of(const uint8_t *bytes, size_t len, uint32_t shards);

/* NAME.head; NAME.XXXXXXXX. `name` has at most CHI_RADOS_NAME_MAX bytes. */
#define CHI_OBJECT_SIZE 200
void chi_head_object(const char *name, char out[CHI_OBJECT_SIZE]);
void chi_shard_object(const char *name, uint32_t shard, char out[CHI_OBJECT_SIZE]);

/* ---- Records ----------------------------------------------------------------------------- */

/* Before the record of a position: the low half of its checksum. */
#define CHI_OMAP_CHECKSUM 4

/* Fills in the checksum of `value`, whose record of `len` bytes is after it. */
void chi_omap_seal(const struct chi_key *key, uint8_t *value, size_t len);

/* The record in a value, or NULL: it is damaged. */
const uint8_t *chi_omap_record(const struct chi_key *key, const void *value, size_t value_len,
			       size_t *len);

/* ---- Head -------------------------------------------------------------------------------- */

#define CHI_RADOS_VERSION   2
#define CHI_RADOS_HEAD_SIZE 512

struct chi_rados_head {
	uint8_t uuid[16];
	uint8_t statistic; /* enum chi_statistic */
	uint32_t shards;
	struct chi_counts base;
	uint64_t created; /* seconds since 1970 */
	char creator[32];
	uint8_t import[16];    /* which is committed and being applied; zeros: none */
	uint32_t import_parts; /* of its journal */
	bool ready;	       /* else it is being created, or that was interrupted */
};

/* The text of the head's object; returns its length. */
size_t chi_rados_head_print(const struct chi_rados_head *head, char out[CHI_RADOS_HEAD_SIZE]);

/* -CHI_EVERSION: another format, or none. -CHI_ECORRUPT. */
CHI_MUSTUSE int chi_rados_head_parse(const char *text, size_t len, struct chi_rados_head *out,
				     struct chi_fault *fault);

/* ---- Journals ---------------------------------------------------------------------------- */

/* What becomes of a position of a journal. */
enum chi_journal_mode {
	CHI_JOURNAL_ADD = 1,  /* games are added; what else a record has only where there is none */
	CHI_JOURNAL_RESTORE,  /* the record replaces what is there */
	CHI_JOURNAL_SET,      /* what the record has is set; evaluations are merged */
	CHI_JOURNAL_UNPLAYED, /* the same, unless there are games or moves */
	CHI_JOURNAL_GAMES,    /* no positions: games are counted */
};
#define CHI_JOURNAL_MODE_MAX CHI_JOURNAL_GAMES

/* Part i of a journal is written under the numbers from i * CHI_JOURNAL_STEPS on, its last one that
 * of the next part: in between they say how many of the shard's entries of it are stored. */
#define CHI_JOURNAL_STEPS (UINT64_C(1) << 20)

/* Of a part of a journal: its first bytes, and a checksum at its end. */
#define CHI_JOURNAL_HEAD 12
#define CHI_JOURNAL_TAIL 8
void chi_journal_head(enum chi_journal_mode mode, uint32_t n, uint8_t out[CHI_JOURNAL_HEAD]);

/* Fills in the checksum of a part of `len` bytes in all; checks both. -CHI_ECORRUPT. */
void chi_journal_seal(uint8_t *bytes, size_t len);
CHI_MUSTUSE int chi_journal_check(const uint8_t *bytes, size_t len, enum chi_journal_mode *mode,
				  uint32_t *n);

/* Of a journal that is in the pool and not committed: how long its importer is taken to live, and
 * its parts, or more. */
struct chi_lease {
	uint64_t expires; /* seconds since 1970; 0: it is to be removed */
	uint32_t parts;
};

#define CHI_LEASE_SIZE 12
void chi_lease_encode(const struct chi_lease *lease, uint8_t out[CHI_LEASE_SIZE]);
CHI_MUSTUSE int chi_lease_decode(const void *value, size_t len, struct chi_lease *out);

/* NAME.import.ID.XXXXXXXX */
void chi_journal_object(const char *name, const uint8_t id[16], uint32_t part,
			char out[CHI_OBJECT_SIZE]);

/* ---- Shards ------------------------------------------------------------------------------ */

/* Bytes of entries for a byte of the object's length, about. */
#define CHI_SHARD_UNIT 64

/* How long an object's data become: an OSD refuses 128 MiB (osd_max_object_size). */
#define CHI_SHARD_DATA_MAX ((uint64_t)96 << 20)

/* The value of a shard's stamp: which store it is of, and the base rates that its statistics are
 * computed with. */
#define CHI_STAMP_SIZE	   48
#define CHI_STAMP_IDENTITY 16 /* the part that says which */
void chi_shard_stamp(const struct chi_rados_head *head, uint8_t out[CHI_STAMP_SIZE]);
void chi_shard_stamp_base(const uint8_t stamp[CHI_STAMP_SIZE], struct chi_counts *out);

/*
 * What one client has done in one shard. Only it writes this entry, so that writers do not wait for
 * each other's counters; the shard's are the sums of all. An identity of zeros is of the clients
 * that were added up and taken out.
 */
struct chi_shard_client {
	uint64_t sequence;	    /* of its last write */
	uint64_t date;		    /* of that, seconds since 1970 */
	uint64_t writes;	    /* that it has made */
	int64_t positions;	    /* put minus deleted */
	int64_t known;		    /* of those with a statistic */
	int64_t games[4];	    /* by result */
	struct chi_put_result last; /* what the last write did */
};

#define CHI_CLIENT_ID 16

#define CHI_SHARD_CLIENT_SIZE (13 * 8)
void chi_shard_client_encode(const struct chi_shard_client *client,
			     uint8_t out[CHI_SHARD_CLIENT_SIZE]);
CHI_MUSTUSE int chi_shard_client_decode(const void *value, size_t len,
					struct chi_shard_client *out);

void chi_put_result_add(const struct chi_put_result *did, struct chi_put_result *sum);

/* The games that were counted; none where a sum is below 0. */
struct chi_counts chi_shard_games(const struct chi_shard_client *sum);

/* Adds what `client` has counted to `sum`. */
void chi_shard_client_add(const struct chi_shard_client *client, struct chi_shard_client *sum);
