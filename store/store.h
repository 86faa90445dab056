/* SPDX-License-Identifier: MIT */
/*
 * The store: one LMDB environment in a directory, two B-trees that always agree (FORMAT.md).
 *
 * Caveats first:
 *  - A directory is opened once per process; opening it again gives the same environment with
 *    a reference more. Nothing else may open the store's lock.mdb, not even to look at it.
 *  - No handle survives fork(): in the child every call returns -CHI_EFORK, closing is harmless.
 *  - A read transaction that stays open keeps old pages from being reused and lets the file grow.
 *    End it soon: the daemon ends its own after a second.
 *  - Only local file systems that honour fsync keep the promises; network ones are refused.
 *
 * Threads: a chi_store may be used by any number of threads at once. A chi_read, chi_scan or
 * chi_write is used by one thread at a time; a chi_write by the thread that began it.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/idempotency.h"
#include "chistore/games.h"
#include "chistore/types.h"

struct chi_mask_wants; /* chess/masks.h */
struct chi_dir;
struct chi_read;
struct chi_scan;
struct chi_write;

/* ---- Creating, opening, closing ---------------------------------------------------------- */

/*
 * Makes a new, empty store in directory `path`, which must not exist or be empty; its parent
 * must exist. Crash-safe: built under another name beside it, synced, renamed; there is a whole
 * store or none. Mode 0750, files 0600 minus the umask.
 * -CHI_EEXIST, -CHI_EACCES, -CHI_EFULL, -CHI_EIO, -CHI_ENETFS, -CHI_EINVAL (statistic).
 */
CHI_MUSTUSE int chi_dir_create(const char *path, enum chi_statistic statistic, enum chi_keep keep,
			       struct chi_fault *fault);

enum chi_dir_mode {
	CHI_STORE_READ,	  /* read only; works on read-only media and on published copies */
	CHI_STORE_WRITE,  /* may write: each write transaction takes the store's writer lock,
			     waiting up to lock_wait_ms for other processes */
	CHI_STORE_DAEMON, /* may write, and holds the writer lock until closed */
};

struct chi_dir_options {
	enum chi_dir_mode mode;
	uint32_t lock_wait_ms; /* how long to wait for another writer before -CHI_EBUSY */
	uint64_t map_bytes;    /* 0: what CHISTORE_MAP_BYTES says, or 1 TiB, or what can be had */
	bool force_netfs;      /* open on a network file system all the same */
	const char *address;   /* of a daemon: where clients find it; NULL: not known */
};

/*
 * Opens the store in directory `path`. If this process has it open already, the result shares
 * that environment; asking for more rights than the first opening had is -CHI_EBUSY. Checks the
 * stamp, the file's size against its last page, and frees the slots of dead readers.
 * -CHI_ENOSTORE (the fault tells a missing path from a directory that holds no store),
 * -CHI_EVERSION, -CHI_ECORRUPT, -CHI_EACCES, -CHI_EREADONLY, -CHI_EBUSY (the fault names the
 * process that writes), -CHI_ENETFS, -CHI_EIO, -CHI_ENOMEM.
 */
CHI_MUSTUSE int chi_dir_open(const char *path, const struct chi_dir_options *options,
			     struct chi_dir **out, struct chi_fault *fault);

/* Another handle of the same store, for reading: also if its directory has another name by now. */
CHI_MUSTUSE int chi_dir_share(const struct chi_dir *store, struct chi_dir **out);

/* Every read, scan and write begun on the handle must have ended. NULL is fine. */
void chi_dir_close(struct chi_dir *store);

enum chi_statistic chi_dir_statistic(const struct chi_dir *store);
enum chi_keep chi_dir_keep(const struct chi_dir *store);

/* The 16 bytes of its UUID, valid while the handle is. A copy has its original's. */
const uint8_t *chi_dir_uuid(const struct chi_dir *store);

