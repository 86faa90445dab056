/* SPDX-License-Identifier: MIT */
/*
 * A name is reduced in two ways: to its words, and to their sound, in which the usual ways of
 * writing a Russian or German name in Latin letters agree. A letter more, less or other in a
 * surname is found by the texts that remain when one letter is left out of each.
 */
#include "chess/names/alike.h"

#include <stdlib.h>

#include "base/attr.h"

#define LONG_SURNAME 6 /* bytes from which on one letter may differ */
#define MOST_LETTERS 28
#define FULL_NAME    3 /* bytes of a first name that says who it is */

/* ---- Sounds ------------------------------------------------------------------------------ */

/* By their first letter; longer ones before those that they begin with. */
static const struct sound_rule {
	char from[5];
	char to[3];
} sounds[26][7] = {
	['a' - 'a'] = {{"ae", "a"}},
	['c' - 'a'] = {{"ch", "c"}, {"ck", "k"}, {"cz", "c"}},
	['i' - 'a'] =
		{{"iu", "u"}, {"ia", "a"}, {"io", "o"}, {"ie", "e"}, {"ij", "i"}, {"iy", "i"}},
	['j' - 'a'] = {{"ju", "u"}, {"ja", "a"}, {"jo", "o"}, {"je", "e"}, {"j", "i"}},
	['k' - 'a'] = {{"kh", "h"}, {"ks", "x"}},
	['o' - 'a'] = {{"oe", "o"}},
	['p' - 'a'] = {{"ph", "f"}},
	['s' - 'a'] = {{"sch", "s"}, {"sh", "s"}, {"sz", "s"}},
	['t' - 'a'] = {{"tsch", "c"}, {"tch", "c"}, {"th", "t"}, {"tz", "c"}, {"ts", "c"}},
	['u' - 'a'] = {{"ue", "u"}},
	['w' - 'a'] = {{"w", "v"}},
	['y' - 'a'] = {{"yu", "u"}, {"ya", "a"}, {"yo", "o"}, {"ye", "e"}, {"yi", "i"}, {"y", "i"}},
	['z' - 'a'] = {{"zh", "z"}},
};

/* A word's sound; never longer than the word. */
struct sound {
	size_t len;
	char text[CHI_NAME_MAX];
};

static void sound_of(const char *text, size_t len, struct sound *out)
{
	out->len = 0;
	for (size_t at = 0; at < len;) {
		const char *to = text + at;
		size_t used = 1;
		size_t letter = (size_t)(unsigned char)*to - 'a';
		const struct sound_rule *rule = letter < CHI_COUNT(sounds) ? sounds[letter] : NULL;
		for (; rule != NULL && rule->from[0] != '\0'; rule++) {
			size_t n = 1;
			while (n < len - at && rule->from[n] != '\0' && rule->from[n] == to[n]) {
				n++;
			}
			if (rule->from[n] == '\0') {
				to = rule->to;
				used = n;
				break;
			}
		}
		if (out->len == 0 || out->text[out->len - 1] != *to) {
			out->text[out->len++] = *to;
		}
		at += used;
	}
	if (out->len > 1 && out->text[out->len - 1] == 'f') {
		out->text[out->len - 1] = 'v';
	}
}

static bool sounds_equal(const char *a, size_t a_len, const char *b, size_t b_len)
{
	struct sound x;
	struct sound y;
	sound_of(a, a_len, &x);
	sound_of(b, b_len, &y);
	return x.len == y.len && memcmp(x.text, y.text, x.len) == 0;
}

/* ---- Numbers of texts -------------------------------------------------------------------- */

#define HASH_START 0xcbf29ce484222325u

/* FNV-1a: the texts are short. */
static uint64_t hash_more(uint64_t hash, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		hash = (hash ^ (uint8_t)text[i]) * 0x100000001b3u;
	}
	return hash;
}

static uint64_t mix(uint64_t hash)
{
	hash = (hash ^ hash >> 32) * 0xd6e8feb86659fd93u;
	return hash ^ hash >> 32;
}

/* Abbreviations and Roman numerals are compared as they are written. */
static bool has_sound(const char *text, size_t len)
{
	bool roman = true;
	for (size_t i = 0; roman && i < len; i++) {
		roman = memchr("ivxlcdm", text[i], 7) != NULL;
	}
	return len > 4 && !roman;
}

