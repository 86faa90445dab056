/* SPDX-License-Identifier: MIT */
/* Requests that are refused say why: the field by its path, the id, the operation. */
#include <string.h>

#include "base/num.h"
#include "tests/base/cases.h"
#include "tests/proto/wire.h"

#define BUDGET ((size_t)1 << 20)

static const char *field_of(const struct chi_request *request, struct chi_arena *arena, int *status)
{
	struct chi_request again;
	const char *field = NULL;
	*status = wire_request(request, arena, &again, &field);
	/* Even so the answer knows whom it is for. */
	assert_int_equal(again.id, request->id);
	assert_int_equal(again.op, request->op);
	return field;
}

/* Four sound entries; one field of the last is then spoilt. */
struct four {
	struct chi_put_entry entries[4];
	struct chi_move_stat moves[2];
	struct chi_eval evals[2];
	chi_move line[3];
	struct chi_ply_stat plies[2];
	struct chi_request request;
	struct chi_put_request asked;
};

static void four_init(struct four *f)
{
	struct chi_key kings = {9, {8, 0, 0, 0, 0, 0, 0, 8, 0x2a}};
	memset(f, 0, sizeof(*f));
	for (size_t i = 0; i < 4; i++) {
		f->entries[i].key = kings;
	}
	for (size_t i = 0; i < 2; i++) {
		f->moves[i].move = (chi_move)(100 + i);
		f->plies[i] = (struct chi_ply_stat){(uint16_t)(9 + i), 1};
		f->evals[i].engine = i == 0 ? "a" : "b";
		f->evals[i].engine_len = 1;
		f->evals[i].pv = f->line;
		f->evals[i].n_pv = 3;
		f->line[i] = f->line[i + 1] = 7;
	}
	struct chi_record *record = &f->entries[3].record;
	f->entries[3].parts = CHI_PUT_RESTORE;
	record->counts.other = 2;
	record->moves = f->moves;
	record->n_moves = 2;
	record->evals = f->evals;
	record->n_evals = 2;
	record->line = f->line;
	record->n_line = 3;
	record->plies = f->plies;
	record->n_plies = 2;
	record->note = "good";
	record->n_note = 4;
	f->request.id = 77;
	f->request.op = CHI_OP_PUT;
	f->asked = (struct chi_put_request){.entries = f->entries, .n = 4};
	f->request.body = &f->asked;
}

/* The entry that was spoilt is refused for this field. */
static void is_named(struct four *f, const char *field, int status)
{
	_cleanup_(chi_arena_deinit) struct chi_arena arena;
	int found = 0;
	chi_arena_init(&arena, BUDGET);
	const char *named = field_of(&f->request, &arena, &found);
	if (found != status || strcmp(named, field) != 0) {
		fail_msg("'%s' and %d instead of '%s' and %d", named, found, field, status);
	}
	four_init(f);
}

