/* SPDX-License-Identifier: MIT */
/* Making random messages. Numbers are chosen around the edges of a varint's lengths. */
#include "tests/proto/sample.h"
#include "proto/operations.h"

#include <string.h>

#include "base/attr.h"
#include "base/record.h"

size_t sample_below(struct sample *s, size_t bound)
{
	return seed_below(s->seed, bound);
}

bool sample_coin(struct sample *s)
{
	return sample_below(s, 2) != 0;
}

/* 0 often, and every number of bits. */
uint64_t sample_number(struct sample *s)
{
	unsigned bits = (unsigned)sample_below(s, 65);
	return bits == 0 ? 0 : seed_next(s->seed) >> (64 - bits);
}

void *sample_take(struct sample *s, size_t n, size_t size)
{
	void *array = chi_arena_array(s->arena, n, size);
	if (array == NULL) {
		abort();
	}
	return array;
}

struct chi_text sample_text(struct sample *s, size_t max)
{
	static const char *const letters[] = {
		"a", "Z", "0", "-", " ", "\xc3\xa4", "\xe2\x99\x9e", "\xf0\x9f\x8f\xb0"};
	char *bytes = sample_take(s, max + 1, 1);
	size_t len = 0, want = sample_below(s, max + 1);
	for (;;) {
		const char *letter = letters[sample_below(s, CHI_COUNT(letters))];
		if (len + strlen(letter) > want) {
			return (struct chi_text){.bytes = bytes, .len = len};
		}
		memcpy(bytes + len, letter, strlen(letter));
		len += strlen(letter);
	}
}

struct chi_counts sample_counts(struct sample *s)
{
	return (struct chi_counts){sample_number(s) >> 2, sample_number(s) >> 2,
				   sample_number(s) >> 2, sample_number(s) >> 2};
}

struct chi_key sample_key(struct sample *s)
{
	struct chi_key key = {0};
	size_t pieces = 1 + sample_below(s, 32);
	for (size_t placed = 0; placed < pieces;) {
		size_t square = sample_below(s, 64);
		uint8_t bit = (uint8_t)(0x80 >> (square % 8));
		placed += (key.bytes[square / 8] & bit) == 0;
		key.bytes[square / 8] |= bit;
	}
	key.len = (uint8_t)(8 + (pieces + 1) / 2);
	for (size_t i = 8; i < key.len; i++) {
		key.bytes[i] = (uint8_t)seed_next(s->seed);
	}
	if (pieces % 2 == 1) {
		key.bytes[key.len - 1] &= 0xf0;
	}
	return key;
}

chi_move sample_move(struct sample *s)
{
	chi_move move = (chi_move)(1 + sample_below(s, 0x4fff));
	return chi_move_possible(move) ? move : 1;
}

static const chi_move *moves(struct sample *s, size_t *n)
{
	*n = sample_below(s, 6);
	chi_move *list = sample_take(s, *n, sizeof(*list));
	for (size_t i = 0; i < *n; i++) {
		list[i] = sample_move(s);
	}
	return *n > 0 ? list : NULL;
}

static void move_stats(struct sample *s, struct chi_record *record)
{
	size_t n = sample_below(s, 4);
	struct chi_move_stat *stats = sample_take(s, n, sizeof(*stats));
	for (size_t i = 0; i < n; i++) {
		stats[i].move = (chi_move)(1 + i * 5000 + sample_below(s, 4000));
		stats[i].move ^= chi_move_possible(stats[i].move) ? 0 : 1;
		stats[i].counts = sample_counts(s);
	}
	record->moves = n > 0 ? stats : NULL;
	record->n_moves = n;
}

