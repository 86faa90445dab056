/* SPDX-License-Identifier: MIT */
/*
 * A store says what it is before anything else in it is believed. Features come in three sets as
 * in ext4, so that a later version can add to the format without locking out programs that need
 * not know.
 */
#include "store/record/meta.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "base/fault.h"
#include "base/record.h"
#include "base/wire.h"
#include "chess/statistic.h"
#include "store/record/codec.h"
#include "store/lmdb_err.h"

static const char magic[8] = {'c', 'h', 'i', 's', 't', 'o', 'r', 'e'};
static const char stamp_key[] = "stamp";
static const char state_key[] = "state";

#define BYTE_ORDER_MARK UINT32_C(0x01020304)

#define KEY_LAYOUT     1
#define RECORD_LAYOUT  1
#define STRENGTH_ORDER 1

/* The bits this program knows. */
#define KNOWN_INCOMPATIBLE  UINT64_C(0)
#define KNOWN_RO_COMPATIBLE CHI_FEATURE_PUBLISHED

/* Where the fields begin that the first look needs. */
#define VERSION_AT    8
#define BYTE_ORDER_AT 12
#define LAYOUT_AT     17
#define CHECKSUM_SIZE 8

int chi_statistic_allowed(enum chi_statistic statistic, enum chi_keep keep, struct chi_fault *fault)
{
	if (chi_statistic_name((int)statistic) == NULL) {
		return chi_fail(fault, -CHI_EINVAL, "unknown statistic %d", (int)statistic);
	}
	if (statistic == CHI_STATISTIC_PERFORMANCE && keep != CHI_KEEP_GAMES) {
		return chi_fail(fault, -CHI_EINVAL,
				"the performance statistic is computed from games: a store that "
				"only counts them cannot have it");
	}
	return CHI_OK;
}

int chi_stamp_new(enum chi_statistic statistic, enum chi_keep keep, struct chi_stamp *out)
{
	*out = (struct chi_stamp){
		.major = CHI_FORMAT_MAJOR,
		.minor = CHI_FORMAT_MINOR,
		.statistic = statistic,
		.keep = keep,
		.created = (uint64_t)time(NULL),
	};
	if (getrandom(out->uuid, sizeof(out->uuid), 0) != (ssize_t)sizeof(out->uuid)) {
		return -CHI_EIO;
	}
	/* Version 4 (random), variant 1 of RFC 4122. */
	out->uuid[6] = (uint8_t)((out->uuid[6] & 0x0f) | 0x40);
	out->uuid[8] = (uint8_t)((out->uuid[8] & 0x3f) | 0x80);
	(void)snprintf(out->creator, sizeof(out->creator), "chistore %s", CHISTORE_VERSION);
	return CHI_OK;
}

static void write_checksum(struct chi_writer *w, const char *key, const uint8_t *start)
{
	size_t len = (size_t)(w->at - start);
	chi_write_le(w, chi_checksum((const uint8_t *)key, strlen(key), start, len), CHECKSUM_SIZE);
}

/* The checksum is the value's last eight bytes, so that later versions can add fields before it. */
static bool checksum_ok(const char *key, const uint8_t *bytes, size_t len)
{
	struct chi_reader r = chi_reader_of(bytes + len - CHECKSUM_SIZE, CHECKSUM_SIZE);
	return chi_read_le(&r, CHECKSUM_SIZE) ==
	       chi_checksum((const uint8_t *)key, strlen(key), bytes, len - CHECKSUM_SIZE);
}

void chi_stamp_encode(const struct chi_stamp *stamp, uint8_t out[CHI_STAMP_SIZE])
{
	struct chi_writer w = chi_writer_of(out, CHI_STAMP_SIZE);
	const uint32_t mark = BYTE_ORDER_MARK;
	const uint8_t zero[2] = {0};
	chi_write_bytes(&w, magic, sizeof(magic));
	chi_write_le(&w, stamp->major, 2);
	chi_write_le(&w, stamp->minor, 2);
	/* The one field in the machine's own order, as LMDB's pages are. */
	chi_write_bytes(&w, &mark, sizeof(mark));
	chi_write_u8(&w, sizeof(size_t));
	chi_write_u8(&w, KEY_LAYOUT);
	chi_write_u8(&w, RECORD_LAYOUT);
	chi_write_u8(&w, STRENGTH_ORDER);
	chi_write_u8(&w, (uint8_t)stamp->statistic);
	chi_write_u8(&w, (uint8_t)stamp->keep);
	chi_write_bytes(&w, zero, sizeof(zero));
	chi_write_le(&w, stamp->incompatible, 8);
	chi_write_le(&w, stamp->ro_compatible, 8);
	chi_write_le(&w, stamp->compatible, 8);
	chi_write_bytes(&w, stamp->uuid, sizeof(stamp->uuid));
	chi_write_le(&w, stamp->created, 8);
	chi_write_bytes(&w, stamp->creator, sizeof(stamp->creator));
	write_checksum(&w, stamp_key, out);
}

