/* SPDX-License-Identifier: MIT */
/* Reads what is said of numbers of pieces: `material` and `balance`; pattern.h defines them. */
#include "chess/pattern/draft.h"

#include <string.h>

#include "base/fault.h"
#include "base/num.h"
#include "chess/material.h"
#include "chess/position.h"

#define GAPS " ,\t"

/* Pieces of both sides with 'v' between, and of which there may be more. */
struct starred {
	uint8_t n[2][CHI_KINDS];
	bool more[2][CHI_KINDS];
};

static int refuse_counts(struct chi_fault *fault, struct chi_origin origin, const char *reason)
{
	return chi_fail(fault, -CHI_ESYNTAX, "%s, character %zu: %s", origin.field, origin.at,
			reason);
}

/* Reads letters, stars and one 'v'; gaps are skipped. `origin` is where the text begins. */
static int read_starred(const char *text, size_t len, struct chi_origin origin, struct starred *out,
			struct chi_fault *fault)
{
	struct starred read = {{{0}}, {{0}}};
	int colour = CHI_WHITE;
	int before = CHI_KINDS;
	for (size_t i = 0; i < len; i++, origin.at++) {
		int kind = chi_kind_of(text[i]);
		if (text[i] == 'v' && colour == CHI_WHITE) {
			colour = CHI_BLACK;
			before = CHI_KINDS;
		} else if (text[i] == '*' && before != CHI_KINDS) {
			read.n[colour][before]--;
			read.more[colour][before] = true;
			before = CHI_KINDS;
		} else if (kind != CHI_KINDS && read.n[colour][kind] < MEN_MAX) {
			read.n[colour][kind]++;
			before = kind;
		} else if (strchr(GAPS, text[i]) == NULL) {
			return refuse_counts(fault, origin,
					     text[i] == '*' ? "'*' is not after a letter"
					     : text[i] == 'v'
						     ? "a second 'v'"
						     : "K Q R B N P, '*' and one 'v' are expected");
		}
	}
	if (colour == CHI_WHITE) {
		return refuse_counts(fault, origin, "'v' and black's pieces are missing");
	}
	*out = read;
	return CHI_OK;
}

/* A signature: as many of each piece as it has. */
static int narrow_signature(struct chi_draft *draft, const struct starred *wanted,
			    struct chi_origin origin, struct chi_fault *fault)
{
	for (int piece = 0; piece < PIECES; piece++) {
		int colour = piece / CHI_KINDS;
		int n = wanted->n[colour][piece % CHI_KINDS];
		bool more = wanted->more[colour][piece % CHI_KINDS];
		int rc = chi_draft_bound(&draft->counts[piece], n, more ? MEN_MAX : n,
					 chi_draft_piece(piece), origin, fault);
		if (rc != CHI_OK) {
			return rc;
		}
	}
	return CHI_OK;
}

static int read_signature(struct chi_draft *draft, const char *word, size_t len,
			  struct chi_origin origin, struct chi_fault *fault)
{
	struct starred wanted;
	struct chi_material material;
	struct chi_fault why = {{0}};
	if (memchr(word, '*', len) != NULL) {
		int rc = read_starred(word, len, origin, &wanted, fault);
		return rc == CHI_OK ? narrow_signature(draft, &wanted, origin, fault) : rc;
	}
	int rc = chi_material_parse(word, len, &material, &why);
	if (rc != CHI_OK) {
		const char *reason = strstr(why.text, ": ");
		return refuse_counts(fault, origin, reason != NULL ? reason + 2 : why.text);
	}
	memset(&wanted, 0, sizeof(wanted));
	memcpy(wanted.n[CHI_WHITE], material.white, sizeof(material.white));
	memcpy(wanted.n[CHI_BLACK], material.black, sizeof(material.black));
	return narrow_signature(draft, &wanted, origin, fault);
}

/* "5", "5..8", "5.." or "..8". */
static int read_range(const char *text, size_t len, struct chi_origin origin,
		      struct chi_range_int *out, struct chi_fault *fault)
{
	const char *dots = memmem(text, len, "..", 2);
	const char *end = text + len;
	const char *second = dots != NULL ? dots + 2 : text;
	size_t first_len = dots != NULL ? (size_t)(dots - text) : len;
	uint64_t least = 0;
	uint64_t most = MEN_MAX;
	bool good = len > (dots != NULL ? 2 : 0);
	if (good && first_len > 0) {
		good = chi_num_u64(text, first_len, MEN_MAX, &least) == CHI_OK;
	}
	if (good && second != end) {
		good = chi_num_u64(second, (size_t)(end - second), MEN_MAX, &most) == CHI_OK;
	}
	if (!good) {
		return refuse_counts(fault, origin,
				     "a number up to 32 or a range such as 2..4, 2.. or "
				     "..4 is expected after '='");
	}
	if (least > most) {
		return refuse_counts(fault, origin, "the range ends before it begins");
	}
	*out = (struct chi_range_int){.least = (int)least, .most = (int)most};
	return CHI_OK;
}