static void evals(struct sample *s, struct chi_record *record)
{
	static const char *const engines[] = {"A 1", "Fish \xc3\xa9", "b"};
	size_t n = sample_below(s, 4);
	struct chi_eval *list = sample_take(s, n, sizeof(*list));
	for (size_t i = 0; i < n; i++) {
		list[i].engine = engines[i];
		list[i].engine_len = strlen(engines[i]);
		list[i].depth = (uint32_t)sample_below(s, 65536);
		list[i].is_mate = sample_coin(s);
		int32_t max = list[i].is_mate ? CHI_MATE_MAX : CHI_SCORE_MAX;
		list[i].score = (int32_t)sample_below(s, 2 * (size_t)max + 1) - max;
		list[i].nodes = sample_number(s);
		list[i].date = sample_number(s);
		list[i].rank = (uint8_t)sample_below(s, CHI_RANK_MAX + 1);
		list[i].pv = moves(s, &list[i].n_pv);
	}
	record->evals = n > 0 ? list : NULL;
	record->n_evals = n;
}

static void plies(struct sample *s, struct chi_record *record)
{
	size_t n = 0;
	uint64_t left = record->counts.white;
	struct chi_ply_stat *stats = sample_take(s, 4, sizeof(*stats));
	for (; left > 0 && sample_below(s, 4 - n) != 0; n++) {
		stats[n].ply = (uint16_t)(n * 1024 + sample_below(s, n == 3 ? 1025 : 1024));
		stats[n].games = 1 + sample_number(s) % left;
		left -= stats[n].games;
	}
	record->plies = n > 0 ? stats : NULL;
	record->n_plies = n;
}

/* In any order, as far as these bytes go. */
const struct chi_game_id *sample_ids(struct sample *s, size_t n)
{
	struct chi_game_id *list = sample_take(s, n, sizeof(*list));
	for (size_t i = 0; i < n; i++) {
		const uint64_t id[2] = {seed_next(s->seed), seed_next(s->seed)};
		memcpy(list[i].id, id, sizeof(id));
		list[i].result = (uint8_t)sample_below(s, 4);
		list[i].pruned = sample_coin(s);
		list[i].max_ply = (uint16_t)seed_next(s->seed);
		list[i].number = (uint32_t)sample_number(s);
	}
	return n > 0 ? list : NULL;
}

struct chi_record sample_record(struct sample *s)
{
	struct chi_record record = {0};
	if (sample_below(s, 8) == 0) {
		return record;
	}
	record.chi2 = (uint16_t)sample_below(s, CHI_CHI2_MAX + 1);
	record.counts = sample_counts(s);
	move_stats(s, &record);
	plies(s, &record);
	evals(s, &record);
	record.line = moves(s, &record.n_line);
	struct chi_text note = sample_text(s, 40);
	record.note = note.bytes;
	record.n_note = note.len;
	return record;
}

static void positions(struct sample *s, struct chi_positions *out)
{
	out->n = sample_below(s, 9);
	out->n_fens = sample_below(s, out->n + 1);
	out->keys = sample_take(s, out->n, sizeof(*out->keys));
	out->fens = sample_take(s, out->n_fens, sizeof(*out->fens));
	for (size_t i = 0; i < out->n - out->n_fens; i++) {
		out->keys[i] = sample_key(s);
	}
	for (size_t i = 0; i < out->n_fens; i++) {
		out->fens[i] = sample_text(s, 30);
	}
}

static const struct chi_counts *base(struct sample *s)
{
	struct chi_counts *made = sample_take(s, 1, sizeof(*made));
	*made = sample_below(s, 4) == 0 ? (struct chi_counts){0} : sample_counts(s);
	return sample_coin(s) ? made : NULL;
}

static uint32_t put_parts(struct sample *s)
{
	switch (sample_below(s, 6)) {
	case 0:
		return CHI_PUT_RESTORE;
	case 5:
		return CHI_PUT_DROP_EVALS | CHI_PUT_NOTE;
	case 4:
		return CHI_PUT_SUBTRACT;
	case 1:
		return CHI_PUT_ADD | (uint32_t)(sample_below(s, 8) << 4);
	default:
		return (uint32_t)sample_below(s, 128) & ~(uint32_t)CHI_PUT_ADD;
	}
}

