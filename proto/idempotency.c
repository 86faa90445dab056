/* SPDX-License-Identifier: MIT */
/* Written and read straight from bytes for every operation alike: small, and on every write. */
#include "proto/idempotency.h"

#include <string.h>

#include "proto/fields.h"

#define ONCE_FIELD 3 /* of Request */

bool chi_idempotency_names_store(const struct chi_idempotency_key *idempotency_key)
{
	static const uint8_t none[CHI_IDEMPOTENCY_STORE];
	return memcmp(idempotency_key->store, none, sizeof(none)) != 0;
}

static size_t store_len(const struct chi_idempotency_key *idempotency_key)
{
	return chi_idempotency_names_store(idempotency_key) ? sizeof(idempotency_key->store) : 0;
}

static size_t contents_len(const struct chi_idempotency_key *idempotency_key)
{
	return chi_bytes_len(1, sizeof(idempotency_key->client)) +
	       chi_uint_len(2, idempotency_key->since) +
	       chi_uint_len(3, idempotency_key->sequence) +
	       chi_uint_len(4, idempotency_key->unanswered) +
	       chi_bytes_len(5, store_len(idempotency_key));
}

size_t chi_idempotency_len(const struct chi_idempotency_key *idempotency_key)
{
	return idempotency_key->sequence == 0
		       ? 0
		       : chi_nested_len(ONCE_FIELD, contents_len(idempotency_key));
}

uint8_t *chi_put_once(uint8_t *at, const struct chi_idempotency_key *idempotency_key)
{
	if (idempotency_key->sequence == 0) {
		return at;
	}
	at = chi_put_head(at, ONCE_FIELD, contents_len(idempotency_key));
	at = chi_put_bytes(at, 1, idempotency_key->client, sizeof(idempotency_key->client));
	at = chi_put_uint(at, 2, idempotency_key->since);
	at = chi_put_uint(at, 3, idempotency_key->sequence);
	at = chi_put_uint(at, 4, idempotency_key->unanswered);
	return chi_put_bytes(at, 5, idempotency_key->store, store_len(idempotency_key));
}

/* The operations that a store remembers, and the question. Of any other a client would rely on what
 * is not so. */
static bool takes_once(enum chi_op op)
{
	return op == CHI_OP_PUT || op == CHI_OP_DELETE || op == CHI_OP_RESCORE ||
	       op == CHI_OP_COMPACT || op == CHI_OP_IMPORT_END || op == CHI_OP_OUTCOME;
}

static int once_from(struct chi_unpacker *u, const struct chi_field *from,
		     struct chi_idempotency_key *out)
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
		return chi_flaw(u->flaw, -CHI_EINVAL, "not 16 bytes", "idempotency_key.client");
	}
	memcpy(out->client, client.bytes, sizeof(out->client));
	if (store.len != 0 && store.len != sizeof(out->store)) {
		return chi_flaw(u->flaw, -CHI_EINVAL, "not 16 bytes", "idempotency_key.store");
	}
	if (store.len > 0) {
		memcpy(out->store, store.bytes, sizeof(out->store));
	}
	if (out->sequence == 0) {
		return chi_flaw(u->flaw, -CHI_EINVAL, "missing", "idempotency_key.sequence");
	}
	if (out->unanswered > out->sequence) {
		return chi_flaw(u->flaw, -CHI_EINVAL, "above sequence",
				"idempotency_key.unanswered");
	}
	out->unanswered = out->unanswered == 0 ? out->sequence : out->unanswered;
	return CHI_OK;
}

int chi_idempotency_read(struct chi_unpacker *u, const uint8_t *bytes, size_t len,
			 struct chi_request *out)
{
	struct chi_reader r = chi_reader_of(bytes, len);
	struct chi_field field;
	while (chi_field_next(&r, &field)) {
		if (field.number == ONCE_FIELD) {
			/* An operation of a later version may take one. */
			return takes_once(out->op) ? once_from(u, &field, &out->idempotency_key)
			       : out->op == CHI_OP_UNKNOWN
				       ? CHI_OK
				       : chi_flaw(u->flaw, -CHI_EINVAL, "only of writes",
						  "idempotency_key");
		}
	}
	return CHI_OK;
}
