/* SPDX-License-Identifier: MIT */
/* The examples of PROTOCOL.md. Change both together; the test compares them. */
#include "tests/proto/examples.h"

#include "base/attr.h"
#include "proto/wire/frame.h"

#define TEXT(literal)                                                                              \
	{                                                                                          \
		(literal), sizeof(literal) - 1                                                     \
	}
#define START "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"

/* The initial position; after 1. e4; the kings on e1 and e8, White to move. */
#define KEY_START                                                                                  \
	{                                                                                          \
		24,                                                                                \
		{                                                                                  \
			0xff, 0xff, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0x73, 0x15, 0x21, 0x37,    \
				0x44, 0x44, 0x44, 0x44, 0xcc, 0xcc, 0xcc, 0xcc, 0xfb, 0x9d, 0xa9,  \
				0xbf                                                               \
		}                                                                                  \
	}
#define KEY_E4                                                                                     \
	{                                                                                          \
		24,                                                                                \
		{                                                                                  \
			0xff, 0xf7, 0x00, 0x08, 0x00, 0x00, 0xff, 0xff, 0x73, 0x15, 0x21, 0x37,    \
				0x44, 0x44, 0x44, 0x44, 0xcc, 0xcc, 0xcc, 0xcc, 0xfb, 0x9d, 0x09,  \
				0xbf                                                               \
		}                                                                                  \
	}
#define KEY_KINGS                                                                                  \
	{                                                                                          \
		9,                                                                                 \
		{                                                                                  \
			0x08, 0, 0, 0, 0, 0, 0, 0x08, 0x2a                                         \
		}                                                                                  \
	}
#define E2E4 ((12 << 6) | 28)
#define E7E5 ((52 << 6) | 36)
#define G1F3 ((6 << 6) | 21)

/* ---- Requests ---------------------------------------------------------------------------- */

static const struct chi_request hello_request = {
	.id = 1,
	.op = CHI_OP_HELLO,
	.u.hello = {.version = 1, .client = TEXT("example 1.0")},
};

static const struct chi_request ping_request = {.id = 2, .op = CHI_OP_PING};
static const struct chi_request info_request = {.id = 3, .op = CHI_OP_INFO};

/* One key, then one FEN. */
static struct chi_key probe_keys[2] = {KEY_KINGS};
static struct chi_text probe_fens[1] = {TEXT(START)};
static const struct chi_request probe_request = {
	.id = 4,
	.op = CHI_OP_PROBE,
	.body =
		&(const struct chi_positions){
			.keys = probe_keys, .n = 2, .fens = probe_fens, .n_fens = 1},
};

static struct chi_key get_keys[1]; /* to be filled from the FEN */
static const struct chi_request get_request = {
	.id = 5,
	.store = TEXT("masters"),
	.op = CHI_OP_GET,
	.body =
		&(const struct chi_positions){
			.keys = get_keys, .n = 1, .fens = probe_fens, .n_fens = 1},
};

static const chi_move example_line[] = {E2E4, E7E5, G1F3};
static const struct chi_move_stat example_moves[] = {
	{.move = E2E4, .counts = {.white = 2, .draws = 1}},
};
static const struct chi_eval example_evals[] = {
	{
		.engine = "Stockfish 15.1",
		.engine_len = 14,
		.depth = 20,
		.score = -33,
		.pv = example_line + 1,
		.n_pv = 2,
	},
};
static struct chi_put_entry put_entries[2] = {
	{
		.parts = CHI_PUT_COUNTS | CHI_PUT_MOVES | CHI_PUT_LINE | CHI_PUT_NOTE,
		.record =
			{
				.counts = {.white = 2, .draws = 1, .black = 1, .other = 1},
				.moves = example_moves,
				.n_moves = 1,
				.line = example_line,
				.n_line = 3,
				.note = "start",
				.n_note = 5,
			},
	},
	{
		.key = KEY_E4,
		.parts = CHI_PUT_EVALS,
		.record = {.evals = example_evals, .n_evals = 1},
	},
};
static struct chi_text put_fens[2] = {TEXT(START), {"", 0}};
static const struct chi_request put_request = {
	.id = 6,
	.op = CHI_OP_PUT,
	.body = &(const struct chi_put_request){.entries = put_entries, .fens = put_fens, .n = 2},
};

