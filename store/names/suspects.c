/* SPDX-License-Identifier: MIT */
/*
 * Likely duplicates. Each name gives some numbers; names that are alike have one in common, so
 * that after sorting they lie side by side, and few pairs need be compared.
 *
 * First all pairs are joined that do not rest on initials, then each name with initials to the
 * person that it fits, if it fits one alone.
 */
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/buffer.h"
#include "store/names/names_priv.h"

/* Names with a number in common of which each is compared with the others; beyond that only with
 * as many neighbours, so that hostile names cost no quadratic time. */
#define WINDOW 128

struct keyed {
	uint64_t key;
	uint32_t id;
};

/* A name with initials, and one that it fits. */
struct link {
	uint32_t shorter;
	uint32_t longer;
	uint32_t score;
};

struct search {
	MDB_txn *txn;
	MDB_dbi dbi;
	enum chi_name_kind kind;
	enum chi_alike least;
	struct keyed *keys;
	size_t n_keys;
	size_t room;
	uint32_t max;	  /* the greatest number of a name */
	uint32_t *group;  /* by number: towards the lowest of the group, which is its own */
	uint32_t *person; /* by number: the lowest of those that are joined already */
	uint32_t *fide;	  /* of a group, by its lowest number */
	uint8_t *score;	  /* of a group, likewise */
	struct link *links;
	size_t n_links;
	size_t links_room;
};

static void search_deinit(struct search *s)
{
	free(s->keys);
	free(s->group);
	free(s->person);
	free(s->fide);
	free(s->score);
	free(s->links);
}

/* ---- Groups ------------------------------------------------------------------------------ */

static uint32_t find_root(struct search *s, uint32_t id)
{
	while (s->group[id] != id) {
		s->group[id] = s->group[s->group[id]];
		id = s->group[id];
	}
	return id;
}

/* False if they are different persons by their FIDE ids. */
static bool join_groups(struct search *s, uint32_t a, uint32_t b, uint32_t score)
{
	uint32_t x = find_root(s, a);
	uint32_t y = find_root(s, b);
	if (x == y) {
		return true;
	}
	if (s->fide[x] != 0 && s->fide[y] != 0 && s->fide[x] != s->fide[y]) {
		return false;
	}
	uint32_t low = x < y ? x : y;
	uint32_t high = x < y ? y : x;
	uint8_t least = s->score[low] < s->score[high] ? s->score[low] : s->score[high];
	s->group[high] = low;
	s->fide[low] = s->fide[low] != 0 ? s->fide[low] : s->fide[high];
	s->score[low] = score < least ? (uint8_t)score : least;
	return true;
}

/* ---- Pairs ------------------------------------------------------------------------------- */

static int add_keyed(struct search *s, const uint64_t *keys, size_t n, uint32_t id)
{
	if (chi_grow(&s->keys, &s->room, s->n_keys + n, sizeof(*s->keys)) < 0) {
		return -CHI_ENOMEM;
	}
	for (size_t i = 0; i < n; i++) {
		s->keys[s->n_keys++] = (struct keyed){keys[i], id};
	}
	return CHI_OK;
}

static int add_alike(void *context, const struct chi_name *name)
{
	struct search *s = context;
	struct chi_name_words words;
	uint64_t keys[CHI_ALIKE_KEYS];
	chi_name_split(name->text, name->len, &words);
	size_t n = s->kind == CHI_NAME_PLAYER ? chi_player_alike_keys(&words, keys)
					      : chi_title_alike_keys(&words, keys);
	return add_keyed(s, keys, n, name->id);
}

static int compare_keyed(const void *a, const void *b)
{
	const struct keyed *x = a;
	const struct keyed *y = b;
	return x->key != y->key ? (x->key > y->key) - (x->key < y->key)
				: (x->id > y->id) - (x->id < y->id);
}

static int add_link(struct search *s, uint32_t shorter, uint32_t longer, uint32_t score)
{
	if (chi_grow(&s->links, &s->links_room, s->n_links + 1, sizeof(*s->links)) < 0) {
		return -CHI_ENOMEM;
	}
	s->links[s->n_links++] = (struct link){shorter, longer, score};
	return CHI_OK;
}

static int words_of(const struct search *s, uint32_t id, struct chi_name_words *out)
{
	struct chi_name name;
	int rc = chi_name_text(s->txn, s->dbi, s->kind, id, &name);
	if (rc == CHI_OK) {
		chi_name_split(name.text, name.len, out);
	}
	return rc == CHI_NONE ? -CHI_ECORRUPT : rc;
}

