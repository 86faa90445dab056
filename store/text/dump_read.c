/* SPDX-License-Identifier: MIT */
/*
 * Reading dumps. They are edited by hand and arrive over the mail: every field is checked, and
 * each refusal names the line and the column. What passes here may still be refused by
 * chi_put_check.
 */
#include "store/text/dump.h"

#include <string.h>

#include "base/attr.h"
#include "base/fault.h"
#include "base/num.h"
#include "chess/fen.h"
#include "chess/key.h"
#include "chess/notation.h"
#include "chess/statistic.h"
#include "store/record/codec.h"
#include "store/text/dump_line.h"
#include "store/text/dump_priv.h"
#include "store/text/seal.h"

enum state {
	STATE_MAGIC,
	STATE_STATISTIC,
	STATE_BASE,
	STATE_COLUMNS,
	STATE_POSITIONS,
	STATE_GAMES,
	STATE_NAMES,
	STATE_KEPT,
	STATE_GAMESETS,
	STATE_OVER,
};

/* How often `separator` occurs in the text. */
static size_t count_of(struct chi_dump_text text, char separator)
{
	size_t n = 0;
	for (size_t i = 0; i < text.len; i++) {
		n += text.at[i] == separator;
	}
	return n;
}

static int read_counts(const struct parse *p, const struct chi_dump_text fields[4],
		       struct chi_counts *out)
{
	uint64_t *const values[] = {&out->white, &out->draws, &out->black, &out->other};
	for (size_t i = 0; i < CHI_COUNT(values); i++) {
		int rc = read_u64(p, fields[i], UINT64_MAX, values[i]);
		if (rc < 0) {
			return rc;
		}
	}
	uint64_t total;
	return chi_counts_total(out, &total)
		       ? CHI_OK
		       : refuse_line(p, -CHI_ESYNTAX, fields[0].at, "the counts' sum does not fit");
}

/* The byte that an escape at text[0] == '\\' stands for, and its length; -1 if it is none. */
static int escape(const char *text, size_t len, size_t *taken)
{
	static const char letter[] = "\\tnr";
	static const char plain[] = "\\\t\n\r";
	const char *found = len >= 2 && text[1] != '\0' ? strchr(letter, text[1]) : NULL;
	if (found != NULL) {
		*taken = 2;
		return plain[found - letter];
	}
	if (len < 4 || text[1] != 'x' || hex_digit(text[2]) < 0 || hex_digit(text[3]) < 0) {
		return -1;
	}
	*taken = 4;
	return hex_digit(text[2]) * 16 + hex_digit(text[3]);
}

/* NUL cannot be in a record, so it is no escape either. */
int chi_dump_unescape(const struct parse *p, struct chi_dump_text text, const char **out,
		      size_t *out_len)
{
	char *bytes = chi_arena_alloc(p->arena, text.len + 1);
	if (bytes == NULL) {
		return -CHI_ENOMEM;
	}
	size_t n = 0;
	size_t i = 0;
	while (i < text.len) {
		size_t taken = 1;
		int c = (unsigned char)text.at[i];
		if (c == '\\') {
			c = escape(text.at + i, text.len - i, &taken);
		}
		if (c <= 0) {
			return refuse_line(p, -CHI_ESYNTAX, text.at + i, "not an escape sequence");
		}
		bytes[n++] = (char)c;
		i += taken;
	}
	bytes[n] = '\0';
	if (!chi_utf8_valid(bytes, n)) {
		return refuse_line(p, -CHI_ESYNTAX, text.at, "not UTF-8");
	}
	*out = bytes;
	*out_len = n;
	return CHI_OK;
}

static int read_move(const struct parse *p, const struct chi_position *position,
		     struct chi_dump_text text, chi_move *out)
{
	struct chi_fault detail = {.text = ""};
	int rc = chi_uci_parse(position, text.at, text.len, out, &detail);
	return rc < 0 ? refuse_line(p, rc, text.at, detail.text) : CHI_OK;
}

/* Moves played one after the other. */
static int read_line(const struct parse *p, struct chi_dump_text text, size_t max,
		     const chi_move **out, size_t *n_out)
{
	if (text.len == 0) {
		return CHI_OK;
	}
	size_t n = count_of(text, ' ') + 1;
	if (n > max) {
		return refuse_line(p, -CHI_ESYNTAX, text.at, "too many moves");
	}
	chi_move *moves = chi_arena_alloc(p->arena, n * sizeof(*moves));
	if (moves == NULL) {
		return -CHI_ENOMEM;
	}
	struct chi_position current = p->position;
	struct chi_dump_text word;
	for (size_t i = 0; cut(&text, ' ', &word); i++) {
		struct chi_position next;
		int rc = read_move(p, &current, word, &moves[i]);
		if (rc < 0) {
			return rc;
		}
		chi_position_play(&current, moves[i], &next);
		current = next;
	}
	*out = moves;
	*n_out = n;
	return CHI_OK;
}

