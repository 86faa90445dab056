/* SPDX-License-Identifier: MIT */
/* A game's text and tags, kept until the game is complete. */
#include "chess/pgn/keep.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "chess/pgn/text.h"

struct chi_pgn_keep *chi_pgn_keep_new(void)
{
	struct chi_pgn_keep *keep = malloc(sizeof(*keep));
	chi_pgn_keep_reset(keep);
	return keep;
}

void chi_pgn_keep_reset(struct chi_pgn_keep *keep)
{
	if (keep != NULL) {
		memset(keep, 0, offsetof(struct chi_pgn_keep, lex));
		keep->end = UINT64_MAX;
		keep->where[0] = CHI_PGN_NOWHERE;
	}
}

static uint64_t offset_of(const struct chi_pgn_lex *lex, const char *at)
{
	return lex->dropped + (uint64_t)(at - (lex->window + 1));
}

void chi_pgn_keep_begin(struct chi_pgn_keep *keep, const struct chi_pgn_lex *lex, const char *at)
{
	if (keep != NULL) {
		keep->from = offset_of(lex, at);
		keep->next = keep->from;
		keep->n_text = 0;
		keep->text[0] = at[-1];
	}
}

/* True if a tag of that name is there; a name that the reader knows may be written in any case. */
static bool has_tag(const struct chi_pgn_keep *keep, const struct chi_pgn_pair *pair)
{
	for (size_t i = 0; i < keep->whole.n_tags; i++) {
		const struct chi_pgn_named *tag = &keep->tags[i];
		if (tag->tag == pair->tag &&
		    (pair->tag != CHI_PGN_TAGS ||
		     (tag->name.len == pair->name_len &&
		      memcmp(tag->name.text, pair->name, pair->name_len) == 0))) {
			return true;
		}
	}
	return false;
}

/* These follow from the start and the result. */
static bool is_implied(enum chi_pgn_tag tag)
{
	return tag == CHI_PGN_RESULT || tag == CHI_PGN_FEN || tag == CHI_PGN_SETUP;
}

void chi_pgn_keep_tag(struct chi_pgn_keep *keep, const struct chi_pgn_pair *pair)
{
	if (keep == NULL || is_implied(pair->tag) || has_tag(keep, pair)) {
		return;
	}
	size_t room = sizeof(keep->values) - keep->n_values;
	if (keep->whole.n_tags == CHI_PGN_ALL_TAGS_MAX || pair->name_len > CHI_PGN_NAME_MAX ||
	    room < pair->name_len + 2) {
		keep->whole.lost_tags++;
		return;
	}
	room -= pair->name_len + 2;
	size_t max = room < CHI_PGN_LONG_VALUE_MAX ? room : CHI_PGN_LONG_VALUE_MAX;
	bool cut = false;
	char *name = keep->values + keep->n_values;
	char *value = name + pair->name_len + 1;
	memcpy(name, pair->name, pair->name_len);
	name[pair->name_len] = '\0';
	size_t n = chi_pgn_value(pair->value, pair->value_len, value, max, &cut);
	keep->whole.lost_tags += cut;
	keep->tags[keep->whole.n_tags++] = (struct chi_pgn_named){
		.tag = pair->tag,
		.name = {name, pair->name_len},
		.value = {value, n},
	};
	keep->n_values += pair->name_len + 1 + n + 1;
}

void chi_pgn_keep_word(struct chi_pgn_keep *keep, const struct chi_pgn_lex *lex, const char *at,
		       size_t ply, bool stopped)
{
	uint64_t offset = offset_of(lex, at) - keep->from;
	if (ply <= CHI_PGN_PLIES_MAX && (!stopped || keep->where[ply] == CHI_PGN_NOWHERE)) {
		keep->where[ply] =
			offset < CHI_PGN_NOWHERE ? (uint32_t)offset : CHI_PGN_NOWHERE - 1;
		keep->where[ply + 1] = CHI_PGN_NOWHERE;
	}
}

void chi_pgn_keep_end(struct chi_pgn_keep *keep, const struct chi_pgn_lex *lex, const char *at)
{
	if (keep != NULL) {
		keep->end = offset_of(lex, at);
	}
}

static void keep_until(struct chi_pgn_keep *keep, const struct chi_pgn_lex *lex, uint64_t end)
{
	if (end <= keep->next) {
		return;
	}
	size_t room = CHI_PGN_KEPT_MAX - keep->n_text;
	size_t len = (size_t)(end - keep->next);
	size_t n = len < room ? len : room;
	memcpy(keep->text + 1 + keep->n_text, lex->window + 1 + (keep->next - lex->dropped), n);
	keep->n_text += n;
	keep->next = end;
	keep->whole.lost_text += len - n;
}

void chi_pgn_keep_window(struct chi_pgn_keep *keep, const struct chi_pgn_lex *lex)
{
	keep_until(keep, lex, chi_pgn_lex_offset(lex));
}

void chi_pgn_keep_close(struct chi_pgn_keep *keep, const struct chi_pgn_lex *lex,
			const struct chi_pgn_game *game)
{
	keep->whole.tags = keep->tags;
	if (lex->notes || game->end != CHI_PGN_COMPLETE) {
		keep_until(keep, lex,
			   keep->end != UINT64_MAX ? keep->end : chi_pgn_lex_offset(lex));
		keep->text[1 + keep->n_text] = '\0';
		chi_pgn_annotate(keep, game);
	}
}