static struct chi_key kings_only[1] = {KEY_KINGS};
static const struct chi_request delete_request = {
	.id = 7,
	.op = CHI_OP_DELETE,
	.body = &(const struct chi_delete_request){.positions = {.keys = kings_only, .n = 1},
						   .durability = CHI_ASYNC},
};

/* The same, marked. */
static const struct chi_request once_request = {
	.id = 7,
	.op = CHI_OP_DELETE,
	.idempotency_key = {.client = {0, 17, 34, 51, 68, 85, 102, 119, 136, 153, 170, 187, 204,
				       221, 238, 255},
			    .since = 1200,
			    .sequence = 42,
			    .store = {0x6b, 0x1d, 0x3c, 0x5e, 0x0f, 0x2a, 0x4b, 0x77, 0x9c, 0x31,
				      0xd4, 0x58, 0xe2, 0x06, 0x9a, 0x1f},
			    .unanswered = 40},
	.body = &(const struct chi_delete_request){.positions = {.keys = kings_only, .n = 1}},
};

static const struct chi_request scan_request = {
	.id = 8,
	.op = CHI_OP_SCAN,
	.window = 4,
	.body =
		&(const struct chi_scan_request){
			.spec =
				{
					.chi2_min = 1000,
					.chi2_max = CHI_CHI2_MAX,
					.descending = true,
					.want = CHI_WANT_COUNTS,
					.limit = 100,
					.filter = {.either_colour = true,
						   .pieces_max = 4,
						   .side = CHI_SIDE_WHITE},
					.after = {.set = true, .chi2 = 1200, .key = KEY_KINGS},
				},
			.material = "KRvK",
		},
};

static const struct chi_request credit_request = {
	.id = 8,
	.op = CHI_OP_CREDIT,
	.u.credit.responses = 2,
};

static const struct chi_request cancel_request = {.id = 8, .op = CHI_OP_CANCEL};

static const struct chi_request count_request = {
	.id = 9,
	.op = CHI_OP_COUNT,
	.body =
		&(const struct chi_scan_request){
			.spec = {.chi2_min = 5000, .chi2_max = 7600, .filter.games_min = 10}},
};

static const struct chi_request backup_request = {
	.id = 10,
	.op = CHI_OP_BACKUP,
	.window = 16,
};

static const struct chi_request verify_request = {.id = 11, .op = CHI_OP_VERIFY};
static const struct chi_request compact_request = {.id = 12, .op = CHI_OP_COMPACT};

static const struct chi_counts example_base = {.white = 38, .draws = 34, .black = 28};
static const struct chi_request rescore_request = {
	.id = 13,
	.op = CHI_OP_RESCORE,
	.body = &(const struct chi_rescore_request){&example_base},
};

static const struct chi_request explore_request = {
	.id = 14,
	.op = CHI_OP_EXPLORE,
	.body = &(const struct chi_explore_request){.key = KEY_START},
};

static const struct chi_request import_request = {
	.id = 15,
	.op = CHI_OP_IMPORT,
	.u.import = {.kind = CHI_IMPORT_ADD, .max_ply = 60, .strict = true},
};

static const char import_text[] = "[Result \"1-0\"]\n\n1. e4 e5 1-0\n";
static const struct chi_request import_data_request = {
	.id = 15,
	.op = CHI_OP_IMPORT_DATA,
	.u.import_data =
		{
			.file = TEXT("a.pgn"),
			.bytes = (const uint8_t *)import_text,
			.len = sizeof(import_text) - 1,
		},
};

static const struct chi_request import_end_request = {.id = 15, .op = CHI_OP_IMPORT_END};

static const struct chi_request games_request = {
	.id = 16,
	.op = CHI_OP_GAME_IDS,
	.body =
		&(const struct chi_game_ids_request){
			.after_set = true,
			.after = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
			.limit = 100,
		},
};

/* ---- Responses --------------------------------------------------------------------------- */

