/* SPDX-License-Identifier: MIT */
/*
 * Requests and responses (proto/types.h) to protobuf bytes and back (PROTOCOL.md). The only users
 * of the generated code are proto/'s own .c files.
 *
 * Unpacking never trusts the bytes: memory comes from an arena with a budget, every field is
 * range-checked here as far as it can be without knowing chess, and what was wrong is named.
 * Texts are checked to be UTF-8 without NUL and are NUL-terminated.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "proto/types.h"

/* Appends the request as a frame. -CHI_ETOOBIG (the buffer's limit), -CHI_ENOMEM. */
CHI_MUSTUSE int chi_request_pack(const struct chi_request *request, struct chi_buffer *out);

/*
 * Unpacks the body of a frame; everything points into `arena` or into `bytes`, so both must stay.
 * -CHI_EPROTO: no message at all (the id, if it could be read, is set; close after answering);
 * -CHI_EINVAL, -CHI_ETOOBIG (also: over the arena's budget), -CHI_EKEY, -CHI_ENOMEM: id and op are
 * set, `field` names the field (static storage or in the arena), `fault` tells. An unknown op is
 * CHI_OK.
 */
CHI_MUSTUSE int chi_request_unpack(const uint8_t *bytes, size_t len, struct chi_arena *arena,
				   struct chi_request *out, const char **field,
				   struct chi_fault *fault);

/* Appends the response as a frame; on failure the buffer is as before. -CHI_ETOOBIG if the body
 * is over CHI_FRAME_RESPONSE_MAX or the buffer's limit, -CHI_ENOMEM. */
CHI_MUSTUSE int chi_response_pack(const struct chi_response *response, struct chi_buffer *out);

/* As chi_request_unpack, for the client. -CHI_EPROTO for anything the server should not send. */
CHI_MUSTUSE int chi_response_unpack(const uint8_t *bytes, size_t len, struct chi_arena *arena,
				    struct chi_response *out, struct chi_fault *fault);

/* How many bytes an entry takes in a response, an upper bound: lets a sender stop before a
 * response gets too large. */
size_t chi_entry_size(const struct chi_entry *entry);

/* The same of a row of games. */
size_t chi_game_row_size(const struct chi_game_row *row);

/* The bytes of room that chi_response_pack takes; 0 for a response that it will refuse. */
size_t chi_response_size(const struct chi_response *response);

/* "probe", "put", ...: the name of an operation for logs; never NULL. */
const char *chi_op_name(enum chi_op op);

/* Stores' names become paths of messages and parts of log lines: letters, digits and "-_." alone.
 * NUL-terminated; up to `len` is looked at. */
bool chi_store_name_ok(const char *name, size_t len);

/* Status to wire code and back: the only place that knows both. */
int chi_status_to_code(int status);
int chi_status_from_code(int code);
