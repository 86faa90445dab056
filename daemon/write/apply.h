/* SPDX-License-Identifier: MIT */
/* What a write does to the store, apart from when it is committed and answered. */
#pragma once

#include "chistore/types.h"

struct chi_job;
struct chi_store;
struct chi_write;

/*
 * Does a PUT, DELETE, RESCORE or OUTCOME in the transaction, unless it is marked and was done
 * before, and sets its outcome. A job that is refused for its mark's
 * sake is CHI_OK with job->refused set. On failure the fault says why, and the transaction holds a
 * part of the job: it is to be rolled back or aborted. The writer's thread only.
 */
CHI_MUSTUSE int chi_job_perform(struct chi_job *job, struct chi_write *write,
				struct chi_fault *fault);