/*
 * For work that writes only at its end: whether another process serves the store now (opened it
 * with CHI_STORE_DAEMON), so that no write here can succeed. -CHI_EBUSY names it. CHI_OK promises
 * nothing for later.
 */
CHI_MUSTUSE int chi_dir_served(const struct chi_dir *store, struct chi_fault *fault);

/* Whether the path that the store was opened by leads to other files now, in *changed.
 * -CHI_ENOSTORE: to none. */
CHI_MUSTUSE int chi_dir_changed(struct chi_dir *store, bool *changed, struct chi_fault *fault);

/*
 * For readers: opens what the path leads to by now, if these are other files than the open ones.
 * The new handle is *out; NULL: they are the same. The old one stays as it is with all that was
 * begun on it, and shows the files that it was opened with until it is closed. Both must be still:
 * published copies, or on a file system mounted read-only, as a device's snapshot is; these are
 * opened without locks. Of anything else no file but data.mdb is opened (-CHI_ESTALE: close it and
 * open it again). `options`: as it was opened with. -CHI_ENOSTORE: nothing is there; errors of
 * opening. No lock is held that other calls wait for, and it may wait as long as the path's file
 * system does.
 */
CHI_MUSTUSE int chi_dir_follow(struct chi_dir *store, const struct chi_dir_options *options,
			       struct chi_dir **out, struct chi_fault *fault);

/* Whether it is a published copy or on media mounted read-only: what chi_dir_follow goes from. */
bool chi_dir_is_still(const struct chi_dir *store);

/* The directory's path as given; valid while the store is open. */
const char *chi_dir_path(const struct chi_dir *store);

/* What a status means: of -CHI_ECORRUPT the tree, and between which keys, if the last damage that
 * this thread met was what was not there (store/chain); else chi_strerror's text. Told once. */
const char *chi_dir_error(int status);

/* Before each piece of work whose failure chi_dir_error may be asked about: damage that this
 * thread met earlier, and that was passed over or told in other words, is not what fails it. */
void chi_dir_forget_damage(void);

CHI_MUSTUSE int chi_dir_info(struct chi_dir *store, struct chi_info *out);

/* CHI_OK, or -CHI_ENETFS if the path is on a network file system, or on one of FUSE that is not
 * known to be of this machine alone: where a store is not opened or made, unless forced. */
CHI_MUSTUSE int chi_dir_file_system(const char *path, struct chi_fault *fault);

/* True if the environment has CHISTORE_ANY_FILESYSTEM=1, and every file system is taken. */
bool chi_any_file_system(void);

/*
 * Reads the head of the data file past the page cache, so that a disk that was cut off is noticed
 * by a program that only reads. *direct: it could be; false where the file system has no such reads
 * (tmpfs, some of FUSE), and then nothing was looked at. Any thread, beside everything else, and
 * for as long as the disk takes to answer. -CHI_EIO: the disk failed; -CHI_EBUSY: no descriptor is
 * left; -CHI_ENOSTORE, -CHI_EACCES, -CHI_ESTALE, -CHI_ENOMEM.
 */
CHI_MUSTUSE int chi_dir_check_disk(const struct chi_dir *store, bool *direct,
				   struct chi_fault *fault);

/* The same of the store that the snapshot is of. */
CHI_MUSTUSE int chi_read_check_disk(const struct chi_read *read, bool *direct,
				    struct chi_fault *fault);

/* -CHI_EIO or -CHI_EREADONLY if the disk has failed a commit, a write before one or a reopening of
 * the store since it was opened, which a full disk does not: CHI_OK. Any thread; waits for nothing.
 */
CHI_MUSTUSE int chi_dir_disk_failure(const struct chi_dir *store);

/* From now on nothing in this process may begin to write to the store: -CHI_EREADONLY. What has
 * begun may still commit. Any thread. */
void chi_dir_end_writing(struct chi_dir *store);

/* To be called every few seconds by a server: frees reader slots that dead processes left, and
 * sees that the store's files are still there. -CHI_ESTALE: one was removed or replaced. */