CASE(what_is_wrong_is_named)
{
	static const chi_move wrong_moves[2] = {7, 0x5000};
	struct four f;
	struct chi_put_entry *entry = &f.entries[3];
	struct chi_eval *eval = &f.evals[1];
	four_init(&f);
#define SPOILT(what, field, status) (what, is_named(&f, field, status))
	SPOILT((void)0, "", CHI_OK);
	SPOILT(entry->key.bytes[0] = 0x18, "put.entries[3].key", -CHI_EKEY);
	SPOILT(entry->key.len = 0, "put.entries[3].key", -CHI_EINVAL);
#define PARTS "put.entries[3].parts"
	SPOILT(entry->parts = CHI_PUT_DROP_EVALS << 1, PARTS, -CHI_EINVAL);
	SPOILT(entry->parts = CHI_PUT_RESTORE | CHI_PUT_NOTE, PARTS, -CHI_EINVAL);
	SPOILT(entry->parts = CHI_PUT_ADD | CHI_PUT_MOVES, PARTS, -CHI_EINVAL);
	SPOILT(entry->parts = CHI_PUT_SUBTRACT | CHI_PUT_NOTE, PARTS, -CHI_EINVAL);
#define RECORD "put.entries[3].record."
	SPOILT(f.plies[1].ply = CHI_PLY_MAX + 1, RECORD "plies[1].ply", -CHI_EINVAL);
	SPOILT(f.plies[1].ply = 9, RECORD "plies[1].ply", -CHI_EINVAL);
	SPOILT(f.plies[1].games = 0, RECORD "plies[1].games", -CHI_EINVAL);
	SPOILT(entry->record.chi2 = CHI_CHI2_MAX + 1, RECORD "chi2", -CHI_EINVAL);
	SPOILT(f.moves[1].move = 0x5000, RECORD "moves[1].move", -CHI_EINVAL);
	SPOILT(f.moves[1].move = 100, RECORD "moves[1].move", -CHI_EINVAL);
	SPOILT(eval->engine_len = 0, RECORD "evals[1].engine", -CHI_EINVAL);
	SPOILT(eval->engine = "a", RECORD "evals[1].engine", -CHI_EINVAL);
	SPOILT(eval->engine = "\n", RECORD "evals[1].engine", -CHI_EINVAL);
	SPOILT(eval->depth = 65536, RECORD "evals[1].depth", -CHI_EINVAL);
	SPOILT(eval->score = -CHI_SCORE_MAX - 1, RECORD "evals[1].centipawns", -CHI_EINVAL);
	SPOILT((eval->is_mate = true, eval->score = CHI_MATE_MAX + 1), RECORD "evals[1].mate",
	       -CHI_EINVAL);
	SPOILT((eval->pv = wrong_moves, eval->n_pv = 2), RECORD "evals[1].pv[1]", -CHI_EINVAL);
	SPOILT((entry->record.line = wrong_moves, entry->record.n_line = 2), RECORD "line[1]",
	       -CHI_EINVAL);
	SPOILT((entry->record.note = "ab\xff", entry->record.n_note = 3), RECORD "note",
	       -CHI_EINVAL);
	SPOILT((entry->record.note = "a\0b", entry->record.n_note = 3), RECORD "note", -CHI_EINVAL);
	SPOILT(f.request.id = 0, "id", -CHI_EINVAL);
	SPOILT((f.request.store = (struct chi_text){"../x", 4}), "store", -CHI_EINVAL);
}