static struct chi_store_name hello_stores[] = {
	{TEXT("default"),
	 CHI_STATISTIC_CONTROL,
	 true,
	 1200,
	 {0x6b, 0x1d, 0x3c, 0x5e, 0x0f, 0x2a, 0x4b, 0x77, 0x9c, 0x31, 0xd4, 0x58, 0xe2, 0x06, 0x9a,
	  0x1f}},
	{TEXT("masters"),
	 CHI_STATISTIC_OUTCOME,
	 false,
	 7,
	 {0x0b, 0x58, 0x73, 0x4e, 0x2c, 0x91, 0x4d, 0x06, 0x8a, 0x6f, 0x30, 0xc2, 0x75, 0xee, 0x14,
	  0xb9}},
};
static const struct chi_response hello_response = {
	.id = 1,
	.last = true,
	.op = CHI_OP_HELLO,
	.u.hello =
		{
			.version = 1,
			.server = TEXT("chistored 0.1.0"),
			.limits = {CHI_FRAME_REQUEST_MAX, CHI_FRAME_RESPONSE_MAX, CHI_PROBE_MAX,
				   CHI_PUT_MAX, CHI_IN_FLIGHT_MAX, CHI_SCAN_ROWS_MAX},
			.stores = hello_stores,
			.n_stores = 2,
		},
};

static const struct chi_response ping_response = {.id = 2, .last = true};

static const struct chi_response error_response = {
	.id = 6,
	.status = -CHI_EFEN,
	.message = TEXT("rank 8 has more than 8 squares"),
	.field = TEXT("put.entries[3].fen"),
	.last = true,
};

static const struct chi_response info_response = {
	.id = 3,
	.last = true,
	.op = CHI_OP_INFO,
	.body =
		&(const struct chi_info){
			.uuid = {0x6b, 0x1d, 0x3c, 0x5e, 0x0f, 0x2a, 0x4b, 0x77, 0x9c, 0x31, 0xd4,
				 0x58, 0xe2, 0x06, 0x9a, 0x1f},
			.format_major = 2,
			.statistic = CHI_STATISTIC_CONTROL,
			.created = 1700000000,
			.creator = "chistore 0.1.0",
			.sequence = 42,
			.positions = 4096,
			.known = 4090,
			.file_bytes = 1048576,
			.used_bytes = 999424,
			.position_bytes = 524288,
			.strength_bytes = 458752,
			.blocks = 450,
			.block_bytes = 850000,
			.map_bytes = (uint64_t)1 << 40,
			.readers = 3,
			.readers_max = 1024,
		},
};

static struct chi_row probe_rows[2] = {
	{.key = KEY_KINGS},
	{.key = KEY_START,
	 .found = true,
	 .chi2 = 7600,
	 .counts = {.white = 300, .draws = 250, .black = 200}},
};
static const struct chi_response probe_response = {
	.id = 4,
	.last = true,
	.op = CHI_OP_PROBE,
	.body = &(const struct chi_probed){.rows = probe_rows, .n = 2, .counts = true},
};

static struct chi_entry get_entries[1] = {
	{
		.key = KEY_START,
		.found = true,
		.record = {.chi2 = 7600,
			   .counts = {.white = 2, .draws = 1, .black = 1, .other = 1},
			   .moves = example_moves,
			   .n_moves = 1,
			   .note = "start",
			   .n_note = 5},
	},
};
static const struct chi_response get_response = {
	.id = 5,
	.last = true,
	.op = CHI_OP_GET,
	.body = &(const struct chi_got){.entries = get_entries, .n = 1},
};

static const struct chi_response put_response = {
	.id = 6,
	.last = true,
	.op = CHI_OP_PUT,
	.body = &(const struct chi_put_result){.added = 1, .updated = 1},
};

static const struct chi_response delete_response = {
	.id = 7,
	.last = true,
	.op = CHI_OP_DELETE,
	.body = &(const struct chi_affected){1},
};

static struct chi_row scan_rows[1] = {
	{.key = KEY_KINGS, .found = true, .chi2 = 1000, .counts = {.draws = 5}},
};
static const struct chi_response scan_response = {
	.id = 8,
	.op = CHI_OP_SCAN,
	.body =
		&(const struct chi_scan_page){
			.want = CHI_WANT_COUNTS,
			.rows = scan_rows,
			.n = 1,
			.cursor = {.set = true, .chi2 = 1000, .key = KEY_KINGS}},
};
static const struct chi_response scan_last_response = {
	.id = 8,
	.last = true,
	.op = CHI_OP_SCAN,
	.body =
		&(const struct chi_scan_page){
			.cursor = {.set = true, .chi2 = 1000, .key = KEY_KINGS}, .mixed = true},
};