CHI_MUSTUSE int chi_dir_check(struct chi_dir *store, int *freed, struct chi_fault *fault);

/* For programs, as it sets their handler of SIGBUS, once: a lock.mdb that is cut short is an error
 * of calls, -CHI_ESTALE. Another SIGBUS goes to the handler that was there before. Before a
 * sandbox: it keeps /proc/self/maps open. */
void chi_dir_guard_lock_files(void);

/* ---- Reading ----------------------------------------------------------------------------- */

/*
 * Begins a snapshot: one committed state, however long it lives. Cheap: a renewed transaction
 * from a pool. Ended by chi_read_end. -CHI_EBUSY: all 1,024 reader slots of the store are taken;
 * each process keeps up to 64 of those it used, for its next reads.
 */
CHI_MUSTUSE int chi_read_begin(struct chi_dir *store, struct chi_read **out);
void chi_read_end(struct chi_read *read);

/* For a snapshot that outlives a call: -CHI_EFORK in a child of the process that began it. */
CHI_MUSTUSE int chi_read_check(const struct chi_read *read);

/* From here to chi_read_end, or the next call, rows and records of the snapshot have only these
 * evaluations, which also what filters of games ask of them goes by; NULL: all. Must stay as it is
 * for so long. A scan goes by its own filter's. */
void chi_read_see(struct chi_read *read, const struct chi_evidence *evidence);

/* The number of the committed state that the snapshot shows; two snapshots with the same number
 * show the same. */
uint64_t chi_read_sequence(const struct chi_read *read);

/* As chi_dir_info, of the state that the snapshot shows; sizes of files are those of now. */
CHI_MUSTUSE int chi_read_info(struct chi_read *read, struct chi_info *out);

/*
 * Statistic, counts and the deepest evaluation of one position: fills all of `row`. CHI_NONE if it
 * is not stored (row->found is false then), -CHI_ECORRUPT if its record is damaged. Allocates
 * nothing.
 */
CHI_MUSTUSE int chi_read_row(struct chi_read *read, const struct chi_key *key, struct chi_row *row);

/* The same for `n` keys; rows[i] answers keys[i]. Stops at the first failure. In a large store
 * several times faster than one by one: their waits for memory overlap, best from 32 keys on. */
CHI_MUSTUSE int chi_read_rows(struct chi_read *read, const struct chi_key *keys, size_t n,
			      struct chi_row *rows);

/* The whole record, in memory of `arena`; it outlives the snapshot. CHI_NONE, -CHI_ECORRUPT,
 * -CHI_ENOMEM. */
CHI_MUSTUSE int chi_read_record(struct chi_read *read, const struct chi_key *key,
				struct chi_arena *arena, struct chi_record *record);

/* The same for `n` keys, looked up together as in chi_read_rows; found[i]: whether records[i]
 * is there. On failure *done says how many were read before. */
CHI_MUSTUSE int chi_read_records(struct chi_read *read, const struct chi_key *keys, size_t n,
				 struct chi_arena *arena, struct chi_record *records, bool *found,
				 size_t *done);

/*
 * What was played from a position, and where it led (types.h): CHI_OK also if the position is not
 * stored, as others may have led after it. The moves lie in memory of `arena`, names of openings
 * are static. A move whose position no key can hold has a child without a key (len 0). At most
 * CHI_MOVES_MAX moves are delivered.
 * -CHI_EKEY, -CHI_ECORRUPT (a damaged record, or one with a move that is not legal), -CHI_ENOMEM.
 */
CHI_MUSTUSE int chi_read_explore(struct chi_read *read, const struct chi_key *key,
				 struct chi_arena *arena, struct chi_explored *out,
				 struct chi_fault *fault);

/* What an exploration reads: the record of `key`, in memory of `arena`, zeroed if it is not stored,
 * its row, and the rows of the positions after it. */
