/* SPDX-License-Identifier: MIT */
/*
 * Where the games that fit are looked for: if all terms are joined by "and", of those that name a
 * set of games one leads, the shortest list of a position or else a gameset, and only chunks that
 * have a game of it are opened; the others are made sets of numbers first. Without any, all chunks
 * are walked. In a chunk, all terms are joined as bits of its rows; a motif, as long as it is not
 * known, as all of them.
 *
 * As soon as more than a few games would be played again, lists of games by trait are read for each
 * motif (listed.h): what these leave may lead from there on, and other games are not played. Where
 * other terms leave fewer, reading them would take longer than it saves.
 */
#include "search/filter/matcher.h"

#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/fault.h"
#include "search/filter/matcher_priv.h"
#include "search/filter/stamp.h"

void chi_matcher_free(struct chi_matcher *matcher)
{
	if (matcher == NULL) {
		return;
	}
	for (size_t i = 0; i < matcher->n_members; i++) {
		chi_reached_close(matcher->members[i].reached);
		chi_numbers_free(matcher->members[i].numbers);
		chi_matcher_free(matcher->members[i].rest);
		free(matcher->members[i].terms);
	}
	for (size_t i = 0; i < CHI_TERMS_MAX; i++) {
		chi_listed_free(matcher->listed[i]);
	}
	chi_tester_free(matcher->tester);
	chi_columns_reader_deinit(&matcher->columns);
	chi_motifs_free(matcher->motifs);
	free(matcher->leaves);
	free(matcher);
}

static void freep(struct chi_matcher **matcher)
{
	chi_matcher_free(*matcher);
}

/* ---- Making one --------------------------------------------------------------------------- */

/* A position that no game reached is the empty set. */
static int add_position(struct chi_matcher *matcher, size_t i)
{
	const struct chi_term *term = &matcher->terms->term[i];
	struct member *member = &matcher->members[matcher->n_members++];
	*member = (struct member){.term = i, .negated = term->negated};
	int rc = chi_reached_open(matcher->read, &term->key, matcher->from, &member->reached);
	if (rc == CHI_NONE) {
		matcher->over |= matcher->terms->joined && !term->negated;
		rc = chi_numbers_new(&member->numbers);
	}
	return rc;
}

/* The games of a gameset that need not be looked at again are those of its bitmap, if that is still
 * what its filter says; *from: the first that must. */
static int take_bitmap(struct chi_matcher *matcher, const struct chi_gameset_entry *entry,
		       struct member *member, uint32_t *from)
{
	uint64_t stamp = 0;
	int rc = chi_stamp_of(&matcher->view, member->terms, &entry->mark, &stamp);
	if (rc < 0) {
		return rc;
	}
	if (stamp != entry->mark.stamp) {
		*from = 1;
		return chi_numbers_new(&member->numbers);
	}
	*from = entry->mark.last + 1;
	return chi_numbers_read(entry->bitmap, entry->bitmap_len, entry->mark.last,
				&member->numbers);
}

static int add_gameset(struct chi_matcher *matcher, size_t i, struct chi_fault *fault)
{
	const struct chi_term *term = &matcher->terms->term[i];
	struct member *member = &matcher->members[matcher->n_members++];
	const char *name = chi_term_text_of(matcher->terms, term->text);
	struct chi_gameset_entry entry;
	struct chi_matcher_spec spec = {.depth = matcher->depth + 1};
	*member = (struct member){.term = i, .negated = term->negated};
	int rc = chi_gameset_get(matcher->view.txn, matcher->view.trees.gamesets, name,
				 strlen(name), &entry);
	if (rc == CHI_NONE) {
		return chi_fail(fault, -CHI_EINVAL, "filter: there is no gameset '%s'", name);
	}
	member->terms = malloc(sizeof(*member->terms));
	rc = rc < 0 ? rc : member->terms == NULL ? -CHI_ENOMEM : CHI_OK;
	if (rc == CHI_OK &&
	    (spec.depth > CHI_GAMESET_DEPTH ||
	     chi_terms_parse(entry.filter, entry.filter_len, member->terms, NULL))) {
		rc = -CHI_ECORRUPT;
	}
	rc = rc == CHI_OK ? take_bitmap(matcher, &entry, member, &spec.from) : rc;
	if (rc < 0) {
		return chi_fail(fault, rc, "filter: gameset '%s' cannot be used (%s)", name,
				chi_strerror(rc));
	}
	if (spec.from > matcher->view.last) {
		return CHI_OK;
	}
	spec.from = spec.from > matcher->from ? spec.from : matcher->from;
	return chi_matcher_new(matcher->read, member->terms, &spec, &member->rest, fault);
}