static void put(struct sample *s, struct chi_request *out)
{
	size_t n = sample_below(s, 5);
	out->u.put.n = n;
	out->u.put.durability = sample_coin(s) ? CHI_ASYNC : CHI_SYNC;
	out->u.put.entries = sample_take(s, n, sizeof(*out->u.put.entries));
	struct chi_text *fens = sample_take(s, n, sizeof(*fens));
	bool any_fen = false;
	for (size_t i = 0; i < n; i++) {
		struct chi_put *entry = &out->u.put.entries[i];
		fens[i] = sample_coin(s) ? sample_text(s, 30) : fens[i];
		if (fens[i].len == 0) {
			entry->key = sample_key(s);
		}
		any_fen |= fens[i].len > 0;
		entry->parts = put_parts(s);
		entry->record = sample_record(s);
		chi_record_name(&entry->record, entry->parts);
		entry->record.n_plies *= entry->record.counts.white > 0;
	}
	out->u.put.fens = any_fen ? fens : NULL;
	out->u.put.base = base(s);
	out->u.put.n_games = sample_below(s, 5);
	out->u.put.games = sample_ids(s, out->u.put.n_games);
}

static void cursor(struct sample *s, struct chi_cursor *out)
{
	if (sample_coin(s)) {
		*out = (struct chi_cursor){true, (uint16_t)sample_below(s, CHI_CHI2_MAX),
					   sample_key(s)};
	}
}

static void scan(struct sample *s, struct chi_request *out)
{
	struct chi_scan_spec *spec = &out->u.scan.spec;
	spec->chi2_max = (uint16_t)sample_below(s, CHI_CHI2_MAX + 1);
	spec->chi2_min = (uint16_t)sample_below(s, (size_t)spec->chi2_max + 1);
	if (sample_coin(s)) {
		out->u.scan.material = sample_text(s, 12);
		spec->filter.either_colour = sample_coin(s);
		spec->filter.eval = (struct chi_range){true, 0, (uint16_t)sample_below(s, 65536)};
		spec->filter.pieces_min = (uint8_t)sample_below(s, 33);
		spec->filter.side = (uint8_t)sample_below(s, 3);
		spec->filter.games_min = sample_number(s);
		spec->filter.engines_min = spec->filter.pieces_max = (uint8_t)sample_below(s, 33);
	}
	if (sample_coin(s)) {
		struct chi_text games = sample_text(s, 30);
		spec->games = games.len > 0 ? games.bytes : NULL;
	}
	if (out->op == CHI_OP_SCAN) {
		spec->descending = sample_coin(s);
		spec->order = spec->sort = (uint8_t)sample_below(s, 2);
		spec->want = (uint8_t)sample_below(s, 3);
		spec->limit = sample_number(s);
		cursor(s, &spec->after);
		out->u.scan.window = (uint32_t)sample_below(s, CHI_WINDOW_MAX + 1);
	}
}

