/* SPDX-License-Identifier: MIT */
/*
 * Reading what was sorted: a merge of all runs through a tree of losers. Each inner node of the
 * tree keeps the source that lost there and the first word of its item, so that most steps compare
 * two words at hand and touch no item.
 */
#include "base/sorter_priv.h"

#include <stdlib.h>

#include "base/attr.h"
#include "base/fault.h"
#include "base/file.h"

/* Bytes read from a spilled run at once. */
#define BUFFER_ITEMS ((uint64_t)2048)
/* How far ahead a run's items are asked for: it is one of many, and the processor loses sight. */
#define PREFETCH 4

/* What is left of one run in the range that is read. */
struct source {
	const struct chi_sort_item *at; /* the present item; NULL: exhausted */
	const struct chi_sort_item *end;
	struct chi_sort_item *buffer; /* owned; NULL: the run is in memory */
	uint64_t capacity;	      /* items of the buffer */
	uint64_t offset;	      /* of what comes after `end` in the file; bytes */
	uint64_t left;		      /* items there */
};

struct node {
	uint64_t word;
	uint32_t source;
};

struct chi_sort_reader {
	int fd;
	size_t n;
	bool started;
	struct source *sources;
	struct node *losers; /* 1..n-1; the winner is in `winner` */
	struct node winner;
};

static uint64_t word_of(const struct source *source)
{
	return source->at != NULL ? chi_sort_word(source->at, 0) : UINT64_MAX;
}

/* Which of two sources comes first, their items' first words being equal. An exhausted one comes
 * after all items, which may begin with its word. */
static bool tie_less(const struct chi_sort_reader *reader, uint32_t a, uint32_t b)
{
	const struct chi_sort_item *x = reader->sources[a].at;
	const struct chi_sort_item *y = reader->sources[b].at;
	if (x == NULL || y == NULL) {
		return y == NULL && x != NULL;
	}
	return chi_sort_less(x, y, 1);
}

static inline bool node_less(const struct chi_sort_reader *reader, struct node a, struct node b)
{
	if (CHI_UNLIKELY(a.word == b.word)) {
		return tie_less(reader, a.source, b.source);
	}
	return a.word < b.word;
}

/* Plays the matches below `i`, notes the losers, returns the winner. Depth log2(n). */
static struct node build(struct chi_sort_reader *reader, size_t i)
{
	if (i >= reader->n) {
		uint32_t source = (uint32_t)(i - reader->n);
		return (struct node){word_of(&reader->sources[source]), source};
	}
	struct node a = build(reader, 2 * i);
	struct node b = build(reader, 2 * i + 1);
	bool less = node_less(reader, a, b);
	reader->losers[i] = less ? b : a;
	return less ? a : b;
}

static void replay(struct chi_sort_reader *reader)
{
	uint32_t source = reader->winner.source;
	struct node node = {word_of(&reader->sources[source]), source};
	for (size_t i = (source + reader->n) / 2; i > 0; i /= 2) {
		struct node other = reader->losers[i];
		bool less = node_less(reader, other, node);
		reader->losers[i] = less ? node : other;
		node = less ? other : node;
	}
	reader->winner = node;
}

static int refill(struct chi_sort_reader *reader, struct source *source)
{
	uint64_t n = source->left < source->capacity ? source->left : source->capacity;
	if (n == 0) {
		source->at = NULL;
		return CHI_OK;
	}
	size_t bytes = (size_t)n * sizeof(*source->buffer);
	int rc = chi_file_pread(reader->fd, source->buffer, bytes, source->offset);
	if (rc != CHI_OK) {
		return rc;
	}
	source->at = source->buffer;
	source->end = source->buffer + n;
	source->offset += bytes;
	source->left -= n;
	return CHI_OK;
}

int chi_sort_next(struct chi_sort_reader *reader, const struct chi_sort_item **out)
{
	if (CHI_LIKELY(reader->started)) {
		struct source *source = &reader->sources[reader->winner.source];
		if (source->at == NULL) {
			return CHI_NONE;
		}
		source->at++;
		__builtin_prefetch(source->at + PREFETCH);
		if (CHI_UNLIKELY(source->at == source->end)) {
			int rc = refill(reader, source);
			if (rc != CHI_OK) {
				return rc;
			}
		}
		replay(reader);
	}
	reader->started = true;
	if (reader->n == 0) {
		return CHI_NONE;
	}
	*out = reader->sources[reader->winner.source].at;
	return *out != NULL ? CHI_OK : CHI_NONE;
}

void chi_sort_close(struct chi_sort_reader *reader)
{
	if (reader == NULL) {
		return;
	}
	for (size_t i = 0; i < reader->n; i++) {
		free(reader->sources[i].buffer);
	}
	free(reader->sources);
	free(reader->losers);
	free(reader);
}

void chi_sort_closep(struct chi_sort_reader **reader)
{
	chi_sort_close(*reader);
}

static struct chi_sort_reader *new_reader(size_t n, int fd)
{
	_cleanup_(chi_sort_closep) struct chi_sort_reader *reader = calloc(1, sizeof(*reader));
	if (reader == NULL) {
		return NULL;
	}
	reader->fd = fd;
	reader->sources = calloc(n + 1, sizeof(*reader->sources));
	reader->losers = calloc(n + 1, sizeof(*reader->losers));
	if (reader->sources == NULL || reader->losers == NULL) {
		return NULL;
	}
	struct chi_sort_reader *out = reader;
	reader = NULL;
	return out;
}

