/* SPDX-License-Identifier: MIT */
/*
 * The sorter's blocks: handed out, sorted when they come back, kept as runs. When the memory set is
 * used up, the thread that wants a block merges all runs in memory into one long run of the spill
 * file, so that few runs are to be merged in the end, however much there is. Threads that want
 * blocks meanwhile wait; those that fill theirs do not.
 */
#include "base/sorter.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/attr.h"
#include "base/buffer.h"
#include "base/fault.h"
#include "base/file.h"
#include "base/sorter_priv.h"

/* Blocks are so much of the memory: large ones make few runs, small ones sort in a core's cache. */
#define BLOCKS_WANTED 40
/* A thread has four: it fills one, and sorts into another with room of one more beside it. */
#define BLOCKS_A_THREAD 5
#define BLOCK_MIN	((size_t)32 << 10)

#define WRITE_ITEMS  ((size_t)32768) /* 1 MiB is written at once */
#define PART_SAMPLES 32		     /* samples to a part: its size errs by one or two of them */

/* What sorting a block takes: room for the result and two words an item. */
struct workspace {
	struct workspace *next;
	struct chi_sort_item *block;
	uint64_t *pairs;
};

/* Straight from the system, so that it goes back there; in large pages where it has them: all of it
 * will be used, and a fault for each small one takes longer than to fill it. */
static void *map(size_t bytes)
{
	void *memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED) {
		return NULL;
	}
	(void)madvise(memory, bytes, MADV_HUGEPAGE);
	return memory;
}

static size_t block_bytes(const struct chi_sorter *sorter)
{
	return sorter->block_items * CHI_SORT_ITEM;
}

static size_t pairs_bytes(const struct chi_sorter *sorter)
{
	return sorter->block_items * 2 * sizeof(uint64_t);
}

static size_t block_size(uint64_t memory, unsigned threads)
{
	uint64_t wanted = (uint64_t)threads * BLOCKS_A_THREAD;
	uint64_t most = CHI_SORT_BLOCK_MAX * CHI_SORT_ITEM;
	uint64_t bytes = memory / (wanted > BLOCKS_WANTED ? wanted : BLOCKS_WANTED);
	bytes = bytes < BLOCK_MIN ? BLOCK_MIN : bytes > most ? most : bytes;
	return (size_t)bytes / BLOCK_MIN * BLOCK_MIN;
}

static void free_sorterp(struct chi_sorter **sorter)
{
	chi_sorter_free(*sorter);
}

int chi_sorter_new(const char *dir, uint64_t memory, unsigned threads, struct chi_sorter **out)
{
	_cleanup_(free_sorterp) struct chi_sorter *sorter = calloc(1, sizeof(*sorter));
	if (sorter == NULL) {
		return -CHI_ENOMEM;
	}
	pthread_mutex_init(&sorter->mutex, NULL);
	pthread_cond_init(&sorter->spilled, NULL);
	sorter->fd = -1;
	sorter->memory = memory;
	sorter->block_items = block_size(memory, threads) / CHI_SORT_ITEM;
	sorter->dir = strdup(dir);
	if (sorter->dir == NULL) {
		return -CHI_ENOMEM;
	}
	*out = sorter;
	sorter = NULL;
	return CHI_OK;
}

static void free_runs(const struct chi_sorter *sorter, struct chi_sort_runs *runs)
{
	for (size_t i = 0; i < runs->n; i++) {
		if (runs->run[i].items != NULL) {
			munmap(runs->run[i].items, block_bytes(sorter));
		}
		free(runs->run[i].marks);
	}
	free(runs->run);
	*runs = (struct chi_sort_runs){0};
}

/* A block not in use keeps the address of the next one in its first bytes. */
static void push_spare(struct chi_sorter *sorter, struct chi_sort_item *block)
{
	memcpy(block->bytes, &sorter->spare, sizeof(sorter->spare));
	sorter->spare = block;
}

static struct chi_sort_item *pop_spare(struct chi_sorter *sorter)
{
	struct chi_sort_item *block = sorter->spare;
	if (block != NULL) {
		memcpy(&sorter->spare, block->bytes, sizeof(sorter->spare));
	}
	return block;
}

static void free_workspace(const struct chi_sorter *sorter, struct workspace *workspace)
{
	if (workspace->block != NULL) {
		munmap(workspace->block, block_bytes(sorter));
	}
	if (workspace->pairs != NULL) {
		munmap(workspace->pairs, pairs_bytes(sorter));
	}
	free(workspace);
}