struct chi_explore_reading {
	const struct chi_key *key;
	struct chi_arena *arena;
	struct chi_record *record; /* zeroed */
	struct chi_row *position;
	const struct chi_key *keys;
	size_t n;
	struct chi_row *rows;
};
typedef int chi_explore_read(void *context, const struct chi_explore_reading *reading,
			     struct chi_fault *fault);

/* The same as chi_read_explore of what `read` reads, wherever it is stored. */
CHI_MUSTUSE int chi_explore_by(chi_explore_read *read, void *context, const struct chi_key *key,
			       struct chi_arena *arena, struct chi_explored *out,
			       struct chi_fault *fault);

/* Up to `max` games with ids after `after` (CHI_GAME_ID_SIZE bytes, or NULL: from the first),
 * ascending. *n less than `max`: there are no more. -CHI_ECORRUPT. -CHI_EBUSY: the store was
 * opened, for reading, before another process brought it up to date, and has games since: it must
 * be opened again to read them. */
CHI_MUSTUSE int chi_read_game_ids(struct chi_read *read, const uint8_t *after,
				  struct chi_game_id *out, size_t max, size_t *n);

/* ---- Probing for engines ----------------------------------------------------------------- */

/*
 * Look-ups that are begun before their answers are needed. Each call takes a snapshot and ends it;
 * what is under way between calls holds none. If a commit came in between, a look-up begins again:
 * an answer is always of the newest state. Used by one thread at a time.
 */
struct chi_prefetch;

#define CHI_PREFETCH_MAX 64

/* `store` must outlive it. */
CHI_MUSTUSE int chi_prefetch_open(struct chi_dir *store, struct chi_prefetch **out);
void chi_prefetch_close(struct chi_prefetch *ahead);

/* Begins to look `n` keys up, each with a ticket. Of more than CHI_PREFETCH_MAX under way the
 * oldest are given up; of a longer list the first ones are begun, and the others' tickets are 0, as
 * all are on failure. */
CHI_MUSTUSE int chi_prefetch_ask(struct chi_prefetch *ahead, const struct chi_key *keys, size_t n,
				 uint64_t *tickets);

/* The answer, CHI_OK also if it is not stored. CHI_NONE: the ticket was taken or given up before.
 */
CHI_MUSTUSE int chi_prefetch_take(struct chi_prefetch *ahead, uint64_t ticket, struct chi_row *out);

/* Gives up all that is under way. Tickets are not given again. */
void chi_prefetch_drop(struct chi_prefetch *ahead);

/* The same, and goes on in another store. */
void chi_prefetch_move(struct chi_prefetch *ahead, struct chi_dir *store);

/* ---- Scanning ---------------------------------------------------------------------------- */

/* CHI_OK, or -CHI_EINVAL naming the field of a scan that came from outside. */
CHI_MUSTUSE int chi_scan_check(const struct chi_scan_spec *spec, struct chi_fault *fault);

/*
 * Opens an ordered walk over a snapshot; `read` must outlive it. -CHI_EINVAL names what is out
 * of range in the spec.
 */
CHI_MUSTUSE int chi_read_scan(struct chi_read *read, const struct chi_scan_spec *spec,
			      struct chi_scan **out, struct chi_fault *fault);
void chi_scan_free(struct chi_scan *scan);

/*
 * Before the first call: leaves out positions for which `wanted` says no. It is called with
 * well-shaped keys that have CHI_KEY_MAX readable bytes, by each of the threads that count. It says
 * no if the mask does not fit `masks`, and is then not called as a rule; NULL: it may want any.
 */
typedef bool chi_scan_wanted(const void *context, const uint8_t *key);
void chi_scan_sift(struct chi_scan *scan, chi_scan_wanted *wanted,
		   const struct chi_mask_wants *masks, const void *context);

/* So many of how many entries of the tree that it walks the scan has still to look at. */
uint64_t chi_scan_left(const struct chi_scan *scan, uint64_t *all);

