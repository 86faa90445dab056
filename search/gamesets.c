/* SPDX-License-Identifier: MIT */
/* Making gamesets, in a snapshot, and storing them, in a write that comes later: the mark says
 * which state they are of. */
#include "search/gamesets.h"

#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/fault.h"
#include "search/filter/matcher.h"
#include "search/filter/numbers.h"
#include "search/filter/stamp.h"
#include "search/filter/terms.h"

struct chi_gameset_job {
	bool again; /* of a gameset that is there */
	char name[CHI_GAMESET_NAME_MAX + 1];
	char filter[CHI_TERMS_PRINT_SIZE];
	size_t filter_len;
	struct chi_terms terms;
	struct chi_gameset_mark mark;
	struct chi_matcher *matcher;
	struct chi_numbers *numbers;
};

void chi_gameset_close(struct chi_gameset_job *job)
{
	if (job != NULL) {
		chi_matcher_free(job->matcher);
		chi_numbers_free(job->numbers);
		free(job);
	}
}

static void gameset_job_closep(struct chi_gameset_job **job)
{
	chi_gameset_close(*job);
}

static int get_gameset(const struct chi_archive_view *view, const char *name,
		       struct chi_gameset_entry *out, struct chi_fault *fault)
{
	int rc = chi_gameset_get(view->txn, view->trees.gamesets, name, strlen(name), out);
	return rc < 0 ? chi_fail(fault, rc, "gameset '%s' cannot be read (%s)", name,
				 chi_strerror(rc))
		      : rc;
}

/* The stored bitmap, if its names are as they were: games after it are to be added. */
static int take_stored(struct chi_gameset_job *job, const struct chi_archive_view *view,
		       const struct chi_gameset_entry *entry, uint32_t *from)
{
	uint64_t stamp = 0;
	int rc = chi_stamp_of(view, &job->terms, &entry->mark, &stamp);
	if (rc < 0 || stamp != entry->mark.stamp) {
		return rc < 0 ? rc : chi_numbers_new(&job->numbers);
	}
	*from = entry->mark.last + 1;
	return chi_numbers_read(entry->bitmap, entry->bitmap_len, entry->mark.last, &job->numbers);
}

/* What games are looked for, and which are known. */
static int begin_job(struct chi_gameset_job *job, struct chi_read *read,
		     const struct chi_archive_view *view, const struct chi_gameset_entry *entry,
		     struct chi_fault *fault)
{
	struct chi_matcher_spec spec = {.from = 1};
	int rc = entry != NULL ? take_stored(job, view, entry, &spec.from)
			       : chi_numbers_new(&job->numbers);
	if (rc == CHI_OK) {
		rc = chi_matcher_new(read, &job->terms, &spec, &job->matcher, fault);
		if (rc < 0) {
			return rc;
		}
		rc = chi_stamp_mark(view, &job->terms, &job->mark);
	}
	return rc == -CHI_ETOOBIG ? chi_fail(fault, rc,
					     "gameset '%s': its filter names gamesets that name "
					     "gamesets, more than %d deep",
					     job->name, CHI_GAMESET_DEPTH)
	       : rc < 0		  ? chi_fault_plain(fault, rc)
				  : CHI_OK;
}