/* Gives back what only filling and sorting needed. */
static void free_idle(struct chi_sorter *sorter)
{
	struct chi_sort_item *block;
	while ((block = pop_spare(sorter)) != NULL) {
		munmap(block, block_bytes(sorter));
	}
	while (sorter->workspaces != NULL) {
		struct workspace *workspace = sorter->workspaces;
		sorter->workspaces = workspace->next;
		free_workspace(sorter, workspace);
	}
}

void chi_sorter_free(struct chi_sorter *sorter)
{
	if (sorter == NULL) {
		return;
	}
	free_idle(sorter);
	free_runs(sorter, &sorter->resident);
	free_runs(sorter, &sorter->files);
	free_runs(sorter, &sorter->runs);
	if (sorter->fd >= 0) {
		close(sorter->fd);
	}
	pthread_cond_destroy(&sorter->spilled);
	pthread_mutex_destroy(&sorter->mutex);
	free(sorter->splitters);
	free(sorter->dir);
	free(sorter);
}

static bool add_run(struct chi_sort_runs *runs, struct chi_sort_run run)
{
	if (chi_grow(&runs->run, &runs->capacity, runs->n + 1, sizeof(*runs->run)) < 0) {
		return false;
	}
	runs->run[runs->n++] = run;
	return true;
}

/* ---- Spilling ---------------------------------------------------------------------------- */

static int open_run(struct chi_sorter *sorter, struct chi_fault *fault)
{
	if (sorter->fd >= 0) {
		return CHI_OK;
	}
	sorter->fd = chi_file_nameless(sorter->dir);
	if (sorter->fd < 0) {
		return chi_fail(fault, chi_fault_errno(errno),
				"cannot make a file in '%s' to sort in (%s)", sorter->dir,
				strerror(errno));
	}
	return CHI_OK;
}

/* Writes the merge of `runs` after the end of the file; fills the items' marks in `run`. */
static int write_run(struct chi_sorter *sorter, struct chi_sort_reader *reader,
		     struct chi_sort_item *buffer, struct chi_sort_run *run)
{
	uint64_t written = 0;
	size_t fill = 0;
	for (;;) {
		const struct chi_sort_item *item = NULL;
		int rc = chi_sort_next(reader, &item);
		if (rc < 0) {
			return rc;
		}
		if (rc == CHI_OK) {
			uint64_t i = written + fill;
			if (i % CHI_SORT_STRIDE == 0) {
				run->marks[i / CHI_SORT_STRIDE] = *item;
			}
			buffer[fill++] = *item;
		}
		if (fill == WRITE_ITEMS || (rc == CHI_NONE && fill > 0)) {
			int wrote = chi_file_pwrite(sorter->fd, buffer, fill * CHI_SORT_ITEM,
						    run->offset + written * CHI_SORT_ITEM);
			if (wrote != CHI_OK) {
				return wrote;
			}
			written += fill;
			fill = 0;
		}
		if (rc == CHI_NONE) {
			return CHI_OK;
		}
	}
}

/* Merges `runs` into the file. Called without the mutex by the one thread that spills. */
static int spill_runs(struct chi_sorter *sorter, const struct chi_sort_runs *runs,
		      struct chi_sort_run *out, struct chi_fault *fault)
{
	int rc = open_run(sorter, fault);
	if (rc != CHI_OK) {
		return rc;
	}
	uint64_t n = 0;
	for (size_t i = 0; i < runs->n; i++) {
		n += runs->run[i].n;
	}
	_cleanup_(chi_sort_closep) struct chi_sort_reader *reader = NULL;
	_cleanup_(chi_freep) struct chi_sort_item *buffer = calloc(WRITE_ITEMS, sizeof(*buffer));
	size_t n_marks = (size_t)((n + CHI_SORT_STRIDE - 1) / CHI_SORT_STRIDE);
	_cleanup_(chi_freep) struct chi_sort_item *marks = calloc(n_marks, sizeof(*marks));
	if (buffer == NULL || marks == NULL || chi_sort_merge(runs, &reader) != CHI_OK) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	struct chi_sort_run run = {.offset = sorter->file_end, .n = n, .marks = marks};
	rc = write_run(sorter, reader, buffer, &run);
	if (rc != CHI_OK) {
		return chi_fail(fault, rc, "cannot write what is sorted to '%s' (%s)", sorter->dir,
				chi_strerror(rc));
	}
	sorter->file_end += n * CHI_SORT_ITEM;
	*out = run;
	marks = NULL;
	return CHI_OK;
}

/* Makes room: all runs in memory become one of the file, their blocks spare. Called and left with
 * the mutex held. A failure is final; the runs are freed with the sorter. */
