/* SPDX-License-Identifier: MIT */
/* The names tree in an environment of its own, compared with a plain list of what was put in. */
#include "tests/store/names_tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "chess/names/fits.h"
#include "store/names/names_priv.h"
#include "tests/base/seed.h"

/* ---- Numbers ------------------------------------------------------------------------------ */

CASE(test_one_text_one_number, names_setup, names_teardown)
{
	struct chi_name name;
	uint32_t count;
	assert_int_equal(names_player("Tal, Mikhail"), 1);
	assert_int_equal(names_player("Carlsen, Magnus"), 2);
	assert_int_equal(names_player("Tal, Mikhail"), 1);
	assert_int_equal(names_player("tal, mikhail"), 3);
	assert_int_equal(names_player(""), 0);
	assert_int_equal(names_intern(CHI_NAME_SITE, "Tal, Mikhail", 0), 1);
	names_commit();
	names_begin();
	assert_int_equal(names_player("Petrosian"), 4);
	assert_int_equal(names_player("tal, mikhail"), 3);
	assert_int_equal(names_intern(CHI_NAME_SITE, "Riga", 0), 2);
	names_commit();
	names_begin();
	name = names_at(CHI_NAME_PLAYER, 2);
	assert_int_equal(name.len, strlen("Carlsen, Magnus"));
	assert_memory_equal(name.text, "Carlsen, Magnus", name.len);
	assert_int_equal(chi_name_text(names_txn, names_dbi, CHI_NAME_PLAYER, 5, &name), CHI_NONE);
	assert_int_equal(chi_name_text(names_txn, names_dbi, CHI_NAME_PLAYER, 33, &name), CHI_NONE);
	assert_int_equal(chi_name_text(names_txn, names_dbi, CHI_NAME_PLAYER, 0, &name), CHI_NONE);
	assert_int_equal(chi_name_text(names_txn, names_dbi, CHI_NAME_PLAYER, UINT32_MAX, &name),
			 CHI_NONE);
	ok(chi_names_count(names_txn, names_dbi, CHI_NAME_PLAYER, &count));
	assert_int_equal(count, 4);
	ok(chi_names_count(names_txn, names_dbi, CHI_NAME_SOURCE, &count));
	assert_int_equal(count, 0);
}

/* More chunks than the reader keeps, of kinds that share its slots, and in a later transaction a
 * chunk that has grown. */
CASE(test_reader, names_setup, names_teardown)
{
	static struct chi_name_reader reader;
	const enum chi_name_kind kinds[] = {CHI_NAME_PLAYER, CHI_NAME_EVENT, CHI_NAME_SITE};
	char wanted[32];
	const char *text = NULL;
	size_t len = 0;
	for (uint32_t last = 5000; last <= 10000; last += 5000) {
		for (uint32_t id = last - 4999; id <= last; id++) {
			for (size_t k = 0; k < CHI_COUNT(kinds); k++) {
				snprintf(wanted, sizeof(wanted), "%zu, %u", k, id);
				assert_int_equal(names_intern(kinds[k], wanted, 0), id);
			}
		}
		names_commit();
		names_begin();
		chi_name_reader_begin(&reader, names_txn, names_dbi, last);
		for (unsigned i = 0; i < 50000; i++) {
			size_t k = help_below(CHI_COUNT(kinds));
			uint32_t id = 1 + help_below(last);
			snprintf(wanted, sizeof(wanted), "%zu, %u", k, id);
			ok(chi_name_reader_text(&reader, kinds[k], id, &text, &len));
			assert_int_equal(len, strlen(wanted));
			assert_memory_equal(text, wanted, len);
		}
		for (uint32_t id = last - 1; id < last + 70; id++) {
			int rc = chi_name_reader_text(&reader, CHI_NAME_PLAYER, id, &text, &len);
			assert_int_equal(rc, id <= last ? CHI_OK : CHI_NONE);
		}
		assert_int_equal(chi_name_reader_text(&reader, CHI_NAME_PLAYER, 0, &text, &len),
				 CHI_NONE);
	}
}

