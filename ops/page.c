/* SPDX-License-Identifier: MIT */
/* The arrays start small and double: most scans are short, and many may be open. */
#include "ops/page.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "proto/message.h"

#define FIRST_BYTES ((size_t)2 << 10)

/* Decoded records of one page; ten times what they take packed is plenty. */
#define PAGE_BUDGET ((size_t)16 << 20)

void chi_page_init(struct chi_page *page, size_t size, size_t most)
{
	*page = (struct chi_page){.size = size,
				  .most = most,
				  .bytes_full = CHI_PAGE_BYTES,
				  .bytes_most = CHI_RESULT_BYTES_MAX};
	chi_arena_init(&page->arena, PAGE_BUDGET);
}

void chi_page_init_list(struct chi_page *page, const struct chi_member *list, size_t size)
{
	chi_page_init(page, size, list != NULL ? list->most : 1);
	page->list = list;
}

void chi_page_init_unbounded(struct chi_page *page, size_t size, size_t budget)
{
	*page = (struct chi_page){
		.size = size, .most = SIZE_MAX, .bytes_full = SIZE_MAX, .bytes_most = SIZE_MAX};
	chi_arena_init(&page->arena, budget);
}

void chi_page_deinit(struct chi_page *page)
{
	free(page->items);
	chi_arena_deinit(&page->arena);
	*page = (struct chi_page){0};
}

void chi_page_clear(struct chi_page *page)
{
	chi_arena_reset(&page->arena);
	page->n = 0;
	page->bytes = 0;
	page->is_closed = false;
}

void chi_page_release(struct chi_page *page)
{
	struct chi_page kept = {.size = page->size,
				.most = page->most,
				.bytes_full = page->bytes_full,
				.bytes_most = page->bytes_most,
				.list = page->list};
	chi_page_deinit(page);
	*page = kept;
	chi_arena_init(&page->arena, PAGE_BUDGET);
}

bool chi_page_full(const struct chi_page *page)
{
	return page->is_closed || page->n >= page->most || page->bytes >= page->bytes_full;
}

size_t chi_page_memory(const struct chi_page *page)
{
	return page->capacity * page->size + page->arena.used;
}

int chi_page_grow(struct chi_page *page)
{
	if (page->n < page->capacity) {
		return CHI_OK;
	}
	size_t capacity = page->capacity == 0 ? 1 + FIRST_BYTES / page->size : page->capacity * 2;
	/* All that a query has at once goes into one response, if that is more than it should have.
	 */
	bool over = page->n >= page->most;
	capacity = capacity < page->most || over ? capacity : page->most;
	void *items = realloc(page->items, capacity * page->size);
	if (items == NULL) {
		return -CHI_ENOMEM;
	}
	/* Zeroed: scans fill in no evaluation. */
	memset((uint8_t *)items + page->capacity * page->size, 0,
	       (capacity - page->capacity) * page->size);
	page->items = items;
	page->capacity = capacity;
	return CHI_OK;
}

void chi_page_added_one(struct chi_page *page, size_t bytes)
{
	if (page->n == 0) {
		page->since = chi_now_ms();
	}
	page->bytes += bytes;
	page->n++;
}

/* Packed, in the list of a result; 0 where no response has to hold it. */
static size_t row_size(const struct chi_page *page, size_t i)
{
	const uint8_t *row = (const uint8_t *)page->items + i * page->size;
	size_t noted = 0;
	return page->list == NULL ? 0
				  : chi_nested_len(page->list->field,
						   chi_message_len(page->list->type, row, &noted));
}

void chi_page_added(struct chi_page *page, size_t n)
{
	if (page->n == 0 && n > 0) {
		page->since = chi_now_ms();
	}
	for (size_t i = 0; i < n; i++) {
		page->bytes += row_size(page, page->n + i);
	}
	page->n += n;
}

int chi_page_take_row(struct chi_page *page)
{
	size_t size = row_size(page, page->n);
	page->is_closed = page->n > 0 && page->bytes + size > page->bytes_most;
	if (page->is_closed) {
		return CHI_OK;
	}
	if (size > page->bytes_most) {
		return -CHI_ETOOBIG;
	}
	chi_page_added_one(page, size);
	return CHI_OK;
}
