/* SPDX-License-Identifier: MIT */
/* Words are compared, not texts. */
#include "chess/names/fits.h"

/* A word of the name that no other word has been found in; `initials` are enough. */
static bool find_word(const struct chi_name_words *name, bool used[CHI_NAME_WORDS],
		      const struct chi_name_words *wanted, size_t at, bool initials, size_t *place)
{
	for (size_t i = 0; i < name->n; i++) {
		if (!used[i] && (chi_name_word_equal(name, i, wanted, at) ||
				 (initials && (chi_name_word_initial(name, i, wanted, at) ||
					       chi_name_word_initial(wanted, at, name, i))))) {
			used[i] = true;
			*place = i;
			return true;
		}
	}
	return false;
}

bool chi_player_fits_words(const struct chi_name_words *wanted, const struct chi_name_words *name)
{
	bool used[CHI_NAME_WORDS];
	bool found[CHI_NAME_WORDS];
	bool surname =
		false;	     /* a word of several letters is there, and may be the name's surname */
	bool longer = false; /* a word of several letters is not there as it is */
	size_t at = 0;
	memset(used, 0, name->n * sizeof(used[0]));
	/* Whole words first, so that no initial takes the place of one. */
	for (size_t i = 0; i < wanted->n; i++) {
		bool letter = chi_name_word_is_letter(wanted, i);
		found[i] = find_word(name, used, wanted, i, false, &at);
		if (!found[i] && wanted->comma && wanted->word[i].surname) {
			return false;
		}
		surname |= found[i] && !letter && (!name->comma || name->word[at].surname);
		longer |= !found[i] && !letter;
	}
	/* Without a comma the order says nothing: any word may be the surname that is wanted. */
	if (!wanted->comma && longer && !surname) {
		return false;
	}
	for (size_t i = 0; i < wanted->n; i++) {
		if (!found[i] && !find_word(name, used, wanted, i, true, &at)) {
			return false;
		}
	}
	return wanted->n > 0;
}

bool chi_name_has_words(const struct chi_name_words *wanted, const struct chi_name_words *name)
{
	bool used[CHI_NAME_WORDS];
	size_t at = 0;
	memset(used, 0, name->n * sizeof(used[0]));
	for (size_t i = 0; i < wanted->n; i++) {
		if (!find_word(name, used, wanted, i, false, &at)) {
			return false;
		}
	}
	return wanted->n > 0;
}

bool chi_player_fits(const char *wanted, const char *name)
{
	struct chi_name_words want;
	struct chi_name_words have;
	if (wanted[0] == '=') {
		return strcmp(wanted + 1, name) == 0;
	}
	chi_name_split(wanted, strlen(wanted), &want);
	chi_name_split(name, strlen(name), &have);
	return chi_player_fits_words(&want, &have);
}