/* The piece that a letter names, capital for White, or PIECES. */
static int piece_of(char letter)
{
	int white = chi_kind_of(letter);
	int black = chi_kind_of((char)(letter - 'a' + 'A'));
	if (white != CHI_KINDS) {
		return white;
	}
	return letter >= 'a' && black != CHI_KINDS ? CHI_KINDS + black : PIECES;
}

static bool is_word(const char *text, size_t len, const char *word)
{
	return len == strlen(word) && memcmp(text, word, len) == 0;
}

/* bishops=opposite, bishops=same: each side has one. */
static int read_bishops(struct chi_draft *draft, const char *value, size_t len,
			struct chi_origin origin, struct chi_fault *fault)
{
	uint8_t bishops = is_word(value, len, "opposite") ? CHI_BISHOPS_OPPOSITE
			  : is_word(value, len, "same")	  ? CHI_BISHOPS_SAME
							  : CHI_BISHOPS_ANY;
	if (bishops == CHI_BISHOPS_ANY) {
		return refuse_counts(fault, origin, "bishops are 'opposite' or 'same'");
	}
	if (draft->bishops != CHI_BISHOPS_ANY && draft->bishops != bishops) {
		return chi_fail(fault, -CHI_EINVAL,
				"%s, character %zu: bishops cannot be opposite and same",
				origin.field, origin.at);
	}
	draft->bishops = bishops;
	int rc = chi_draft_bound(&draft->counts[CHI_BISHOP], 1, 1, "white bishops", origin, fault);
	return rc != CHI_OK ? rc
			    : chi_draft_bound(&draft->counts[CHI_KINDS + CHI_BISHOP], 1, 1,
					      "black bishops", origin, fault);
}

/* NAME=VALUE; `equals` is inside of the word. */
static int read_number(struct chi_draft *draft, const char *word, size_t len, const char *equals,
		       struct chi_origin origin, struct chi_fault *fault)
{
	size_t name_len = (size_t)(equals - word);
	const char *value = equals + 1;
	size_t value_len = len - name_len - 1;
	struct chi_range_int range = {0};
	if (is_word(word, name_len, "bishops")) {
		return read_bishops(draft, value, value_len, origin, fault);
	}
	bool is_men = is_word(word, name_len, "men");
	int piece = name_len == 1 ? piece_of(*word) : PIECES;
	if (!is_men && piece == PIECES) {
		return refuse_counts(fault, origin,
				     "before '=' is one of K Q R B N P, small for Black, "
				     "or men, or bishops");
	}
	int rc = read_range(value, value_len, origin, &range, fault);
	if (rc != CHI_OK) {
		return rc;
	}
	return is_men ? chi_draft_bound(&draft->men, range.least, range.most, "men", origin, fault)
		      : chi_draft_bound(&draft->counts[piece], range.least, range.most,
					chi_draft_piece(piece), origin, fault);
}

int chi_draft_material(struct chi_draft *draft, const char *text, struct chi_fault *fault)
{
	const char *at = text + strspn(text, GAPS);
	struct chi_origin origin = {"material", (size_t)(at - text) + 1};
	if (*at == '\0') {
		return refuse_counts(fault, origin, "empty");
	}
	while (*at != '\0') {
		size_t len = strcspn(at, GAPS);
		const char *equals = memchr(at, '=', len);
		origin.at = (size_t)(at - text) + 1;
		int rc = equals != NULL ? read_number(draft, at, len, equals, origin, fault)
					: read_signature(draft, at, len, origin, fault);
		if (rc != CHI_OK) {
			return rc;
		}
		at += len;
		at += strspn(at, GAPS);
	}
	return CHI_OK;
}

int chi_draft_balance(struct chi_draft *draft, const char *text, struct chi_fault *fault)
{
	struct chi_origin origin = {"balance", 1};
	struct starred wanted;
	int rc = read_starred(text, strlen(text), origin, &wanted, fault);
	if (rc != CHI_OK) {
		return rc;
	}
	for (int kind = 0; kind < CHI_KINDS; kind++) {
		if (kind == CHI_KING) {
			continue;
		}
		int less = wanted.n[CHI_WHITE][kind] - wanted.n[CHI_BLACK][kind];
		draft->balance[kind].least = wanted.more[CHI_BLACK][kind] ? -MEN_MAX : less;
		draft->balance[kind].most = wanted.more[CHI_WHITE][kind] ? MEN_MAX : less;
	}
	for (int colour = CHI_WHITE; colour <= CHI_BLACK; colour++) {
		if (wanted.n[colour][CHI_KING] > 0 || wanted.more[colour][CHI_KING]) {
			return refuse_counts(fault, origin, "kings cannot make a difference");
		}
	}
	return CHI_OK;
}