void sample_request(struct sample *s, enum chi_op op, struct chi_request *out)
{
	memset(out, 0, sizeof(*out));
	out->id = 1 + sample_number(s) / 2;
	out->op = op;
	out->window = (uint32_t)sample_below(s, CHI_WINDOW_MAX + 1);
	out->made = sample_body(s, op, true);
	if (sample_coin(s)) {
		out->store = (struct chi_text){.bytes = "my_store.2-b", .len = 12};
	}
	bool marked = op == CHI_OP_PUT || op == CHI_OP_DELETE || op == CHI_OP_IMPORT_END ||
		      op == CHI_OP_OUTCOME || op == CHI_OP_CHANGE_NAMES ||
		      op == CHI_OP_MAKE_GAMESET || op == CHI_OP_DROP_GAMESET;
	if (marked && sample_coin(s)) {
		bool named = sample_coin(s);
		for (size_t i = 0; i < CHI_IDEMPOTENCY_CLIENT; i++) {
			out->idempotency_key.client[i] = (uint8_t)seed_next(s->seed);
			out->idempotency_key.store[i] = named ? (uint8_t)seed_next(s->seed) : 0;
		}
		uint64_t sequence = sample_number(s) / 2 + 1,
			 unanswered = 1 + sample_below(s, sequence % 1000 + 1);
		out->idempotency_key.since = sample_number(s);
		out->idempotency_key.sequence = sequence;
		out->idempotency_key.unanswered = unanswered < sequence ? unanswered : sequence;
	}
	switch (op) {
	case CHI_OP_HELLO:
		out->u.hello.version = (uint32_t)sample_number(s);
		out->u.hello.client = sample_text(s, CHI_CLIENT_NAME_MAX);
		out->u.hello.access_token = sample_text(s, CHI_ACCESS_TOKEN_MAX);
		break;
	case CHI_OP_PROBE:
	case CHI_OP_GET:
		positions(s, &out->u.positions);
		break;
	case CHI_OP_DELETE:
		positions(s, &out->u.del.positions);
		out->u.del.durability = sample_coin(s) ? CHI_ASYNC : CHI_SYNC;
		break;
	case CHI_OP_PUT:
		put(s, out);
		break;
	case CHI_OP_SCAN:
	case CHI_OP_COUNT:
		scan(s, out);
		break;
	case CHI_OP_CREDIT:
		out->u.credit.responses = (uint32_t)sample_below(s, CHI_WINDOW_MAX + 1);
		break;
	case CHI_OP_BACKUP:
		out->u.backup.window = (uint32_t)sample_below(s, CHI_WINDOW_MAX + 1);
		break;
	case CHI_OP_RESCORE:
		out->u.rescore.base = base(s);
		break;
	default:
		sample_games_request(s, out);
		break;
	}
}

/* ---- Responses --------------------------------------------------------------------------- */

struct chi_row *sample_rows(struct sample *s, size_t n, bool with_counts, bool all_found)
{
	struct chi_row *rows = sample_take(s, n, sizeof(*rows));
	for (size_t i = 0; i < n; i++) {
		rows[i].key = sample_key(s);
		rows[i].found = all_found || sample_coin(s);
		rows[i].chi2 = rows[i].found ? (uint16_t)sample_below(s, CHI_CHI2_MAX + 1) : 0;
		rows[i].counts =
			with_counts && rows[i].found ? sample_counts(s) : (struct chi_counts){0};
	}
	return rows;
}

static struct chi_entry *entries(struct sample *s, size_t n)
{
	struct chi_entry *list = sample_take(s, n, sizeof(*list));
	for (size_t i = 0; i < n; i++) {
		list[i].key = sample_key(s);
		list[i].found = sample_coin(s);
		if (list[i].found) {
			list[i].record = sample_record(s);
		}
	}
	return list;
}

static void hello_result(struct sample *s, struct chi_response *out)
{
	size_t n = sample_below(s, 4);
	out->u.hello.version = (uint32_t)sample_number(s);
	out->u.hello.server = sample_text(s, 20);
	out->u.hello.limits = (struct chi_hello_limits){
		(uint32_t)sample_number(s), (uint32_t)sample_number(s), (uint32_t)sample_number(s),
		(uint32_t)sample_number(s), (uint32_t)sample_number(s), (uint32_t)sample_number(s),
	};
	out->u.hello.n_stores = n;
	out->u.hello.stores = sample_take(s, n, sizeof(*out->u.hello.stores));
	for (size_t i = 0; i < n; i++) {
		out->u.hello.stores[i].name = sample_text(s, 10);
		out->u.hello.stores[i].statistic = 1 + sample_below(s, CHI_STATISTIC_MAX);
		out->u.hello.stores[i].writable = sample_coin(s);
		out->u.hello.stores[i].sequence = sample_number(s);
		for (size_t k = 0; k < CHI_IDEMPOTENCY_STORE; k++) {
			out->u.hello.stores[i].uuid[k] = (uint8_t)seed_next(s->seed);
		}
	}
}

