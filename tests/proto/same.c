/* SPDX-License-Identifier: MIT */
/* Whether two messages say the same, field by field: pointers differ, contents may not. */
#include "tests/proto/sample.h"
#include "proto/operations.h"

#include <string.h>

static bool same_bytes(const void *a, size_t a_len, const void *b, size_t b_len)
{
	return a_len == b_len && (a_len == 0 || memcmp(a, b, a_len) == 0);
}

bool same_text(struct chi_text a, struct chi_text b)
{
	return same_bytes(a.bytes, a.len, b.bytes, b.len);
}

/* Four numbers and no padding. */
bool same_counts(const struct chi_counts *a, const struct chi_counts *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

static bool same_base(const struct chi_counts *a, const struct chi_counts *b)
{
	return (a == NULL) == (b == NULL) && (a == NULL || same_counts(a, b));
}

bool same_key(const struct chi_key *a, const struct chi_key *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

static bool same_moves(const chi_move *a, size_t a_n, const chi_move *b, size_t b_n)
{
	return same_bytes(a, a_n * sizeof(*a), b, b_n * sizeof(*b));
}

static bool same_eval(const struct chi_eval *a, const struct chi_eval *b)
{
	return same_bytes(a->engine, a->engine_len, b->engine, b->engine_len) &&
	       a->depth == b->depth && a->is_mate == b->is_mate && a->score == b->score &&
	       a->nodes == b->nodes && a->date == b->date && a->rank == b->rank &&
	       same_moves(a->pv, a->n_pv, b->pv, b->n_pv);
}

static bool same_record(const struct chi_record *a, const struct chi_record *b)
{
	if (a->chi2 != b->chi2 || !same_counts(&a->counts, &b->counts) ||
	    a->n_moves != b->n_moves || a->n_evals != b->n_evals || a->n_plies != b->n_plies ||
	    !same_moves(a->line, a->n_line, b->line, b->n_line) ||
	    !same_bytes(a->note, a->n_note, b->note, b->n_note)) {
		return false;
	}
	for (size_t i = 0; i < a->n_moves; i++) {
		if (a->moves[i].move != b->moves[i].move ||
		    !same_counts(&a->moves[i].counts, &b->moves[i].counts)) {
			return false;
		}
	}
	for (size_t i = 0; i < a->n_plies; i++) {
		if (a->plies[i].ply != b->plies[i].ply || a->plies[i].games != b->plies[i].games) {
			return false;
		}
	}
	for (size_t i = 0; i < a->n_evals; i++) {
		if (!same_eval(&a->evals[i], &b->evals[i])) {
			return false;
		}
	}
	return true;
}

static bool same_games(const struct chi_game_id *a, size_t a_n, const struct chi_game_id *b,
		       size_t b_n)
{
	for (size_t i = 0; i < a_n && i < b_n; i++) {
		if (memcmp(a[i].id, b[i].id, sizeof(a[i].id)) != 0 || a[i].result != b[i].result ||
		    a[i].pruned != b[i].pruned || a[i].max_ply != b[i].max_ply) {
			return false;
		}
	}
	return a_n == b_n;
}

/* Only a server says them. */
static bool same_numbers(const struct chi_game_id *a, const struct chi_game_id *b, size_t n)
{
	bool same = true;
	for (size_t i = 0; same && i < n; i++) {
		same = a[i].number == b[i].number;
	}
	return same;
}

static bool same_cursor(const struct chi_cursor *a, const struct chi_cursor *b)
{
	return a->set == b->set && a->chi2 == b->chi2 && same_key(&a->key, &b->key);
}

static bool same_positions(const struct chi_positions *a, const struct chi_positions *b)
{
	if (a->n != b->n || a->n_fens != b->n_fens) {
		return false;
	}
	for (size_t i = 0; i < a->n; i++) {
		if (!same_key(&a->keys[i], &b->keys[i])) {
			return false;
		}
	}
	for (size_t i = 0; i < a->n_fens; i++) {
		if (!same_text(a->fens[i], b->fens[i])) {
			return false;
		}
	}
	return true;
}

static bool same_put(const struct chi_request *a, const struct chi_request *b)
{
	if (a->u.put.n != b->u.put.n || a->u.put.durability != b->u.put.durability ||
	    !same_base(a->u.put.base, b->u.put.base) ||
	    !same_games(a->u.put.games, a->u.put.n_games, b->u.put.games, b->u.put.n_games)) {
		return false;
	}
	for (size_t i = 0; i < a->u.put.n; i++) {
		const struct chi_put *x = &a->u.put.entries[i];
		const struct chi_put *y = &b->u.put.entries[i];
		struct chi_text none = {0};
		struct chi_text x_fen = a->u.put.fens != NULL ? a->u.put.fens[i] : none;
		struct chi_text y_fen = b->u.put.fens != NULL ? b->u.put.fens[i] : none;
		if (!same_key(&x->key, &y->key) || x->parts != y->parts ||
		    !same_text(x_fen, y_fen) || !same_record(&x->record, &y->record)) {
			return false;
		}
	}
	return true;
}

static bool same_range(const struct chi_range *x, const struct chi_range *y)
{
	return x->set == y->set && x->min == y->min && x->max == y->max;
}

static bool same_scan(const struct chi_request *a, const struct chi_request *b)
{
	const struct chi_scan_spec *x = &a->u.scan.spec;
	const struct chi_scan_spec *y = &b->u.scan.spec;
	return x->chi2_min == y->chi2_min && x->chi2_max == y->chi2_max &&
	       same_string(x->games, y->games) && x->descending == y->descending &&
	       x->order == y->order && x->want == y->want && x->limit == y->limit &&
	       same_cursor(&x->after, &y->after) &&
	       x->filter.has_material == y->filter.has_material &&
	       x->filter.either_colour == y->filter.either_colour &&
	       x->filter.pieces_min == y->filter.pieces_min &&
	       x->filter.pieces_max == y->filter.pieces_max && x->filter.side == y->filter.side &&
	       x->filter.games_min == y->filter.games_min && x->sort == y->sort &&
	       same_range(&x->filter.score, &y->filter.score) &&
	       same_range(&x->filter.eval, &y->filter.eval) &&
	       same_range(&x->filter.ply, &y->filter.ply) &&
	       x->filter.engines_min == y->filter.engines_min &&
	       same_text(a->u.scan.material, b->u.scan.material) &&
	       a->u.scan.window == b->u.scan.window;
}

/* Of the operations that have to do with games. */
static bool same_games_request(const struct chi_request *a, const struct chi_request *b)
{
	switch (a->op) {
	case CHI_OP_EXPLORE:
		return same_key(&a->u.explore.key, &b->u.explore.key) &&
		       same_text(a->u.explore.fen, b->u.explore.fen);
	case CHI_OP_IMPORT:
		return a->u.import.kind == b->u.import.kind &&
		       a->u.import.max_ply == b->u.import.max_ply &&
		       a->u.import.games_min == b->u.import.games_min &&
		       a->u.import.strict == b->u.import.strict &&
		       a->u.import.skip_known == b->u.import.skip_known &&
		       a->u.import.count_twice == b->u.import.count_twice &&
		       a->u.import.verbose == b->u.import.verbose &&
		       a->u.import.evals == b->u.import.evals &&
		       a->u.import.bare == b->u.import.bare &&
		       strcmp(a->u.import.source, b->u.import.source) == 0 &&
		       strcmp(a->u.import.engine, b->u.import.engine) == 0 &&
		       a->u.import.format == b->u.import.format &&
		       a->u.import.add == b->u.import.add &&
		       a->u.import.unplayed == b->u.import.unplayed &&
		       memcmp(&a->u.import.filter, &b->u.import.filter,
			      sizeof(a->u.import.filter)) == 0;
	case CHI_OP_IMPORT_DATA:
		return same_text(a->u.import_data.file, b->u.import_data.file) &&
		       same_bytes(a->u.import_data.bytes, a->u.import_data.len,
				  b->u.import_data.bytes, b->u.import_data.len);
	case CHI_OP_GAME_IDS:
		return a->u.games.after_set == b->u.games.after_set &&
		       memcmp(a->u.games.after, b->u.games.after, CHI_GAME_ID_SIZE) == 0 &&
		       a->u.games.limit == b->u.games.limit;
	default:
		return same_archive_request(a, b);
	}
}

static bool same_once(const struct chi_idempotency_key *a, const struct chi_idempotency_key *b)
{
	return memcmp(a->client, b->client, sizeof(a->client)) == 0 && a->since == b->since &&
	       a->sequence == b->sequence && a->unanswered == b->unanswered &&
	       memcmp(a->store, b->store, sizeof(a->store)) == 0;
}

bool same_request(const struct chi_request *a, const struct chi_request *b)
{
	if (a->id != b->id || a->op != b->op || !same_text(a->store, b->store) ||
	    !same_once(&a->idempotency_key, &b->idempotency_key)) {
		return false;
	}
	const struct chi_operation *operation = chi_operation_of(a->op);
	if (a->window != b->window) {
		return false;
	}
	if (operation->request_size > 0) {
		return same_message(operation->request, a->body, b->body);
	}
	switch (a->op) {
	case CHI_OP_HELLO:
		return a->u.hello.version == b->u.hello.version &&
		       same_text(a->u.hello.client, b->u.hello.client) &&
		       same_text(a->u.hello.access_token, b->u.hello.access_token);
	case CHI_OP_PROBE:
	case CHI_OP_GET:
		return same_positions(&a->u.positions, &b->u.positions);
	case CHI_OP_DELETE:
		return a->u.del.durability == b->u.del.durability &&
		       same_positions(&a->u.del.positions, &b->u.del.positions);
	case CHI_OP_PUT:
		return same_put(a, b);
	case CHI_OP_SCAN:
	case CHI_OP_COUNT:
		return same_scan(a, b);
	case CHI_OP_CREDIT:
		return a->u.credit.responses == b->u.credit.responses;
	case CHI_OP_BACKUP:
		return a->u.backup.window == b->u.backup.window;
	case CHI_OP_RESCORE:
		return same_base(a->u.rescore.base, b->u.rescore.base);
	default:
		return same_games_request(a, b);
	}
}

/* ---- Responses --------------------------------------------------------------------------- */

static bool same_rows(const struct chi_row *a, const struct chi_row *b, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!same_key(&a[i].key, &b[i].key) || a[i].found != b[i].found ||
		    a[i].chi2 != b[i].chi2 || a[i].has_eval != b[i].has_eval ||
		    a[i].is_mate != b[i].is_mate || a[i].depth != b[i].depth ||
		    a[i].score != b[i].score || a[i].best != b[i].best ||
		    a[i].best_source != b[i].best_source ||
		    !same_counts(&a[i].counts, &b[i].counts)) {
			return false;
		}
	}
	return true;
}