/* "e2e4:2/1/0/0" */
static int read_one_played(const struct parse *p, struct chi_dump_text word,
			   struct chi_move_stat *out)
{
	struct chi_dump_text parts[2];
	struct chi_dump_text counts[4];
	if (!split(word, ':', parts, 2) || !split(parts[1], '/', counts, 4)) {
		return refuse_line(p, -CHI_ESYNTAX, word.at, "not a move with four counts");
	}
	int rc = read_move(p, &p->position, parts[0], &out->move);
	return rc < 0 ? rc : read_counts(p, counts, &out->counts);
}

static int read_played(const struct parse *p, struct chi_dump_text text, struct chi_record *out)
{
	if (text.len == 0) {
		return CHI_OK;
	}
	size_t n = count_of(text, ' ') + 1;
	if (n > CHI_MOVES_MAX) {
		return refuse_line(p, -CHI_ESYNTAX, text.at, "too many moves");
	}
	struct chi_move_stat *moves = chi_arena_array(p->arena, n, sizeof(*moves));
	if (moves == NULL) {
		return -CHI_ENOMEM;
	}
	struct chi_dump_text word;
	for (size_t i = 0; cut(&text, ' ', &word); i++) {
		int rc = read_one_played(p, word, &moves[i]);
		if (rc < 0) {
			return rc;
		}
		if (i > 0 && moves[i].move <= moves[i - 1].move) {
			return refuse_line(p, -CHI_ESYNTAX, word.at, "the moves are not in order");
		}
	}
	out->moves = moves;
	out->n_moves = n;
	return CHI_OK;
}

/* "14:2" */
static int read_ply(const struct parse *p, struct chi_dump_text word, struct chi_ply_stat *out)
{
	struct chi_dump_text parts[2];
	uint64_t ply = 0;
	if (!split(word, ':', parts, 2)) {
		return refuse_line(p, -CHI_ESYNTAX, word.at, "not a ply with its games");
	}
	int rc = read_u64(p, parts[0], CHI_PLY_MAX, &ply);
	if (rc == CHI_OK) {
		rc = read_u64(p, parts[1], UINT64_MAX, &out->games);
	}
	if (rc == CHI_OK && out->games == 0) {
		rc = refuse_line(p, -CHI_ESYNTAX, parts[1].at, "a ply without games");
	}
	out->ply = (uint16_t)ply;
	return rc;
}

/* After the counts: these bound how many games the plies may have. */
static int read_plies(const struct parse *p, struct chi_dump_text text, struct chi_record *out)
{
	if (text.len == 0) {
		return CHI_OK;
	}
	const char *start = text.at;
	size_t n = count_of(text, ' ') + 1;
	if (n > CHI_PLY_MAX + 1) {
		return refuse_line(p, -CHI_ESYNTAX, start, "too many plies");
	}
	struct chi_ply_stat *plies = chi_arena_array(p->arena, n, sizeof(*plies));
	if (plies == NULL) {
		return -CHI_ENOMEM;
	}
	struct chi_dump_text word;
	for (size_t i = 0; cut(&text, ' ', &word); i++) {
		int rc = read_ply(p, word, &plies[i]);
		if (rc < 0) {
			return rc;
		}
		if (i > 0 && plies[i].ply <= plies[i - 1].ply) {
			return refuse_line(p, -CHI_ESYNTAX, word.at, "the plies are not in order");
		}
	}
	if (!chi_plies_ok(plies, n, &out->counts)) {
		return refuse_line(p, -CHI_ESYNTAX, start,
				   "the plies are of more games than there are");
	}
	out->plies = plies;
	out->n_plies = n;
	return CHI_OK;
}

