/* SPDX-License-Identifier: MIT */
/* What all queries have in common. */
#include "ops/query.h"

#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "proto/operations.h"
#include "search/filter/terms.h"

const struct chi_member *chi_query_list(const struct chi_operation *operation)
{
	return chi_message_list(operation->result);
}

int chi_query_filter(const char *filter, const char **field, struct chi_fault *fault)
{
	struct chi_terms terms;
	int status =
		filter != NULL ? chi_terms_parse(filter, strlen(filter), &terms, fault) : CHI_OK;
	*field = status < 0 ? "filter" : NULL;
	return status;
}

int chi_query_open(const struct chi_request *request, struct chi_arena *arena,
		   struct chi_query **out, const char **field, struct chi_fault *fault)
{
	const struct chi_query_ops *ops = chi_query_ops_of(request->op);
	struct chi_query *query = calloc(1, ops->size);
	*out = NULL;
	if (query == NULL) {
		return -CHI_ENOMEM;
	}
	query->ops = ops;
	query->operation = chi_operation_of(request->op);
	query->op = request->op;
	query->request = request->made;
	query->steps = ops->steps;
	query->is_ready = ops->work == NULL;
	query->arena = *arena;
	chi_arena_init(arena, query->arena.budget);
	int status = ops->filter_at != 0
			     ? chi_query_filter(chi_pointer_at(chi_member_at(query->request,
									     ops->filter_at)),
						field, fault)
			     : CHI_OK;
	status = status == CHI_OK && ops->open != NULL ? ops->open(query, field, fault) : status;
	if (status < 0) {
		chi_query_close(query);
		return status;
	}
	*out = query;
	return CHI_OK;
}

void chi_query_close(struct chi_query *query)
{
	if (query != NULL) {
		query->ops->close(query);
		chi_arena_deinit(&query->arena);
		free(query);
	}
}

int chi_query_attach(struct chi_query *query, struct chi_read *read, struct chi_fault *fault)
{
	query->read = read;
	return query->ops->attach(query, fault);
}

void chi_query_detach(struct chi_query *query)
{
	const struct chi_query_ops *ops = query->ops;
	if (ops->finds && !query->is_ready) {
		ops->close(query);
	} else if (ops->detach != NULL) {
		ops->detach(query);
	}
	query->read = NULL;
}

bool chi_query_may_detach(const struct chi_query *query)
{
	return query->ops->finds		? query->is_ready
	       : query->ops->may_detach == NULL ? true
						: query->ops->may_detach(query);
}

bool chi_query_forget(struct chi_query *query, const struct chi_page *page)
{
	const struct chi_query_ops *ops = query->ops;
	bool may = ops->may_forget == NULL || ops->may_forget(query);
	query->at = query->delivered;
	if (may && ops->forget != NULL) {
		ops->forget(query, page);
	}
	return may;
}

int chi_query_step(struct chi_query *query, struct chi_page *page, struct chi_fault *fault)
{
	if (query->is_ready) {
		return query->ops->rows(query, page, fault);
	}
	int status = query->ops->work(query, fault);
	query->is_ready = status == CHI_NONE;
	return status < 0 ? status : CHI_OK;
}

void chi_query_result(struct chi_query *query, const struct chi_page *page, bool last, void *result)
{
	const struct chi_member *list = chi_query_list(query->operation);
	memset(result, 0, query->operation->result_size);
	if (list != NULL) {
		memcpy((uint8_t *)result + list->at, &page->items, sizeof(page->items));
		memcpy((uint8_t *)result + list->other, &page->n, sizeof(page->n));
	}
	query->delivered = query->at;
	if (query->ops->deliver != NULL) {
		query->ops->deliver(query, page, last, result);
	}
}

size_t chi_query_row_size(enum chi_op op, const void *request)
{
	const struct chi_query_ops *ops = chi_query_ops_of(op);
	const struct chi_member *list = chi_query_list(chi_operation_of(op));
	return ops != NULL && ops->row_size != NULL ? ops->row_size(request)
	       : list != NULL			    ? list->size
						    : 0;
}

const char *chi_query_unknown(const struct chi_query *query, size_t i)
{
	return query->ops->unknown != NULL ? query->ops->unknown(query, i) : NULL;
}

unsigned chi_query_progress(const struct chi_query *query)
{
	return query->ops->progress != NULL ? query->ops->progress(query) : 0;
}

char *chi_query_describe(const struct chi_query *query)
{
	return query->ops->describe != NULL ? query->ops->describe(query) : NULL;
}

size_t chi_query_memory(const struct chi_query *query)
{
	return query->ops->size + chi_arena_held(&query->arena) + query->ops->memory(query);
}