static int add_terms(struct chi_matcher *matcher, struct chi_fault *fault)
{
	const struct chi_terms *terms = matcher->terms;
	int rc = CHI_OK;
	for (size_t i = 0; rc == CHI_OK && i < terms->n; i++) {
		const struct chi_term *term = &terms->term[i];
		if (term->kind == CHI_TERM_GAMESET) {
			rc = add_gameset(matcher, i, fault);
			if (rc < 0) {
				return rc;
			}
		} else if (term->kind == CHI_TERM_POSITION || term->kind == CHI_TERM_MOVES) {
			rc = add_position(matcher, i);
		}
	}
	return rc < 0 ? chi_fault_plain(fault, rc) : CHI_OK;
}

/* The position with the fewest games leads. */
static void choose_leader(struct chi_matcher *matcher)
{
	struct member *best = NULL;
	if (!matcher->terms->joined) {
		return;
	}
	for (size_t i = 0; i < matcher->n_members; i++) {
		struct member *member = &matcher->members[i];
		if (!member->negated && member->reached != NULL &&
		    (best == NULL ||
		     chi_reached_games(member->reached) < chi_reached_games(best->reached))) {
			best = member;
		}
	}
	for (size_t i = 0; best == NULL && i < matcher->n_members; i++) {
		best = !matcher->members[i].negated ? &matcher->members[i] : NULL;
	}
	matcher->leader = best;
}

/* Lists that do not lead become sets. */
static int make_sets(struct chi_matcher *matcher)
{
	int rc = CHI_OK;
	for (size_t i = 0; rc == CHI_OK && i < matcher->n_members; i++) {
		struct member *member = &matcher->members[i];
		if (member != matcher->leader && member->numbers == NULL) {
			rc = chi_numbers_new(&member->numbers);
		}
	}
	return rc;
}

/* What games are played again with. */
static int open_motifs(struct chi_matcher *matcher, struct chi_fault *fault)
{
	if (matcher->terms->n_moments == 0) {
		return CHI_OK;
	}
	int rc = chi_motifs_new(matcher->terms, &matcher->motifs, fault);
	if (rc < 0) {
		return rc;
	}
	rc = chi_motifs_begin(matcher->motifs, matcher->read, NULL);
	if (rc == CHI_OK && !matcher->terms->joined) {
		matcher->leaves = calloc(1, sizeof(*matcher->leaves));
		rc = matcher->leaves == NULL ? -CHI_ENOMEM : CHI_OK;
	}
	return rc < 0 ? chi_fault_plain(fault, rc) : CHI_OK;
}