/* "cp:35", "mate:-3". */
static int read_score(const struct parse *p, struct chi_dump_text text, struct chi_eval *out)
{
	struct chi_dump_text parts[2];
	int64_t score;
	bool split_ok = split(text, ':', parts, 2);
	out->is_mate = split_ok && equals(parts[0], "mate");
	if (!split_ok || (!out->is_mate && !equals(parts[0], "cp")) ||
	    chi_num_i64(parts[1].at, parts[1].len, out->is_mate ? CHI_MATE_MAX : CHI_SCORE_MAX,
			&score) < 0) {
		return refuse_line(p, -CHI_ESYNTAX, text.at, "not a score");
	}
	out->score = (int32_t)score;
	return CHI_OK;
}

/* A number, or "-" for none. */
static int read_given(const struct parse *p, struct chi_dump_text text, uint64_t *out)
{
	*out = 0;
	return equals(text, "-") ? CHI_OK : read_u64(p, text, UINT64_MAX, out);
}

static int read_dump_eval(const struct parse *p, struct chi_dump_text text, struct chi_eval *out)
{
	struct chi_dump_text fields[EVAL_FIELDS_RANK] = {{0}};
	bool ranked = split(text, '|', fields, EVAL_FIELDS_RANK);
	if (!ranked && !split(text, '|', fields, EVAL_FIELDS)) {
		return refuse_line(p, -CHI_ESYNTAX, text.at,
				   "an evaluation has six or seven fields");
	}
	int rc = chi_dump_unescape(p, fields[0], &out->engine, &out->engine_len);
	if (rc == CHI_OK && (out->engine_len == 0 || out->engine_len > CHI_ENGINE_MAX)) {
		rc = refuse_line(p, -CHI_ESYNTAX, text.at,
				 "the engine's name is empty or too long");
	}
	uint64_t depth = 0;
	if (rc == CHI_OK) {
		rc = read_u64(p, fields[1], CHI_DEPTH_MAX, &depth);
	}
	out->depth = (uint32_t)depth;
	if (rc == CHI_OK) {
		rc = read_score(p, fields[2], out);
	}
	if (rc == CHI_OK) {
		rc = read_given(p, fields[3], &out->nodes);
	}
	if (rc == CHI_OK) {
		rc = read_given(p, fields[4], &out->date);
	}
	uint64_t rank = 0;
	if (rc == CHI_OK && ranked) {
		rc = read_u64(p, fields[6], CHI_RANK_MAX, &rank);
	}
	out->rank = (uint8_t)rank;
	return rc < 0 ? rc : read_line(p, fields[5], CHI_PV_MAX, &out->pv, &out->n_pv);
}

static int read_evals(const struct parse *p, struct chi_dump_text text, struct chi_record *out)
{
	if (text.len == 0) {
		return CHI_OK;
	}
	size_t n = count_of(text, ';') + 1;
	if (n > CHI_EVALS_MAX) {
		return refuse_line(p, -CHI_ESYNTAX, text.at, "too many evaluations");
	}
	struct chi_eval *evals = chi_arena_array(p->arena, n, sizeof(*evals));
	if (evals == NULL) {
		return -CHI_ENOMEM;
	}
	struct chi_dump_text word;
	for (size_t i = 0; cut(&text, ';', &word); i++) {
		int rc = read_dump_eval(p, word, &evals[i]);
		if (rc < 0) {
			return rc;
		}
		if (i > 0 && chi_eval_compare(&evals[i - 1], &evals[i]) >= 0) {
			return refuse_line(p, -CHI_ESYNTAX, word.at,
					   "the engines are not in order");
		}
	}
	out->evals = evals;
	out->n_evals = n;
	return CHI_OK;
}

/* The limit is checked after the escapes, which may be four times as long. */
static int read_note(const struct parse *p, struct chi_dump_text text, struct chi_record *out)
{
	if (text.len == 0) {
		return CHI_OK;
	}
	int rc = chi_dump_unescape(p, text, &out->note, &out->n_note);
	if (rc == CHI_OK && out->n_note > CHI_NOTE_MAX) {
		rc = refuse_line(p, -CHI_ESYNTAX, text.at, "the note is too long");
	}
	return rc;
}