CASE(test_lengths, names_setup, names_teardown)
{
	char text[CHI_NAME_MAX + 2];
	uint32_t id;
	memset(text, 'x', sizeof(text));
	for (size_t len = 1; len <= CHI_NAME_MAX; len++) {
		ok(chi_names_intern(names_cache, names_txn, names_dbi, CHI_NAME_EVENT, text, len, 0,
				    &id));
		assert_int_equal(id, len);
	}
	assert_int_equal(chi_names_intern(names_cache, names_txn, names_dbi, CHI_NAME_EVENT, text,
					  CHI_NAME_MAX + 1, 0, &id),
			 -CHI_ETOOBIG);
	for (size_t i = 0; i < CHI_NAME_MAX; i++) {
		text[i] = i % 2 == 0 ? (char)('a' + i / 2 % 26) : ' ';
	}
	ok(chi_names_intern(names_cache, names_txn, names_dbi, CHI_NAME_EVENT, text, CHI_NAME_MAX,
			    0, &id));
	memset(text, ' ', sizeof(text));
	ok(chi_names_intern(names_cache, names_txn, names_dbi, CHI_NAME_EVENT, text, CHI_NAME_MAX,
			    0, &id));
	names_commit();
}

/* Bytes of the entries, in parts of those that the leaf pages have. */
static double leaf_fill(void)
{
	MDB_cursor *cursor;
	MDB_stat stat;
	MDB_val key;
	MDB_val value;
	size_t bytes = 0;
	assert_int_equal(mdb_stat(names_txn, names_dbi, &stat), 0);
	assert_int_equal(mdb_cursor_open(names_txn, names_dbi, &cursor), 0);
	while (mdb_cursor_get(cursor, &key, &value, MDB_NEXT) == 0) {
		bytes += 10 + (key.mv_size + value.mv_size + 1) / 2 * 2;
	}
	mdb_cursor_close(cursor);
	return (double)bytes / (double)(stat.ms_leaf_pages * stat.ms_psize);
}

/* Kind by kind, each kind's entries came in between those of others, and left pages half empty. */
CASE(test_a_first_write_fills_its_pages, names_setup, names_teardown)
{
	uint32_t id;
	struct chi_name_cache *cache;
	ok(chi_name_cache_new(8u << 20, &cache));
	for (unsigned i = 0; i < 6000; i++) {
		char text[64];
		int len = snprintf(text, sizeof(text), "Name %u of %u", i * 7919 % 6007, i % 97);
		ok(chi_names_intern(cache, names_txn, names_dbi, CHI_NAME_PLAYER + i % 4, text,
				    (size_t)len, 0, &id));
	}
	ok(chi_names_flush(cache, names_txn, names_dbi));
	chi_name_cache_free(cache);
	double fill = leaf_fill();
	print_message("# figures: leaf pages are full to %.3f\n", fill);
	assert_true(fill > 0.85);
}

/* Many names in several transactions, some of them aborted, against a list of texts; with so little
 * memory that the names_cache is emptied often. */
