/* SPDX-License-Identifier: MIT */
#include "ops/answer.h"

#include <inttypes.h>

#include "base/fault.h"
#include "proto/types.h"
#include "search/verify.h"
#include "store/store.h"

int chi_whole_backup(struct chi_dir *store, const struct chi_sink *sink, void *result,
		     struct chi_fault *fault)
{
	(void)result;
	return chi_dir_copy(store, sink->fd, fault);
}

int chi_whole_verify(struct chi_dir *store, const struct chi_sink *sink, void *result,
		     struct chi_fault *fault)
{
	struct chi_verify_result *found = result;
	int status = chi_search_verify(store, sink->threads, sink->stop, sink->report,
				       sink->context, found);
	return status != -CHI_ECORRUPT
		       ? status
		       : chi_fail(fault, status, "the store is damaged in %" PRIu64 " places",
				  found->errors);
}

/* Verified first: see the store. swap frees the compaction, also where it fails because someone
 * else has the store open. */
int chi_whole_compact(struct chi_dir *store, const struct chi_sink *sink, void *result,
		      struct chi_fault *fault)
{
	struct chi_compaction *compaction = NULL;
	struct chi_compacted *done = result;
	(void)sink;
	int status = chi_check_compact(store, fault);
	if (status == CHI_OK) {
		status = chi_compact_prepare(store, &compaction, fault);
	}
	return status == CHI_OK ? chi_compact_swap(compaction, &done->before, &done->after, fault)
				: status;
}
