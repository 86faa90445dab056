/* SPDX-License-Identifier: MIT */
/* What the files of this room share: an open store, and operations on its objects. */
#pragma once

#include <rados/librados.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "rados/layout.h"
#include "rados/rados.h"
#include "store/record/codec.h"

struct chi_cluster;

struct chi_rados {
	struct chi_rados_place place;
	struct chi_fault *fault; /* the opener's */
	struct chi_cluster *cluster;
	rados_ioctx_t io; /* NULL: not open */
	struct chi_rados_head head;
	uint8_t stamp[CHI_STAMP_SIZE]; /* what shards of this store begin with */
	uint8_t id[CHI_CLIENT_ID];     /* of this client, random */
	uint64_t sequence;	       /* of its last write */
	bool applies;		       /* a journal: then both are the import's */
	chi_verify_report *skip; /* of a repair: told what of a journal is left out; or NULL */
	void *skip_context;
	bool *known;		/* shards in which it has an entry; one for each */
	struct chi_arena arena; /* of one record at a time */
	uint8_t value[CHI_OMAP_CHECKSUM + CHI_RECORD_BYTES_MAX];
};

/* ---- ops.c: operations on objects -------------------------------------------------------- */

struct chi_round;

/* One operation on one object, zeroed but for what is to be done; what it brings lives until
 * chi_objects_end. */
struct chi_object_op {
	char object[CHI_OBJECT_SIZE];
	rados_read_op_t read; /* one of these two */
	rados_write_op_t write;
	rados_omap_iter_t values; /* of keys that were asked for; NULL: none were */
	rados_omap_iter_t listed; /* a listing; NULL: none was asked for */
	unsigned char more;	  /* the listing does not end here */
	bool any;		  /* of chi_object_listed: it gave an entry */
	int rc;			  /* how it ended: 0, or an errno below 0 */
	uint64_t version;	  /* of the object */
	uint64_t size;		  /* of its data, if that was asked for */
	/* Of ops.c. */
	rados_completion_t completion;
	struct chi_round *round;
	bool done;
	int parts_rc[3];
};

/* On a shard, or on the head. */
void chi_object_of_shard(const struct chi_rados *rados, uint32_t shard, struct chi_object_op *op);
void chi_object_of_head(const struct chi_rados *rados, struct chi_object_op *op);

/* Asks for the values of keys, in memory that may be reused at once; and for up to `max` entries
 * after `after` of a tree, or of all if `tree` is 0. -CHI_ENOMEM. */
CHI_MUSTUSE int chi_object_get(struct chi_object_op *op, const struct chi_omap_key *keys, size_t n);
CHI_MUSTUSE int chi_object_list(struct chi_object_op *op, enum chi_omap_tree tree,
				const char *after, size_t max);

/* Makes it one that changes; and one that happens only if the entry has that value (no bytes: it is
 * not there), and sets one. */
CHI_MUSTUSE int chi_object_change(struct chi_object_op *op);
void chi_object_compare(struct chi_object_op *op, const struct chi_omap_key *key, const void *value,
			size_t len);
void chi_object_set(struct chi_object_op *op, const struct chi_omap_key *key, const void *value,
		    size_t len);

/* Asks for the size of the object's data, too. Of an op that gets keys or lists. */
void chi_object_size(struct chi_object_op *op);

/* Runs them all, hundreds at a time, and waits for all; each has its own rc then. A failure is
 * -CHI_EFORK, -CHI_ENOMEM. */
CHI_MUSTUSE int chi_objects_run(struct chi_rados *rados, struct chi_object_op *ops, size_t n);

/* Runs one, which must succeed. */
CHI_MUSTUSE int chi_object_run(struct chi_rados *rados, struct chi_object_op *op);

/* Operations on the first `n` shards, many at a time: `ask` says what is to be done, `take`, if it
 * is not NULL, looks at what came of it. What they return but CHI_OK ends it. */
typedef int chi_shard_step(struct chi_rados *rados, void *context, uint32_t shard,
			   struct chi_object_op *op);
CHI_MUSTUSE int chi_shards_run(struct chi_rados *rados, uint32_t n, chi_shard_step *ask,
			       chi_shard_step *take, void *context);

/* An `ask` for the stamp alone. */
int chi_shard_ask_stamp(struct chi_rados *rados, void *context, uint32_t shard,
			struct chi_object_op *op);

/* Lists up to CHI_LISTED entries of a tree of a shard, whose stamp is good, after `after`. */
#define CHI_LISTED 1024
CHI_MUSTUSE int chi_shard_list(struct chi_rados *rados, uint32_t shard, enum chi_omap_tree tree,
			       const char *after, struct chi_object_op *op);

