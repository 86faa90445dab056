/* SPDX-License-Identifier: MIT */
/*
 * Imports, and the games that are counted. A game travels packed, in CHI_GAME_BYTES bytes:
 *
 *    0                              16       17       18          20
 *   +--------------------------------+--------+--------+-----------+
 *   | id                             | result | flags  | max_ply LE|     flags: bit 0 pruned
 *   +--------------------------------+--------+--------+-----------+
 */
#include "proto/operations.h"

#include <string.h>

#include "base/attr.h"
#include "base/wire.h"
#include "proto/rows.h"

#define REQ	    struct chi_request
#define RES	    struct chi_response
#define GAME_PRUNED 0x01u

/* ---- Games ------------------------------------------------------------------------------- */

uint8_t *chi_put_packed_game_ids(uint8_t *at, const struct chi_game_id *games, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct chi_game_id *game = &games[i];
		memcpy(at, game->id, CHI_GAME_ID_SIZE);
		at[CHI_GAME_ID_SIZE] = game->result;
		at[CHI_GAME_ID_SIZE + 1] = game->pruned ? GAME_PRUNED : 0;
		at[CHI_GAME_ID_SIZE + 2] = (uint8_t)game->max_ply;
		at[CHI_GAME_ID_SIZE + 3] = (uint8_t)(game->max_ply >> 8);
		at += CHI_GAME_BYTES;
	}
	return at;
}

/* NULL, or what is wrong. A flag of a later version could mean anything, so it is refused. */
static const char *game_read(const uint8_t *at, struct chi_game_id *out)
{
	uint8_t flags = at[CHI_GAME_ID_SIZE + 1];
	memcpy(out->id, at, CHI_GAME_ID_SIZE);
	out->result = at[CHI_GAME_ID_SIZE];
	out->pruned = (flags & GAME_PRUNED) != 0;
	out->max_ply =
		(uint16_t)(at[CHI_GAME_ID_SIZE + 2] | (unsigned)at[CHI_GAME_ID_SIZE + 3] << 8);
	if (out->result > CHI_RESULT_OTHER) {
		return "a game's result is not known";
	}
	return (flags & ~GAME_PRUNED) == 0 ? NULL : "a game's flag is not known";
}

static int packed_read(struct chi_unpacker *u, const uint8_t *bytes, size_t len, size_t max,
		       struct chi_game_id **out, size_t *n)
{
	*out = NULL;
	*n = len / CHI_GAME_BYTES;
	if (len % CHI_GAME_BYTES != 0) {
		return chi_flaw_set(u->flaw, -CHI_EINVAL, "not 20 bytes a game", "games");
	}
	if (*n > max) {
		return chi_flaw_set(u->flaw, -CHI_ETOOBIG, "too many", "games");
	}
	if (*n == 0) {
		return CHI_OK;
	}
	struct chi_game_id *games = chi_arena_array(u->arena, *n, sizeof(*games));
	if (games == NULL) {
		return chi_flaw_memory(u->flaw, u->arena, *n * sizeof(*games));
	}
	for (size_t i = 0; i < *n; i++) {
		const char *reason = game_read(bytes + i * CHI_GAME_BYTES, &games[i]);
		if (reason != NULL) {
			return chi_flaw_set(u->flaw, -CHI_EINVAL, reason, "games[%zu]", i);
		}
	}
	*out = games;
	return CHI_OK;
}

int chi_packed_games_read(struct chi_unpacker *u, const uint8_t *bytes, size_t len, size_t max,
			  const struct chi_game_id **out, size_t *n)
{
	struct chi_game_id *games = NULL;
	int rc = packed_read(u, bytes, len, max, &games, n);
	*out = games;
	return rc;
}

static const struct chi_member game_ids[] = {
	CHI_M_FLAGGED(1, CHI_FIXED, struct chi_game_ids_request, after, after_set, NULL),
	CHI_M_NUMBER(2, struct chi_game_ids_request, limit),
};
CHI_TABLE(chi_game_ids_request, game_ids, game_ids, NULL);

static size_t games_len(const void *from, size_t *noted)
{
	size_t n = ((const struct chi_game_id_list *)from)->n;
	(void)noted;
	return chi_bytes_len(1, n * CHI_GAME_BYTES) + chi_uint_len(2, n) +
	       chi_bytes_len(3, n * sizeof(uint32_t));
}