CASE(test_against_a_list, names_setup, names_teardown)
{
	enum {
		MOST = 40000
	};
	static uint32_t numbers[MOST];
	uint32_t next = 1;
	size_t rounds = seed_rounds(200000);
	memset(numbers, 0, sizeof(numbers));
	for (size_t i = 0; i < rounds; i++) {
		char text[64];
		unsigned n = help_below(1 + (unsigned)(i * MOST / rounds));
		snprintf(text, sizeof(text), "Player%u, Ab%u C%u", n % 999, n % 77, n);
		uint32_t id = names_player(text);
		numbers[n] = numbers[n] != 0 ? numbers[n] : next++;
		assert_int_equal(id, numbers[n]);
		if (i % 30011 == 0) {
			names_commit();
			names_begin();
		} else if (i % 30011 == 15000) {
			uint32_t count;
			ok(chi_names_flush(names_cache, names_txn, names_dbi));
			mdb_txn_abort(names_txn);
			chi_name_cache_reset(names_cache);
			names_begin();
			ok(chi_names_count(names_txn, names_dbi, CHI_NAME_PLAYER, &count));
			next = count + 1;
			for (n = 0; n < MOST; n++) {
				numbers[n] = numbers[n] < next ? numbers[n] : 0;
			}
		}
	}
	names_commit();
	names_begin();
	for (unsigned n = 0; n < MOST; n += 97) {
		char text[64];
		char expected[16];
		snprintf(text, sizeof(text), "=Player%u, Ab%u C%u", n % 999, n % 77, n);
		snprintf(expected, sizeof(expected), "%u", numbers[n]);
		assert_string_equal(names_found(CHI_NAME_PLAYER, text),
				    numbers[n] == 0 ? "" : expected);
		assert_string_equal(names_found(CHI_NAME_PLAYER, text + 1),
				    numbers[n] == 0 ? "" : expected);
	}
}

/* Two texts of which the index sees no difference; found by trying. */
static void find_same_hash(char a[16], char b[16])
{
	enum {
		TRIED = 40000
	};
	static struct chi_name_item items[TRIED];
	for (uint32_t i = 0; i < TRIED; i++) {
		snprintf(a, 16, "Text%u", i);
		items[i] = chi_text_item(CHI_NAME_SITE, a, strlen(a));
		items[i].id = (uint32_t)items[i].bucket << 16 | items[i].mark;
		items[i].bucket = 0;
	}
	struct chi_name_item *sorted = calloc(TRIED, sizeof(*sorted));
	assert_non_null(sorted);
	memcpy(sorted, items, sizeof(items));
	qsort(sorted, TRIED, sizeof(*sorted), chi_name_item_compare);
	uint32_t same = 0;
	for (uint32_t i = 1; i < TRIED; i++) {
		same = sorted[i].id == sorted[i - 1].id ? sorted[i].id : same;
	}
	free(sorted);
	char *out[] = {a, b};
	for (uint32_t i = 0, n = 0; i < TRIED && n < 2; i++) {
		if (items[i].id == same) {
			snprintf(out[n++], 16, "Text%u", i);
		}
	}
}

CASE(test_texts_with_the_same_hash, names_setup, names_teardown)
{
	char a[16];
	char b[16];
	find_same_hash(a, b);
	assert_string_not_equal(a, b);
	assert_int_equal(names_intern(CHI_NAME_SITE, a, 0), 1);
	names_commit();
	names_begin();
	assert_int_equal(names_intern(CHI_NAME_SITE, b, 0), 2);
	names_commit();
	names_begin();
	assert_int_equal(names_intern(CHI_NAME_SITE, b, 0), 2);
	assert_int_equal(names_intern(CHI_NAME_SITE, a, 0), 1);
}

/* ---- Finding ------------------------------------------------------------------------------ */

CASE(test_finds_players, names_setup, names_teardown)
{
	names_player("Carlsen, Magnus");
	names_player("Magnus Carlsen");
	names_player("carlsen,m.");
	names_player("Carlsen, Henrik");
	names_player("H\xc3\xbc"
		     "bner, Robert");
	names_player("Nielsen, Magnus C");
	names_player("\xd0\x9a\xd0\x90\xd0\xa0\xd0\x9f\xd0\x9e\xd0\x92");
	expect_found("Carlsen, Magnus", "1 2 3");
	expect_found("CARLSEN", "1 2 3 4");
	expect_found("=Carlsen, Magnus", "1");
	expect_found("=Carlsen", "");
	expect_found("hubner", "5");
	expect_found("M", "1 2 3 6");
	expect_found("\xd0\xba\xd0\xb0\xd1\x80\xd0\xbf\xd0\xbe\xd0\xb2", "7");
	expect_found("", "");
	expect_found(",", "");
	expect_found("=", "");
	expect_found("Fischer", "");
}