/* Of the words, or their sounds, in whatever order. */
static uint64_t hash_words(const struct chi_name_words *words, bool sound)
{
	uint64_t sum = sound ? 1 : 2;
	for (size_t i = 0; i < words->n; i++) {
		struct sound as;
		const char *text = chi_name_word_text(words, i);
		size_t len = words->word[i].len;
		if (sound && has_sound(text, len)) {
			sound_of(text, len, &as);
			text = as.text;
			len = as.len;
		}
		sum += mix(hash_more(HASH_START, text, len));
	}
	return mix(sum);
}

/* ---- A person's name --------------------------------------------------------------------- */

/* Surname words lie side by side if there is a comma, else there is one: as one text. The first
 * names are the other words, in their order. */
struct person {
	const struct chi_name_words *words;
	const char *surname;
	size_t surname_len;
	size_t given[2]; /* words from..to before, and after, the surname; counted by n_given */
	size_t n_given;
};

static struct person person_of(const struct chi_name_words *words)
{
	struct person person = {.words = words};
	size_t from = 0;
	while (from < words->n && !words->word[from].surname) {
		from++;
	}
	size_t to = from;
	while (to < words->n && words->word[to].surname) {
		person.surname_len += words->word[to].len;
		to++;
	}
	person.surname = from < words->n ? chi_name_word_text(words, from) : "";
	person.given[0] = from;
	person.given[1] = to;
	person.n_given = words->n - (to - from);
	return person;
}

/* The word that first name i is. */
static size_t given_of(const struct person *person, size_t i)
{
	return i < person->given[0] ? i : person->given[1] + (i - person->given[0]);
}

enum given {
	GIVEN_OTHER,
	GIVEN_INITIAL, /* each first name of one is that of the other, its initial, or its beginning
			*/
	GIVEN_SOUND,   /* the first one sounds the same */
	GIVEN_SAME,    /* the first one is the same, written out */
};

/* "Mi" of "Michael". */
static bool is_beginning(const char *a, size_t a_len, const char *b, size_t b_len)
{
	size_t n = a_len < b_len ? a_len : b_len;
	return n > 1 && memcmp(a, b, n) == 0;
}

static enum given compare_given(const struct person *a, const struct person *b)
{
	size_t n = a->n_given < b->n_given ? a->n_given : b->n_given;
	enum given found = GIVEN_OTHER;
	for (size_t i = 0; i < n; i++) {
		size_t x = given_of(a, i);
		size_t y = given_of(b, i);
		const char *one = chi_name_word_text(a->words, x);
		const char *other = chi_name_word_text(b->words, y);
		size_t one_len = a->words->word[x].len;
		size_t other_len = b->words->word[y].len;
		bool initial = chi_name_word_initial(a->words, x, b->words, y) ||
			       chi_name_word_initial(b->words, y, a->words, x);
		bool same = chi_name_word_equal(a->words, x, b->words, y);
		bool sound = one_len > 1 && other_len > 1 &&
			     sounds_equal(one, one_len, other, other_len);
		if (!initial && !same && !sound && !is_beginning(one, one_len, other, other_len)) {
			return GIVEN_OTHER;
		}
		if (i == 0) {
			found = same && !initial    ? GIVEN_SAME
				: sound && !initial ? GIVEN_SOUND
						    : GIVEN_INITIAL;
		}
	}
	return found;
}

/* One letter more, less, or another. */
static bool one_letter_apart(const char *a, size_t a_len, const char *b, size_t b_len)
{
	size_t start = 0;
	size_t least = a_len < b_len ? a_len : b_len;
	size_t most = a_len < b_len ? b_len : a_len;
	while (start < least && a[start] == b[start]) {
		start++;
	}
	size_t end = 0;
	while (end < least - start && a[a_len - 1 - end] == b[b_len - 1 - end]) {
		end++;
	}
	return most - least <= 1 && start + end + 1 >= most;
}

static bool has_digit(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (text[i] >= '0' && text[i] <= '9') {
			return true;
		}
	}
	return false;
}

static bool is_long(const struct person *person)
{
	return person->surname_len >= LONG_SURNAME && person->surname_len <= MOST_LETTERS &&
	       !has_digit(person->surname, person->surname_len) && person->n_given > 0 &&
	       person->words->word[given_of(person, 0)].len >= FULL_NAME;
}

