/* SPDX-License-Identifier: MIT */
/* Games, packed and as a result, and the results of imports. */
#include "proto/game_ids.h"

#include <string.h>

#define GAME_PRUNED 0x01u

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
static const char *game_from(const uint8_t *at, struct chi_game_id *out)
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

int chi_packed_game_ids_from(struct chi_unpacker *u, const uint8_t *bytes, size_t len, size_t max,
			     const struct chi_game_id **out, size_t *n)
{
	*out = NULL;
	*n = len / CHI_GAME_BYTES;
	if (len % CHI_GAME_BYTES != 0) {
		return chi_flaw(u->flaw, -CHI_EINVAL, "not 20 bytes a game", "games");
	}
	if (*n > max) {
		return chi_flaw(u->flaw, -CHI_ETOOBIG, "too many", "games");
	}
	if (*n == 0) {
		return CHI_OK;
	}
	struct chi_game_id *games = chi_arena_array(u->arena, *n, sizeof(*games));
	if (games == NULL) {
		return chi_flaw_memory(u->flaw, u->arena, *n * sizeof(*games));
	}
	for (size_t i = 0; i < *n; i++) {
		const char *reason = game_from(bytes + i * CHI_GAME_BYTES, &games[i]);
		if (reason != NULL) {
			return chi_flaw(u->flaw, -CHI_EINVAL, reason, "games[%zu]", i);
		}
	}
	*out = games;
	return CHI_OK;
}

int chi_game_ids_to(struct chi_arena *arena, const struct chi_response *from,
		    PB(GameIdsResult) * *out)
{
	size_t n = from->u.games.n;
	PB(GameIdsResult) *games = chi_arena_alloc(arena, sizeof(*games));
	uint8_t *bytes = chi_arena_array(arena, n, CHI_GAME_BYTES);
	if (games == NULL || bytes == NULL) {
		return -CHI_ENOMEM;
	}
	chistore__v1__game_ids_result__init(games);
	(void)chi_put_packed_game_ids(bytes, from->u.games.games, n);
	games->games.data = bytes;
	games->games.len = n * CHI_GAME_BYTES;
	games->count = (uint32_t)n;
	*out = games;
	return CHI_OK;
}

int chi_game_ids_from(struct chi_unpacker *u, const PB(GameIdsResult) * from,
		      struct chi_response *out)
{
	int rc = chi_packed_game_ids_from(u, from->games.data, from->games.len, CHI_GAME_IDS_MAX,
					  &out->u.games.games, &out->u.games.n);
	if (rc == CHI_OK && from->count != out->u.games.n) {
		return chi_flaw(u->flaw, -CHI_EPROTO, "not as many games as it says", "count");
	}
	return rc;
}

/* ---- Imports ----------------------------------------------------------------------------- */

void chi_put_result_to(const struct chi_put_result *from, PB(PutResult) * out)
{
	chistore__v1__put_result__init(out);
	out->added = from->added;
	out->updated = from->updated;
	out->unchanged = from->unchanged;
	out->removed = from->removed;
}

void chi_put_result_from(const PB(PutResult) * from, struct chi_put_result *out)
{
	if (from == NULL) {
		return;
	}
	out->added = from->added;
	out->updated = from->updated;
	out->unchanged = from->unchanged;
	out->removed = from->removed;
}

/* protobuf-c wants an array of pointers, so the structs and the pointers are two arrays. */
static int notes_to(struct chi_arena *arena, const struct chi_response *from,
		    PB(ImportResult) * out)
{
	size_t n = from->u.import.n_notes;
	PB(GameNote) *notes = chi_arena_array(arena, n, sizeof(*notes));
	out->notes = chi_arena_array(arena, n, sizeof(*out->notes));
	if (notes == NULL || out->notes == NULL) {
		return -CHI_ENOMEM;
	}
	out->n_notes = n;
	for (size_t i = 0; i < n; i++) {
		const struct chi_import_note *note = &from->u.import.notes[i];
		chistore__v1__game_note__init(&notes[i]);
		notes[i].file = chi_arena_text(arena, note->file, strlen(note->file));
		notes[i].text = chi_arena_text(arena, note->text, strlen(note->text));
		notes[i].game = note->game;
		notes[i].line = note->line;
		if (notes[i].file == NULL || notes[i].text == NULL) {
			return -CHI_ENOMEM;
		}
		out->notes[i] = &notes[i];
	}
	return CHI_OK;
}

int chi_import_to(struct chi_arena *arena, const struct chi_response *from, PB(ImportResult) * *out)
{
	const struct chi_import_result *result = &from->u.import.result;
	PB(ImportResult) *import = chi_arena_alloc(arena, sizeof(*import));
	PB(PutResult) *positions = chi_arena_alloc(arena, sizeof(*positions));
	if (import == NULL || positions == NULL) {
		return -CHI_ENOMEM;
	}
	chistore__v1__import_result__init(import);
	import->credit = from->u.import.credit;
	import->phase =
		chi_arena_text(arena, from->u.import.phase,
			       from->u.import.phase != NULL ? strlen(from->u.import.phase) : 0);
	if (import->phase == NULL) {
		return -CHI_ENOMEM;
	}
	import->done = from->u.import.done;
	import->total = from->u.import.total;
	if (from->last) {
		chi_put_result_to(&result->positions, positions);
		import->positions = positions;
	}
	import->games = result->games;
	import->taken = result->taken;
	import->known = result->known;
	import->skipped = result->skipped;
	import->empty = result->empty;
	import->cut = result->cut;
	import->plies = result->plies;
	import->dropped = result->dropped;
	*out = import;
	return notes_to(arena, from, import);
}

/* It is printed on terminals. */
static bool is_plain(const char *text)
{
	while (*text >= 0x20 && *text < 0x7f) {
		text++;
	}
	return *text == '\0';
}

int chi_import_from(struct chi_unpacker *u, const PB(ImportResult) * from, struct chi_response *out)
{
	struct chi_import_result *result = &out->u.import.result;
	size_t n = from->n_notes;
	struct chi_import_note *notes = chi_arena_array(u->arena, n, sizeof(*notes));
	if (notes == NULL) {
		return chi_flaw_memory(u->flaw, u->arena, n * sizeof(*notes));
	}
	if (!is_plain(from->phase)) {
		return chi_flaw(u->flaw, -CHI_EPROTO, "not printable ASCII", "phase");
	}
	for (size_t i = 0; i < n; i++) {
		notes[i] = (struct chi_import_note){
			.file = from->notes[i]->file,
			.game = from->notes[i]->game,
			.line = from->notes[i]->line,
			.text = from->notes[i]->text,
		};
	}
	out->u.import.notes = notes;
	out->u.import.n_notes = n;
	out->u.import.credit = from->credit;
	out->u.import.phase = from->phase[0] != '\0' ? from->phase : NULL;
	out->u.import.done = from->done;
	out->u.import.total = from->total;
	result->games = from->games;
	result->taken = from->taken;
	result->known = from->known;
	result->skipped = from->skipped;
	result->empty = from->empty;
	result->cut = from->cut;
	result->plies = from->plies;
	result->dropped = from->dropped;
	chi_put_result_from(from->positions, &result->positions);
	return CHI_OK;
}
