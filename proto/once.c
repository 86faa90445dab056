/* SPDX-License-Identifier: MIT */
/* Written and read straight from bytes for every operation alike: small, and on every write. */
#include "proto/once.h"

#include <string.h>

#include "proto/fields.h"

#define ONCE_FIELD 3 /* of Request */

bool chi_once_names_store(const struct chi_once *once)
{
	static const uint8_t none[CHI_ONCE_STORE];
	return memcmp(once->store, none, sizeof(none)) != 0;
}

static size_t store_len(const struct chi_once *once)
{
	return chi_once_names_store(once) ? sizeof(once->store) : 0;
}

static size_t contents_len(const struct chi_once *once)
{
	return chi_bytes_len(1, sizeof(once->client)) + chi_uint_len(2, once->since) +
	       chi_uint_len(3, once->sequence) + chi_uint_len(4, once->unanswered) +
	       chi_bytes_len(5, store_len(once));
}

size_t chi_once_len(const struct chi_once *once)
{
	return once->sequence == 0 ? 0 : chi_nested_len(ONCE_FIELD, contents_len(once));
}

uint8_t *chi_put_once(uint8_t *at, const struct chi_once *once)
{
	if (once->sequence == 0) {
		return at;
	}
	at = chi_put_head(at, ONCE_FIELD, contents_len(once));
	at = chi_put_bytes(at, 1, once->client, sizeof(once->client));
	at = chi_put_uint(at, 2, once->since);
	at = chi_put_uint(at, 3, once->sequence);
	at = chi_put_uint(at, 4, once->unanswered);
	return chi_put_bytes(at, 5, once->store, store_len(once));
}

/* The operations that a store remembers, and the question. Of any other a client would rely on what
 * is not so. */
static bool takes_once(enum chi_op op)
{
	return op == CHI_OP_PUT || op == CHI_OP_DELETE || op == CHI_OP_RESCORE ||
	       op == CHI_OP_COMPACT || op == CHI_OP_IMPORT_END || op == CHI_OP_OUTCOME;
}

static int once_from(struct chi_unpacker *u, const struct chi_field *from, struct chi_once *out)
{
	struct chi_reader r = chi_reader_of(from->bytes, from->len);
	struct chi_field field;
	struct chi_field client = {0};
	struct chi_field store = {0};
	while (chi_field_next(&r, &field)) {
		if (field.number == 1) {
			client = field;
		} else if (field.number == 2) {
			out->since = field.value;
		} else if (field.number == 3) {
			out->sequence = field.value;
		} else if (field.number == 4) {
			out->unanswered = field.value;
		} else if (field.number == 5) {
			store = field;
		}
	}
	if (client.len != sizeof(out->client)) {
		return chi_flaw(u->flaw, -CHI_EINVAL, "not 16 bytes", "once.client");
	}
	memcpy(out->client, client.bytes, sizeof(out->client));
	if (store.len != 0 && store.len != sizeof(out->store)) {
		return chi_flaw(u->flaw, -CHI_EINVAL, "not 16 bytes", "once.store");
	}
	if (store.len > 0) {
		memcpy(out->store, store.bytes, sizeof(out->store));
	}
	if (out->sequence == 0) {
		return chi_flaw(u->flaw, -CHI_EINVAL, "missing", "once.sequence");
	}
	if (out->unanswered > out->sequence) {
		return chi_flaw(u->flaw, -CHI_EINVAL, "above sequence", "once.unanswered");
	}
	out->unanswered = out->unanswered == 0 ? out->sequence : out->unanswered;
	return CHI_OK;
}

int chi_once_read(struct chi_unpacker *u, const uint8_t *bytes, size_t len, struct chi_request *out)
{
	struct chi_reader r = chi_reader_of(bytes, len);
	struct chi_field field;
	while (chi_field_next(&r, &field)) {
		if (field.number == ONCE_FIELD) {
			/* An operation of a later version may take one. */
			return takes_once(out->op) ? once_from(u, &field, &out->once)
			       : out->op == CHI_OP_UNKNOWN
				       ? CHI_OK
				       : chi_flaw(u->flaw, -CHI_EINVAL, "only of writes", "once");
		}
	}
	return CHI_OK;
}
