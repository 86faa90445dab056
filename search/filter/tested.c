/* SPDX-License-Identifier: MIT */
/*
 * Of a chunk is kept: which of its rows fit, of these, where there are motifs, which were played
 * again already, and where its column of results is. That points into the map, as the chunk did,
 * and is valid until the snapshot ends: nothing is verified twice. About half a byte a game.
 */
#include "search/filter/tested.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/buffer.h"

struct kept_chunk {
	uint32_t first; /* number of the game in row 0 */
	uint32_t n;	/* rows */
	size_t words;	/* where its own begin: rows that fit, then those that were looked at */
	struct chi_column_span results;
};

struct chi_tested {
	struct chi_matcher *matcher;
	bool has_motifs;
	bool is_kept; /* chunks that are left are */
	size_t n_chunks;
	size_t max_chunks;
	struct kept_chunk *chunks;
	size_t n_words;
	size_t max_words;
	uint64_t *words;
	size_t next; /* round of kept chunks: those before are below the numbers to come */
	/* The chunk of the last question. */
	struct kept_chunk chunk;
	struct chi_hits hits;
	struct chi_hits looked; /* of the hits: they fit the motifs too */
};

int chi_tested_new(struct chi_matcher *matcher, struct chi_tested **out)
{
	struct chi_tested *tested = calloc(1, sizeof(*tested));
	if (tested == NULL) {
		return -CHI_ENOMEM;
	}
	tested->matcher = matcher;
	tested->has_motifs = chi_matcher_has_motifs(matcher);
	tested->is_kept = true;
	*out = tested;
	return CHI_OK;
}

void chi_tested_free(struct chi_tested *tested)
{
	if (tested != NULL) {
		free(tested->chunks);
		free(tested->words);
		free(tested);
	}
}

size_t chi_tested_memory(const struct chi_tested *tested)
{
	return sizeof(*tested) + tested->max_chunks * sizeof(*tested->chunks) +
	       tested->max_words * sizeof(*tested->words);
}

static bool has_number(const struct kept_chunk *chunk, uint32_t number)
{
	return number - chunk->first < chunk->n;
}

static size_t words_of(const struct kept_chunk *chunk)
{
	return (chunk->n + 63) / 64;
}

/* Room for a chunk of `n` words. -CHI_ENOMEM. */
static int make_room(struct chi_tested *tested, size_t n)
{
	int rc = chi_grow(&tested->chunks, &tested->max_chunks, tested->n_chunks + 1,
			  sizeof(*tested->chunks));
	return rc == CHI_OK ? chi_grow(&tested->words, &tested->max_words, tested->n_words + n,
				       sizeof(*tested->words))
			    : rc;
}

/* Keeps the chunk of the last question, if none was kept at its place or above. */
static int keep_chunk(struct chi_tested *tested)
{
	size_t n = words_of(&tested->chunk);
	bool is_next = tested->n_chunks == 0 ||
		       tested->chunks[tested->n_chunks - 1].first < tested->chunk.first;
	if (!tested->is_kept || n == 0 || !is_next) {
		return CHI_OK;
	}
	int rc = make_room(tested, 2 * n);
	if (rc < 0) {
		return rc;
	}
	tested->chunk.words = tested->n_words;
	memcpy(tested->words + tested->n_words, tested->hits.words, 8 * n);
	tested->n_words += n;
	if (tested->has_motifs) {
		memcpy(tested->words + tested->n_words, tested->looked.words, 8 * n);
		tested->n_words += n;
	}
	tested->chunks[tested->n_chunks++] = tested->chunk;
	return CHI_OK;
}

/* Goes on to the kept chunk that has the number. False: none has. */
static bool find_kept(struct chi_tested *tested, uint32_t number)
{
	while (tested->next < tested->n_chunks && tested->chunks[tested->next].first <= number &&
	       !has_number(&tested->chunks[tested->next], number)) {
		tested->next++;
	}
	if (tested->next == tested->n_chunks ||
	    !has_number(&tested->chunks[tested->next], number)) {
		return false;
	}
	tested->chunk = tested->chunks[tested->next];
	size_t n = words_of(&tested->chunk);
	const uint64_t *words = tested->words + tested->chunk.words;
	memcpy(tested->hits.words, words, 8 * n);
	if (tested->has_motifs) {
		memcpy(tested->looked.words, words + n, 8 * n);
	}
	return true;
}

/* Goes to the chunk that has the number. CHI_NONE: there is none. */
static int enter_chunk(struct chi_tested *tested, uint32_t number, uint64_t *steps)
{
	int rc = keep_chunk(tested);
	tested->chunk.n = 0;
	if (rc < 0 || (!tested->is_kept && find_kept(tested, number))) {
		return rc;
	}
	rc = chi_matcher_test(tested->matcher, number, steps, &tested->hits);
	if (rc == CHI_OK) {
		const struct chi_columns_chunk *chunk = chi_matcher_chunk(tested->matcher);
		tested->chunk = (struct kept_chunk){.first = chunk->first,
						    .n = chunk->n,
						    .results = chunk->columns[CHI_COLUMN_RESULT]};
		tested->looked = (struct chi_hits){{0}};
	}
	return rc;
}

int chi_tested_ask(struct chi_tested *tested, uint32_t number, uint64_t *steps, uint32_t *result)
{
	int rc = has_number(&tested->chunk, number) ? CHI_OK : enter_chunk(tested, number, steps);
	if (rc != CHI_OK) {
		return rc;
	}
	uint32_t row = number - tested->chunk.first;
	uint64_t bit = UINT64_C(1) << (row % 64);
	uint64_t *hits = &tested->hits.words[row / 64];
	uint64_t *looked = &tested->looked.words[row / 64];
	if ((*hits & bit) == 0) {
		return CHI_NONE;
	}
	*result = chi_column_span_value(&tested->chunk.results, row);
	if (!tested->has_motifs || (*looked & bit) != 0) {
		return CHI_OK;
	}
	rc = chi_matcher_look(tested->matcher, number, steps);
	*looked |= bit;
	*hits &= rc == CHI_NONE ? ~bit : UINT64_MAX;
	return rc;
}

uint64_t chi_tested_end(const struct chi_tested *tested, uint32_t number)
{
	const struct kept_chunk *chunk = &tested->chunk;
	return has_number(chunk, number) ? (uint64_t)chunk->first + chunk->n : (uint64_t)number + 1;
}

int chi_tested_rewind(struct chi_tested *tested)
{
	int rc = keep_chunk(tested);
	tested->chunk.n = 0;
	tested->is_kept = false;
	tested->next = 0;
	return rc;
}
