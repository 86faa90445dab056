/* SPDX-License-Identifier: MIT */
/* The bytes of a connection; for conn.c and worker.c. */
#pragma once

#include "daemon/net/conn.h"

/* Starts reading. */
void chi_conn_io_init(struct chi_conn *conn);

/* Takes it out of the event loop and off the worker's lists. */
void chi_conn_io_deinit(struct chi_conn *conn);

/* Has the output sent, or the end considered, at the end of the turn. */
void chi_conn_mark_dirty(struct chi_conn *conn);

/* Lends one of the worker's buffers for an answer, unless the connection has one with room for it.
 * `size`: as chi_response_size has it. */
void chi_conn_lend_out(struct chi_conn *conn, size_t size);

/* Brings server->buffered up to date. */
void chi_conn_account(struct chi_conn *conn);
