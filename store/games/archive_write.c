/* SPDX-License-Identifier: MIT */
/* Appending and removing whole games. */
#include <stdlib.h>

#include "base/attr.h"
#include "store/games/archive.h"
#include "store/games/bodies.h"
#include "store/games/columns.h"
#include "store/games/tags.h"

_Static_assert(CHI_HEAD_NAME_MAX <= CHI_NAME_MAX, "names of columns are names");

struct chi_archive_writer {
	MDB_txn *txn;
	struct chi_archive_trees trees;
	struct chi_name_cache *names;
	struct chi_columns_writer *columns;
	struct chi_bodies_writer *bodies;
	struct chi_traits_writer *traits;
	struct chi_archive_reader *reader; /* of chi_archive_remove */
};

static void freep(struct chi_archive_writer **writer)
{
	chi_archive_writer_free(*writer);
}

int chi_archive_writer_new(MDB_txn *txn, const struct chi_archive_trees *trees,
			   struct chi_name_cache *names, struct chi_traits_writer *traits,
			   struct chi_archive_writer **out)
{
	_cleanup_(freep) struct chi_archive_writer *writer = calloc(1, sizeof(*writer));
	if (writer == NULL) {
		return -CHI_ENOMEM;
	}
	writer->txn = txn;
	writer->trees = *trees;
	writer->names = names;
	writer->traits = traits;
	int rc = chi_columns_writer_new(txn, trees->columns, &writer->columns);
	rc = rc == CHI_OK ? chi_bodies_writer_new(txn, trees->games, &writer->bodies) : rc;
	if (rc != CHI_OK) {
		return rc;
	}
	*out = writer;
	writer = NULL;
	return CHI_OK;
}

void chi_archive_writer_free(struct chi_archive_writer *writer)
{
	if (writer != NULL) {
		chi_columns_writer_free(writer->columns);
		chi_bodies_writer_free(writer->bodies);
		chi_archive_reader_free(writer->reader);
		free(writer);
	}
}

static int intern(struct chi_archive_writer *writer, enum chi_name_kind kind,
		  const struct chi_span *name, uint32_t fide, uint32_t *id)
{
	*id = 0;
	return name->len == 0
		       ? CHI_OK
		       : chi_names_intern(writer->names, writer->txn, writer->trees.names, kind,
					  (const char *)name->bytes, name->len, fide, id);
}

/* Gives the names of a packed game their numbers. */
static int intern_all(struct chi_archive_writer *w, const struct chi_packed_game *packed,
		      struct chi_game_head *head)
{
	const struct chi_span *names = packed->names;
	int rc = intern(w, CHI_NAME_PLAYER, &names[CHI_HEAD_WHITE], packed->fide[0], &head->white);
	rc = rc == CHI_OK ? intern(w, CHI_NAME_PLAYER, &names[CHI_HEAD_BLACK], packed->fide[1],
				   &head->black)
			  : rc;
	rc = rc == CHI_OK ? intern(w, CHI_NAME_EVENT, &names[CHI_HEAD_EVENT], 0, &head->event) : rc;
	return rc == CHI_OK ? intern(w, CHI_NAME_SITE, &names[CHI_HEAD_SITE], 0, &head->site) : rc;
}

int chi_archive_append_packed(struct chi_archive_writer *writer, uint32_t number, uint32_t source,
			      const struct chi_packed_game *packed, struct chi_game_head *head)
{
	struct chi_game_head row = packed->head;
	row.number = number;
	row.source = source;
	int rc = intern_all(writer, packed, &row);
	rc = rc == CHI_OK ? chi_columns_append(writer->columns, &row) : rc;
	rc = rc == CHI_OK ? chi_bodies_append(writer->bodies, number, &packed->body) : rc;
	rc = rc == CHI_OK ? chi_traits_append(writer->traits, writer->txn, writer->trees.traits,
					      number, packed->traits.bytes,
					      packed->traits.len / sizeof(chi_trait))
			  : rc;
	if (rc == CHI_OK && head != NULL) {
		*head = row;
	}
	return rc;
}

int chi_archive_flush(struct chi_archive_writer *writer)
{
	int rc = chi_columns_flush(writer->columns);
	return rc == CHI_OK ? chi_bodies_flush(writer->bodies) : rc;
}

/* The traits that it is listed with: its moves are played again. */
static int remove_traits(struct chi_archive_writer *writer, uint32_t number)
{
	struct chi_traits traits;
	int rc = writer->reader == NULL ? chi_archive_reader_new(&writer->reader) : CHI_OK;
	rc = rc == CHI_OK ? chi_archive_reader_begin(writer->reader, writer->txn, &writer->trees)
			  : rc;
	rc = rc == CHI_OK ? chi_archive_traits(writer->reader, number, &traits) : rc;
	if (writer->reader != NULL) {
		chi_archive_reader_end(writer->reader);
	}
	return rc == CHI_OK ? chi_traits_remove(writer->traits, writer->txn, writer->trees.traits,
						number, (const uint8_t *)traits.trait, traits.n)
			    : rc;
}

int chi_archive_remove(struct chi_archive_writer *writer, uint32_t number)
{
	const struct chi_archive_trees *trees = &writer->trees;
	int rc = chi_columns_remove(writer->txn, trees->columns, number);
	if (rc != CHI_OK) {
		return rc;
	}
	rc = remove_traits(writer, number);
	rc = rc == CHI_OK ? chi_bodies_remove(writer->txn, trees->games, number) : rc;
	return rc == CHI_NONE ? -CHI_ECORRUPT : rc;
}