/* Frees what they have asked for and brought, and leaves them zeroed. */
void chi_objects_end(struct chi_object_op *ops, size_t n);

struct chi_omap_entry {
	const char *key;
	size_t key_len;
	const uint8_t *value;
	size_t len;
};

/* The next entry of what an operation brought; false at the end. */
bool chi_object_next(rados_omap_iter_t entries, struct chi_omap_entry *out);

/* The next entry of a listing that began after `after`, which becomes its key: the next listing
 * goes on there. CHI_NONE at the end; -CHI_ECORRUPT where keys are none, or do not ascend. */
int chi_object_listed(struct chi_rados *rados, struct chi_object_op *op, struct chi_omap_key *after,
		      struct chi_omap_entry *out);

/* Says in the fault why an operation failed. Returns the status. */
int chi_object_fault(struct chi_rados *rados, const struct chi_object_op *op);

/* Of a read of a shard: it succeeded, and the stamp, the first of the values, is of the store that
 * was opened. -CHI_ESTALE, -CHI_ECORRUPT, and as above. The base rates may be NULL. */
CHI_MUSTUSE int chi_object_stamp(struct chi_rados *rados, struct chi_object_op *op,
				 struct chi_counts *base);

/* The key of a shard's stamp. */
extern const struct chi_omap_key chi_stamp_key;

/* ---- keys.c: look-ups by key ------------------------------------------------------------- */

/* A position in an array that is sorted by shard. */
struct chi_shard_ref {
	uint32_t shard;
	uint32_t index;
	const uint8_t *bytes;
	size_t len;
};

/* By shard, then by bytes, then by index. */
void chi_shard_sort(struct chi_shard_ref *refs, size_t n);

/* Calls `each` for every key in any order, with its record, valid during the call, or NULL.
 * -CHI_ECORRUPT and failures of the cluster; what `each` returns but CHI_OK ends it. */
typedef int chi_rados_each(void *context, size_t i, const uint8_t *record, size_t len);
CHI_MUSTUSE int chi_rados_read_keys(struct chi_rados *rados, const struct chi_key *keys, size_t n,
				    chi_rados_each *each, void *context);

/* Says that the position's record is damaged. Returns -CHI_ECORRUPT. */
int chi_rados_damaged(struct chi_rados *rados, const struct chi_key *key);

/* ---- keys.c ------------------------------------------------------------------------------ */

/* Which games the store counts. */
CHI_MUSTUSE int chi_rados_has_games(struct chi_rados *rados, const uint8_t (*ids)[CHI_GAME_ID_SIZE],
				    size_t n, bool *said);

/* ---- write.c, batch.c -------------------------------------------------------------------- */

/* Puts of a journal. They are refused only if a record would be over a limit. */
CHI_MUSTUSE int chi_rados_apply(struct chi_rados *rados, enum chi_journal_mode mode,
				const struct chi_put_entry *entries, size_t n,
				struct chi_put_result *result);

/* Computes the statistics of positions again; result->updated counts those that changed. */
CHI_MUSTUSE int chi_rados_rescore_keys(struct chi_rados *rados, const struct chi_key *keys,
				       size_t n, struct chi_put_result *result);

int chi_rados_put_game_ids(struct chi_rados *rados, const struct chi_game_id *games, size_t n);

/* ---- store.c: the store as a whole ------------------------------------------------------- */

#define CHI_SHARDS_DEFAULT 64

/* Reads the head. -CHI_ENOSTORE. */
CHI_MUSTUSE int chi_rados_read_head(struct chi_rados *rados, struct chi_rados_head *out,
				    uint64_t *version);

/* Makes what the head says by now what the client works with. -CHI_ESTALE: it is of another store.
 */
CHI_MUSTUSE int chi_rados_refresh(struct chi_rados *rados);

/* Replaces the head if its version is that one; 0: there is none. -CHI_EBUSY: it is not. */
CHI_MUSTUSE int chi_rados_write_head(struct chi_rados *rados, const struct chi_rados_head *head,
				     uint64_t version);

/* What all clients have counted in a shard, added to `sum`; and in all shards. */
CHI_MUSTUSE int chi_rados_sum_shard(struct chi_rados *rados, uint32_t shard,
				    struct chi_shard_client *sum);
CHI_MUSTUSE int chi_rados_sum(struct chi_rados *rados, struct chi_shard_client *sum);

/* ---- rescore.c ----------------------------------------------------------------- */

/* The shards' stamps, to what the head says. */
CHI_MUSTUSE int chi_rados_set_stamps(struct chi_rados *rados);