/* What must hold before the rest of the stamp means anything. */
static int check_version(const uint8_t *bytes, size_t len, struct chi_fault *fault)
{
	if (len < sizeof(magic) || memcmp(bytes, magic, sizeof(magic)) != 0) {
		return chi_fail(fault, -CHI_ENOSTORE,
				"an LMDB environment, but not a Chistore store");
	}
	if (len < CHI_STAMP_SIZE) {
		return chi_fail(fault, -CHI_ECORRUPT, "the stamp is cut short");
	}
	uint32_t mark;
	memcpy(&mark, bytes + BYTE_ORDER_AT, sizeof(mark));
	unsigned major = (unsigned)bytes[VERSION_AT] | (unsigned)bytes[VERSION_AT + 1] << 8;
	if (major < CHI_FORMAT_MAJOR) {
		return chi_fail(fault, -CHI_EVERSION,
				"the store has format %u, this program reads format %d: dump with "
				"the old version, load with this one",
				major, CHI_FORMAT_MAJOR);
	}
	if (major != CHI_FORMAT_MAJOR) {
		return chi_fail(fault, -CHI_EVERSION,
				"the store has format %u, this program reads format %d", major,
				CHI_FORMAT_MAJOR);
	}
	if (!checksum_ok(stamp_key, bytes, len)) {
		return chi_fail(fault, -CHI_ECORRUPT, "the stamp's checksum is wrong");
	}
	if (mark != BYTE_ORDER_MARK || bytes[16] != sizeof(size_t)) {
		return chi_fail(fault, -CHI_EVERSION,
				"the store was made on a machine of another byte order or word "
				"size; move it with dump and load");
	}
	/* Others come with a new major version only: docs/COMPATIBILITY.md. */
	const uint8_t *layout = bytes + LAYOUT_AT;
	if (layout[0] != KEY_LAYOUT || layout[1] != RECORD_LAYOUT || layout[2] != STRENGTH_ORDER) {
		return chi_fail(fault, -CHI_EVERSION,
				"the store has layouts %u, %u, %u; this program reads 1, 1, 1",
				layout[0], layout[1], layout[2]);
	}
	return CHI_OK;
}

/* As ext4 does it: what must be known to read, what must be known to write, and the rest. */
static int check_features(const struct chi_stamp *stamp, bool readonly, struct chi_fault *fault)
{
	if ((stamp->incompatible & ~KNOWN_INCOMPATIBLE) != 0) {
		return chi_fail(fault, -CHI_EVERSION,
				"the store uses features this program does not know (%#llx)",
				(unsigned long long)stamp->incompatible);
	}
	if (!readonly && (stamp->ro_compatible & ~KNOWN_RO_COMPATIBLE) != 0) {
		return chi_fail(fault, -CHI_EVERSION,
				"the store has features (%#llx) with which this program can "
				"only read it",
				(unsigned long long)stamp->ro_compatible);
	}
	if (!readonly && (stamp->ro_compatible & CHI_FEATURE_PUBLISHED) != 0) {
		return chi_fail(
			fault, -CHI_EREADONLY,
			"a published copy, which is never written; a backup of it is a store");
	}
	if (chi_statistic_name((int)stamp->statistic) == NULL) {
		return chi_fail(fault, -CHI_EVERSION, "the store holds an unknown statistic (%d)",
				(int)stamp->statistic);
	}
	if (stamp->keep > CHI_KEEP_COUNTS) {
		return chi_fail(fault, -CHI_EVERSION, "the store keeps something unknown (%d)",
				(int)stamp->keep);
	}
	return CHI_OK;
}