/* One name with those after it that have a number in common. */
static int compare_with(struct search *s, const struct keyed *first, size_t n)
{
	struct chi_name_words a;
	struct chi_name_words b;
	int rc = words_of(s, first->id, &a);
	for (size_t i = 1; rc == CHI_OK && i < n; i++) {
		if (first[i].id == first->id ||
		    find_root(s, first[i].id) == find_root(s, first->id)) {
			continue;
		}
		rc = words_of(s, first[i].id, &b);
		if (rc != CHI_OK) {
			return rc;
		}
		enum chi_alike score = s->kind == CHI_NAME_PLAYER ? chi_player_alike(&a, &b)
								  : chi_title_alike(&a, &b);
		if (score < s->least || score == CHI_ALIKE_NOT) {
			continue;
		}
		if (score > CHI_ALIKE_INITIAL) {
			join_groups(s, first->id, first[i].id, score);
		} else {
			bool shorter = a.len < b.len || (a.len == b.len && first->id < first[i].id);
			rc = add_link(s, shorter ? first->id : first[i].id,
				      shorter ? first[i].id : first->id, score);
		}
	}
	return rc;
}

static void sort_keys(struct search *s)
{
	if (s->n_keys > 1) {
		qsort(s->keys, s->n_keys, sizeof(s->keys[0]), compare_keyed);
	}
}

static int compare_pairs(struct search *s)
{
	int rc = CHI_OK;
	sort_keys(s);
	for (size_t at = 0; rc == CHI_OK && at + 1 < s->n_keys; at++) {
		size_t n = 1;
		while (n < WINDOW && at + n < s->n_keys && s->keys[at + n].key == s->keys[at].key) {
			n++;
		}
		rc = n > 1 ? compare_with(s, &s->keys[at], n) : CHI_OK;
	}
	return rc;
}

static int compare_links(const void *a, const void *b)
{
	const struct link *x = a;
	const struct link *y = b;
	return (x->shorter > y->shorter) - (x->shorter < y->shorter);
}

/* Names with initials, each to the one person that it fits; the groups of the first pass decide
 * what one person is. */
static int join_initials(struct search *s)
{
	_cleanup_(chi_freep) uint32_t *before = calloc((size_t)s->max + 1, sizeof(*before));
	if (before == NULL) {
		return -CHI_ENOMEM;
	}
	for (uint32_t id = 1; id <= s->max; id++) {
		before[id] = find_root(s, id);
	}
	if (s->n_links > 1) {
		qsort(s->links, s->n_links, sizeof(s->links[0]), compare_links);
	}
	for (size_t at = 0, n = 0; at < s->n_links; at += n) {
		const struct link *link = &s->links[at];
		bool one = true;
		for (n = 0; at + n < s->n_links && link[n].shorter == link->shorter; n++) {
			one = one && before[link[n].longer] == before[link->longer];
		}
		if (one) {
			join_groups(s, link->shorter, link->longer, link->score);
		}
	}
	return CHI_OK;
}

/* ---- What is joined already --------------------------------------------------------------- */

static int add_known(void *context, const struct chi_name *name)
{
	struct search *s = context;
	const uint64_t fide = name->fide;
	if (name->id > s->max || name->root > s->max) {
		return -CHI_ECORRUPT;
	}
	s->fide[name->id] = name->fide;
	int rc = fide != 0 ? add_keyed(s, &fide, 1, name->id) : CHI_OK;
	return rc == CHI_OK && name->root != 0 ? add_link(s, name->id, name->root, UINT8_MAX) : rc;
}

/* By aliases and FIDE ids: one person from the start. */
static int join_known(struct search *s)
{
	int rc = chi_names_walk(s->txn, s->dbi, s->kind, 0, add_known, s);
	for (size_t i = 0; rc == CHI_OK && i < s->n_links; i++) {
		join_groups(s, s->links[i].shorter, s->links[i].longer, UINT8_MAX);
	}
	sort_keys(s);
	for (size_t i = 1; i < s->n_keys; i++) {
		if (s->keys[i].key == s->keys[i - 1].key) {
			join_groups(s, s->keys[i].id, s->keys[i - 1].id, UINT8_MAX);
		}
	}
	for (uint32_t id = 1; id <= s->max; id++) {
		s->person[id] = find_root(s, id);
	}
	s->n_keys = 0;
	s->n_links = 0;
	return rc;
}