static void info_result(struct sample *s, struct chi_info *out)
{
	for (size_t i = 0; i < sizeof(out->uuid); i++) {
		out->uuid[i] = (uint8_t)seed_next(s->seed);
	}
	strcpy(out->creator, sample_coin(s) ? "chistore 0.1.0, 31 bytes long.." : "");
	out->format_major = (uint16_t)sample_below(s, 65536);
	out->format_minor = (uint16_t)sample_below(s, 65536);
	out->statistic = (uint8_t)(1 + sample_below(s, CHI_STATISTIC_MAX));
	out->created = out->sequence = out->positions = sample_number(s);
	out->known = sample_number(s);
	out->base = sample_counts(s);
	out->games = sample_counts(s);
	out->file_bytes = out->position_bytes = sample_number(s);
	out->used_bytes = out->strength_bytes = sample_number(s);
	out->map_bytes = out->block_bytes = sample_number(s);
	out->readers = (uint32_t)sample_number(s);
	out->readers_max = (uint32_t)sample_number(s);
	out->oldest_reader = out->blocks = sample_number(s);
	out->read_only = (uint8_t)sample_below(s, 4);
	out->keep = (uint8_t)sample_below(s, 2);
	out->last_game = out->archive_bytes = out->postings_bytes = sample_number(s);
}

static void scan_result(struct sample *s, struct chi_response *out)
{
	out->u.scan.n = sample_below(s, 6);
	out->u.scan.want = out->u.scan.n > 0 ? (enum chi_want)sample_below(s, 3) : CHI_WANT_KEYS;
	if (out->u.scan.want == CHI_WANT_RECORDS) {
		out->u.scan.entries = entries(s, out->u.scan.n);
	} else {
		out->u.scan.rows =
			sample_rows(s, out->u.scan.n, out->u.scan.want == CHI_WANT_COUNTS, true);
	}
	cursor(s, &out->u.scan.cursor);
	out->u.scan.mixed = sample_coin(s);
}

static void verify_result(struct sample *s, struct chi_response *out)
{
	out->u.verify.report = sample_text(s, 50);
	out->u.verify.result.positions = sample_number(s);
	out->u.verify.result.known = sample_number(s);
	out->u.verify.result.errors = sample_number(s);
}

/* NULL or a text that is not empty. */
static const char *some_text(struct sample *s)
{
	struct chi_text some = sample_text(s, 12);
	return some.len > 0 ? some.bytes : NULL;
}

static struct chi_row a_row(struct sample *s)
{
	struct chi_row row = sample_rows(s, 1, true, false)[0];
	row.has_eval = row.found && sample_coin(s);
	row.is_mate = row.has_eval && sample_coin(s);
	row.depth = row.has_eval ? (uint16_t)sample_below(s, 65536) : 0;
	row.score = row.has_eval ? (int32_t)sample_below(s, 9999) - 4999 : 0;
	row.best = row.found && sample_coin(s) ? sample_move(s) : 0;
	row.best_source = row.best == 0 ? CHI_BEST_NONE : CHI_BEST_LINE;
	return row;
}

void sample_explore(struct sample *s, struct chi_explore *out)
{
	size_t n = sample_below(s, 5);
	struct chi_explore_move *list = sample_take(s, n, sizeof(*list));
	out->position = a_row(s);
	out->min_ply = (int32_t)sample_below(s, CHI_PLY_MAX + 2) - 1;
	out->eco = some_text(s);
	out->opening = some_text(s);
	for (size_t i = 0; i < n; i++) {
		list[i].move = sample_move(s);
		list[i].played = sample_counts(s);
		list[i].child = a_row(s);
		list[i].eco = some_text(s);
		list[i].opening = some_text(s);
	}
	out->moves = list;
	out->n_moves = n;
}

static struct chi_outcome any_outcome(struct sample *s)
{
	struct chi_outcome outcome;
	for (size_t i = 0; i < CHI_OUTCOME_COUNTS; i++) {
		outcome.counts[i] = sample_number(s);
	}
	return outcome;
}

/* Totals are there in the last one only. */
static void import_result(struct sample *s, struct chi_response *out)
{
	struct chi_import_note *notes = sample_take(s, 4, sizeof(*notes));
	for (size_t i = 0; i < 4; i++) {
		notes[i] = (struct chi_import_note){sample_text(s, 20).bytes, sample_number(s),
						    sample_number(s), sample_text(s, 40).bytes};
	}
	out->u.import.notes = notes;
	out->u.import.n_notes = sample_below(s, 4);
	out->u.import.credit = sample_number(s);
	out->u.import.phase = sample_below(s, 2) == 0 ? NULL : "sorting";
	out->u.import.done = sample_number(s);
	out->u.import.total = sample_number(s);
	out->u.import.result = any_outcome(s).import;
}

