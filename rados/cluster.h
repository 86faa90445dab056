/* SPDX-License-Identifier: MIT */
/* Connections to clusters: one for all clients of a process that ask for the same. */
#pragma once

#include <rados/librados.h>
#include <stdint.h>

#include "chistore/types.h"

struct chi_rados_place;
struct chi_cluster;

/* Connects, or shares a connection. -CHI_ECONNECT, -CHI_ETIMEOUT (after its connect_ms),
 * -CHI_EACCES, -CHI_ENOSTORE (no such file), -CHI_EUNSUPPORTED. Thread safe. */
CHI_MUSTUSE int chi_cluster_open(const struct chi_rados_place *place, struct chi_cluster **out,
				 struct chi_fault *fault);
void chi_cluster_close(struct chi_cluster *cluster);

rados_t chi_cluster_handle(const struct chi_cluster *cluster);

/* True in a child of the process that connected, where nothing of it may be used. */
bool chi_cluster_forked(const struct chi_cluster *cluster);