static int search_init(struct search *s)
{
	int rc = chi_names_count(s->txn, s->dbi, s->kind, &s->max);
	size_t n = (size_t)s->max + 1;
	if (rc != CHI_OK) {
		return rc;
	}
	s->group = calloc(n, sizeof(*s->group));
	s->person = calloc(n, sizeof(*s->person));
	s->fide = calloc(n, sizeof(*s->fide));
	s->score = malloc(n);
	if (s->group == NULL || s->person == NULL || s->fide == NULL || s->score == NULL) {
		return -CHI_ENOMEM;
	}
	memset(s->score, UINT8_MAX, n);
	for (uint32_t id = 0; id < n; id++) {
		s->group[id] = id;
	}
	return CHI_OK;
}

/* ---- The list ---------------------------------------------------------------------------- */

static int compare_groups(const void *a, const void *b)
{
	const struct chi_suspects *x = a;
	const struct chi_suspects *y = b;
	return x->score != y->score ? (x->score < y->score) - (x->score > y->score)
				    : (x->ids[0] > y->ids[0]) - (x->ids[0] < y->ids[0]);
}

/* Groups of several persons by counting: how many each has, where each begins, who is in it. */
static int count_groups(struct search *s, uint32_t *size, struct chi_suspect_list *out)
{
	for (uint32_t id = 1; id <= s->max; id++) {
		uint32_t n = s->person[id] == id ? ++size[find_root(s, id)] : 0;
		out->n += n == 2;
		out->n_ids += n == 2 ? 2 : n > 2;
	}
	out->groups = calloc(out->n + 1, sizeof(*out->groups));
	out->ids = calloc(out->n_ids + 1, sizeof(*out->ids));
	return out->groups == NULL || out->ids == NULL ? -CHI_ENOMEM : CHI_OK;
}

static int list_groups(struct search *s, struct chi_suspect_list *out)
{
	size_t n = 0;
	_cleanup_(chi_freep) uint32_t *size = calloc((size_t)s->max + 1, sizeof(*size));
	int rc = size == NULL ? -CHI_ENOMEM : count_groups(s, size, out);
	uint32_t *next = out->ids;
	for (uint32_t id = 1; rc == CHI_OK && id <= s->max; id++) {
		uint32_t low = find_root(s, id);
		if (low == id && size[id] > 1) {
			out->groups[n] = (struct chi_suspects){.score = s->score[id], .ids = next};
			next += size[id];
			size[id] = (uint32_t)++n; /* which group it is, from here on */
		} else if (low == id) {
			size[id] = 0;
		}
		if (size[low] > 0 && s->person[id] == id) {
			struct chi_suspects *group = &out->groups[size[low] - 1];
			group->ids[group->n++] = id;
		}
	}
	if (rc == CHI_OK && out->n > 1) {
		qsort(out->groups, out->n, sizeof(out->groups[0]), compare_groups);
	}
	return rc;
}

int chi_names_suspects(MDB_txn *txn, MDB_dbi dbi, enum chi_name_kind kind, enum chi_alike least,
		       struct chi_suspect_list *out)
{
	_cleanup_(search_deinit) struct search s = {
		.txn = txn, .dbi = dbi, .kind = kind, .least = least};
	*out = (struct chi_suspect_list){0};
	int rc = search_init(&s);
	rc = rc == CHI_OK ? join_known(&s) : rc;
	rc = rc == CHI_OK ? chi_names_walk(txn, dbi, kind, 0, add_alike, &s) : rc;
	rc = rc == CHI_OK ? compare_pairs(&s) : rc;
	rc = rc == CHI_OK ? join_initials(&s) : rc;
	rc = rc == CHI_OK ? list_groups(&s, out) : rc;
	if (rc != CHI_OK) {
		chi_suspect_list_deinit(out);
	}
	return rc;
}

void chi_suspect_list_deinit(struct chi_suspect_list *list)
{
	free(list->groups);
	free(list->ids);
	*list = (struct chi_suspect_list){0};
}

size_t chi_suspect_list_memory(const struct chi_suspect_list *list)
{
	return list->n * sizeof(list->groups[0]) + list->n_ids * sizeof(list->ids[0]);
}
