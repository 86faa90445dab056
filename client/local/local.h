/* SPDX-License-Identifier: MIT */
/* What the files of this room share: the backend's calls that are not in inproc.c. */
#pragma once

#include "client/core/client.h"

int chi_inproc_call(struct chi_client *client, const struct chi_request *request, void *out);
int chi_inproc_rows_open(struct chi_client *client, struct chi_row_pages *rows,
			 const struct chi_request *request);
int chi_inproc_rows_more(struct chi_client *client, struct chi_row_pages *rows);
void chi_inproc_rows_close(struct chi_client *client, struct chi_row_pages *rows);
int chi_inproc_rows_all(struct chi_client *client, struct chi_row_pages *rows,
			const struct chi_request *request, void *out);
int chi_inproc_bytes(struct chi_client *client, enum chi_op op, const struct chi_sink *sink,
		     void *result);