CASE(test_finds_events, names_setup, names_teardown)
{
	static const char *const events[] = {"Tata Steel Masters 2020", "82nd Tata Steel GpA",
					     "Steel City Open", "TATA-STEEL Rapid"};
	for (size_t i = 0; i < CHI_COUNT(events); i++) {
		assert_int_equal(names_intern(CHI_NAME_EVENT, events[i], 7), i + 1);
	}
	ok(chi_names_flush(names_cache, names_txn, names_dbi));
	assert_string_equal(names_found(CHI_NAME_EVENT, "steel tata"), "1 2 4");
	assert_string_equal(names_found(CHI_NAME_EVENT, "tata steel 2020"), "1");
	assert_string_equal(names_found(CHI_NAME_EVENT, "t steel"), "");
	assert_string_equal(names_found(CHI_NAME_PLAYER, "steel"), "");
	names_commit();
}

/* What is found by words is what a walk over all names finds. */
CASE(test_finds_all_that_fit, names_setup, names_teardown)
{
	enum {
		NAMES = 3000
	};
	static const char *const words[] = {"Li",  "Liu", "Lee", "Wei", "Ann", "Anna", "Bo",
					    "Bob", "L",	  "A",	 "B",	"W",   "Cy",   "Dee"};
	static const char *const joints[] = {", ", " ", ",", ". "};
	static char texts[NAMES + 1][32];
	for (size_t i = 1; i <= NAMES; i++) {
		char text[32];
		snprintf(text, sizeof(text), "%s%s%s %s", words[help_below(14)],
			 joints[help_below(4)], words[help_below(14)], words[help_below(14)]);
		uint32_t id = names_player(text);
		memcpy(texts[id], text, sizeof(text));
	}
	ok(chi_names_flush(names_cache, names_txn, names_dbi));
	for (size_t round = 0; round < seed_rounds(400); round++) {
		_cleanup_(chi_name_ids_deinit) struct chi_name_ids ids = {0};
		char wanted[32];
		size_t n = 0;
		snprintf(wanted, sizeof(wanted), "%s%s%s", words[help_below(14)],
			 joints[help_below(4)], help_below(3) == 0 ? "" : words[help_below(14)]);
		ok(chi_names_find(names_txn, names_dbi, CHI_NAME_PLAYER, wanted, &ids));
		for (uint32_t id = 1; id <= NAMES && texts[id][0] != '\0'; id++) {
			if (chi_player_fits(wanted, texts[id])) {
				assert_true(n < ids.n);
				assert_int_equal(ids.id[n++], id);
			}
		}
		assert_int_equal(n, ids.n);
	}
}

/* ---- Joining ------------------------------------------------------------------------------ */