static void error_response(struct sample *s, struct chi_response *out)
{
	static const int statuses[] = {CHI_OK,	       CHI_NONE,	  -CHI_EINVAL,
				       -CHI_EFEN,      -CHI_EBUSY,	  -CHI_EREADONLY,
				       -CHI_EINTERNAL, -CHI_EUNSUPPORTED, -CHI_ENOMEM};
	out->op = CHI_OP_UNKNOWN;
	out->status = statuses[sample_below(s, CHI_COUNT(statuses))];
	out->message = sample_text(s, 30);
	out->field = sample_text(s, 30);
}

/* Of the others; those without a result of their own have an error. */
static void games_response(struct sample *s, struct chi_response *out)
{
	switch (out->op) {
	case CHI_OP_EXPLORE:
		sample_explore(s, &out->u.explore);
		break;
	case CHI_OP_IMPORT:
		import_result(s, out);
		break;
	case CHI_OP_GAME_IDS:
		out->u.games.n = sample_below(s, 5);
		out->u.games.games = sample_ids(s, out->u.games.n);
		break;
	case CHI_OP_OUTCOME:
		out->u.outcome.running = sample_coin(s);
		break;
	default:
		if (out->made == NULL && !sample_games_response(s, out)) {
			error_response(s, out);
		}
		break;
	}
}

static void unknown(struct sample *s, struct chi_response *out)
{
	out->n_unknown = sample_coin(s) ? 0 : sample_below(s, 3);
	out->unknown = sample_take(s, out->n_unknown, sizeof(*out->unknown));
	for (size_t i = 0; i < out->n_unknown; i++) {
		out->unknown[i] = sample_text(s, 20);
	}
}

void sample_response(struct sample *s, enum chi_op op, struct chi_response *out)
{
	memset(out, 0, sizeof(*out));
	out->id = sample_number(s);
	out->last = sample_coin(s);
	out->op = op;
	unknown(s, out);
	out->made = sample_body(s, op, false);
	switch (op) {
	case CHI_OP_HELLO:
		hello_result(s, out);
		break;
	case CHI_OP_INFO:
		info_result(s, &out->u.info);
		break;
	case CHI_OP_PROBE:
		out->u.probe.n = sample_below(s, 8);
		out->u.probe.rows = sample_rows(s, out->u.probe.n, true, false);
		for (size_t i = 0; i < out->u.probe.n; i++) {
			out->u.probe.counts |= out->u.probe.rows[i].found;
			sample_eval(s, &out->u.probe.rows[i]);
		}
		break;
	case CHI_OP_GET:
		out->u.get.n = sample_below(s, 6);
		out->u.get.entries = entries(s, out->u.get.n);
		break;
	case CHI_OP_PUT:
		out->u.outcome.put = any_outcome(s).put;
		break;
	case CHI_OP_DELETE:
		out->u.outcome.deleted = sample_number(s);
		break;
	case CHI_OP_SCAN:
		scan_result(s, out);
		break;
	case CHI_OP_COUNT:
		out->u.count.count = sample_number(s);
		out->u.count.mixed = sample_coin(s);
		break;
	case CHI_OP_BACKUP:
		out->u.backup.len = sample_below(s, 100);
		out->u.backup.data = (const uint8_t *)sample_text(s, 100).bytes;
		break;
	case CHI_OP_VERIFY:
		verify_result(s, out);
		break;
	case CHI_OP_COMPACT:
		out->u.outcome.before = sample_number(s);
		out->u.outcome.after = sample_number(s);
		break;
	case CHI_OP_RESCORE:
		out->u.outcome.changed = sample_number(s);
		break;
	default:
		games_response(s, out);
		break;
	}
}