/* The bytes that it takes. A sorted scan has its rows from one snapshot; once they are collected
 * that may end, and the records be read from another. */
size_t chi_scan_memory(const struct chi_scan *scan);
bool chi_scan_collected(const struct chi_scan *scan);
void chi_scan_attach(struct chi_scan *scan, struct chi_read *read);

/*
 * Fills up to `max` rows, having looked at up to `steps` entries (so that a filter that matches
 * nothing cannot hold a thread). CHI_OK: call again for more (*n may be 0); CHI_NONE: the scan
 * is over, rows[0..*n) are its last; negative: *n rows before the failure are good.
 */
CHI_MUSTUSE int chi_scan_rows(struct chi_scan *scan, struct chi_row *rows, size_t max,
			      uint64_t steps, size_t *n);

/*
 * One row with its whole record in memory of `arena`. CHI_OK: a row if *got, else call again;
 * CHI_NONE: over.
 */
CHI_MUSTUSE int chi_scan_record(struct chi_scan *scan, uint64_t steps, struct chi_arena *arena,
				struct chi_row *row, struct chi_record *record, bool *got);

/*
 * Adds to *count how many of the next `steps` entries match, or some more, up to the end of a page,
 * without building rows; limit and want are ignored. CHI_OK: call again; CHI_NONE: counted to the
 * end. Where the trees' sizes give the answer it comes at once. A spec without a cursor is counted
 * upwards by strength, regardless of its order: the count's place is that of such a spec.
 */
CHI_MUSTUSE int chi_scan_tally(struct chi_scan *scan, uint64_t steps, uint64_t *count);

/*
 * The same by up to `threads` threads, 1 to 64, this one included; others are started only if the
 * band is so large that it pays. They end before it returns, with every signal blocked that is not
 * a fault of theirs. With some steps it counts some ten thousand entries for each thread at least;
 * with UINT64_MAX all that is left. The scan has no place from then on.
 */
CHI_MUSTUSE int chi_scan_count_all(struct chi_scan *scan, unsigned threads, uint64_t steps,
				   uint64_t *count);

/* The walk's place: a scan of the same spec with this as `after`, on this snapshot or
 * another, continues exactly after it. Rows that the filter skipped before it do not come again. */
void chi_scan_where(const struct chi_scan *scan, struct chi_cursor *out);

/* A cursor as text and back: lower-case hex, at most CHI_CURSOR_TEXT_SIZE - 1. */
#define CHI_CURSOR_TEXT_SIZE 64
size_t chi_cursor_print(const struct chi_cursor *cursor, char out[CHI_CURSOR_TEXT_SIZE]);
CHI_MUSTUSE int chi_cursor_parse(const char *text, size_t len, struct chi_cursor *out);

/* ---- Writing ----------------------------------------------------------------------------- */

/*
 * Checks a put that came from outside against everything but the stored record: key, parts,
 * limits, UTF-8, legality of line, principal variations and moves, and that the statistic may be
 * given in a store of this kind. Needs no store: call it where the put enters, on any thread.
 * -CHI_EINVAL, -CHI_EKEY, -CHI_EMOVE, -CHI_ETOOBIG.
 */
CHI_MUSTUSE int chi_put_check(const struct chi_put_entry *put, enum chi_statistic statistic,
			      struct chi_fault *fault);

/* Begins the one write transaction. -CHI_EREADONLY, -CHI_EBUSY (another process writes and did
 * not finish in lock_wait_ms), -CHI_EFULL, -CHI_EIO. Threads of this process wait for each other.
 */
CHI_MUSTUSE int chi_write_begin(struct chi_dir *store, struct chi_write **out,
				struct chi_fault *fault);

/*
 * Applies a checked put. `result` counts what it did. Any failure is sticky: later calls return
 * it and the commit aborts; nothing of the transaction is stored, unless chi_write_rollback takes
 * the failed batch back. -CHI_ECORRUPT: the record that was to be changed is damaged; only
 * CHI_PUT_RESTORE replaces it. Damage of the strength tree shows when the changes that gathered are
 * made: by the commit, or a later put. -CHI_ETOOBIG: merging would exceed a limit of types.h.
 * -CHI_EINVAL: less is there than is to be subtracted.
 */