/* The eleven fields in their order; the first bad one is reported. */
static int read_position(struct parse *p, struct chi_dump_text line, struct chi_put_entry *put)
{
	struct chi_dump_text fields[DUMP_FIELDS];
	if (!split(line, '\t', fields, DUMP_FIELDS)) {
		return refuse_line(p, -CHI_ESYNTAX, line.at, "a position has eleven fields");
	}
	*put = (struct chi_put_entry){.parts = CHI_PUT_RESTORE};
	struct chi_record *record = &put->record;
	struct chi_fault detail = {.text = ""};
	struct chi_dump_text fen = fields[FIELD_FEN];
	int rc = chi_fen_parse(fen.at, fen.len, &p->position, &detail);
	if (rc < 0) {
		return refuse_line(p, -CHI_EFEN, fen.at, detail.text);
	}
	chi_key_encode(&p->position, &put->key);
	struct chi_dump_text chi2 = fields[FIELD_CHI2];
	if (chi_chi2_parse(chi2.at, chi2.len, &record->chi2) < 0) {
		return refuse_line(p, -CHI_ESYNTAX, chi2.at, "not a statistic");
	}
	rc = read_counts(p, &fields[FIELD_WHITE], &record->counts);
	if (rc == CHI_OK) {
		rc = read_played(p, fields[FIELD_MOVES], record);
	}
	if (rc == CHI_OK) {
		rc = read_plies(p, fields[FIELD_PLIES], record);
	}
	if (rc == CHI_OK) {
		rc = read_evals(p, fields[FIELD_EVALS], record);
	}
	if (rc == CHI_OK) {
		rc = read_line(p, fields[FIELD_LINE], CHI_LINE_MAX, &record->line, &record->n_line);
	}
	return rc == CHI_OK ? read_note(p, fields[FIELD_NOTE], record) : rc;
}

/* The version is in the first line, alone, so that every later reader understands it. */
static int read_magic(const struct parse *p, struct chi_dump_text line, bool *archive)
{
	struct chi_dump_text fields[2];
	uint64_t version;
	if (!split(line, '\t', fields, 2) || !equals(fields[0], DUMP_MAGIC)) {
		return refuse_line(p, -CHI_ESYNTAX, p->line, "not a dump of a chistore");
	}
	int rc = read_u64(p, fields[1], UINT64_MAX, &version);
	*archive = rc == CHI_OK && version == DUMP_VERSION_ARCHIVE;
	if (rc == CHI_OK && version != DUMP_VERSION && !*archive) {
		rc = refuse_line(p, -CHI_EVERSION, fields[1].at, "a dump of another version");
	}
	return rc;
}

static int read_head(const struct parse *p, struct chi_dump_reader *reader,
		     struct chi_dump_text line)
{
	struct chi_dump_text fields[5];
	int rc = CHI_OK;
	switch (reader->state) {
	case STATE_MAGIC:
		rc = read_magic(p, line, &reader->head.archive);
		break;
	case STATE_STATISTIC: {
		int statistic = 0;
		bool named = split(line, '\t', fields, 2) && equals(fields[0], "statistic");
		for (int i = 1; named && i <= CHI_STATISTIC_MAX; i++) {
			statistic = equals(fields[1], chi_statistic_name(i)) ? i : statistic;
		}
		reader->head.statistic = (enum chi_statistic)statistic;
		rc = statistic != 0
			     ? CHI_OK
			     : refuse_line(p, -CHI_ESYNTAX, line.at, "not a known statistic");
		break;
	}
	case STATE_BASE:
		if (!split(line, '\t', fields, 5) || !equals(fields[0], "base")) {
			return refuse_line(p, -CHI_ESYNTAX, line.at, "not the base rates");
		}
		rc = read_counts(p, fields + 1, &reader->head.base);
		break;
	case STATE_COLUMNS:
	default:
		if (!equals(line, DUMP_COLUMNS)) {
			rc = refuse_line(p, -CHI_ESYNTAX, line.at, "not the names of the fields");
		}
		break;
	}
	reader->state += rc == CHI_OK;
	return rc;
}

void chi_dump_reader_init(struct chi_dump_reader *reader)
{
	*reader = (struct chi_dump_reader){.state = STATE_MAGIC};
}

void chi_dump_reader_part(struct chi_dump_reader *reader, const struct chi_dump_head *head,
			  uint64_t line)
{
	*reader = (struct chi_dump_reader){
		.head = *head, .line = line, .state = STATE_POSITIONS, .part = true};
}

size_t chi_dump_cut(const char *text, size_t len)
{
	const char *end = memrchr(text, '\n', len);
	if (end == text + len - 1) {
		/* What comes next is not known. */
		end = memrchr(text, '\n', len - 1);
	}
	while (end != NULL && (end[1] == DUMP_PGN || end[1] == DUMP_PGN_JOINED)) {
		end = memrchr(text, '\n', (size_t)(end - text));
	}
	return end != NULL ? (size_t)(end - text) + 1 : 0;
}