static const struct chi_response cancel_response = {
	.id = 8,
	.status = -CHI_ECANCELED,
	.message = TEXT("canceled"),
	.last = true,
};

static const struct chi_response count_response = {
	.id = 9,
	.last = true,
	.op = CHI_OP_COUNT,
	.body = &(const struct chi_counted){.count = 1234567},
};

static const uint8_t backup_bytes[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0};
static const struct chi_response backup_response = {
	.id = 10,
	.op = CHI_OP_BACKUP,
	.body = &(const struct chi_whole_part){.data = backup_bytes, .len = sizeof(backup_bytes)},
};
static const struct chi_response backup_last_response = {
	.id = 10,
	.last = true,
	.op = CHI_OP_BACKUP,
	.body = &(const struct chi_whole_part){.len = 0},
};

static const struct chi_response verify_report_response = {
	.id = 11,
	.op = CHI_OP_VERIFY,
	.body =
		&(const struct chi_whole_part){
			.report = TEXT("record of '4k3/8/8/8/8/8/8/4K3 w - - 0 1': checksum")},
};
static const struct chi_response verify_response = {
	.id = 11,
	.status = -CHI_ECORRUPT,
	.message = TEXT("the store is damaged in 1 places"),
	.last = true,
	.op = CHI_OP_VERIFY,
	.body =
		&(const struct chi_whole_part){
			.result = {.positions = 4095, .known = 4090, .errors = 1}},
};

static const struct chi_response compact_response = {
	.id = 12,
	.last = true,
	.op = CHI_OP_COMPACT,
	.body = &(const struct chi_compacted){.before = 1048576, .after = 655360},
};

static const struct chi_response rescore_response = {
	.id = 13,
	.last = true,
	.op = CHI_OP_RESCORE,
	.body = &(const struct chi_affected){17},
};

static const struct chi_explore_move explore_moves[] = {
	{
		.move = E2E4,
		.played = {.white = 2, .draws = 1},
		.child = {.key = KEY_E4,
			  .found = true,
			  .chi2 = 7200,
			  .counts = {.white = 2, .draws = 1}},
		.eco = "B00",
		.opening = "King's Pawn Game",
	},
};
static const struct chi_response explore_response = {
	.id = 14,
	.last = true,
	.op = CHI_OP_EXPLORE,
	.body =
		&(const struct chi_explored){
			.position = {.key = KEY_START,
				     .found = true,
				     .chi2 = 7600,
				     .counts = {.white = 2, .draws = 1, .black = 1}},
			.min_ply = 0,
			.moves = explore_moves,
			.n_moves = 1,
		},
};

static const struct chi_response import_credit_response = {
	.id = 15,
	.op = CHI_OP_IMPORT,
	.u.import.credit = 4 << 20,
};

static const struct chi_import_note import_notes[] = {
	{.file = "a.pgn", .game = 7, .line = 93, .text = "no legal move 'Nf9', cut there"},
};
static const struct chi_response import_note_response = {
	.id = 15,
	.op = CHI_OP_IMPORT,
	.u.import = {.credit = 1 << 20, .notes = import_notes, .n_notes = 1},
};

static const struct chi_response import_progress_response = {
	.id = 15,
	.op = CHI_OP_IMPORT,
	.u.import = {.phase = "storing", .done = 1234, .total = 123456789},
};

static const struct chi_response import_response = {
	.id = 15,
	.last = true,
	.op = CHI_OP_IMPORT,
	.u.import.result =
		{
			.games = 10,
			.taken = 8,
			.known = 1,
			.empty = 1,
			.cut = 1,
			.plies = 612,
			.positions = {.added = 490, .updated = 12},
		},
};

static const struct chi_game_id example_games[] = {
	{.id = {0, 17, 34, 51, 68, 85, 102, 119, 136, 153, 170, 187, 204, 221, 238, 255},
	 .result = CHI_RESULT_DRAW,
	 .pruned = true,
	 .max_ply = 60,
	 .number = 7},
};
static const struct chi_response games_response = {
	.id = 16,
	.last = true,
	.op = CHI_OP_GAME_IDS,
	.body = &(const struct chi_game_id_list){.games = example_games, .n = 1},
};