CHI_MUSTUSE int chi_write_put(struct chi_write *write, const struct chi_put_entry *put,
			      struct chi_put_result *result);

/* What the last put was refused for, where there is more to say than its status: a subtraction of
 * what is not there. Else "". Valid until the next put or the end. */
const char *chi_write_why(const struct chi_write *write);

/* Removes a position from both trees, also one whose record is damaged; CHI_NONE if it was not
 * stored (not sticky). Damage of the strength tree shows as for a put. */
CHI_MUSTUSE int chi_write_delete(struct chi_write *write, const struct chi_key *key);

/* Sets the base rates in the metadata; statistics stored before stay until chi_write_rescore. */
CHI_MUSTUSE int chi_write_base(struct chi_write *write, const struct chi_counts *base);

/* Counts a game in the store, or takes it out again (*out says what it was): the entry and the
 * totals alone, its positions are the caller's. CHI_NONE, not sticky: it is counted already, or
 * is not. -CHI_EINVAL (its result). */
CHI_MUSTUSE int chi_write_game_id(struct chi_write *write, const struct chi_game_id *game);
CHI_MUSTUSE int chi_write_remove_game_id(struct chi_write *write,
					 const uint8_t id[CHI_GAME_ID_SIZE],
					 struct chi_game_id *out);

/*
 * Marks the start of a batch inside the transaction: from here on changes are kept in memory, until
 * the next mark or the end. Costs memory in the size of the records changed. Returns the failure
 * that stuck before, and then marks nothing. -CHI_ENOMEM sticks, and takes the mark before along.
 */
CHI_MUSTUSE int chi_write_savepoint(struct chi_write *write);

/*
 * Takes back everything put, deleted and set since the last mark, and forgets the failure that
 * stuck since then: one refused batch takes no earlier one along. The mark stays. Fails, and the
 * transaction stays lost, if a tree could not be changed (-CHI_EIO, -CHI_EFULL, -CHI_ECORRUPT of
 * a page, -CHI_ENOMEM of LMDB), or if names were changed since; -CHI_EINVAL without a mark. What a
 * chi_put_result counted since the mark is the caller's to forget.
 */
CHI_MUSTUSE int chi_write_rollback(struct chi_write *write);

/* Commits and syncs: when it returns CHI_OK the transaction is durable. Frees `write` in every
 * case. -CHI_EFULL if the disk is full (reads and later, smaller writes go on). */
CHI_MUSTUSE int chi_write_commit(struct chi_write *write, struct chi_fault *fault);
void chi_write_abort(struct chi_write *write);

/*
 * Recomputes the statistic of every position and rebuilds the strength tree. The transaction must
 * have no savepoint. In an outcome or score store the base rates are set first, unless `base` gives
 * them: to the games counted in the store, or without any to the sum of the counts of all
 * positions. -CHI_EUNSUPPORTED in an external store. *changed counts the positions whose statistic
 * changed.
 */
CHI_MUSTUSE int chi_write_rescore(struct chi_write *write, const struct chi_counts *base,
				  uint64_t *changed, struct chi_fault *fault);

/* The same by another statistic, which the store has from then on. `store` must be the only handle
 * in this process, and none is to be opened meanwhile; -CHI_EBUSY also if another process has it
 * open. Those that open it meanwhile wait, and then get -CHI_EBUSY. -CHI_EINVAL: no statistic, or
 * performance where no games are kept. */
CHI_MUSTUSE int chi_dir_set_statistic(struct chi_dir *store, enum chi_statistic statistic,
				      const struct chi_counts *base, uint64_t *changed,
				      struct chi_fault *fault);

/* ---- Writing at most once ---------------------------------------------------------------- */