int chi_gameset_open(struct chi_read *read, const char *name, const char *filter, size_t len,
		     struct chi_gameset_job **out, struct chi_fault *fault)
{
	struct chi_archive_view view;
	struct chi_gameset_entry entry;
	int rc = chi_gameset_name_check(name, strlen(name), fault);
	if (rc < 0) {
		return rc;
	}
	_cleanup_(gameset_job_closep) struct chi_gameset_job *job = calloc(1, sizeof(*job));
	if (job == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	memcpy(job->name, name, strlen(name));
	job->again = filter == NULL;
	rc = chi_read_archive(read, &view);
	rc = rc < 0 ? chi_fault_plain(fault, rc) : get_gameset(&view, name, &entry, fault);
	if (rc < 0 || (rc == CHI_NONE && job->again)) {
		return rc < 0 ? rc : chi_fail(fault, CHI_NONE, "there is no gameset '%s'", name);
	}
	if (rc == CHI_OK && !job->again) {
		return chi_fail(fault, -CHI_EEXIST, "there is a gameset '%s' already", name);
	}
	rc = chi_terms_parse(job->again ? entry.filter : filter,
			     job->again ? entry.filter_len : len, &job->terms, fault);
	const char *asked = rc == CHI_OK ? chi_terms_ask_store(&job->terms) : NULL;
	if (asked != NULL) {
		return chi_fail(fault, -CHI_EINVAL,
				"filter: %s changes with the store, a gameset cannot ask for it",
				asked);
	}
	rc = rc == CHI_OK ? begin_job(job, read, &view, job->again ? &entry : NULL, fault) : rc;
	if (rc < 0) {
		return rc;
	}
	job->filter_len = chi_terms_print(&job->terms, job->filter);
	*out = job;
	job = NULL;
	return CHI_OK;
}

int chi_gameset_step(struct chi_gameset_job *job, uint64_t steps)
{
	return chi_matcher_collect(job->matcher, steps, job->numbers);
}

uint64_t chi_gameset_games(const struct chi_gameset_job *job)
{
	return chi_numbers_count(job->numbers);
}

/* What it was made of is still there, in the write's state. */
static int check_names(const struct chi_gameset_job *job, const struct chi_archive_view *view,
		       struct chi_fault *fault)
{
	struct chi_gameset_entry entry;
	uint64_t stamp;
	int rc = get_gameset(view, job->name, &entry, fault);
	if (rc < 0) {
		return rc;
	}
	bool same = rc == CHI_OK && entry.filter_len == job->filter_len &&
		    memcmp(entry.filter, job->filter, job->filter_len) == 0;
	if (job->again ? !same : rc == CHI_OK) {
		return chi_fail(fault, -CHI_EEXIST, "gameset '%s' was made or dropped meanwhile",
				job->name);
	}
	rc = chi_stamp_of(view, &job->terms, &job->mark, &stamp);
	return rc == -CHI_EINVAL
		       ? chi_fail(fault, rc, "a gameset that '%s' names was dropped", job->name)
	       : rc < 0 ? chi_fault_plain(fault, rc)
			: CHI_OK;
}

int chi_gameset_save(struct chi_gameset_job *job, struct chi_write *write, struct chi_fault *fault)
{
	struct chi_archive_view view;
	int rc = chi_write_archive(write, &view);
	rc = rc == CHI_OK ? check_names(job, &view, fault) : chi_fault_plain(fault, rc);
	if (rc < 0) {
		return rc;
	}
	_cleanup_(chi_freep) uint8_t *bitmap = malloc(chi_numbers_room(job->numbers) + 1);
	if (bitmap == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	const struct chi_gameset_entry entry = {
		.name = job->name,
		.name_len = strlen(job->name),
		.filter = job->filter,
		.filter_len = job->filter_len,
		.mark = job->mark,
		.games = chi_gameset_games(job),
		.bitmap = bitmap,
		.bitmap_len = chi_numbers_write(job->numbers, bitmap),
	};
	rc = chi_write_gameset(write, &entry);
	return rc < 0 ? chi_fault_plain(fault, rc) : CHI_OK;
}

/* ---- All of them -------------------------------------------------------------------------- */

typedef int each(void *context, const struct chi_gameset_entry *entry);

static int walk(const struct chi_archive_view *view, const char *after, each *call, void *context)
{
	char name[CHI_GAMESET_KEY_MAX] = "";
	size_t len = strnlen(after, sizeof(name));
	memcpy(name, after, len);
	struct chi_gameset_entry entry;
	int rc = chi_gameset_after(view->txn, view->trees.gamesets, name, len, &entry);
	while (rc == CHI_OK) {
		rc = call(context, &entry);
		if (rc == CHI_OK) {
			len = entry.name_len;
			memcpy(name, entry.name, len);
			rc = chi_gameset_after(view->txn, view->trees.gamesets, name, len, &entry);
		}
	}
	return rc == CHI_NONE ? CHI_OK : rc;
}

struct listing {
	chi_gameset_visit *visit;
	void *context;
};

static int list_one(void *context, const struct chi_gameset_entry *entry)
{
	struct listing *listing = context;
	char name[CHI_GAMESET_KEY_MAX + 1] = "";
	char filter[CHI_GAMESET_FILTER_MAX + 1];
	memcpy(name, entry->name, entry->name_len);
	memcpy(filter, entry->filter, entry->filter_len);
	filter[entry->filter_len] = '\0';
	const struct chi_gameset gameset = {.name = name,
					    .filter = filter,
					    .upto = entry->mark.last,
					    .games = entry->games,
					    .bytes = entry->bitmap_len};
	return listing->visit(listing->context, &gameset);
}

int chi_gamesets_all(struct chi_read *read, const char *after, chi_gameset_visit *visit,
		     void *context)
{
	struct chi_archive_view view;
	struct listing listing = {visit, context};
	int rc = chi_read_archive(read, &view);
	return rc == CHI_OK ? walk(&view, after, list_one, &listing) : rc;
}

int chi_gamesets_one(struct chi_read *read, const char *name, chi_gameset_visit *visit,
		     void *context)
{
	struct chi_archive_view view;
	struct chi_gameset_entry entry;
	struct listing listing = {visit, context};
	int rc = chi_read_archive(read, &view);
	rc = rc == CHI_OK ? get_gameset(&view, name, &entry, NULL) : rc;
	return rc == CHI_OK && visit != NULL ? list_one(&listing, &entry) : rc;
}

/* ---- Dropping ----------------------------------------------------------------------------- */

struct use {
	const char *name;
	char by[CHI_GAMESET_KEY_MAX + 1];
};

/* Whether the filter names the gameset that is to go. */
static int find_use(void *context, const struct chi_gameset_entry *entry)
{
	struct use *use = context;
	_cleanup_(chi_freep) struct chi_terms *terms = malloc(sizeof(*terms));
	if (terms == NULL) {
		return -CHI_ENOMEM;
	}
	/* One that cannot be read cannot be used either, and must not keep others. */
	if (chi_terms_parse(entry->filter, entry->filter_len, terms, NULL) != CHI_OK) {
		return CHI_OK;
	}
	for (size_t i = 0; i < terms->n; i++) {
		const struct chi_term *term = &terms->term[i];
		if (term->kind == CHI_TERM_GAMESET &&
		    strcmp(chi_term_text_of(terms, term->text), use->name) == 0) {
			memcpy(use->by, entry->name, entry->name_len);
			return -CHI_EINVAL;
		}
	}
	return CHI_OK;
}

int chi_gameset_remove(struct chi_write *write, const char *name, struct chi_fault *fault)
{
	struct chi_archive_view view;
	struct use use = {.name = name};
	int rc = chi_write_archive(write, &view);
	rc = rc == CHI_OK ? walk(&view, "", find_use, &use) : rc;
	if (use.by[0] != '\0') {
		return chi_fail(fault, rc, "gameset '%s' is named by the filter of '%s'", name,
				use.by);
	}
	rc = rc == CHI_OK ? chi_write_drop_gameset(write, name, strlen(name)) : rc;
	return rc < 0 ? chi_fault_plain(fault, rc) : rc;
}
