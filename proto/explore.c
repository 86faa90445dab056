/* SPDX-License-Identifier: MIT */
/* What was played from a position, between struct chi_explore and protobuf. */
#include <string.h>

#include "proto/game_ids.h"
#include "proto/record.h"

/* Absent is an empty text on this wire. */
static char *text_to(struct chi_arena *arena, const char *text)
{
	return chi_arena_text(arena, text, text != NULL ? strlen(text) : 0);
}

static const char *text_from(const char *text)
{
	return text[0] != '\0' ? text : NULL;
}

/* NULL when memory is out, or if there is nothing to say. */
static PB(Counts) * counts_to(struct chi_arena *arena, const struct chi_counts *from)
{
	PB(Counts) *counts = chi_arena_alloc(arena, sizeof(*counts));
	if (counts != NULL) {
		chistore__v1__counts__init(counts);
		counts->white = from->white;
		counts->draws = from->draws;
		counts->black = from->black;
		counts->other = from->other;
	}
	return counts;
}

/* The generated structs know no const, and take a copy. */
static int key_to(struct chi_arena *arena, const struct chi_key *from, ProtobufCBinaryData *out)
{
	if (from->len > CHI_KEY_MAX) {
		return -CHI_EINVAL;
	}
	out->data = chi_arena_alloc(arena, CHI_KEY_MAX);
	if (out->data == NULL) {
		return -CHI_ENOMEM;
	}
	memcpy(out->data, from->bytes, CHI_KEY_MAX);
	out->len = from->len;
	return CHI_OK;
}

static int move_to(struct chi_arena *arena, const struct chi_explore_move *from,
		   PB(ExploreMove) * out)
{
	chistore__v1__explore_move__init(out);
	out->move = from->move;
	out->played = counts_to(arena, &from->played);
	out->found = from->child.found;
	out->chi2 = from->child.chi2;
	out->reached = counts_to(arena, &from->child.counts);
	out->eco = text_to(arena, from->eco);
	out->opening = text_to(arena, from->opening);
	if (out->played == NULL || out->reached == NULL || out->eco == NULL ||
	    out->opening == NULL) {
		return -CHI_ENOMEM;
	}
	return key_to(arena, &from->child.key, &out->key);
}

static int moves_to(struct chi_arena *arena, const struct chi_explore *from,
		    PB(ExploreResult) * out)
{
	size_t n = from->n_moves;
	PB(ExploreMove) *moves = chi_arena_array(arena, n, sizeof(*moves));
	out->moves = chi_arena_array(arena, n, sizeof(*out->moves));
	if (moves == NULL || out->moves == NULL) {
		return -CHI_ENOMEM;
	}
	out->n_moves = n;
	for (size_t i = 0; i < n; i++) {
		int rc = move_to(arena, &from->moves[i], &moves[i]);
		if (rc != CHI_OK) {
			return rc;
		}
		out->moves[i] = &moves[i];
	}
	return CHI_OK;
}

int chi_explore_to(struct chi_arena *arena, const struct chi_explore *from,
		   PB(ExploreResult) * *out)
{
	PB(ExploreResult) *explore = chi_arena_alloc(arena, sizeof(*explore));
	if (explore == NULL) {
		return -CHI_ENOMEM;
	}
	chistore__v1__explore_result__init(explore);
	explore->found = from->position.found;
	explore->chi2 = from->position.chi2;
	explore->counts = counts_to(arena, &from->position.counts);
	explore->has_min_ply = from->min_ply >= 0;
	explore->min_ply = from->min_ply >= 0 ? (uint32_t)from->min_ply : 0;
	explore->eco = text_to(arena, from->eco);
	explore->opening = text_to(arena, from->opening);
	if (explore->counts == NULL || explore->eco == NULL || explore->opening == NULL) {
		return -CHI_ENOMEM;
	}
	*out = explore;
	int rc = key_to(arena, &from->position.key, &explore->key);
	return rc == CHI_OK ? moves_to(arena, from, explore) : rc;
}

/* ---- From the wire ----------------------------------------------------------------------- */

/* A row from its parts, as they stand in both messages. */
static int row_from(struct chi_unpacker *u, const ProtobufCBinaryData *key, bool found,
		    uint32_t chi2, const PB(Counts) * counts, struct chi_row *out)
{
	/* What is not stored may have no key: Black to move without a king. */
	const char *reason =
		key->len > 0 || found ? chi_key_from(key->data, key->len, &out->key) : NULL;
	if (reason != NULL) {
		return chi_flaw(u->flaw, -CHI_EPROTO, reason, "key");
	}
	if (chi2 > CHI_CHI2_MAX) {
		return chi_flaw(u->flaw, -CHI_EPROTO, "over 25599", "chi2");
	}
	out->found = found;
	out->chi2 = (uint16_t)chi2;
	out->counts = chi_counts_from(counts);
	return CHI_OK;
}

static int move_from(struct chi_unpacker *u, const PB(ExploreMove) * from,
		     struct chi_explore_move *out)
{
	if (!chi_is_move(from->move)) {
		return chi_flaw(u->flaw, -CHI_EPROTO, "not a move", "move");
	}
	out->move = (chi_move)from->move;
	out->played = chi_counts_from(from->played);
	out->eco = text_from(from->eco);
	out->opening = text_from(from->opening);
	return row_from(u, &from->key, from->found, from->chi2, from->reached, &out->child);
}

int chi_explore_from(struct chi_unpacker *u, const PB(ExploreResult) * from,
		     struct chi_explore *out)
{
	size_t n = from->n_moves;
	struct chi_explore_move *moves = chi_arena_array(u->arena, n, sizeof(*moves));
	if (moves == NULL) {
		return chi_flaw_memory(u->flaw, u->arena, n * sizeof(*moves));
	}
	if (from->min_ply > CHI_PLY_MAX) {
		return chi_flaw(u->flaw, -CHI_EPROTO, "over 4096", "min_ply");
	}
	int rc = row_from(u, &from->key, from->found, from->chi2, from->counts, &out->position);
	for (size_t i = 0; rc == CHI_OK && i < n; i++) {
		rc = move_from(u, from->moves[i], &moves[i]);
		if (rc != CHI_OK) {
			chi_flaw_under(u->flaw, "moves[%zu]", i);
		}
	}
	out->min_ply = from->has_min_ply ? (int32_t)from->min_ply : -1;
	out->eco = text_from(from->eco);
	out->opening = text_from(from->opening);
	out->moves = moves;
	out->n_moves = n;
	return rc;
}