static uint8_t *put_game_ids(uint8_t *at, const void *from, size_t noted)
{
	const struct chi_game_id *games = ((const struct chi_game_id_list *)from)->games;
	size_t n = ((const struct chi_game_id_list *)from)->n;
	(void)noted;
	if (n == 0) {
		return at;
	}
	at = chi_put_packed_game_ids(chi_put_head(at, 1, n * CHI_GAME_BYTES), games, n);
	at = chi_put_head(chi_put_uint(at, 2, n), 3, n * sizeof(uint32_t));
	for (size_t i = 0; i < n; i++) {
		for (unsigned shift = 0; shift < 32; shift += 8) {
			*at++ = (uint8_t)(games[i].number >> shift);
		}
	}
	return at;
}

/* Of each game, if they are there: a server of an earlier version does not say them. */
static int numbers_read(struct chi_unpacker *u, const uint8_t *bytes, size_t len,
			struct chi_game_id *games, size_t n)
{
	struct chi_reader r = chi_reader_of(bytes, len);
	struct chi_field field;
	struct chi_field numbers = {0};
	while (chi_field_next(&r, &field)) {
		numbers = field.number == 3 ? field : numbers;
	}
	if (numbers.number == 0) {
		return CHI_OK;
	}
	if (numbers.len != n * sizeof(uint32_t)) {
		return chi_flaw_set(u->flaw, -CHI_EPROTO, "not a number for each game", "numbers");
	}
	r = chi_reader_of(numbers.bytes, numbers.len);
	for (size_t i = 0; i < n; i++) {
		games[i].number = (uint32_t)chi_read_le(&r, sizeof(uint32_t));
	}
	return CHI_OK;
}

static int games_read(struct chi_unpacker *u, const uint8_t *bytes, size_t len, void *to)
{
	struct chi_game_id_list *out = to;
	struct chi_field packed;
	struct chi_game_id *games = NULL;
	uint64_t count = chi_packed_of(bytes, len, &packed);
	int rc = packed_read(u, packed.bytes, packed.len, CHI_GAME_IDS_MAX, &games, &out->n);
	out->games = games;
	if (rc == CHI_OK && count != out->n) {
		return chi_flaw_set(u->flaw, -CHI_EPROTO, "not as many games as it says", "count");
	}
	return rc == CHI_OK ? numbers_read(u, bytes, len, games, out->n) : rc;
}

static const struct chi_member game_ids_result[] = {
	CHI_M_UNKEPT(1, CHI_GAME_IDS_MAX *CHI_GAME_BYTES, "more than 10000 games"),
	CHI_M_UNKEPT(2, 0, NULL),
	CHI_M_UNKEPT(3, sizeof(uint32_t) * CHI_GAME_IDS_MAX, "more than 10000 games"),
};
const struct chi_message chi_game_ids_result = {
	.descriptor = &chistore__v1__game_ids_result__descriptor,
	.members = game_ids_result,
	.n = CHI_COUNT(game_ids_result),
	.len = games_len,
	.put = put_game_ids,
	.read = games_read,
};

/* ---- Imports ----------------------------------------------------------------------------- */

static int check_import(struct chi_unpacker *u, void *out)
{
	const struct chi_request *request = out;
	return (unsigned)request->u.import.kind != 0
		       ? CHI_OK
		       : chi_flaw_set(u->flaw, -CHI_EINVAL, "missing", "kind");
}

static const struct chi_member import[] = {
	CHI_M_NUMBER(1, REQ, u.import.kind),
	CHI_M_NUMBER(2, REQ, u.import.max_ply),
	CHI_M_NUMBER(3, REQ, u.import.games_min),
	CHI_M(4, CHI_BOOL, REQ, u.import.strict),
	CHI_M(5, CHI_BOOL, REQ, u.import.skip_known),
	CHI_M(6, CHI_BOOL, REQ, u.import.count_twice),
	CHI_M(7, CHI_BOOL, REQ, u.import.verbose),
	CHI_M_TEXT(8, REQ, u.import.filter, CHI_FILTER_MAX),
	CHI_M(9, CHI_BOOL, REQ, u.import.evals),
	CHI_M(10, CHI_BOOL, REQ, u.import.bare),
	CHI_M(11, CHI_CHARS, REQ, u.import.source),
	CHI_M_NUMBER(12, REQ, u.import.format),
	CHI_M(13, CHI_CHARS, REQ, u.import.engine),
	CHI_M(14, CHI_BOOL, REQ, u.import.add),
	CHI_M(15, CHI_BOOL, REQ, u.import.unplayed),
};
CHI_TABLE(chi_import_request, import, import, check_import);

