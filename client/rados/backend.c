/* SPDX-License-Identifier: MIT */
/*
 * The backend. A call is one or a few rounds of operations on the shards (ops.h); nothing is kept
 * between calls but a walk's listings, so that there is nothing to settle and nothing to flush.
 * What is not here is never asked for: chi_client_can refuses it.
 */
#include "client/rados/rados.h"

static int nothing(struct chi_client *client)
{
	(void)client;
	return CHI_OK;
}

const struct chi_backend chi_backend_rados = {
	.create = chi_rados_create,
	.open = chi_rados_open,
	.close = chi_rados_close,
	.ping = chi_rados_ping,
	.settle = nothing,
	.changed = chi_rados_changed,
	.probe = chi_rados_probe,
	.get = chi_rados_get,
	.get_many = chi_rados_get_many,
	.call = chi_rados_call,
	.put = chi_rados_put,
	.del = chi_rados_del,
	.flush = nothing,
	.rows_open = chi_rados_rows_open,
	.rows_more = chi_rados_rows_more,
	.rows_close = chi_rados_rows_close,
	.rows_all = chi_rados_rows_all,
	.verify = chi_rados_verify,
	.repair = chi_rados_repair,
	.rescore = chi_rados_rescore,
};
