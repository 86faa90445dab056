/* SPDX-License-Identifier: MIT */
/* Greeting, state and upkeep: Hello, Info, Backup, Verify, Compact; and the empty messages. */
#include "proto/operations.h"

#define REQ  struct chi_request
#define RES  struct chi_response
#define INFO struct chi_info

const struct chi_message chi_empty_message = {.descriptor = &chistore__v1__ping__descriptor};

/* ---- Counts ------------------------------------------------------------------------------ */

static const struct chi_member counts[] = {
	CHI_M_NUMBER(1, struct chi_counts, white),
	CHI_M_NUMBER(2, struct chi_counts, draws),
	CHI_M_NUMBER(3, struct chi_counts, black),
	CHI_M_NUMBER(4, struct chi_counts, other),
};
CHI_TABLE(chi_counts_message, counts, counts, NULL);

/* ---- Hello ------------------------------------------------------------------------------- */

static const struct chi_member hello[] = {
	CHI_M_NUMBER(1, REQ, u.hello.version),
	CHI_M_MOST(2, CHI_TEXT, REQ, u.hello.client, CHI_CLIENT_NAME_MAX),
	CHI_M_MOST(3, CHI_TEXT, REQ, u.hello.access_token, CHI_ACCESS_TOKEN_MAX),
};
CHI_TABLE(chi_hello_request, hello, hello, NULL);

static const struct chi_member limits[] = {
	CHI_M_NUMBER(1, struct chi_hello_limits, request_bytes),
	CHI_M_NUMBER(2, struct chi_hello_limits, response_bytes),
	CHI_M_NUMBER(3, struct chi_hello_limits, probe_positions),
	CHI_M_NUMBER(4, struct chi_hello_limits, put_entries),
	CHI_M_NUMBER(5, struct chi_hello_limits, requests_in_flight),
	CHI_M_NUMBER(6, struct chi_hello_limits, scan_rows),
};
static CHI_TABLE(limits_message, limits, limits, NULL);

/* A statistic of a later version is nothing that this client could explain. */
static int check_statistic(struct chi_unpacker *u, unsigned statistic)
{
	return statistic >= CHI_STATISTIC_EXTERNAL
		       ? CHI_OK
		       : chi_flaw_set(u->flaw, -CHI_EPROTO, "unknown value", "statistic");
}

static int check_store(struct chi_unpacker *u, void *out)
{
	const struct chi_store_name *store = out;
	return check_statistic(u, store->statistic);
}

static const struct chi_member store[] = {
	CHI_M(1, CHI_TEXT, struct chi_store_name, name),
	CHI_M_UP_TO(2, struct chi_store_name, statistic, CHI_STATISTIC_MAX, "unknown value"),
	CHI_M(3, CHI_BOOL, struct chi_store_name, writable),
	CHI_M_NUMBER(4, struct chi_store_name, sequence),
	CHI_M(5, CHI_FIXED, struct chi_store_name, uuid),
};
static CHI_TABLE(store_message, store_name, store, check_store);

/* How many stores there may be is a matter of the frame's size alone. */
static const struct chi_member hello_result[] = {
	CHI_M_NUMBER(1, RES, u.hello.version),
	CHI_M(2, CHI_TEXT, RES, u.hello.server),
	CHI_M_NESTED(3, RES, u.hello.limits, CHI_ALWAYS, &limits_message),
	CHI_M_LIST(4, RES, u.hello.stores, u.hello.n_stores, &store_message),
};
CHI_TABLE(chi_hello_result, hello_result, hello_result, NULL);

/* ---- Info -------------------------------------------------------------------------------- */

static int check_info(struct chi_unpacker *u, void *out)
{
	const struct chi_info *info = out;
	return check_statistic(u, info->statistic);
}

/* What does not fit our struct is refused, not cut: an identity cut short is another one. Base
 * rates are sent also if all are 0: absent would say that the server does not know. */