/* What kind of line begins so, and the state that it comes in. */
static enum chi_dump_line kind_of(const struct chi_dump_reader *reader, struct chi_dump_text line,
				  int *state)
{
	static const struct {
		const char *word;
		enum chi_dump_line kind;
		int state;
		bool archive;
	} kinds[] = {
		{DUMP_END, CHI_DUMP_TAIL, STATE_OVER, false},
		{DUMP_GAME, CHI_DUMP_GAME, STATE_GAMES, false},
		{DUMP_NAME, CHI_DUMP_NAME, STATE_NAMES, true},
		{DUMP_KEPT, CHI_DUMP_KEPT, STATE_KEPT, true},
		{DUMP_GAMESET, CHI_DUMP_GAMESET, STATE_GAMESETS, true},
	};
	struct chi_dump_text word = {0};
	bool archive = reader->head.archive;
	if (archive && line.len > 0 && (*line.at == DUMP_PGN || *line.at == DUMP_PGN_JOINED)) {
		*state = STATE_KEPT;
		return CHI_DUMP_PGN;
	}
	bool parts = cut(&line, '\t', &word) && line.at != NULL;
	for (size_t i = 0; parts && i < CHI_COUNT(kinds); i++) {
		if (equals(word, kinds[i].word) && (archive || !kinds[i].archive)) {
			*state = kinds[i].state;
			return kinds[i].kind;
		}
	}
	*state = STATE_POSITIONS;
	return CHI_DUMP_POSITION;
}

/* A line of PGN belongs to a game. */
static bool comes_next(const struct chi_dump_reader *reader, enum chi_dump_line kind, int state)
{
	return state >= reader->state &&
	       (kind != CHI_DUMP_PGN || (reader->state == STATE_KEPT && reader->n.kept > 0));
}

static int read_body(struct parse *p, struct chi_dump_reader *reader, struct chi_dump_text line,
		     enum chi_dump_line kind, struct chi_put_entry *put)
{
	int rc;
	switch (kind) {
	case CHI_DUMP_GAME:
		return chi_dump_read_game(p, reader, line);
	case CHI_DUMP_NAME:
		return chi_dump_read_name(p, reader, line);
	case CHI_DUMP_KEPT:
		return chi_dump_read_kept(p, reader, line);
	case CHI_DUMP_PGN:
		reader->text = (struct chi_dump_text){line.at + 1, line.len - 1};
		reader->joined = *line.at == DUMP_PGN_JOINED;
		return CHI_OK;
	case CHI_DUMP_GAMESET:
		return chi_dump_read_gameset(p, reader, line);
	case CHI_DUMP_TAIL:
		return chi_dump_read_tail(p, reader, line);
	case CHI_DUMP_POSITION:
	default:
		rc = read_position(p, line, put);
		reader->n.positions += rc == CHI_OK;
		return rc;
	}
}

int chi_dump_read(struct chi_dump_reader *reader, const char *line, size_t len,
		  struct chi_arena *arena, enum chi_dump_line *kind, struct chi_put_entry *put,
		  struct chi_fault *fault)
{
	struct parse p = {.reader = reader, .line = line, .arena = arena, .fault = fault};
	struct chi_dump_text text = {line, len};
	int state;
	reader->line++;
	*kind = CHI_DUMP_HEAD;
	if (len >= CHI_DUMP_LINE_MAX) {
		return refuse_line(&p, -CHI_ESYNTAX, line, "the line is too long");
	}
	if (reader->state >= STATE_POSITIONS && len >= strlen(CHI_DUMP_SUM) &&
	    memcmp(line, CHI_DUMP_SUM, strlen(CHI_DUMP_SUM)) == 0) {
		*kind = CHI_DUMP_SUMMED;
		return CHI_OK;
	}
	if (reader->state == STATE_OVER) {
		return refuse_line(&p, -CHI_ESYNTAX, line, "text after the end of the dump");
	}
	if (reader->state < STATE_POSITIONS) {
		return read_head(&p, reader, text);
	}
	*kind = kind_of(reader, text, &state);
	if (!comes_next(reader, *kind, state)) {
		return refuse_line(&p, -CHI_ESYNTAX, line,
				   reader->state == STATE_GAMES ? "neither a game nor the end"
								: "the line is out of its place");
	}
	int rc = read_body(&p, reader, text, *kind, put);
	/* After a bad last line the dump is not over. */
	reader->state = rc == CHI_OK || state != STATE_OVER ? state : reader->state;
	return rc == -CHI_ENOMEM ? chi_fault_plain(fault, rc) : rc;
}
