/* SPDX-License-Identifier: MIT */
/* What is wrong with a stored record, as far as its position and the rules of chess tell. */
#include "store/record/examine.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "chess/key.h"
#include "chess/legal.h"
#include "store/record/codec.h"
#include "store/record/merge.h"

const char *chi_key_name(const uint8_t *bytes, size_t len, char out[CHI_FEN_SIZE])
{
	struct chi_key key = {.len = (uint8_t)(len < CHI_KEY_MAX ? len : CHI_KEY_MAX)};
	memcpy(key.bytes, bytes, key.len);
	if (len <= CHI_KEY_MAX && chi_key_to_fen(&key, out, NULL) == CHI_OK) {
		return out;
	}
	size_t at = 0;
	for (size_t i = 0; i < key.len; i++) {
		at += (size_t)snprintf(out + at, CHI_FEN_SIZE - at, "%02x", key.bytes[i]);
	}
	out[at] = '\0';
	return out;
}

/* Keys come from a page: the length first, then all that chess knows. */
static bool decode_key(const uint8_t *bytes, size_t len, struct chi_position *position)
{
	struct chi_key key = {0};
	if (!chi_key_shape_ok(bytes, len)) {
		return false;
	}
	key.len = (uint8_t)len;
	memcpy(key.bytes, bytes, len);
	return chi_key_decode(&key, position, NULL) == CHI_OK;
}

int chi_record_examine(enum chi_statistic statistic, const MDB_val *key, const MDB_val *value,
		       struct chi_arena *arena, struct chi_record *record,
		       struct chi_record_rest *rest, const char **problem)
{
	struct chi_position position;
	*problem = NULL;
	if (!decode_key(key->mv_data, key->mv_size, &position)) {
		*problem = "its key is not a position";
		return -CHI_ECORRUPT;
	}
	chi_arena_reset(arena);
	int rc = chi_record_decode(value->mv_data, value->mv_size, arena, record, rest);
	if (rc == -CHI_ENOMEM) {
		return rc;
	}
	if (rc < 0) {
		*problem = "its record is damaged";
	} else if (chi_record_legal(&position, record, NULL) < 0) {
		*problem = "a move of its record is not legal";
	}
	if (*problem == NULL && !chi_record_statistic_ok(statistic, &position, record)) {
		*problem = "its statistic is not what the position and its record give";
	}
	return *problem == NULL ? CHI_OK : -CHI_ECORRUPT;
}