int chi_stamp_decode(const uint8_t *bytes, size_t len, bool readonly, struct chi_stamp *out,
		     struct chi_fault *fault)
{
	int rc = check_version(bytes, len, fault);
	if (rc < 0) {
		return rc;
	}
	*out = (struct chi_stamp){.statistic = (enum chi_statistic)bytes[20],
				  .keep = (enum chi_keep)bytes[21]};
	struct chi_reader r = chi_reader_of(bytes + VERSION_AT, len - VERSION_AT);
	out->major = (uint16_t)chi_read_le(&r, 2);
	out->minor = (uint16_t)chi_read_le(&r, 2);
	(void)chi_read_bytes(&r, 12);
	out->incompatible = chi_read_le(&r, 8);
	out->ro_compatible = chi_read_le(&r, 8);
	out->compatible = chi_read_le(&r, 8);
	const uint8_t *uuid = chi_read_bytes(&r, sizeof(out->uuid));
	out->created = chi_read_le(&r, 8);
	const uint8_t *creator = chi_read_bytes(&r, sizeof(out->creator));
	if (r.bad || uuid == NULL || creator == NULL) {
		return chi_fail(fault, -CHI_ECORRUPT, "the stamp is cut short");
	}
	memcpy(out->uuid, uuid, sizeof(out->uuid));
	memcpy(out->creator, creator, sizeof(out->creator));
	out->creator[sizeof(out->creator) - 1] = '\0';
	return check_features(out, readonly, fault);
}

/* The members in their order. */
#define STATE_NUMBERS (sizeof(struct chi_store_state) / sizeof(uint64_t))
_Static_assert(CHI_STATE_SIZE == 8 * STATE_NUMBERS + CHECKSUM_SIZE, "it has nothing but numbers");

void chi_state_encode(const struct chi_store_state *state, uint8_t out[CHI_STATE_SIZE])
{
	struct chi_writer w = chi_writer_of(out, CHI_STATE_SIZE);
	uint64_t numbers[STATE_NUMBERS];
	memcpy(numbers, state, sizeof(numbers));
	for (size_t i = 0; i < STATE_NUMBERS; i++) {
		chi_write_le(&w, numbers[i], 8);
	}
	write_checksum(&w, state_key, out);
}

int chi_state_decode(const uint8_t *bytes, size_t len, struct chi_store_state *out)
{
	if (len < CHI_STATE_SIZE_LEAST || len % 8 != 0 || !checksum_ok(state_key, bytes, len)) {
		return -CHI_ECORRUPT;
	}
	struct chi_reader r = chi_reader_of(bytes, len - CHECKSUM_SIZE);
	uint64_t numbers[STATE_NUMBERS] = {0};
	for (size_t i = 0; i < STATE_NUMBERS && r.at < r.end; i++) {
		numbers[i] = chi_read_le(&r, 8);
	}
	memcpy(out, numbers, sizeof(*out));
	return CHI_OK;
}

static int put_value(MDB_txn *txn, MDB_dbi meta, const char *name, void *bytes, size_t len)
{
	MDB_val key = chi_val(name, strlen(name));
	MDB_val value = {len, bytes};
	return mdb_put(txn, meta, &key, &value, 0);
}

int chi_stamp_get(MDB_txn *txn, MDB_dbi meta, bool readonly, struct chi_stamp *out,
		  struct chi_fault *fault)
{
	MDB_val key = chi_val(stamp_key, strlen(stamp_key));
	MDB_val value;
	int rc = mdb_get(txn, meta, &key, &value);
	if (rc == MDB_NOTFOUND) {
		return chi_fail(fault, -CHI_ENOSTORE,
				"an LMDB environment, but not a Chistore store");
	}
	if (rc != 0) {
		return chi_lmdb_fault(fault, rc, "read", stamp_key);
	}
	return chi_stamp_decode(value.mv_data, value.mv_size, readonly, out, fault);
}

int chi_stamp_put(MDB_txn *txn, MDB_dbi meta, const struct chi_stamp *stamp)
{
	uint8_t bytes[CHI_STAMP_SIZE];
	chi_stamp_encode(stamp, bytes);
	return put_value(txn, meta, stamp_key, bytes, sizeof(bytes));
}

int chi_state_get(MDB_txn *txn, MDB_dbi meta, struct chi_store_state *out)
{
	MDB_val key = chi_val(state_key, strlen(state_key));
	MDB_val value;
	int rc = mdb_get(txn, meta, &key, &value);
	if (rc == MDB_NOTFOUND) {
		return -CHI_ECORRUPT;
	}
	return rc != 0 ? chi_lmdb_status(rc) : chi_state_decode(value.mv_data, value.mv_size, out);
}

int chi_state_put(MDB_txn *txn, MDB_dbi meta, const struct chi_store_state *state)
{
	uint8_t bytes[CHI_STATE_SIZE];
	struct chi_store_state own = *state;
	own.txn = mdb_txn_id(txn);
	chi_state_encode(&own, bytes);
	return put_value(txn, meta, state_key, bytes, sizeof(bytes));
}