/* Of the marked Delete. */
static const struct chi_request outcome_request = {
	.id = 18,
	.op = CHI_OP_OUTCOME,
	.idempotency_key = {.client = {0, 17, 34, 51, 68, 85, 102, 119, 136, 153, 170, 187, 204,
				       221, 238, 255},
			    .since = 1200,
			    .sequence = 42,
			    .store = {0x6b, 0x1d, 0x3c, 0x5e, 0x0f, 0x2a, 0x4b, 0x77, 0x9c, 0x31,
				      0xd4, 0x58, 0xe2, 0x06, 0x9a, 0x1f},
			    .unanswered = 40},
};
static const struct chi_response outcome_response = {
	.id = 18,
	.last = true,
	.op = CHI_OP_OUTCOME,
	.body = &(const struct chi_outcome){.kind = CHI_IDEMPOTENCY_DELETE, .deleted = 1},
};
static const struct chi_response outcome_running_response = {
	.id = 19,
	.last = true,
	.op = CHI_OP_OUTCOME,
	.body = &(const struct chi_outcome){.running = true},
};
static const struct chi_response outcome_never_response = {
	.id = 20,
	.last = true,
	.op = CHI_OP_OUTCOME,
	.body = &(const struct chi_outcome){.running = false},
};

const struct example examples[] = {
	{"hello-request", &hello_request, NULL},
	{"hello-response", NULL, &hello_response},
	{"error-response", NULL, &error_response},
	{"ping-request", &ping_request, NULL},
	{"ping-response", NULL, &ping_response},
	{"info-request", &info_request, NULL},
	{"info-response", NULL, &info_response},
	{"probe-request", &probe_request, NULL},
	{"probe-response", NULL, &probe_response},
	{"get-request", &get_request, NULL},
	{"get-response", NULL, &get_response},
	{"put-request", &put_request, NULL},
	{"put-response", NULL, &put_response},
	{"once-request", &once_request, NULL},
	{"outcome-request", &outcome_request, NULL},
	{"outcome-response", NULL, &outcome_response},
	{"outcome-running-response", NULL, &outcome_running_response},
	{"outcome-never-response", NULL, &outcome_never_response},
	{"delete-request", &delete_request, NULL},
	{"delete-response", NULL, &delete_response},
	{"scan-request", &scan_request, NULL},
	{"scan-response", NULL, &scan_response},
	{"scan-last-response", NULL, &scan_last_response},
	{"credit-request", &credit_request, NULL},
	{"cancel-request", &cancel_request, NULL},
	{"cancel-response", NULL, &cancel_response},
	{"count-request", &count_request, NULL},
	{"count-response", NULL, &count_response},
	{"backup-request", &backup_request, NULL},
	{"backup-response", NULL, &backup_response},
	{"backup-last-response", NULL, &backup_last_response},
	{"verify-request", &verify_request, NULL},
	{"verify-report-response", NULL, &verify_report_response},
	{"verify-response", NULL, &verify_response},
	{"compact-request", &compact_request, NULL},
	{"compact-response", NULL, &compact_response},
	{"rescore-request", &rescore_request, NULL},
	{"rescore-response", NULL, &rescore_response},
	{"explore-request", &explore_request, NULL},
	{"explore-response", NULL, &explore_response},
	{"import-request", &import_request, NULL},
	{"import-credit-response", NULL, &import_credit_response},
	{"import-data-request", &import_data_request, NULL},
	{"import-note-response", NULL, &import_note_response},
	{"import-progress-response", NULL, &import_progress_response},
	{"import-end-request", &import_end_request, NULL},
	{"import-response", NULL, &import_response},
	{"games-request", &games_request, NULL},
	{"games-response", NULL, &games_response},
	{"game-query-request", &example_game_query, NULL},
	{"game-query-response", NULL, &example_game_query_result},
	{"get-game-request", &example_get_game, NULL},
	{"get-game-response", NULL, &example_get_game_result},
	{"get-heads-request", &example_get_heads, NULL},
	{"get-heads-response", NULL, &example_get_heads_result},
	{"explore-games-request", &example_explore_games, NULL},
	{"stats-request", &example_stats, NULL},
	{"stats-response", NULL, &example_stats_result},
};
const size_t n_examples = CHI_COUNT(examples);