int chi_matcher_new(struct chi_read *read, const struct chi_terms *terms,
		    const struct chi_matcher_spec *spec, struct chi_matcher **out,
		    struct chi_fault *fault)
{
	_cleanup_(freep) struct chi_matcher *matcher = calloc(1, sizeof(*matcher));
	if (matcher == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	matcher->read = read;
	matcher->terms = terms;
	matcher->from = spec->from;
	matcher->depth = spec->depth;
	matcher->shown = spec->shown;
	matcher->to_play = spec->asked;
	int rc = chi_read_archive(read, &matcher->view);
	rc = rc == CHI_OK ? chi_columns_reader_begin(&matcher->columns, matcher->view.txn,
						     &matcher->view.trees)
			  : rc;
	rc = rc == CHI_OK ? chi_tester_new(&matcher->view, terms, &matcher->tester) : rc;
	if (rc < 0) {
		return chi_fault_plain(fault, rc);
	}
	rc = open_motifs(matcher, fault);
	rc = rc == CHI_OK ? add_terms(matcher, fault) : rc;
	if (rc < 0) {
		return rc;
	}
	if (spec->asked == 0) {
		choose_leader(matcher);
	}
	rc = make_sets(matcher);
	if (rc < 0) {
		return chi_fault_plain(fault, rc);
	}
	*out = matcher;
	matcher = NULL;
	return CHI_OK;
}

/* ---- Sets --------------------------------------------------------------------------------- */

/* Reads the rest of a position's list. CHI_NONE: the steps are used up. */
static int fill_position(struct member *member, uint64_t *steps)
{
	const struct chi_posting *entries;
	size_t n;
	int rc = CHI_OK;
	while (rc == CHI_OK) {
		if (*steps == 0) {
			return CHI_NONE;
		}
		--*steps;
		rc = chi_reached_next(member->reached, &entries, &n);
		for (size_t i = 0; rc == CHI_OK && i < n; i++) {
			rc = chi_numbers_add(member->numbers, entries[i].game);
		}
	}
	chi_reached_close(member->reached);
	member->reached = NULL;
	return rc == CHI_NONE ? CHI_OK : rc;
}

/* Looks at the games that came after a gameset was made. CHI_NONE: the steps are used up. */
static int fill_gameset(struct member *member, uint64_t *steps)
{
	struct chi_hits hits;
	int rc = CHI_OK;
	while (rc == CHI_OK) {
		if (*steps == 0) {
			return CHI_NONE;
		}
		rc = chi_matcher_next(member->rest, steps, &hits);
		if (rc == CHI_OK && member->rest->ready) {
			rc = chi_numbers_add_hits(member->numbers,
						  member->rest->columns.chunk.first, &hits);
		}
	}
	chi_matcher_free(member->rest);
	member->rest = NULL;
	return rc == CHI_NONE ? CHI_OK : rc;
}

int chi_matcher_fill_sets(struct chi_matcher *matcher, uint64_t *steps)
{
	int rc = CHI_OK;
	for (size_t i = 0; !matcher->ready && rc == CHI_OK && i < matcher->n_members; i++) {
		struct member *member = &matcher->members[i];
		if (member->rest != NULL) {
			rc = fill_gameset(member, steps);
		} else if (member != matcher->leader && member->reached != NULL) {
			rc = fill_position(member, steps);
		}
	}
	matcher->ready |= rc == CHI_OK;
	return rc;
}

const struct chi_numbers *chi_matcher_listed(const struct chi_matcher *matcher, size_t motif)
{
	const struct chi_listed *listed = matcher->is_listed ? matcher->listed[motif] : NULL;
	return listed != NULL ? chi_listed_games(listed) : NULL;
}

/* The shortest leads, if it is shorter than the set that does. A position's list goes on. */
static void lead_by_lists(struct chi_matcher *matcher)
{
	const struct member *leader = matcher->leader;
	uint64_t fewest = leader == NULL	    ? UINT64_MAX
			  : leader->numbers != NULL ? chi_numbers_count(leader->numbers)
						    : 0;
	for (size_t i = 0; matcher->terms->joined && i < matcher->terms->n; i++) {
		const struct chi_term *term = &matcher->terms->term[i];
		const struct chi_numbers *games =
			term->kind == CHI_TERM_MOTIF && !term->negated
				? chi_matcher_listed(matcher, term->motif.number)
				: NULL;
		if (games != NULL && chi_numbers_count(games) < fewest) {
			fewest = chi_numbers_count(games);
			matcher->leader = NULL;
			matcher->least = games;
		}
	}
}

/* A walk through all positions goes on, in whatever snapshot: lists come too late. Nor are they
 * read where they know of more than positions do. */
static bool is_begun(const struct chi_matcher *matcher, size_t motif)
{
	const struct chi_shown_games *shown = matcher->shown != NULL ? matcher->shown[motif] : NULL;
	return shown != NULL && (!matcher->view.whole || chi_shown_progress(shown) > 0);
}

/* Reads lists, if many games would be played again without. CHI_NONE: the steps are used up. */
int chi_matcher_read_lists(struct chi_matcher *matcher, uint64_t *steps)
{
	int rc = CHI_OK;
	if (matcher->is_listed || matcher->motifs == NULL || matcher->to_play <= PLAYED_MAX) {
		return CHI_OK;
	}
	for (size_t i = 0; rc == CHI_OK && i < chi_motifs_count(matcher->motifs); i++) {
		if (is_begun(matcher, i)) {
			continue;
		}
		if (matcher->listed[i] == NULL) {
			rc = chi_listed_new(chi_motifs_at(matcher->motifs, i), &matcher->view,
					    matcher->is_looking ? matcher->began : matcher->from,
					    &matcher->listed[i]);
		}
		rc = rc == CHI_OK ? chi_listed_step(matcher->listed[i], steps) : rc;
	}
	matcher->is_listed = rc == CHI_OK;
	if (matcher->is_listed) {
		lead_by_lists(matcher);
	}
	return rc;
}

/* Looks at all positions for the motifs that lists leave many games of; that outlives the snapshot.
 */
static int look_at_positions(struct chi_matcher *matcher, uint64_t *steps)
{
	size_t n = matcher->shown != NULL ? chi_motifs_count(matcher->motifs) : 0;
	int rc = CHI_OK;
	for (size_t i = 0; rc == CHI_OK && i < n; i++) {
		const struct chi_numbers *games = chi_matcher_listed(matcher, i);
		if (games != NULL && matcher->shown[i] != NULL &&
		    (chi_listed_is_exact(matcher->listed[i]) ||
		     chi_numbers_count(games) <= chi_matcher_few(matcher, i))) {
			chi_shown_detach(matcher->shown[i]);
			chi_shown_free(matcher->shown[i]);
			matcher->shown[i] = NULL;
		}
		rc = matcher->shown[i] != NULL ? chi_shown_step(matcher->shown[i], steps) : CHI_OK;
	}
	return rc;
}

uint64_t chi_matcher_few(const struct chi_matcher *matcher, size_t motif)
{
	return chi_motif_cost(chi_motifs_at(matcher->motifs, motif)) * matcher->view.positions /
	       CHI_POSITIONS_A_GAME;
}

int chi_matcher_prepare(struct chi_matcher *matcher, uint64_t *steps)
{
	bool begun = false;
	for (size_t i = 0; matcher->shown != NULL && i < chi_motifs_count(matcher->motifs); i++) {
		begun = begun || is_begun(matcher, i);
		if (matcher->shown[i] != NULL) {
			matcher->to_play = UINT64_MAX;
		}
	}
	int rc = begun ? CHI_OK : chi_matcher_read_lists(matcher, steps);
	rc = rc == CHI_OK ? look_at_positions(matcher, steps) : rc;
	return rc == CHI_OK ? chi_matcher_fill_sets(matcher, steps) : rc;
}

/* ---- Chunks ------------------------------------------------------------------------------- */

static void join_hits(struct chi_hits *hits, const struct chi_hits *other, enum chi_term_join op)
{
	for (size_t w = 0; w < CHI_HIT_WORDS; w++) {
		hits->words[w] = op == CHI_NODE_OR ? hits->words[w] | other->words[w]
						   : hits->words[w] & other->words[w];
	}
}

static void flip_hits(struct chi_hits *hits, bool negated)
{
	for (size_t w = 0; negated && w < CHI_HIT_WORDS; w++) {
		hits->words[w] = ~hits->words[w];
	}
}

/* The rows of the chunk that may fit a motif. */
static void test_motif(const struct chi_matcher *matcher, const struct chi_term *term,
		       struct chi_hits *hits)
{
	const struct chi_columns_chunk *chunk = &matcher->columns.chunk;
	uint8_t motif = term->motif.number;
	const struct chi_numbers *games = chi_matcher_listed(matcher, motif);
	if (games != NULL && (!term->negated || chi_listed_is_exact(matcher->listed[motif]))) {
		chi_numbers_hits(games, chunk->first, chunk->n, hits);
		flip_hits(hits, term->negated);
	}
}

/* The rows of the chunk that fit a term; of a motif, those that may, and of the member that leads
 * all. */
static void test_term(const struct chi_matcher *matcher, size_t i, struct chi_hits *hits)
{
	const struct chi_columns_chunk *chunk = &matcher->columns.chunk;
	if (chi_tester_has(matcher->tester, i)) {
		chi_tester_run(matcher->tester, i, chunk, hits);
		return;
	}
	memset(hits, 0xff, sizeof(*hits));
	if (matcher->terms->term[i].kind == CHI_TERM_MOTIF) {
		test_motif(matcher, &matcher->terms->term[i], hits);
		return;
	}
	for (size_t m = 0; m < matcher->n_members; m++) {
		const struct member *member = &matcher->members[m];
		if (member->term != i || member->numbers == NULL) {
			continue;
		}
		chi_numbers_hits(member->numbers, chunk->first, chunk->n, hits);
		flip_hits(hits, member->negated);
	}
}

/* The rows that fit what is below a node, of which motifs may. */
static void test_node(const struct chi_matcher *matcher, uint8_t at, struct chi_hits *hits)
{
	const struct chi_term_node *node = &matcher->terms->nodes[at];
	struct chi_hits other;
	if (node->op == CHI_NODE_LEAF) {
		test_term(matcher, node->left, hits);
		if (matcher->leaves != NULL) {
			matcher->leaves->hits[node->left] = *hits;
		}
		return;
	}
	test_node(matcher, node->left, hits);
	test_node(matcher, node->right, &other);
	join_hits(hits, &other, (enum chi_term_join)node->op);
}

/* Of `hits`, the rows of the chunk that may fit. */
static void test(struct chi_matcher *matcher, struct chi_hits *hits)
{
	const struct chi_columns_chunk *chunk = &matcher->columns.chunk;
	struct chi_hits some;
	chi_tester_there(chunk, &some);
	join_hits(hits, &some, CHI_NODE_AND);
	if (matcher->terms->n > 0) {
		test_node(matcher, matcher->terms->root, &some);
		join_hits(hits, &some, CHI_NODE_AND);
	}
	if (matcher->leaves != NULL) {
		matcher->leaves->first = chunk->first;
		matcher->leaves->n = chunk->n;
	}
}

/* ---- Motifs -------------------------------------------------------------------------------- */

/* What is known of a game's motifs, by their numbers. */
struct known_motifs {
	uint32_t known;
	uint32_t has;
};

enum verdict {
	NO,
	YES,
	OPEN,
};

static enum verdict answer_term(const struct chi_matcher *matcher, size_t i, uint32_t number,
				const struct known_motifs *motifs)
{
	const struct chi_term *term = &matcher->terms->term[i];
	uint32_t row = 0;
	if (term->kind == CHI_TERM_MOTIF) {
		uint8_t motif = term->motif.number;
		return (motifs->known >> motif & 1) == 0		       ? OPEN
		       : (motifs->has >> motif & 1) != (uint32_t)term->negated ? YES
									       : NO;
	}
	if (matcher->leaves == NULL) { /* all but the motifs fit */
		return YES;
	}
	row = number - matcher->leaves->first;
	return (matcher->leaves->hits[i].words[row / 64] >> (row % 64) & 1) != 0 ? YES : NO;
}

static enum verdict answer_node(const struct chi_matcher *matcher, uint8_t at, uint32_t number,
				const struct known_motifs *motifs)
{
	const struct chi_term_node *node = &matcher->terms->nodes[at];
	if (node->op == CHI_NODE_LEAF) {
		return answer_term(matcher, node->left, number, motifs);
	}
	enum verdict ends = node->op == CHI_NODE_AND ? NO : YES;
	enum verdict left = answer_node(matcher, node->left, number, motifs);
	if (left == ends) {
		return ends;
	}
	enum verdict right = answer_node(matcher, node->right, number, motifs);
	return right == ends ? ends : left == OPEN ? OPEN : right;
}

/* The terms of the chunk that has the number. */
static int find_leaves(struct chi_matcher *matcher, uint32_t number)
{
	struct chi_hits hits = {0};
	uint32_t row = 0;
	if (matcher->leaves == NULL || number - matcher->leaves->first < matcher->leaves->n) {
		return CHI_OK;
	}
	int rc = chi_columns_find(&matcher->columns, number, &row);
	if (rc == CHI_OK) {
		test(matcher, &hits);
	}
	return rc == CHI_NONE ? -CHI_ECORRUPT : rc;
}

/* What is known of a game by its number: by lists, or what was found in all positions before. */
static void find_known(const struct chi_matcher *matcher, uint32_t number,
		       struct known_motifs *motifs)
{
	for (size_t i = 0; i < chi_motifs_count(matcher->motifs); i++) {
		const struct chi_numbers *games = chi_matcher_listed(matcher, i);
		const struct chi_shown_games *shown =
			matcher->shown != NULL ? matcher->shown[i] : NULL;
		bool has = games != NULL && chi_numbers_has(games, number);
		bool known = games != NULL && (!has || chi_listed_is_exact(matcher->listed[i]));
		if (!known && shown != NULL && chi_shown_knows(shown, number)) {
			known = true;
			has = chi_shown_has(shown, number);
		}
		motifs->known |= (uint32_t)known << i;
		motifs->has |= (uint32_t)(known && has) << i;
	}
}

/* What is not known is looked for in the game. */
int chi_matcher_look(struct chi_matcher *matcher, uint32_t number, uint64_t *steps)
{
	struct known_motifs motifs = {0};
	size_t n = chi_motifs_count(matcher->motifs);
	uint8_t root = matcher->terms->root;
	int rc = find_leaves(matcher, number);
	if (rc < 0) {
		return rc;
	}
	find_known(matcher, number, &motifs);
	enum verdict answer = answer_node(matcher, root, number, &motifs);
	if (answer == OPEN) {
		uint32_t all = n == 32 ? UINT32_MAX : (UINT32_C(1) << n) - 1;
		uint32_t has = 0;
		rc = chi_motifs_search(matcher->motifs, number, all & ~motifs.known, steps, &has,
				       NULL);
		motifs.known = all;
		motifs.has |= has;
		answer = answer_node(matcher, root, number, &motifs);
	}
	return rc < 0 ? rc : answer == YES ? CHI_OK : CHI_NONE;
}

/* Takes out the games that do not fit the motifs. CHI_NONE: the steps are used up before. */
static int look(struct chi_matcher *matcher, uint64_t *steps)
{
	const struct chi_columns_chunk *chunk = &matcher->columns.chunk;
	for (; matcher->row < chunk->n; matcher->row++) {
		uint64_t *word = &matcher->hits.words[matcher->row / 64];
		uint64_t bit = UINT64_C(1) << (matcher->row % 64);
		if ((*word & bit) == 0) {
			continue;
		}
		if (*steps == 0) {
			return CHI_NONE;
		}
		int rc = chi_matcher_look(matcher, chunk->first + matcher->row, steps);
		if (rc < 0) {
			return rc;
		}
		*word &= rc == CHI_NONE ? ~bit : UINT64_MAX;
	}
	return CHI_OK;
}

/* ---- From chunk to chunk ------------------------------------------------------------------ */

/* All rows from matcher->from on. Those after the chunk's last are not there. */
static void set_rows(const struct chi_matcher *matcher, struct chi_hits *hits)
{
	const struct chi_columns_chunk *chunk = &matcher->columns.chunk;
	uint32_t row = matcher->from > chunk->first ? matcher->from - chunk->first : 0;
	memset(hits, 0xff, sizeof(*hits));
	for (uint32_t w = 0; w < CHI_HIT_WORDS && 64 * w < row; w++) {
		hits->words[w] = row - 64 * w < 64 ? UINT64_MAX << (row % 64) : 0;
	}
}

/* The leading list has an entry of matcher->from or more. CHI_NONE: it has not. */
static int lead(struct chi_matcher *matcher)
{
	for (;;) {
		while (matcher->n_entries > 0 && matcher->entries[0].game < matcher->from) {
			matcher->entries++;
			matcher->n_entries--;
		}
		if (matcher->n_entries > 0) {
			return CHI_OK;
		}
		int rc = chi_reached_next(matcher->leader->reached, &matcher->entries,
					  &matcher->n_entries);
		if (rc != CHI_OK) {
			return rc;
		}
	}
}

/* Keeps the rows that the leading list has. */
static int follow_hits(struct chi_matcher *matcher, struct chi_hits *hits)
{
	const struct chi_columns_chunk *chunk = &matcher->columns.chunk;
	struct chi_hits some = {0};
	int rc = CHI_OK;
	while (rc == CHI_OK && matcher->entries[0].game - chunk->first < chunk->n) {
		uint32_t row = matcher->entries[0].game - chunk->first;
		some.words[row / 64] |= UINT64_C(1) << (row % 64);
		matcher->entries++;
		matcher->n_entries--;
		rc = matcher->n_entries > 0 ? CHI_OK : lead(matcher);
	}
	join_hits(hits, &some, CHI_NODE_AND);
	return rc < 0 ? rc : CHI_OK;
}

/* Goes to the chunk of the next game that may fit. */
static int advance_matcher(struct chi_matcher *matcher)
{
	struct chi_columns_reader *columns = &matcher->columns;
	const struct chi_numbers *leading =
		matcher->leader != NULL ? matcher->leader->numbers : matcher->least;
	if (matcher->leader != NULL && matcher->leader->reached != NULL) {
		int rc = lead(matcher);
		if (rc != CHI_OK) {
			return rc;
		}
		matcher->from = matcher->entries[0].game;
	} else if (leading != NULL) {
		if (!chi_numbers_next(leading, matcher->from, &matcher->from)) {
			return CHI_NONE;
		}
	}
	const struct chi_columns_chunk *chunk = &columns->chunk;
	return chunk->n > 0 && matcher->from == chunk->first + chunk->n
		       ? chi_columns_next(columns)
		       : chi_columns_seek(columns, matcher->from);
}

/* The next chunk's games that fit all but patterns. */
static int enter_hits(struct chi_matcher *matcher, uint64_t *steps, struct chi_hits *hits)
{
	uint32_t began = matcher->from;
	int rc = advance_matcher(matcher);
	if (rc != CHI_OK) {
		return rc;
	}
	const struct chi_columns_chunk *chunk = &matcher->columns.chunk;
	set_rows(matcher, hits);
	matcher->over = chunk->first + (chunk->n - 1) == UINT32_MAX;
	if (matcher->leader != NULL && matcher->leader->reached != NULL) {
		rc = follow_hits(matcher, hits);
	}
	matcher->began = began;
	matcher->from = chunk->first + chunk->n;
	matcher->row = 0;
	*steps -= *steps > 0;
	if (rc == CHI_OK) {
		test(matcher, hits);
	}
	return rc;
}

int chi_matcher_next(struct chi_matcher *matcher, uint64_t *steps, struct chi_hits *hits)
{
	int rc = CHI_OK;
	*hits = (struct chi_hits){0};
	if (!matcher->is_looking) {
		if (matcher->over) {
			return CHI_NONE;
		}
		rc = chi_matcher_prepare(matcher, steps);
		if (rc != CHI_OK) {
			return rc == CHI_NONE ? CHI_OK : rc;
		}
		rc = enter_hits(matcher, steps, &matcher->hits);
		matcher->over |= rc == CHI_NONE;
		if (rc != CHI_OK) {
			return rc;
		}
		matcher->is_looking = matcher->motifs != NULL;
		matcher->to_play += matcher->is_looking ? chi_hits_count(&matcher->hits) : 0;
	}
	if (matcher->is_looking) {
		rc = chi_matcher_prepare(matcher, steps);
		rc = rc == CHI_OK ? look(matcher, steps) : rc;
		matcher->is_looking = rc == CHI_NONE;
	}
	if (rc == CHI_OK) {
		*hits = matcher->hits;
	}
	return rc < 0 ? rc : CHI_OK;
}

const struct chi_columns_chunk *chi_matcher_chunk(const struct chi_matcher *matcher)
{
	return &matcher->columns.chunk;
}

int chi_matcher_collect(struct chi_matcher *matcher, uint64_t steps, struct chi_numbers *numbers)
{
	struct chi_hits hits;
	int rc = CHI_OK;
	while (rc == CHI_OK && steps > 0) {
		rc = chi_matcher_prepare(matcher, &steps);
		if (rc != CHI_OK) {
			return rc < 0 ? rc : CHI_OK;
		}
		rc = chi_matcher_next(matcher, &steps, &hits);
		if (rc == CHI_OK) {
			rc = chi_numbers_add_hits(numbers, matcher->columns.chunk.first, &hits);
		}
	}
	return rc;
}

int chi_matcher_test(struct chi_matcher *matcher, uint32_t number, uint64_t *steps,
		     struct chi_hits *hits)
{
	uint32_t row = 0;
	int rc = chi_columns_find(&matcher->columns, number, &row);
	const struct chi_columns_chunk *chunk = &matcher->columns.chunk;
	bool is_there = number - chunk->first < chunk->n; /* it may be a game that was removed */
	if (rc < 0 || !is_there || matcher->over) {
		return rc < 0 ? rc : CHI_NONE;
	}
	*steps -= *steps > 0;
	set_rows(matcher, hits);
	test(matcher, hits);
	return CHI_OK;
}

bool chi_matcher_has_motifs(const struct chi_matcher *matcher)
{
	return matcher->motifs != NULL;
}

uint32_t chi_matcher_place(const struct chi_matcher *matcher)
{
	return matcher->is_looking ? matcher->began : matcher->over ? UINT32_MAX : matcher->from;
}

size_t chi_matcher_memory(const struct chi_matcher *matcher)
{
	size_t bytes = sizeof(*matcher) +
		       (matcher->motifs != NULL ? chi_motifs_memory(matcher->motifs) : 0) +
		       (matcher->leaves != NULL ? sizeof(*matcher->leaves) : 0);
	for (size_t i = 0; i < CHI_TERMS_MAX; i++) {
		bytes += matcher->listed[i] != NULL ? chi_listed_memory(matcher->listed[i]) : 0;
	}
	for (size_t i = 0; i < matcher->n_members; i++) {
		const struct member *member = &matcher->members[i];
		bytes += member->numbers != NULL ? chi_numbers_memory(member->numbers) : 0;
		bytes += member->terms != NULL ? sizeof(*member->terms) : 0;
		bytes += member->rest != NULL ? chi_matcher_memory(member->rest) : 0;
	}
	return bytes;
}

bool chi_matcher_total(const struct chi_matcher *matcher, uint64_t *total)
{
	const struct member *leader = matcher->leader;
	if (matcher->over || matcher->n_members != 1 || leader == NULL || leader->reached == NULL ||
	    chi_tester_asks(matcher->tester) || matcher->motifs != NULL) {
		return false;
	}
	*total = chi_reached_games(leader->reached);
	return true;
}

void chi_matcher_unknown(const struct chi_matcher *matcher, struct chi_unknown_names *out)
{
	const char *name = NULL;
	out->n = 0;
	while ((name = chi_tester_unknown(matcher->tester, out->n)) != NULL) {
		out->name[out->n++] = name;
	}
}