/* Writes of one client that are known again, and clients: of more than CHI_IDEMPOTENCY_CLIENTS all
 * but the last CHI_IDEMPOTENCY_CLIENTS_KEPT to write are forgotten. */
#define CHI_IDEMPOTENCY_WRITES	     64
#define CHI_IDEMPOTENCY_CLIENTS	     4096
#define CHI_IDEMPOTENCY_CLIENTS_KEPT 3584

/*
 * Before a marked write: CHI_OK, it was done already, in a transaction that is committed or in this
 * one, and *out says how it was answered; CHI_NONE, it was not, and is to be done and then noted.
 * -CHI_EFORGOTTEN: it may have been done, so it must not be; -CHI_EINVAL: another kind of write has
 * its number; -CHI_EIO and the like. Changes nothing, and no failure sticks.
 */
CHI_MUSTUSE int chi_write_known(struct chi_write *write,
				const struct chi_idempotency_key *idempotency_key,
				enum chi_idempotency_kind kind, struct chi_outcome *out,
				struct chi_fault *fault);

/*
 * Settles what became of a marked write: CHI_OK, it was done, and *out says how it was answered;
 * CHI_NONE, it was not, and from this transaction on it never will be. Else as chi_write_known;
 * a failure to note it sticks.
 */
CHI_MUSTUSE int chi_write_outcome(struct chi_write *write,
				  const struct chi_idempotency_key *idempotency_key,
				  struct chi_outcome *out, struct chi_fault *fault);

/* Notes a marked write that this transaction has done; both are committed together. A rollback
 * takes it back with the write. `idempotency_key` as the struct says. -CHI_ENOMEM, -CHI_EIO:
 * sticky. */
CHI_MUSTUSE int chi_write_note(struct chi_write *write,
			       const struct chi_idempotency_key *idempotency_key,
			       const struct chi_outcome *outcome);

/* ---- Whole-store work -------------------------------------------------------------------- */

/*
 * Reads everything: every page, both trees agree entry by entry, every record's checksum and
 * fields, every key decodes, every game, the order, the counts, a computed statistic equals the
 * stored one (control), no commit is lost. CHI_OK if sound, -CHI_ECORRUPT if not, other codes if it
 * could not be done. By plain reads of one committed state: no damage stops the process. Writers
 * may go on.
 */
CHI_MUSTUSE int chi_dir_verify(struct chi_dir *store, chi_verify_report *report, void *context,
			       struct chi_verify_result *result);

/*
 * The same by up to `threads` threads, this one included; 4 help at most. Others end before it
 * returns, and take 4 bytes of memory a game each. A store that they do not find sound is walked by
 * one thread then, which reports the same damage in the same order. -CHI_ECANCELED soon after *stop
 * is set, which may be NULL.
 */
CHI_MUSTUSE int chi_dir_verify_until(struct chi_dir *store, unsigned threads,
				     const atomic_bool *stop, chi_verify_report *report,
				     void *context, struct chi_verify_result *result);

struct chi_repair_positions {
	void *context;
	uint64_t n; /* about so many */
	/* The next one by ascending key, its record in memory of `arena`. CHI_NONE: there is none.
	 */
	int (*next)(void *context, struct chi_arena *arena, struct chi_key *key,
		    struct chi_record *record, struct chi_fault *fault);
};
typedef int chi_repair_relist(const char *dir, const struct chi_repair_positions *positions,
			      struct chi_fault *fault);
/*
 * Saves every intact record of the store in directory `from` into a new one at `to`, which must not
 * exist: by plain reads, so that no damage can stop it. `from` is not changed; its writer's place
 * is held meanwhile. `to` appears whole, or not at all. `statistic` says what the store holds if
 * its stamp is lost; 0: as the stamp says. Each damage is reported. CHI_OK: `to` is there; what was
 * lost is in `result`. -CHI_EINVAL (the statistic; `to` in `from`), -CHI_ENOSTORE (nothing of a
 * store can be read), -CHI_EVERSION, -CHI_EEXIST, -CHI_EBUSY (someone writes it), -CHI_EFULL,
 * -CHI_EIO, -CHI_EACCES, -CHI_ENOMEM.
 *
 * Of the archive's games, chunks that are damaged lose only their games, names that are lost get
 * others in their place. Positions come without their lists of games: `relist` stores them with
 * these, in the new store in directory `dir`, before that gets its name, and opens it by itself.
 * Failures of it are the repair's.
 */
