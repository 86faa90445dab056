/* SPDX-License-Identifier: MIT */
/*
 * Each operation's messages, described once for both directions (op_*.c): requests in a struct
 * chi_request and a struct chi_response, or in structs of their own.
 */
#pragma once

#include "proto/message.h"

struct chi_operation {
	const char *name;
	const struct chi_message *request;
	const struct chi_message *result; /* NULL: none */
	bool marked;			  /* a request may carry Once */
	/* Bytes of their own structs, `body` in request and response; 0: they are in the unions. */
	size_t request_size;
	size_t result_size;
};

/* Of CHI_OP_UNKNOWN for what is no operation; never NULL. */
const struct chi_operation *chi_operation_of(enum chi_op op);

/* op_admin.c */
extern const struct chi_message chi_empty_message;
extern const struct chi_message chi_hello_request;
extern const struct chi_message chi_hello_result;
extern const struct chi_message chi_info_result;
extern const struct chi_message chi_check_disk_result;
extern const struct chi_message chi_backup_result;
extern const struct chi_message chi_verify_result;
extern const struct chi_message chi_compact_result;

/* op_read.c */
extern const struct chi_message chi_positions_request;
extern const struct chi_message chi_probe_result;
extern const struct chi_message chi_get_result;
extern const struct chi_message chi_explore_request;
extern const struct chi_message chi_explore_result;

/* op_scan.c */
extern const struct chi_message chi_scan_request;
extern const struct chi_message chi_scan_result;
extern const struct chi_message chi_count_request;
extern const struct chi_message chi_count_result;
extern const struct chi_message chi_credit_request;

/* op_write.c */
extern const struct chi_message chi_put_request;
extern const struct chi_message chi_delete_request;
extern const struct chi_message chi_delete_result;
extern const struct chi_message chi_rescore_request;
extern const struct chi_message chi_rescore_result;
extern const struct chi_message chi_outcome_result;

/* op_import.c */
extern const struct chi_message chi_import_request;
extern const struct chi_message chi_import_result;
extern const struct chi_message chi_import_data_request;
extern const struct chi_message chi_game_ids_request;
extern const struct chi_message chi_game_ids_result;

/* op_games.c */
extern const struct chi_message chi_game_query_request;
extern const struct chi_message chi_game_query_result;
extern const struct chi_message chi_get_game_request;
extern const struct chi_message chi_get_game_result;
extern const struct chi_message chi_get_heads_request;
extern const struct chi_message chi_get_heads_result;
extern const struct chi_message chi_stats_request;
extern const struct chi_message chi_stats_result_message;
/* op_search.c */
extern const struct chi_message chi_names_request;
extern const struct chi_message chi_suspects_request;
extern const struct chi_message chi_names_result;
extern const struct chi_message chi_suspects_result;
extern const struct chi_message chi_change_names_request;
extern const struct chi_message chi_change_names_result;
extern const struct chi_message chi_names_counts_message;
extern const struct chi_message chi_gamesets_request;
extern const struct chi_message chi_gamesets_result;
extern const struct chi_message chi_make_gameset_request;
extern const struct chi_message chi_make_gameset_result;
extern const struct chi_message chi_drop_gameset_request;
extern const struct chi_message chi_drop_gameset_result;
extern const struct chi_message chi_queue_add_request;
extern const struct chi_message chi_queue_add_result;
extern const struct chi_message chi_queue_take_request;
extern const struct chi_message chi_queue_take_result;
extern const struct chi_message chi_queue_lease_message;
extern const struct chi_message chi_queue_settle_request;
extern const struct chi_message chi_queue_settle_result;
extern const struct chi_message chi_queue_list_request;
extern const struct chi_message chi_queue_list_result;
extern const struct chi_message chi_twins_request;
extern const struct chi_message chi_twins_result;
extern const struct chi_message chi_insight_request;
extern const struct chi_message chi_insight_result_message;

/* Parts of several: a struct chi_range, chi_counts, chi_put_result, chi_import_result, chi_cursor,
 * chi_idempotency_key, chi_entry; the keys of a chi_positions; a chi_text, of a FEN for one. */
extern const struct chi_message chi_range_message;
extern const struct chi_message chi_evidence_message;
extern const struct chi_message chi_counts_message;
extern const struct chi_message chi_put_counts_message;
extern const struct chi_message chi_import_counts_message;
extern const struct chi_message chi_cursor_message;
extern const struct chi_message chi_idempotency_message;
extern const struct chi_message chi_entry_message;
extern const struct chi_message chi_record_message;
extern const struct chi_message chi_named_record_message; /* for who checks what it names */
extern const struct chi_message chi_keys_message;
extern const struct chi_message chi_text_message;

/* Positions of a Probe, Get or Delete: fields 1 and 2 of all three. */
#define CHI_M_POSITIONS(s, m, limit, why)                                                          \
	CHI_M_NESTED(1, s, m, CHI_IF_SET, &chi_keys_message),                                      \
		CHI_M_ROWS_OF(2, s, m.fens, m.n_fens, &chi_text_message, limit, why)

/* When both are read: at most `max` in all, and room for the keys of the FENs. */
CHI_MUSTUSE int chi_positions_check(struct chi_unpacker *u, struct chi_positions *positions,
				    size_t max);

/* Packed games (PROTOCOL.md). All of the bytes, at most `max` games; flaws name "games". */
uint8_t *chi_put_packed_game_ids(uint8_t *at, const struct chi_game_id *games, size_t n);
CHI_MUSTUSE int chi_packed_games_read(struct chi_unpacker *u, const uint8_t *bytes, size_t len,
				      size_t max, const struct chi_game_id **out, size_t *n);

/* Numbers of 4 bytes, the low one first. -CHI_EPROTO: the bytes are cut short, which the caller
 * words. */
CHI_MUSTUSE int chi_numbers_unpack(struct chi_unpacker *u, const uint8_t *bytes, size_t len,
				   const uint32_t **out, size_t *n);

/* A key that may not be left out. */
CHI_MUSTUSE int chi_key_needed(struct chi_unpacker *u, const struct chi_key *key);

/* Exactly one of key and FEN; absent and empty are the same on this wire. */
CHI_MUSTUSE int chi_key_or_fen(struct chi_unpacker *u, size_t key_len, size_t fen_len);