/* Makes items lo..hi of a run the next source; nothing if there are none. */
static int add_source(struct chi_sort_reader *reader, const struct chi_sort_run *run, uint64_t lo,
		      uint64_t hi)
{
	if (lo >= hi) {
		return CHI_OK;
	}
	struct source *source = &reader->sources[reader->n];
	if (run->items != NULL) {
		source->at = run->items + lo;
		source->end = run->items + hi;
		reader->n++;
		return CHI_OK;
	}
	source->left = hi - lo;
	source->offset = run->offset + lo * CHI_SORT_ITEM;
	source->capacity = source->left < BUFFER_ITEMS ? source->left : BUFFER_ITEMS;
	source->buffer = calloc((size_t)source->capacity, sizeof(*source->buffer));
	if (source->buffer == NULL) {
		return -CHI_ENOMEM;
	}
	reader->n++;
	return refill(reader, source);
}

static void start_sources(struct chi_sort_reader *reader)
{
	if (reader->n > 0) {
		reader->winner = build(reader, 1);
	}
}

int chi_sort_merge(const struct chi_sort_runs *runs, struct chi_sort_reader **out)
{
	_cleanup_(chi_sort_closep) struct chi_sort_reader *reader = new_reader(runs->n, -1);
	if (reader == NULL) {
		return -CHI_ENOMEM;
	}
	for (size_t i = 0; i < runs->n; i++) {
		int rc = add_source(reader, &runs->run[i], 0, runs->run[i].n);
		if (rc != CHI_OK) {
			return rc;
		}
	}
	start_sources(reader);
	*out = reader;
	reader = NULL;
	return CHI_OK;
}

/* Finds the first item of lo..hi whose group is not before `group`'s. */
static int search_run(int fd, const struct chi_sort_run *run, const struct chi_sort_item *group,
		      uint64_t lo, uint64_t hi, uint64_t *out)
{
	while (lo < hi) {
		uint64_t middle = lo + (hi - lo) / 2;
		struct chi_sort_item read;
		const struct chi_sort_item *item = &read;
		if (run->items != NULL) {
			item = &run->items[middle];
		} else {
			int rc = chi_file_pread(fd, &read, sizeof(read),
						run->offset + middle * CHI_SORT_ITEM);
			if (rc != CHI_OK) {
				return rc;
			}
		}
		if (memcmp(item->bytes, group->bytes, CHI_SORT_GROUP) < 0) {
			lo = middle + 1;
		} else {
			hi = middle;
		}
	}
	*out = lo;
	return CHI_OK;
}

/* The same over a whole run; of a spilled one the marks say first which stretch to look at. */
static int lower_bound(int fd, const struct chi_sort_run *run, const struct chi_sort_item *group,
		       uint64_t *out)
{
	if (run->items != NULL) {
		return search_run(fd, run, group, 0, run->n, out);
	}
	uint64_t n_marks = (run->n + CHI_SORT_STRIDE - 1) / CHI_SORT_STRIDE;
	const struct chi_sort_run marks = {.items = run->marks, .n = n_marks};
	uint64_t mark;
	int rc = search_run(fd, &marks, group, 0, n_marks, &mark);
	if (rc != CHI_OK || mark == 0) {
		*out = 0;
		return rc;
	}
	uint64_t lo = (mark - 1) * CHI_SORT_STRIDE;
	uint64_t hi = mark * CHI_SORT_STRIDE < run->n ? mark * CHI_SORT_STRIDE : run->n;
	return search_run(fd, run, group, lo, hi, out);
}

static int add_part(const struct chi_sorter *sorter, struct chi_sort_reader *reader, size_t part)
{
	for (size_t i = 0; i < sorter->runs.n; i++) {
		const struct chi_sort_run *run = &sorter->runs.run[i];
		uint64_t lo = 0;
		uint64_t hi = run->n;
		int rc = CHI_OK;
		if (part > 0) {
			rc = lower_bound(sorter->fd, run, &sorter->splitters[part - 1], &lo);
		}
		if (rc == CHI_OK && part + 1 < sorter->n_parts) {
			rc = lower_bound(sorter->fd, run, &sorter->splitters[part], &hi);
		}
		if (rc == CHI_OK) {
			rc = add_source(reader, run, lo, hi);
		}
		if (rc != CHI_OK) {
			return rc;
		}
	}
	return CHI_OK;
}

int chi_sort_open(struct chi_sorter *sorter, size_t part, struct chi_sort_reader **out,
		  struct chi_fault *fault)
{
	if (part >= sorter->n_parts) {
		return chi_fail(fault, -CHI_EINVAL, "no such part");
	}
	_cleanup_(chi_sort_closep) struct chi_sort_reader *reader =
		new_reader(sorter->runs.n, sorter->fd);
	if (reader == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	int rc = add_part(sorter, reader, part);
	if (rc != CHI_OK) {
		return chi_fail(fault, rc, "cannot read the sorted items (%s)", chi_strerror(rc));
	}
	start_sources(reader);
	*out = reader;
	reader = NULL;
	return CHI_OK;
}

int chi_sorter_read(struct chi_sorter *sorter, struct chi_sort_reader **out,
		    struct chi_fault *fault)
{
	size_t n_parts;
	int rc = sorter->n_parts == 0 ? chi_sorter_seal(sorter, UINT64_MAX, &n_parts, fault)
				      : CHI_OK;
	return rc == CHI_OK ? chi_sort_open(sorter, 0, out, fault) : rc;
}