static bool same_entries(const struct chi_entry *a, const struct chi_entry *b, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!same_key(&a[i].key, &b[i].key) || a[i].found != b[i].found ||
		    !same_record(&a[i].record, &b[i].record)) {
			return false;
		}
	}
	return true;
}

static bool same_hello(const struct chi_response *a, const struct chi_response *b)
{
	if (a->u.hello.version != b->u.hello.version ||
	    !same_text(a->u.hello.server, b->u.hello.server) ||
	    memcmp(&a->u.hello.limits, &b->u.hello.limits, sizeof(a->u.hello.limits)) != 0 ||
	    a->u.hello.n_stores != b->u.hello.n_stores) {
		return false;
	}
	for (size_t i = 0; i < a->u.hello.n_stores; i++) {
		const struct chi_store_name *x = &a->u.hello.stores[i];
		const struct chi_store_name *y = &b->u.hello.stores[i];
		if (!same_text(x->name, y->name) || x->statistic != y->statistic ||
		    x->writable != y->writable || x->sequence != y->sequence ||
		    memcmp(x->uuid, y->uuid, sizeof(x->uuid)) != 0) {
			return false;
		}
	}
	return true;
}

static bool same_scan_result(const struct chi_response *a, const struct chi_response *b)
{
	if (a->u.scan.n != b->u.scan.n || a->u.scan.want != b->u.scan.want ||
	    a->u.scan.mixed != b->u.scan.mixed ||
	    !same_cursor(&a->u.scan.cursor, &b->u.scan.cursor)) {
		return false;
	}
	return a->u.scan.want == CHI_WANT_RECORDS
		       ? same_entries(a->u.scan.entries, b->u.scan.entries, a->u.scan.n)
		       : same_rows(a->u.scan.rows, b->u.scan.rows, a->u.scan.n);
}