CASE(test_aliases_join, names_setup, names_teardown)
{
	names_player("Karpov, Anatoly");
	names_player("Karpow, A");
	names_player("Karpof");
	names_player("Kasparov, Garry");
	ok(chi_names_flush(names_cache, names_txn, names_dbi));
	ok(chi_names_alias(names_txn, names_dbi, CHI_NAME_PLAYER, 2, 1, &fault));
	expect_found("Karpov", "1 2");
	assert_int_equal(chi_names_alias(names_txn, names_dbi, CHI_NAME_PLAYER, 1, 2, &fault),
			 CHI_NONE);
	assert_int_equal(chi_names_alias(names_txn, names_dbi, CHI_NAME_PLAYER, 1, 1, &fault),
			 CHI_NONE);
	/* The group goes along, and has one root. */
	ok(chi_names_alias(names_txn, names_dbi, CHI_NAME_PLAYER, 2, 3, &fault));
	expect_found("Karpov", "1 2 3");
	expect_found("=Karpof", "1 2 3");
	assert_int_equal(names_at(CHI_NAME_PLAYER, 1).root, 3);
	assert_int_equal(names_at(CHI_NAME_PLAYER, 2).root, 3);
	assert_int_equal(names_at(CHI_NAME_PLAYER, 3).root, 0);
	names_check();
	/* The root leaves, the others stay joined. */
	ok(chi_names_unalias(names_txn, names_dbi, CHI_NAME_PLAYER, 3, &fault));
	expect_found("Karpof", "3");
	expect_found("Karpow", "1 2");
	names_check();
	ok(chi_names_unalias(names_txn, names_dbi, CHI_NAME_PLAYER, 2, &fault));
	expect_found("Karpow", "2");
	assert_int_equal(chi_names_unalias(names_txn, names_dbi, CHI_NAME_PLAYER, 1, &fault),
			 CHI_NONE);
	assert_int_equal(chi_names_unalias(names_txn, names_dbi, CHI_NAME_PLAYER, 9, &fault),
			 -CHI_EINVAL);
	assert_int_equal(chi_names_alias(names_txn, names_dbi, CHI_NAME_PLAYER, 1, 9, &fault),
			 -CHI_EINVAL);
	assert_int_equal(chi_names_alias(names_txn, names_dbi, CHI_NAME_PLAYER, 0, 1, &fault),
			 -CHI_EINVAL);
	names_commit();
}

CASE(test_fide_ids_join, names_setup, names_teardown)
{
	assert_int_equal(names_intern(CHI_NAME_PLAYER, "Wei, Yi", 8603405), 1);
	assert_int_equal(names_player("Wei, Yi"), 1);
	assert_int_equal(names_intern(CHI_NAME_PLAYER, "Yi Wei", 8603405), 2);
	/* Another player of the same name. */
	assert_int_equal(names_intern(CHI_NAME_PLAYER, "Wei, Yi", 99), 3);
	assert_int_equal(names_player("Wei, Yi"), 1);
	/* A name takes the first id that comes. */
	assert_int_equal(names_player("Ding, Liren"), 4);
	assert_int_equal(names_intern(CHI_NAME_PLAYER, "Ding, Liren", 5), 4);
	assert_int_equal(names_intern(CHI_NAME_PLAYER, "Ding, Liren", 6), 5);
	assert_int_equal(names_player("Wang, W"), 6);
	names_commit();
	names_begin();
	assert_int_equal(names_at(CHI_NAME_PLAYER, 4).fide, 5);
	assert_int_equal(names_intern(CHI_NAME_PLAYER, "Wei, Yi", 99), 3);
	assert_int_equal(names_intern(CHI_NAME_PLAYER, "Wei, Yi", 100), 7);
	assert_int_equal(names_player("Wei, Yi"), 1);
	assert_int_equal(names_intern(CHI_NAME_PLAYER, "Wang, W", 98), 6);
	expect_found("=Yi Wei", "1 2");
	expect_found("=Wei, Yi", "1 2");
	expect_found("wang", "6");
	names_commit();
}