static const struct chi_member info_result[] = {
	CHI_M_ALWAYS(1, CHI_FIXED, INFO, uuid),
	CHI_M_UP_TO(2, INFO, format_major, UINT16_MAX, "over 65535"),
	CHI_M_UP_TO(3, INFO, format_minor, UINT16_MAX, "over 65535"),
	CHI_M_UP_TO(4, INFO, statistic, CHI_STATISTIC_MAX, "unknown value"),
	CHI_M_NUMBER(5, INFO, created),
	CHI_M(6, CHI_CHARS, INFO, creator),
	CHI_M_NUMBER(7, INFO, sequence),
	CHI_M_NUMBER(8, INFO, positions),
	CHI_M_NUMBER(9, INFO, known),
	CHI_M_NESTED(10, INFO, base, CHI_ALWAYS, &chi_counts_message),
	CHI_M_NUMBER(11, INFO, file_bytes),
	CHI_M_NUMBER(12, INFO, used_bytes),
	CHI_M_NUMBER(13, INFO, map_bytes),
	CHI_M_NUMBER(14, INFO, readers),
	CHI_M_NUMBER(15, INFO, readers_max),
	CHI_M_NUMBER(16, INFO, oldest_reader),
	CHI_M_NESTED(17, INFO, games, CHI_ALWAYS, &chi_counts_message),
	/* Of a later version: read-only, for a reason that is not known here. */
	CHI_M_CAPPED(18, INFO, read_only, CHI_READ_ONLY_MEDIA, CHI_READ_ONLY_SERVER),
	CHI_M_NUMBER(19, INFO, position_bytes),
	CHI_M_NUMBER(20, INFO, strength_bytes),
	CHI_M_NUMBER(21, INFO, blocks),
	CHI_M_NUMBER(22, INFO, block_bytes),
	CHI_M_UP_TO(23, INFO, keep, CHI_KEEP_COUNTS, "unknown value"),
	CHI_M_NUMBER(24, INFO, last_game),
	CHI_M_NUMBER(25, INFO, archive_bytes),
	CHI_M_NUMBER(26, INFO, postings_bytes),
	CHI_M_NUMBER(27, INFO, traits_bytes),
	CHI_M(28, CHI_BOOL, INFO, partial),
	CHI_M_NUMBER(29, INFO, expected.games),
	CHI_M_NUMBER(30, INFO, expected.move),
	CHI_M_NUMBER(31, INFO, expected.scale),
	CHI_M_NUMBER(32, INFO, expected.spread),
};
CHI_TABLE(chi_info_result, info_result, info_result, check_info);

/* ---- Its disk ----------------------------------------------------------------------------- */

static const struct chi_member check_disk_result[] = {
	CHI_M(1, CHI_BOOL, struct chi_disk_check, direct),
};
CHI_TABLE(chi_check_disk_result, check_disk_result, check_disk_result, NULL);

/* ---- Upkeep ------------------------------------------------------------------------------ */

static const struct chi_member backup_result[] = {
	CHI_M_SLICE(1, struct chi_whole_part, data, len),
};
CHI_TABLE(chi_backup_result, backup_result, backup_result, NULL);

/* A report and the totals use the same message; which it is the receiver sees from `last`. */
static const struct chi_member verify_result[] = {
	CHI_M(1, CHI_TEXT, struct chi_whole_part, report),
	CHI_M_NUMBER(2, struct chi_whole_part, result.positions),
	CHI_M_NUMBER(3, struct chi_whole_part, result.known),
	CHI_M_NUMBER(4, struct chi_whole_part, result.errors),
};
CHI_TABLE(chi_verify_result, verify_result, verify_result, NULL);

static const struct chi_member compact_result[] = {
	CHI_M_NUMBER(1, struct chi_compacted, before),
	CHI_M_NUMBER(2, struct chi_compacted, after),
};
CHI_TABLE(chi_compact_result, compact_result, compact_result, NULL);