CHI_MUSTUSE int chi_dir_repair(const char *from, const char *to, enum chi_statistic statistic,
			       chi_repair_relist *relist, chi_verify_report *report, void *context,
			       struct chi_repair_result *result, struct chi_fault *fault);

/* Writes a consistent copy of the data file, made under running writes, to a file or pipe.
 * -CHI_EBUSY: this thread has a write transaction open. */
CHI_MUSTUSE int chi_dir_copy(struct chi_dir *store, int fd, struct chi_fault *fault);

/*
 * Receives such a copy into a new store directory: begin makes a hidden directory beside `path`
 * and gives a descriptor to write the bytes to; finish checks the stamp, syncs and renames;
 * either of finish and abandon frees `copy`. `path` must not exist.
 *
 * With another kind than CHI_BACKUP_STORE it becomes a published copy: read by everyone, written by
 * no one, opened without locks. finish marks it, proves its pages, compacts it, verifies the result
 * as far as the kind says while it is synced, sets the modes 0755 and 0444 and renames it. A
 * published copy of an earlier state that has the name is replaced atomically; programs that have
 * it open keep it. -CHI_EEXIST: something else has the name; -CHI_ECORRUPT; -CHI_EUNSUPPORTED: the
 * file system cannot replace a directory at one moment.
 */
struct chi_copy;
CHI_MUSTUSE int chi_copy_begin(const char *path, enum chi_backup_kind kind, struct chi_copy **out,
			       int *fd, struct chi_fault *fault);
CHI_MUSTUSE int chi_copy_finish(struct chi_copy *copy, struct chi_fault *fault);
void chi_copy_abandon(struct chi_copy *copy);

/*
 * To be called before a compaction: LMDB compacts by what the pages say, and writes beyond its
 * memory where one is damaged. CHI_OK: the store is sound, as chi_dir_verify finds it, and so is
 * all that the program writes from then on; -CHI_ECORRUPT, with what to do about it. Entries are
 * not checked where pages are damaged already: only a disk that fails under the map may still kill
 * the process. A caller that had the store verified in another process passes the result to refuse,
 * with `why` as its beginning. -CHI_EBUSY, the only check of alone: another process has the store
 * open, all would be for nothing.
 */
CHI_MUSTUSE int chi_compact_alone(struct chi_dir *store, struct chi_fault *fault);
CHI_MUSTUSE int chi_check_compact(struct chi_dir *store, struct chi_fault *fault);
int chi_compact_refuse(const char *why, struct chi_fault *fault);

/*
 * Rewrites the data file of a sound store without its free pages, in two steps, so that a server
 * can go on reading during the first: prepare writes and syncs the compacted file beside the old
 * one and keeps writers out; swap closes the environment, renames, and opens it again; drop gives
 * up. No other process may have the store open, or it would go on reading the old file: -CHI_EBUSY,
 * of prepare, or of swap from one that opened it meanwhile, and nothing has changed. At swap no
 * read or scan may be open on the handle, either. swap and drop free `compaction`.
 */
struct chi_compaction;
CHI_MUSTUSE int chi_compact_prepare(struct chi_dir *store, struct chi_compaction **out,
				    struct chi_fault *fault);
CHI_MUSTUSE int chi_compact_swap(struct chi_compaction *compaction, uint64_t *bytes_before,
				 uint64_t *bytes_after, struct chi_fault *fault);
void chi_compact_drop(struct chi_compaction *compaction);