static int spill(struct chi_sorter *sorter, struct chi_fault *fault)
{
	struct chi_sort_runs runs = sorter->resident;
	struct chi_sort_run run = {0};
	sorter->resident = (struct chi_sort_runs){0};
	sorter->spilling = true;
	pthread_mutex_unlock(&sorter->mutex);
	int rc = spill_runs(sorter, &runs, &run, fault);
	pthread_mutex_lock(&sorter->mutex);
	sorter->spilling = false;
	pthread_cond_broadcast(&sorter->spilled);
	if (rc == CHI_OK && !add_run(&sorter->files, run)) {
		free(run.marks);
		rc = chi_fault_plain(fault, -CHI_ENOMEM);
	}
	for (size_t i = 0; i < runs.n; i++) {
		push_spare(sorter, runs.run[i].items);
	}
	free(runs.run);
	return rc;
}

/* ---- Blocks ------------------------------------------------------------------------------ */

/*
 * A block, with the mutex held. When all memory is in other threads' hands it is exceeded:
 * waiting for them could be for ever, since they may wait for this one.
 */
static int get_block(struct chi_sorter *sorter, struct chi_sort_item **out, struct chi_fault *fault)
{
	for (;;) {
		*out = pop_spare(sorter);
		if (*out != NULL) {
			return CHI_OK;
		}
		bool room = sorter->used + block_bytes(sorter) <= sorter->memory;
		if (!room && sorter->spilling) {
			pthread_cond_wait(&sorter->spilled, &sorter->mutex);
			continue;
		}
		if (room || sorter->resident.n == 0) {
			*out = map(block_bytes(sorter));
			if (*out == NULL) {
				return chi_fault_plain(fault, -CHI_ENOMEM);
			}
			sorter->used += block_bytes(sorter);
			return CHI_OK;
		}
		int rc = spill(sorter, fault);
		if (rc != CHI_OK) {
			return rc;
		}
	}
}

int chi_sorter_take(struct chi_sorter *sorter, struct chi_sort_item **items, size_t *capacity,
		    struct chi_fault *fault)
{
	pthread_mutex_lock(&sorter->mutex);
	int rc = get_block(sorter, items, fault);
	pthread_mutex_unlock(&sorter->mutex);
	*capacity = sorter->block_items;
	return rc;
}

/* There are as many workspaces as threads have sorted at once, so that no memory is waited for
 * here. With the mutex held. */
static struct workspace *get_workspace(struct chi_sorter *sorter)
{
	struct workspace *workspace = sorter->workspaces;
	if (workspace != NULL) {
		sorter->workspaces = workspace->next;
		return workspace;
	}
	workspace = calloc(1, sizeof(*workspace));
	if (workspace == NULL) {
		return NULL;
	}
	workspace->block = map(block_bytes(sorter));
	workspace->pairs = map(pairs_bytes(sorter));
	if (workspace->block == NULL || workspace->pairs == NULL) {
		free_workspace(sorter, workspace);
		return NULL;
	}
	sorter->used += block_bytes(sorter) + pairs_bytes(sorter);
	return workspace;
}

int chi_sorter_give(struct chi_sorter *sorter, struct chi_sort_item *items, size_t n,
		    struct chi_fault *fault)
{
	pthread_mutex_lock(&sorter->mutex);
	struct workspace *workspace = n > 0 ? get_workspace(sorter) : NULL;
	if (workspace == NULL) {
		push_spare(sorter, items);
		pthread_mutex_unlock(&sorter->mutex);
		return n > 0 ? chi_fault_plain(fault, -CHI_ENOMEM) : CHI_OK;
	}
	pthread_mutex_unlock(&sorter->mutex);
	chi_sort_block(items, workspace->block, n, workspace->pairs);
	/* What was sorted stays where it is; the block given is room for the next sort. */
	struct chi_sort_run run = {.items = workspace->block, .n = n};
	workspace->block = items;
	pthread_mutex_lock(&sorter->mutex);
	workspace->next = sorter->workspaces;
	sorter->workspaces = workspace;
	bool added = add_run(&sorter->resident, run);
	if (added) {
		sorter->count += n;
	} else {
		push_spare(sorter, run.items);
	}
	pthread_mutex_unlock(&sorter->mutex);
	return added ? CHI_OK : chi_fault_plain(fault, -CHI_ENOMEM);
}

uint64_t chi_sorter_count(const struct chi_sorter *sorter)
{
	return sorter->count;
}

/* ---- Sealing ----------------------------------------------------------------------------- */

/* Every so many-th item of a run represents those after it, when the range is cut. */
struct run_sample {
	struct chi_sort_item item;
	uint64_t weight;
};

static int compare_samples(const void *a, const void *b)
{
	const struct run_sample *x = a;
	const struct run_sample *y = b;
	return memcmp(x->item.bytes, y->item.bytes, CHI_SORT_GROUP);
}

