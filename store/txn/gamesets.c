/* SPDX-License-Identifier: MIT */
/* Gamesets in a write transaction. */
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "store/archive.h"
#include "store/env/env.h"
#include "store/gamesets/gamesets.h"
#include "store/txn/txn.h"

int chi_write_archive(struct chi_write *write, struct chi_archive_view *out)
{
	int rc = chi_write_ready(write);
	*out = (struct chi_archive_view){.txn = write->txn,
					 .trees = write->env->archive,
					 .last = (uint32_t)write->state.last_game};
	return rc;
}

static int put_gameset(struct chi_write *write, const struct chi_gameset_entry *entry)
{
	size_t len = chi_gameset_size(entry);
	_cleanup_(chi_freep) uint8_t *bytes = malloc(len);
	_cleanup_(chi_freep) char *name = malloc(entry->name_len);
	if (bytes == NULL || name == NULL) {
		return -CHI_ENOMEM;
	}
	memcpy(name, entry->name, entry->name_len);
	chi_gameset_encode(entry, bytes);
	MDB_val key = {.mv_size = entry->name_len, .mv_data = name};
	MDB_val value = {.mv_size = len, .mv_data = bytes};
	int rc = chi_write_set(write, write->env->archive.gamesets, &key, &value);
	write->changed |= rc == CHI_OK;
	return rc;
}

int chi_write_gameset(struct chi_write *write, const struct chi_gameset_entry *entry)
{
	int rc = chi_write_ready(write);
	return rc < 0 ? rc : chi_write_stick(write, put_gameset(write, entry));
}

int chi_write_drop_gameset(struct chi_write *write, const char *name, size_t len)
{
	char copy[CHI_GAMESET_KEY_MAX];
	MDB_val key = {.mv_size = len, .mv_data = copy};
	int rc = chi_write_ready(write);
	if (rc < 0 || len < 1 || len > sizeof(copy)) {
		return rc < 0 ? rc : CHI_NONE;
	}
	memcpy(copy, name, len);
	rc = chi_write_unset(write, write->env->archive.gamesets, &key);
	write->changed |= rc == CHI_OK;
	return rc == CHI_NONE ? CHI_NONE : chi_write_stick(write, rc);
}
