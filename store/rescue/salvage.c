/* SPDX-License-Identifier: MIT */
#include "store/rescue/salvage.h"

#include <inttypes.h>

#include "base/fault.h"
#include "store/names.h"
#include "store/pages/pages.h"

static const char *const names[CHI_SALVAGE_TREES] = {
	[CHI_SALVAGE_META] = META_TREE,		[CHI_SALVAGE_POSITION] = POSITION_TREE,
	[CHI_SALVAGE_STRENGTH] = STRENGTH_TREE, [CHI_SALVAGE_GAME_IDS] = GAME_IDS_TREE,
	[CHI_SALVAGE_NAMES] = NAMES_TREE,	[CHI_SALVAGE_COLUMNS] = COLUMNS_TREE,
	[CHI_SALVAGE_GAMES] = GAMES_TREE,	[CHI_SALVAGE_GAMESETS] = GAMESETS_TREE,
};

static int take_entry(struct chi_page_walk *walk, struct chi_page_tree *tree, const MDB_val *key,
		      const MDB_val *value)
{
	struct chi_salvage *s = walk->context;
	return s->take(s->context, (enum chi_salvage_tree)(tree - s->trees), key, value);
}

void chi_salvage_doubt(struct chi_salvage *s)
{
	for (uint64_t i = 0; i < s->walk.n_pages; i++) {
		if (s->walk.pages[i] == CHI_PAGE_FREE) {
			s->walk.pages[i] = CHI_PAGE_UNKNOWN;
		}
	}
	s->free_known = false;
}

int chi_salvage_walk(struct chi_salvage *s, enum chi_salvage_tree tree)
{
	if (!s->found[tree]) {
		chi_page_complain(&s->walk, "the %s tree cannot be found", names[tree]);
		return CHI_OK;
	}
	return chi_page_walk_tree(&s->walk, &s->trees[tree]);
}

int chi_salvage_lost(struct chi_salvage *s, bool all)
{
	return chi_page_walk_lost(&s->walk, &s->trees[CHI_SALVAGE_LOST], all);
}

/* ---- Finding the trees -------------------------------------------------------------------- */

/* An entry of LMDB's main tree: the name and the record of a tree. */
static int take_tree_name(struct chi_page_walk *walk, struct chi_page_tree *tree,
			  const MDB_val *key, const MDB_val *value)
{
	struct chi_salvage *s = walk->context;
	(void)tree;
	for (int i = 0; i < CHI_SALVAGE_TREES; i++) {
		if (chi_page_key_is(key, names[i]) && chi_page_record(value, &s->trees[i])) {
			s->found[i] = true;
		}
	}
	return CHI_OK;
}

static int read_free(struct chi_salvage *s)
{
	chi_verify_report *report = s->walk.report;
	s->walk.report = NULL;
	int rc = chi_page_walk_free(&s->walk);
	s->walk.report = report;
	s->free_known = s->walk.errors == 0;
	s->walk.errors = 0;
	if (rc == CHI_OK && !s->free_known) {
		chi_page_complain(&s->walk, "the list of free pages is damaged");
	}
	return rc;
}

static int prepare(struct chi_salvage *s)
{
	struct chi_page_file *file_image = &s->walk.file_image;
	int rc = chi_page_walk_init(&s->walk);
	if (rc == CHI_OK) {
		rc = read_free(s);
	}
	if (rc < 0) {
		return rc;
	}
	if (file_image->last >= chi_page_file_pages(file_image)) {
		chi_page_complain(&s->walk,
				  "the file ends at page %" PRIu64
				  ", the last one in use is %" PRIu64,
				  chi_page_file_pages(file_image), file_image->last);
	}
	if (file_image->head_lost) {
		chi_page_complain(&s->walk, "a meta page is damaged");
	}
	for (int i = 0; i <= CHI_SALVAGE_TREES; i++) {
		s->trees[i] = (struct chi_page_tree){.name = i < CHI_SALVAGE_TREES ? names[i] : "",
						     .take = take_entry,
						     .lenient = true};
	}
	struct chi_page_tree main = chi_page_names(file_image);
	main.lenient = true;
	main.take = take_tree_name;
	return chi_page_walk_tree(&s->walk, &main);
}

int chi_salvage_open(struct chi_salvage *s, const char *dir, chi_salvage_take *take,
		     chi_verify_report *report, void *context, struct chi_fault *fault)
{
	*s = (struct chi_salvage){.take = take, .context = context};
	s->walk.report = report;
	s->walk.report_context = context;
	s->walk.context = s;
	int rc = chi_page_file_open(&s->walk.file_image, dir, CHI_PAGE_FILE_ANY, fault);
	if (rc < 0) {
		return rc;
	}
	rc = prepare(s);
	if (rc < 0) {
		chi_salvage_close(s);
		return chi_fault_plain(fault, rc);
	}
	return CHI_OK;
}

void chi_salvage_close(struct chi_salvage *s)
{
	chi_page_file_close(&s->walk.file_image);
	chi_page_walk_deinit(&s->walk);
}