CASE(test_fide_conflicts, names_setup, names_teardown)
{
	names_intern(CHI_NAME_PLAYER, "Li, A", 1);
	names_intern(CHI_NAME_PLAYER, "Li, B", 2);
	names_player("Li, C");
	ok(chi_names_flush(names_cache, names_txn, names_dbi));
	assert_int_equal(chi_names_alias(names_txn, names_dbi, CHI_NAME_PLAYER, 1, 2, &fault),
			 -CHI_EINVAL);
	assert_string_equal(fault.text, "\"Li, A\" has FIDE id 1, \"Li, B\" has 2: not the same "
					"player");
	ok(chi_names_alias(names_txn, names_dbi, CHI_NAME_PLAYER, 1, 3, &fault));
	assert_int_equal(chi_names_alias(names_txn, names_dbi, CHI_NAME_PLAYER, 2, 3, &fault),
			 -CHI_EINVAL);
	assert_int_equal(chi_names_set_fide(names_txn, names_dbi, 3, 7, false, &fault),
			 -CHI_EINVAL);
	ok(chi_names_set_fide(names_txn, names_dbi, 3, 1, false, &fault));
	assert_int_equal(chi_names_set_fide(names_txn, names_dbi, 3, 1, false, &fault), CHI_NONE);
	/* A name that is joined to another player takes no id by its text. */
	chi_name_cache_reset(names_cache);
	assert_int_equal(names_player("Li, D"), 4);
	ok(chi_names_flush(names_cache, names_txn, names_dbi));
	ok(chi_names_alias(names_txn, names_dbi, CHI_NAME_PLAYER, 4, 1, &fault));
	assert_int_equal(names_intern(CHI_NAME_PLAYER, "Li, D", 8), 5);
	names_commit();
}

static bool holds(const struct chi_name_ids *ids, uint32_t id)
{
	size_t i = 0;
	while (i < ids->n && ids->id[i] != id) {
		i++;
	}
	return i < ids->n;
}

/* Groups joined and left at random, against a list that says who is with whom. */
CASE(test_aliases_against_a_list, names_setup, names_teardown)
{
	enum {
		NAMES = 40
	};
	unsigned group[NAMES + 1];
	unsigned fresh = NAMES;
	for (unsigned i = 1; i <= NAMES; i++) {
		char text[16];
		snprintf(text, sizeof(text), "Site%u", i);
		group[i] = i;
		names_intern(CHI_NAME_SITE, text, 0);
	}
	ok(chi_names_flush(names_cache, names_txn, names_dbi));
	for (size_t round = 0; round < seed_rounds(2000); round++) {
		uint32_t a = 1 + help_below(NAMES);
		uint32_t b = 1 + help_below(NAMES);
		if (help_below(2) == 0) {
			int rc = chi_names_alias(names_txn, names_dbi, CHI_NAME_SITE, a, b, &fault);
			assert_int_equal(rc, group[a] == group[b] ? CHI_NONE : CHI_OK);
			for (unsigned i = 1, old = group[a]; i <= NAMES; i++) {
				group[i] = group[i] == old ? group[b] : group[i];
			}
		} else {
			assert_true(chi_names_unalias(names_txn, names_dbi, CHI_NAME_SITE, a,
						      &fault) >= 0);
			group[a] = ++fresh;
		}
		_cleanup_(chi_name_ids_deinit) struct chi_name_ids ids = {0};
		size_t n = 0;
		ok(chi_names_group(names_txn, names_dbi, CHI_NAME_SITE, b, &ids));
		for (unsigned i = 1; i <= NAMES; i++) {
			assert_int_equal(holds(&ids, i), group[i] == group[b]);
			n += group[i] == group[b];
		}
		assert_int_equal(n, ids.n);
	}
	names_check();
}

CASE(test_corrects_by_spelling_files, names_setup, names_teardown)
{
	uint32_t count;
	names_player("Korchnoi, V");
	names_intern(CHI_NAME_PLAYER, "Kortschnoj", 14);
	names_intern(CHI_NAME_PLAYER, "Smyslov", 15);
	ok(chi_names_flush(names_cache, names_txn, names_dbi));
#define correct(name, alias)                                                                       \
	chi_names_correct(names_cache, names_txn, names_dbi, CHI_NAME_PLAYER, name, alias, &fault)
	assert_int_equal(correct("Karpov, Anatoly", "Karpow"), CHI_NONE);
	ok(chi_names_count(names_txn, names_dbi, CHI_NAME_PLAYER, &count));
	assert_int_equal(count, 3);
	ok(correct("Kortchnoi, Viktor", "Korchnoi, V"));
	ok(correct("Kortchnoi, Viktor", "Kortschnoj"));
	assert_int_equal(correct("Kortchnoi, Viktor", "Kortschnoj"), CHI_NONE);
	assert_int_equal(correct("Kortchnoi, Viktor", "Smyslov"), -CHI_EINVAL);
#undef correct
	expect_found("Kortchnoi", "1 2 4");
	assert_int_equal(names_at(CHI_NAME_PLAYER, 1).root, 4);
	names_commit();
}