enum chi_alike chi_player_alike(const struct chi_name_words *a, const struct chi_name_words *b)
{
	if (a->n == b->n && a->n > 0 && hash_words(a, false) == hash_words(b, false)) {
		return CHI_ALIKE_WORDS;
	}
	struct person x = person_of(a);
	struct person y = person_of(b);
	enum given given = compare_given(&x, &y);
	if (given == GIVEN_OTHER) {
		return CHI_ALIKE_NOT;
	}
	if (x.surname_len == y.surname_len && memcmp(x.surname, y.surname, x.surname_len) == 0) {
		return given == GIVEN_SAME    ? CHI_ALIKE_SHORTER
		       : given == GIVEN_SOUND ? CHI_ALIKE_SPELT
					      : CHI_ALIKE_INITIAL;
	}
	if (sounds_equal(x.surname, x.surname_len, y.surname, y.surname_len)) {
		return given == GIVEN_INITIAL ? CHI_ALIKE_INITIAL_SPELT : CHI_ALIKE_SPELT;
	}
	return given == GIVEN_SAME && is_long(&x) && is_long(&y) &&
			       one_letter_apart(x.surname, x.surname_len, y.surname, y.surname_len)
		       ? CHI_ALIKE_LETTER
		       : CHI_ALIKE_NOT;
}

size_t chi_player_alike_keys(const struct chi_name_words *words, uint64_t keys[CHI_ALIKE_KEYS])
{
	struct person person = person_of(words);
	struct sound sound;
	size_t n = 0;
	if (words->n == 0) {
		return 0;
	}
	keys[n++] = hash_words(words, false);
	if (person.n_given == 0) {
		return n;
	}
	size_t first = given_of(&person, 0);
	const char *given = chi_name_word_text(words, first);
	sound_of(person.surname, person.surname_len, &sound);
	uint64_t hash = hash_more(HASH_START, sound.text, sound.len);
	keys[n++] = mix(hash_more(hash, given, 1));
	sound_of(given, words->word[first].len, &sound);
	keys[n++] = mix(hash_more(hash ^ 1, sound.text, 1));
	if (!is_long(&person)) {
		return n;
	}
	uint64_t start = hash_more(HASH_START, given, words->word[first].len) ^ 2;
	keys[n++] = mix(hash_more(start, person.surname, person.surname_len));
	for (size_t i = 0; i < person.surname_len; i++) {
		hash = hash_more(start, person.surname, i);
		keys[n++] =
			mix(hash_more(hash, person.surname + i + 1, person.surname_len - i - 1));
	}
	return n;
}

/* A bit of each word's sound and of the surname's, which may be of several words; all bits without
 * a surname of several letters, as such a name may fit by its initials. */
void chi_player_alike_mask(const struct chi_name_words *words, uint32_t root,
			   struct chi_name_mask *out)
{
	struct person person = person_of(words);
	struct sound sound;
	bool any = false;
	*out = (struct chi_name_mask){{0}};
	bool joined = person.given[1] - person.given[0] > 1;
	for (size_t i = 0; i < words->n + joined; i++) {
		const char *text = i < words->n ? chi_name_word_text(words, i) : person.surname;
		size_t len = i < words->n ? words->word[i].len : person.surname_len;
		any |= i < words->n && words->word[i].surname && !chi_name_word_is_letter(words, i);
		if (len > 1) {
			sound_of(text, len, &sound);
			uint64_t hash = mix(hash_more(HASH_START, sound.text, sound.len));
			out->bits[hash % 4] |= UINT64_C(1) << (hash >> 8 & 63);
		}
	}
	if (root != 0) {
		uint64_t hash = mix(root);
		out->bits[hash % 4] |= UINT64_C(1) << (hash >> 8 & 63);
	}
	if (!any) {
		memset(out, 0xff, sizeof(*out));
	}
}

/* ---- Other names ------------------------------------------------------------------------- */

enum chi_alike chi_title_alike(const struct chi_name_words *a, const struct chi_name_words *b)
{
	if (a->n != b->n || a->n == 0) {
		return CHI_ALIKE_NOT;
	}
	return hash_words(a, false) == hash_words(b, false) ? CHI_ALIKE_WORDS
	       : hash_words(a, true) == hash_words(b, true) ? CHI_ALIKE_SPELT
							    : CHI_ALIKE_NOT;
}

size_t chi_title_alike_keys(const struct chi_name_words *words, uint64_t keys[CHI_ALIKE_KEYS])
{
	keys[0] = hash_words(words, true);
	return words->n > 0 ? 1 : 0;
}