static uint64_t stride_of(const struct chi_sort_run *run, uint64_t part_items)
{
	uint64_t stride = part_items / PART_SAMPLES;
	if (run->items == NULL || stride > CHI_SORT_STRIDE) {
		return CHI_SORT_STRIDE;
	}
	return stride > 0 ? stride : 1;
}

static size_t sample_run(const struct chi_sort_run *run, uint64_t stride,
			 struct run_sample *samples)
{
	size_t n = 0;
	for (uint64_t i = 0; i < run->n; i += stride) {
		samples[n].item =
			run->items != NULL ? run->items[i] : run->marks[i / CHI_SORT_STRIDE];
		samples[n].weight = run->n - i < stride ? run->n - i : stride;
		n++;
	}
	return n;
}

/* Walks the samples in order and begins a part whenever the last is large enough, at the first
 * sample of another group. */
static int cut_runs(struct chi_sorter *sorter, struct run_sample *samples, size_t n,
		    uint64_t part_items)
{
	sorter->splitters = calloc(n + 1, sizeof(*sorter->splitters));
	if (sorter->splitters == NULL) {
		return -CHI_ENOMEM;
	}
	qsort(samples, n, sizeof(*samples), compare_samples);
	uint64_t items = 0;
	sorter->n_parts = 1;
	for (size_t i = 0; i < n; i++) {
		if (i > 0 && items >= part_items &&
		    compare_samples(&samples[i - 1], &samples[i]) != 0) {
			sorter->splitters[sorter->n_parts - 1] = samples[i].item;
			sorter->n_parts++;
			items = 0;
		}
		items += samples[i].weight;
	}
	return CHI_OK;
}

static int choose_parts(struct chi_sorter *sorter, uint64_t part_items)
{
	const struct chi_sort_runs *runs = &sorter->runs;
	uint64_t n = 0;
	for (size_t i = 0; i < runs->n; i++) {
		n += runs->run[i].n / stride_of(&runs->run[i], part_items) + 1;
	}
	_cleanup_(chi_freep) struct run_sample *samples = calloc((size_t)n + 1, sizeof(*samples));
	if (samples == NULL) {
		return -CHI_ENOMEM;
	}
	size_t used = 0;
	for (size_t i = 0; i < runs->n; i++) {
		uint64_t stride = stride_of(&runs->run[i], part_items);
		used += sample_run(&runs->run[i], stride, samples + used);
	}
	return cut_runs(sorter, samples, used, part_items);
}

int chi_sorter_seal(struct chi_sorter *sorter, uint64_t part_items, size_t *n_parts,
		    struct chi_fault *fault)
{
	free_idle(sorter);
	sorter->runs = sorter->files;
	sorter->files = (struct chi_sort_runs){0};
	for (size_t i = 0; i < sorter->resident.n; i++) {
		if (!add_run(&sorter->runs, sorter->resident.run[i])) {
			return chi_fault_plain(fault, -CHI_ENOMEM);
		}
		sorter->resident.run[i].items = NULL;
	}
	free(sorter->resident.run);
	sorter->resident = (struct chi_sort_runs){0};
	if (choose_parts(sorter, part_items) != CHI_OK) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	*n_parts = sorter->n_parts;
	return CHI_OK;
}

/* ---- A thread's room -------------------------------------------------------------------- */

int chi_filler_end(struct chi_filler *filler, struct chi_fault *fault)
{
	if (filler->items == NULL) {
		return CHI_OK;
	}
	int rc = chi_sorter_give(filler->sorter, filler->items, filler->n, fault);
	filler->items = NULL;
	return rc;
}

int chi_filler_turn(struct chi_filler *filler, struct chi_fault *fault)
{
	int rc = chi_filler_end(filler, fault);
	if (rc == CHI_OK) {
		filler->n = 0;
		rc = chi_sorter_take(filler->sorter, &filler->items, &filler->capacity, fault);
	}
	if (rc != CHI_OK) {
		filler->items = NULL;
	}
	return rc;
}

int chi_filler_add(struct chi_filler *filler, const struct chi_sort_item *items, size_t n,
		   struct chi_fault *fault)
{
	while (n > 0) {
		if (filler->items == NULL || filler->n == filler->capacity) {
			int rc = chi_filler_turn(filler, fault);
			if (rc != CHI_OK) {
				return rc;
			}
		}
		size_t room = filler->capacity - filler->n;
		size_t some = n < room ? n : room;
		memcpy(filler->items + filler->n, items, some * sizeof(*items));
		filler->n += some;
		items += some;
		n -= some;
	}
	return CHI_OK;
}

void chi_filler_drop(struct chi_filler *filler)
{
	if (filler->items != NULL) {
		(void)!chi_sorter_give(filler->sorter, filler->items, 0, NULL);
	}
	filler->items = NULL;
}