static bool same_info(const struct chi_info *a, const struct chi_info *b)
{
	return memcmp(a->uuid, b->uuid, sizeof(a->uuid)) == 0 &&
	       strcmp(a->creator, b->creator) == 0 && a->format_major == b->format_major &&
	       a->format_minor == b->format_minor && a->statistic == b->statistic &&
	       a->created == b->created && a->sequence == b->sequence &&
	       a->positions == b->positions && a->known == b->known &&
	       same_counts(&a->base, &b->base) && same_counts(&a->games, &b->games) &&
	       a->file_bytes == b->file_bytes && a->used_bytes == b->used_bytes &&
	       a->position_bytes == b->position_bytes && a->strength_bytes == b->strength_bytes &&
	       a->blocks == b->blocks && a->block_bytes == b->block_bytes &&
	       a->map_bytes == b->map_bytes && a->readers == b->readers &&
	       a->readers_max == b->readers_max && a->oldest_reader == b->oldest_reader &&
	       a->read_only == b->read_only && a->keep == b->keep && a->last_game == b->last_game &&
	       a->archive_bytes == b->archive_bytes && a->postings_bytes == b->postings_bytes;
}

bool same_string(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

bool same_explore(const struct chi_explore *a, const struct chi_explore *b)
{
	if (!same_rows(&a->position, &b->position, 1) || a->min_ply != b->min_ply ||
	    !same_string(a->eco, b->eco) || !same_string(a->opening, b->opening) ||
	    a->n_moves != b->n_moves) {
		return false;
	}
	for (size_t i = 0; i < a->n_moves; i++) {
		const struct chi_explore_move *x = &a->moves[i];
		const struct chi_explore_move *y = &b->moves[i];
		if (x->move != y->move || !same_counts(&x->played, &y->played) ||
		    !same_rows(&x->child, &y->child, 1) || !same_string(x->eco, y->eco) ||
		    !same_string(x->opening, y->opening)) {
			return false;
		}
	}
	return true;
}

static bool same_import(const struct chi_response *a, const struct chi_response *b)
{
	if (a->u.import.credit != b->u.import.credit ||
	    a->u.import.n_notes != b->u.import.n_notes ||
	    !same_string(a->u.import.phase, b->u.import.phase) ||
	    a->u.import.done != b->u.import.done || a->u.import.total != b->u.import.total ||
	    memcmp(&a->u.import.result, &b->u.import.result, sizeof(a->u.import.result)) != 0) {
		return false;
	}
	for (size_t i = 0; i < a->u.import.n_notes; i++) {
		const struct chi_import_note *x = &a->u.import.notes[i];
		const struct chi_import_note *y = &b->u.import.notes[i];
		if (!same_string(x->file, y->file) || x->game != y->game || x->line != y->line ||
		    !same_string(x->text, y->text)) {
			return false;
		}
	}
	return true;
}

bool same_response(const struct chi_response *a, const struct chi_response *b)
{
	if (a->id != b->id || a->op != b->op || a->status != b->status || a->last != b->last ||
	    !same_text(a->message, b->message) || !same_text(a->field, b->field) ||
	    a->n_unknown != b->n_unknown) {
		return false;
	}
	for (size_t i = 0; i < a->n_unknown; i++) {
		if (!same_text(a->unknown[i], b->unknown[i])) {
			return false;
		}
	}
	if (chi_operation_of(a->op)->result_size > 0) {
		return same_message(chi_operation_of(a->op)->result, a->body, b->body);
	}
	switch (a->op) {
	case CHI_OP_HELLO:
		return same_hello(a, b);
	case CHI_OP_INFO:
		return same_info(&a->u.info, &b->u.info);
	case CHI_OP_PROBE:
		return a->u.probe.n == b->u.probe.n && a->u.probe.counts == b->u.probe.counts &&
		       same_rows(a->u.probe.rows, b->u.probe.rows, a->u.probe.n);
	case CHI_OP_GET:
		return a->u.get.n == b->u.get.n &&
		       same_entries(a->u.get.entries, b->u.get.entries, a->u.get.n);
	case CHI_OP_PUT:
		return memcmp(&a->u.outcome.put, &b->u.outcome.put, sizeof(a->u.outcome.put)) == 0;
	case CHI_OP_DELETE:
		return a->u.outcome.deleted == b->u.outcome.deleted;
	case CHI_OP_SCAN:
		return same_scan_result(a, b);
	case CHI_OP_COUNT:
		return a->u.count.count == b->u.count.count && a->u.count.mixed == b->u.count.mixed;
	case CHI_OP_BACKUP:
		return same_bytes(a->u.backup.data, a->u.backup.len, b->u.backup.data,
				  b->u.backup.len);
	case CHI_OP_VERIFY:
		return same_text(a->u.verify.report, b->u.verify.report) &&
		       memcmp(&a->u.verify.result, &b->u.verify.result,
			      sizeof(a->u.verify.result)) == 0;
	case CHI_OP_COMPACT:
		return a->u.outcome.before == b->u.outcome.before &&
		       a->u.outcome.after == b->u.outcome.after;
	case CHI_OP_RESCORE:
		return a->u.outcome.changed == b->u.outcome.changed;
	case CHI_OP_EXPLORE:
		return same_explore(&a->u.explore, &b->u.explore);
	case CHI_OP_IMPORT:
		return same_import(a, b);
	case CHI_OP_GAME_IDS:
		return same_games(a->u.games.games, a->u.games.n, b->u.games.games, b->u.games.n) &&
		       same_numbers(a->u.games.games, b->u.games.games, a->u.games.n);
	case CHI_OP_OUTCOME:
		return memcmp(&a->u.outcome, &b->u.outcome, sizeof(a->u.outcome)) == 0;
	default:
		return same_archive_response(a, b);
	}
}