static const struct {
	const char *hex;
	int status;
	uint64_t id;
	enum chi_op op;
	const char *field;
} odd_table[] = {
	/* A sound ping; with a number longer than needed; with unknown fields. */
	{"08018a0100", CHI_OK, 1, CHI_OP_PING, ""},
	{"0881008a0100", CHI_OK, 1, CHI_OP_PING, ""},
	{"08018a01027801a006019a0600", CHI_OK, 1, CHI_OP_PING, ""},
	/* No operation, and one of a later version. */
	{"0801", CHI_OK, 1, CHI_OP_UNKNOWN, ""},
	{"0801c23e00", CHI_OK, 1, CHI_OP_UNKNOWN, ""},
	/* Two operations; the same twice; a sub-message twice; a score twice. */
	{"08018a01008a0100", -CHI_EINVAL, 1, CHI_OP_PING, "ping"},
	{"08018a0100920100", -CHI_EINVAL, 1, CHI_OP_PING, "info"},
	{"0801f20104"
	 "0a000a00",
	 -CHI_EINVAL, 1, CHI_OP_RESCORE, "rescore.base_rates"},
	{"0801aa010c"
	 "120a"
	 "2208"
	 "2206"
	 "0a0161"
	 "1802"
	 "2002",
	 -CHI_EPROTO, 1, CHI_OP_PUT, "put.entries[0].record.evals[0]"},
	{"0801aa010d"
	 "120b"
	 "2209"
	 "2207"
	 "0a0161"
	 "1802"
	 "2002",
	 -CHI_EINVAL, 1, CHI_OP_PUT, "put.entries[0].record.evals[0].mate"},
	/* Another type; an unknown enumerator; a number over 32 bits. */
	{"0801"
	 "8801"
	 "00",
	 -CHI_EINVAL, 1, CHI_OP_PING, "ping"},
	{"0801ba0102"
	 "2002",
	 -CHI_EINVAL, 1, CHI_OP_SCAN, "scan.order"},
	{"0801ba0106"
	 "088080808010",
	 -CHI_EINVAL, 1, CHI_OP_SCAN, "scan.chi2_min"},
	{"0801ba0104"
	 "08bfc801",
	 -CHI_EINVAL, 1, CHI_OP_SCAN, ""},
	/* Cut: the id is known all the same. A field 0, a group, an endless number. */
	{"080a8a0105", -CHI_EPROTO, 10, CHI_OP_UNKNOWN, ""},
	{"080a0000", -CHI_EPROTO, 10, CHI_OP_UNKNOWN, ""},
	{"080a8b01", -CHI_EPROTO, 10, CHI_OP_UNKNOWN, ""},
	{"08ffffffffffffffffffff01", -CHI_EPROTO, 0, CHI_OP_UNKNOWN, ""},
	/* Explore without a position, and with two; an import of no kind and of an unknown
	 * one; games after half an id; half a game, a game with an unknown flag. */
	{"0801fa0100", -CHI_EINVAL, 1, CHI_OP_EXPLORE, "explore.key"},
	{"0801fa010e"
	 "0a0908000000000000082a"
	 "120161",
	 -CHI_EINVAL, 1, CHI_OP_EXPLORE, "explore.fen"},
	{"0801820200", -CHI_EINVAL, 1, CHI_OP_IMPORT, "import_games.kind"},
	{"080182020208"
	 "06",
	 -CHI_EINVAL, 1, CHI_OP_IMPORT, "import_games.kind"},
	{"08019a02040a020102", -CHI_EINVAL, 1, CHI_OP_GAME_IDS, "games.after"},
	{"0801aa0104"
	 "22020102",
	 -CHI_EINVAL, 1, CHI_OP_PUT, "put.games"},
	{"0801aa0116"
	 "2214"
	 "000102030405060708090a0b0c0d0e0f"
	 "00020000",
	 -CHI_EINVAL, 1, CHI_OP_PUT, "put.games[0]"},
	/* Keys: cut short, a wrong length. */
	{"08019a0104"
	 "0a0209aa",
	 -CHI_EKEY, 1, CHI_OP_PROBE, "probe.keys[0]"},
	{"08019a0105"
	 "0a03020102",
	 -CHI_EKEY, 1, CHI_OP_PROBE, "probe.keys[0]"},
};

/* Bytes that no packing of ours makes. */
CASE(odd_messages)
{
	for (size_t i = 0; i < CHI_COUNT(odd_table); i++) {
		_cleanup_(chi_arena_deinit) struct chi_arena arena;
		uint8_t bytes[64];
		struct chi_request request;
		struct chi_fault fault = {""};
		const char *field = NULL;
		size_t len = strlen(odd_table[i].hex) / 2;
		chi_arena_init(&arena, BUDGET);
		assert_int_equal(chi_hex_parse(odd_table[i].hex, 2 * len, bytes), CHI_OK);
		int rc = chi_request_unpack(bytes, len, &arena, &request, &field, &fault);
		if (rc != odd_table[i].status || request.id != odd_table[i].id ||
		    request.op != odd_table[i].op ||
		    (odd_table[i].field[0] != '\0' && strcmp(field, odd_table[i].field) != 0)) {
			fail_msg("%s: %d id %d op %s field %s (%s)", odd_table[i].hex, rc,
				 (int)request.id, chi_op_name(request.op), field, fault.text);
		}
	}
}