/* ---- Alike -------------------------------------------------------------------------------- */

static int score_of(const char *a, const char *b)
{
	struct chi_name_words words[2];
	struct chi_name_mask masks[2];
	chi_name_split(a, strlen(a), &words[0]);
	chi_name_split(b, strlen(b), &words[1]);
	for (size_t i = 0; i < 2; i++) {
		chi_player_alike_mask(&words[i], 0, &masks[i]);
	}
	enum chi_alike score = chi_player_alike(&words[0], &words[1]);
	assert_int_equal(chi_player_alike(&words[1], &words[0]), score);
	assert_true(score == CHI_ALIKE_NOT || chi_name_masks_share(&masks[0], &masks[1]));
	return score;
}

/* Scid's own test of names has these, and one that ends early was alike to none. */
CASE(test_a_first_name_that_begins_the_other_is_alike)
{
	assert_int_equal(score_of("Adams,Mi", "Adams, Michael"), CHI_ALIKE_INITIAL);
	assert_int_equal(score_of("Bachmann,Ax", "Bachmann, Axel"), CHI_ALIKE_INITIAL);
	assert_int_equal(score_of("Kortschnoj,Vi", "Korchnoi, Viktor"), CHI_ALIKE_INITIAL_SPELT);
	assert_int_equal(score_of("Adams,Michael", "Adams,Michael John"), CHI_ALIKE_SHORTER);
	assert_int_equal(score_of("Adams,Mi J", "Adams,Michael John"), CHI_ALIKE_INITIAL);
	assert_int_equal(score_of("Adams,Mi", "Adams,Mark"), CHI_ALIKE_NOT);
	assert_int_equal(score_of("Adams,Mi", "Adamson,Michael"), CHI_ALIKE_NOT);
	assert_int_equal(score_of("Adams,Mi J", "Adams,Michael P"), CHI_ALIKE_NOT);
	/* The same sound says more. */
	assert_int_equal(score_of("Jakovenko,Dmitri", "Jakovenko,Dmitrij"), CHI_ALIKE_SPELT);
}

/* Twins are looked for among names that share a bit, which must not lose one. */
CASE(test_masks_lose_no_name)
{
	static const char *const pairs[][2] = {
		{"Mir Sultan Khan", "Sultan Khan, Mir"},
		{"Calderon, Nicolas", "Caderon, Nicolas"},
		{"Carlsen", "Carlsen, Magnus"},
		{"van der Sterren, Paul", "Vandersterren, P"},
		{"X, Yz", "Y X Foo"},
		{"M. C.", "Carlsen, Magnus"},
		{"", "Carlsen, Magnus"},
		{"Yusupov, Artur", "Jussupow, Artur"},
	};
	for (size_t i = 0; i < CHI_COUNT(pairs); i++) {
		struct chi_name_words words[2];
		struct chi_name_mask masks[2];
		for (size_t k = 0; k < 2; k++) {
			chi_name_split(pairs[i][k], strlen(pairs[i][k]), &words[k]);
			chi_player_alike_mask(&words[k], 0, &masks[k]);
		}
		assert_true(chi_name_masks_share(&masks[0], &masks[1]));
	}
	/* Few others have: else all games are unpacked. Those that were joined have. */
	unsigned shared = 0;
	for (unsigned i = 0; i < 1000; i++) {
		struct chi_name_words words[2];
		struct chi_name_mask masks[2];
		struct chi_name_mask joined[2];
		for (size_t k = 0; k < 2; k++) {
			char text[32] = "aaaaaa, aaaaa";
			for (size_t at = 0; text[at] != '\0'; at++) {
				text[at] =
					text[at] == 'a' ? (char)('a' + help_below(26)) : text[at];
			}
			chi_name_split(text, strlen(text), &words[k]);
			chi_player_alike_mask(&words[k], 0, &masks[k]);
			chi_player_alike_mask(&words[k], 7, &joined[k]);
		}
		shared += chi_name_masks_share(&masks[0], &masks[1]);
		assert_true(chi_name_masks_share(&joined[0], &joined[1]));
	}
	assert_in_range(shared, 1, 60);
}

