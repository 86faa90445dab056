/* SPDX-License-Identifier: MIT */
/* From a frame's bytes to the handler of its operation. */
#pragma once

#include "daemon/settings/access.h"
#include "proto/msg.h"

struct chi_worker_ops;

/* What connections and workers have done here. */
extern const struct chi_worker_ops chi_worker_ops;

/* The least role that may ask for an operation; CHI_ROLE_NONE if there is no such operation. */
enum chi_role chi_dispatch_role(enum chi_op op);