/* The data is not copied: it may be all that a frame holds. */
static const struct chi_member import_data[] = {
	CHI_M_MOST(1, CHI_TEXT, REQ, u.import_data.file, CHI_IMPORT_FILE_MAX),
	CHI_M_SLICE(2, REQ, u.import_data.bytes, u.import_data.len),
};
CHI_TABLE(chi_import_data_request, import_data, import_data, NULL);

static const struct chi_member note[] = {
	CHI_M_ALWAYS_MOST(1, CHI_STRING, struct chi_import_note, file, CHI_IMPORT_FILE_MAX),
	CHI_M_NUMBER(2, struct chi_import_note, game),
	CHI_M_NUMBER(3, struct chi_import_note, line),
	CHI_M_ALWAYS_MOST(4, CHI_STRING, struct chi_import_note, text, CHI_NOTE_TEXT_MAX),
};
static CHI_TABLE(note_message, game_note, note, NULL);

/* What it is at is printed on terminals. */
static int check_phase(struct chi_unpacker *u, void *out)
{
	const struct chi_response *response = out;
	const char *phase = response->u.import.phase;
	while (phase != NULL && *phase >= 0x20 && *phase < 0x7f) {
		phase++;
	}
	return phase == NULL || *phase == '\0'
		       ? CHI_OK
		       : chi_flaw_set(u->flaw, -CHI_EPROTO, "not printable ASCII", "phase");
}

/* `r` is where a struct chi_import_result is in `s`, with its full stop. */
#define IMPORT_COUNTS(s, r)                                                                        \
	CHI_M_NUMBER(3, s, r games), CHI_M_NUMBER(4, s, r taken), CHI_M_NUMBER(5, s, r known),     \
		CHI_M_NUMBER(6, s, r skipped), CHI_M_NUMBER(7, s, r empty),                        \
		CHI_M_NUMBER(8, s, r cut), CHI_M_NUMBER(9, s, r plies),                            \
		CHI_M_NUMBER(10, s, r dropped),                                                    \
		CHI_M_NESTED(11, s, r positions, CHI_IF_SET, &chi_put_counts_message)
#define IMPORT_MORE_COUNTS(s, r)                                                                   \
	CHI_M_NUMBER(15, s, r conflicts), CHI_M_NUMBER(16, s, r filtered),                         \
		CHI_M_NUMBER(17, s, r evaluations)

static const struct chi_member import_counts[] = {
	CHI_M_UNKEPT(1, 0, NULL),
	CHI_M_UNKEPT_MESSAGE(2, CHI_IMPORT_NOTES_MAX, NULL, &note_message),
	IMPORT_COUNTS(struct chi_import_result, ),
	CHI_M_UNKEPT(12, CHI_IMPORT_PHASE_MAX, NULL),
	CHI_M_UNKEPT(13, 0, NULL),
	CHI_M_UNKEPT(14, 0, NULL),
	IMPORT_MORE_COUNTS(struct chi_import_result, ),
};
CHI_TABLE(chi_import_counts_message, import_result, import_counts, NULL);

static const struct chi_member import_result[] = {
	CHI_M_NUMBER(1, RES, u.import.credit),
	CHI_M_ROWS(2, RES, u.import.notes, u.import.n_notes, &note_message, CHI_IMPORT_NOTES_MAX),
	IMPORT_COUNTS(RES, u.import.result.),
	CHI_M_MOST(12, CHI_STRING, RES, u.import.phase, CHI_IMPORT_PHASE_MAX),
	CHI_M_NUMBER(13, RES, u.import.done),
	CHI_M_NUMBER(14, RES, u.import.total),
	IMPORT_MORE_COUNTS(RES, u.import.result.),
};
CHI_TABLE(chi_import_result, import_result, import_result, check_phase);
