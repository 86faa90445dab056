/* SPDX-License-Identifier: MIT */
/* Another store as a merge reads it: identities, names, games, gamesets. */
#include "import/dump/other.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/fault.h"
#include "import/dump/replay.h"
#include "store/gamesets/gamesets.h"
#include "store/load/load.h"

#define IDS_CHUNK 4096

/* Games between two looks at whether to go on. */
#define CHECK_EVERY 4096

static void otherp_free(struct chi_other **other)
{
	chi_other_free(*other);
}

static struct chi_other *new_other(struct chi_importer *importer, const char *name)
{
	_cleanup_(otherp_free) struct chi_other *other = calloc(1, sizeof(*other));
	if (other == NULL) {
		return NULL;
	}
	other->importer = importer;
	other->name = name;
	other->list = malloc(2 * CHI_OTHER_LIST * sizeof(*other->list));
	if (other->list == NULL || chi_archive_reader_new(&other->games) != CHI_OK) {
		return NULL;
	}
	struct chi_other *out = other;
	other = NULL;
	return out;
}

int chi_other_open(struct chi_importer *importer, const char *dir, struct chi_other **out,
		   struct chi_fault *fault)
{
	const struct chi_dir_options options = {.mode = CHI_STORE_READ};
	_cleanup_(otherp_free) struct chi_other *other = new_other(importer, "the other store");
	if (other == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	int rc = chi_dir_open(dir, &options, &other->store, fault);
	if (rc != CHI_OK) {
		other->store = NULL;
		return rc;
	}
	if (memcmp(chi_dir_uuid(other->store), chi_dir_uuid(importer->store), 16) == 0) {
		return chi_fail(fault, -CHI_EINVAL, "'%s' is the store itself, or a copy of it",
				dir);
	}
	other->trusted = true;
	*out = other;
	other = NULL;
	return CHI_OK;
}

int chi_other_made(struct chi_importer *importer, struct chi_load *load, struct chi_other **out,
		   struct chi_fault *fault)
{
	_cleanup_(otherp_free) struct chi_other *other = new_other(importer, "the dump");
	if (other == NULL) {
		chi_load_abandon(load);
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	int rc = chi_load_open(load, &other->store, fault);
	if (rc != CHI_OK) {
		other->store = NULL;
		return rc;
	}
	*out = other;
	other = NULL;
	return CHI_OK;
}

void chi_other_free(struct chi_other *other)
{
	if (other == NULL) {
		return;
	}
	chi_carried_deinit(&other->known);
	chi_records_close(other->records);
	chi_archive_reader_free(other->games);
	if (other->read != NULL) {
		chi_read_end(other->read);
	}
	chi_dir_close(other->store);
	free(other->list);
	free(other);
}

/* Says that it is the other store which is damaged. */
static int told(const struct chi_other *other, int rc, struct chi_fault *fault)
{
	return rc == -CHI_ECORRUPT ? chi_fail(fault, rc, "the store '%s' is damaged",
					      chi_dir_path(other->store))
	       : rc < 0		   ? chi_fault_plain(fault, rc)
				   : rc;
}

int chi_other_begin(struct chi_other *other, struct chi_fault *fault)
{
	int rc = chi_read_begin(other->store, &other->read);
	if (rc != CHI_OK) {
		other->read = NULL;
		return chi_fault_plain(fault, rc);
	}
	rc = chi_read_info(other->read, &other->info);
	rc = rc == CHI_OK ? chi_read_archive(other->read, &other->view) : rc;
	rc = rc == CHI_OK
		     ? chi_archive_reader_begin(other->games, other->view.txn, &other->view.trees)
		     : rc;
	rc = rc == CHI_OK ? chi_records_open(other->read, &other->records) : rc;
	return told(other, rc, fault);
}

bool chi_other_keeps(const struct chi_other *other)
{
	return other->info.keep == CHI_KEEP_GAMES;
}

/* ---- Identities ----------------------------------------------------------------------------- */

int chi_each_game_id(const struct chi_importer *importer, struct chi_read *read, uint64_t all,
		     chi_carried_take *take, void *context, struct chi_fault *fault)
{
	_cleanup_(chi_freep) struct chi_game_id *ids = malloc(IDS_CHUNK * sizeof(*ids));
	uint64_t done = 0;
	uint8_t after[CHI_GAME_ID_SIZE];
	size_t n = IDS_CHUNK;
	int rc = ids != NULL ? CHI_OK : chi_fault_plain(fault, -CHI_ENOMEM);
	while (rc == CHI_OK && n == IDS_CHUNK) {
		rc = chi_importer_check(importer, "games", done, all, fault);
		rc = rc == CHI_OK
			     ? chi_read_game_ids(read, done > 0 ? after : NULL, ids, IDS_CHUNK, &n)
			     : rc;
		for (size_t i = 0; rc == CHI_OK && i < n; i++) {
			memcpy(after, ids[i].id, sizeof(after));
			rc = take(context, &ids[i], fault);
		}
		done += n;
	}
	return rc;
}

int chi_other_each(struct chi_other *other, chi_carried_take *take, void *context,
		   struct chi_fault *fault)
{
	const struct chi_counts *games = &other->info.games;
	fault->text[0] = '\0';
	int rc = chi_each_game_id(other->importer, other->read,
				  games->white + games->draws + games->black + games->other, take,
				  context, fault);
	return fault->text[0] != '\0' ? rc : told(other, rc, fault);
}

/* ---- Names and gamesets --------------------------------------------------------------------- */

struct naming {
	chi_carried_name *take;
	void *context;
	uint8_t kind;
	bool stopped; /* by `take`, which has said why */
};

static int take_other_name(void *context, const struct chi_name *name)
{
	struct naming *naming = context;
	const struct chi_dump_name carried = {.kind = naming->kind,
					      .id = name->id,
					      .root = name->root,
					      .fide = name->fide,
					      .given = name->given,
					      .text = name->text,
					      .len = name->len};
	int rc = naming->take(naming->context, &carried);
	naming->stopped = rc != CHI_OK;
	return rc;
}

int chi_other_names(struct chi_other *other, chi_carried_name *take, void *context,
		    struct chi_fault *fault)
{
	struct naming naming = {.take = take, .context = context};
	int rc = CHI_OK;
	for (int kind = CHI_NAME_PLAYER; rc == CHI_OK && kind < CHI_NAME_KINDS; kind++) {
		naming.kind = (uint8_t)kind;
		rc = chi_names_walk(other->view.txn, other->view.trees.names,
				    (enum chi_name_kind)kind, 1, take_other_name, &naming);
	}
	return naming.stopped ? rc : told(other, rc, fault);
}

int chi_other_gamesets(struct chi_other *other, chi_carried_gameset *take, void *context,
		       struct chi_fault *fault)
{
	const struct chi_archive_view *view = &other->view;
	struct chi_gameset_entry entry = {.name = "", .name_len = 0};
	int rc;
	while ((rc = chi_gameset_after(view->txn, view->trees.gamesets, entry.name, entry.name_len,
				       &entry)) == CHI_OK) {
		const struct chi_dump_text name = {entry.name, entry.name_len};
		const struct chi_dump_text filter = {entry.filter, entry.filter_len};
		rc = take(context, &name, &filter);
		if (rc != CHI_OK) {
			return rc;
		}
	}
	return rc == CHI_NONE ? CHI_OK : told(other, rc, fault);
}

/* ---- Games ---------------------------------------------------------------------------------- */

static int archive_one(struct chi_other *other, uint32_t number, uint32_t kept,
		       struct chi_load *load, struct chi_fault *fault)
{
	struct chi_packed_game game;
	struct chi_span text;
	char source[CHI_SOURCE_SIZE] = "";
	int rc = chi_archive_packed(other->games, number, &game, &text);
	if (rc != CHI_OK) {
		return rc < 0 && rc != -CHI_ECORRUPT
			       ? chi_fault_plain(fault, rc)
			       : chi_fail(fault, -CHI_ECORRUPT,
					  "the store '%s' is damaged: game %" PRIu32
					  " cannot be read",
					  chi_dir_path(other->store), number);
	}
	if (text.len < sizeof(source)) {
		memcpy(source, text.len > 0 ? text.bytes : (const uint8_t *)"", text.len);
	}
	return chi_load_archive_packed(load, kept, source, &game, fault);
}

int chi_other_archive(struct chi_other *other, const struct chi_carried_plan *plan,
		      struct chi_load *load, struct chi_fault *fault)
{
	int rc = CHI_OK;
	for (uint64_t i = 1; rc == CHI_OK && i <= plan->last; i++) {
		if (i % CHECK_EVERY == 0) {
			chi_importer_progress(other->importer, "keeping", i, plan->last);
			rc = chi_importer_canceled(other->importer)
				     ? chi_fault_plain(fault, -CHI_ECANCELED)
				     : CHI_OK;
		}
		if (rc == CHI_OK && plan->numbers[i] != 0) {
			rc = archive_one(other, (uint32_t)i, plan->numbers[i], load, fault);
		}
	}
	return rc == CHI_OK ? chi_load_archived(load, fault) : rc;
}

/* ---- Known games ---------------------------------------------------------------------------- */

int chi_other_known(struct chi_other *other, const struct chi_carried_plan *plan,
		    struct chi_lists **out, struct chi_fault *fault)
{
	int rc = chi_carried_init(&other->known, other->importer, fault);
	rc = rc == CHI_OK ? chi_replay_games(other->importer, &other->view, plan, true,
					     other->known.positions, fault)
			  : rc;
	return rc == CHI_OK ? chi_lists_open(&other->known, plan, out, fault) : rc;
}

/* ---- Positions ------------------------------------------------------------------------------ */

int chi_other_next(struct chi_other *other, struct chi_arena *arena, struct chi_stored *out,
		   struct chi_fault *fault)
{
	return told(other, chi_records_next(other->records, arena, out), fault);
}

/* Appends those that have a number in ours; false: there is no such game. */
static bool append_held(struct chi_other *other, const struct chi_carried_plan *plan,
			const struct chi_posting *entries, size_t n, size_t *kept)
{
	for (size_t i = 0; i < n; i++) {
		if (entries[i].game > plan->last) {
			return false;
		}
		uint32_t number = plan->numbers[entries[i].game];
		other->list[*kept] = (struct chi_posting){.game = number, .move = entries[i].move};
		*kept += number != 0;
	}
	return true;
}

static void reachedp_close(struct chi_reached **reached)
{
	chi_reached_close(*reached);
}

/* A list of the postings tree, chunk by chunk. */
static int add_listed(struct chi_other *other, const struct chi_carried_plan *plan,
		      chi_other_part *take, void *context, size_t *kept)
{
	_cleanup_(reachedp_close) struct chi_reached *reached = NULL;
	const struct chi_posting *some = NULL;
	size_t n = 0;
	int rc = chi_records_reached(other->records, &reached);
	if (rc != CHI_OK) {
		return rc < 0 ? rc : -CHI_ECORRUPT;
	}
	while ((rc = chi_reached_next(reached, &some, &n)) == CHI_OK) {
		if (n > CHI_OTHER_LIST || !append_held(other, plan, some, n, kept)) {
			return -CHI_ECORRUPT;
		}
		if (*kept >= CHI_OTHER_LIST) {
			rc = take(context, other->list, kept, other->list[*kept - 1].game);
		}
		if (rc != CHI_OK || *kept >= CHI_OTHER_LIST) {
			return rc < 0 ? rc : -CHI_ECORRUPT;
		}
	}
	return rc == CHI_NONE ? CHI_OK : rc;
}

int chi_other_list(struct chi_other *other, const struct chi_stored *stored,
		   const struct chi_carried_plan *plan, chi_other_part *take, void *context,
		   struct chi_posting **games, size_t *n, struct chi_fault *fault)
{
	*games = other->list;
	*n = 0;
	if (stored->listed > 0) {
		return told(other, add_listed(other, plan, take, context, n), fault);
	}
	return append_held(other, plan, stored->games, stored->n_games, n)
		       ? CHI_OK
		       : told(other, -CHI_ECORRUPT, fault);
}