/* ---- Duplicates --------------------------------------------------------------------------- */

static void expect_groups(enum chi_name_kind kind, const char *expected)
{
	char text[1024] = "";
	struct chi_suspect_list list;
	ok(chi_names_flush(names_cache, names_txn, names_dbi));
	ok(chi_names_suspects(names_txn, names_dbi, kind, CHI_ALIKE_INITIAL_SPELT, &list));
	for (size_t i = 0; i < list.n; i++) {
		size_t at = strlen(text);
		snprintf(text + at, sizeof(text) - at, "%s%d:", i > 0 ? "; " : "",
			 (int)list.groups[i].score);
		for (size_t k = 0; k < list.groups[i].n; k++) {
			at = strlen(text);
			snprintf(text + at, sizeof(text) - at, " %u", list.groups[i].ids[k]);
		}
	}
	chi_suspect_list_deinit(&list);
	assert_string_equal(text, expected);
}

CASE(test_suspects, names_setup, names_teardown)
{
	static const char *const players[] = {
		"Anand,V",	   "Anand, V.",		"Polgar, Judit", /* 1.. */
		"Polgar, Zsuzsa",  "Polgar, J",		"Smith, John",
		"Smith, James",	   "Smith, J",		"Yusupov, Artur", /* 7.. */
		"Jussupow, Artur", "Calderon, Nicolas", "Caderon, Nicolas",
		"Fischer, Bobby",  "Fischer",		"Fischer, Robert James", /* 13.. */
		"Fischer, Robert", "Stockfish 15",	"Stockfish 16",
	};
	for (size_t i = 0; i < CHI_COUNT(players); i++) {
		assert_int_equal(names_player(players[i]), i + 1);
	}
	expect_groups(CHI_NAME_PLAYER, "95: 1 2; 90: 15 16; 80: 9 10; 75: 11 12; 70: 3 5");
	/* Who is joined, or has another FIDE id, is no suspect. */
	ok(chi_names_alias(names_txn, names_dbi, CHI_NAME_PLAYER, 2, 1, &fault));
	ok(chi_names_set_fide(names_txn, names_dbi, 9, 4100, false, &fault));
	ok(chi_names_set_fide(names_txn, names_dbi, 10, 4200, false, &fault));
	ok(chi_names_set_fide(names_txn, names_dbi, 15, 4300, false, &fault));
	ok(chi_names_set_fide(names_txn, names_dbi, 16, 4300, false, &fault));
	expect_groups(CHI_NAME_PLAYER, "75: 11 12; 70: 3 5");
	expect_groups(CHI_NAME_SITE, "");
	names_intern(CHI_NAME_SITE, "Zurich SUI", 0);
	names_intern(CHI_NAME_SITE, "Zuerich SUI", 0);
	names_intern(CHI_NAME_SITE, "Baden-Baden", 0);
	names_intern(CHI_NAME_SITE, "Baden Baden", 0);
	names_intern(CHI_NAME_SITE, "XXXVI Open", 0);
	names_intern(CHI_NAME_SITE, "XXXVII Open", 0);
	expect_groups(CHI_NAME_SITE, "95: 3 4; 80: 1 2");
}

CASES_MAIN(NULL, help_teardown)
