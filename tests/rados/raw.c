/* SPDX-License-Identifier: MIT */
#include "tests/base/cases.h"
#include "tests/rados/raw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void raw_open(const struct world *world, struct raw *raw)
{
	struct chi_address address;
	assert_int_equal(chi_address_parse(world->address, &address, NULL), CHI_OK);
	raw->place = address.rados;
	assert_int_equal(rados_create2(&raw->cluster, "ceph", "client.admin", 0), 0);
	assert_int_equal(rados_conf_read_file(raw->cluster, raw->place.conf), 0);
	assert_int_equal(rados_connect(raw->cluster), 0);
	assert_int_equal(rados_ioctx_create(raw->cluster, raw->place.pool, &raw->io), 0);
}

void raw_close(struct raw *raw)
{
	rados_ioctx_destroy(raw->io);
	rados_shutdown(raw->cluster);
}

void raw_set(struct raw *raw, const char *object, const struct chi_omap_key *key, const void *value,
	     size_t len)
{
	const char *name = key->bytes;
	const char *bytes = value;
	rados_write_op_t op = rados_create_write_op();
	if (value != NULL) {
		rados_write_op_omap_set2(op, &name, &bytes, &key->len, &len, 1);
	} else {
		rados_write_op_omap_rm_keys2(op, &name, &key->len, 1);
	}
	assert_int_equal(rados_write_op_operate(op, raw->io, object, NULL, 0), 0);
	rados_release_write_op(op);
}

void raw_set_in(struct raw *raw, uint32_t shard, const struct chi_omap_key *key, const void *value,
		size_t len)
{
	char object[CHI_OBJECT_SIZE];
	chi_shard_object(raw->place.name, shard, object);
	raw_set(raw, object, key, value, len);
}

/* Keys of a tree, 1,000 at most; the bytes of the first, if it has that many. */
static size_t count(struct raw *raw, const char *object, enum chi_omap_tree tree, uint8_t *first,
		    size_t first_len)
{
	const char prefix[2] = {(char)tree, '\0'};
	rados_omap_iter_t iter = NULL;
	unsigned char more = 0;
	int rc = 0;
	char *key = NULL;
	char *value = NULL;
	size_t key_len = 0;
	size_t len = 0;
	rados_read_op_t op = rados_create_read_op();
	rados_read_op_omap_get_vals2(op, "", prefix, 1000, &iter, &more, &rc);
	assert_int_equal(rados_read_op_operate(op, raw->io, object, 0), 0);
	size_t n = rados_omap_iter_size(iter);
	if (first != NULL && n > 0) {
		assert_int_equal(rados_omap_get_next2(iter, &key, &value, &key_len, &len), 0);
		assert_int_equal(chi_omap_bytes(key, key_len, first, first_len, &len), CHI_OK);
		assert_int_equal(len, first_len);
	}
	rados_omap_get_end(iter);
	rados_release_read_op(op);
	return n;
}

size_t raw_count(struct raw *raw, uint32_t shard, enum chi_omap_tree tree)
{
	char object[CHI_OBJECT_SIZE];
	chi_shard_object(raw->place.name, shard, object);
	return count(raw, object, tree, NULL, 0);
}

size_t raw_count_head(struct raw *raw, enum chi_omap_tree tree)
{
	char object[CHI_OBJECT_SIZE];
	chi_head_object(raw->place.name, object);
	return count(raw, object, tree, NULL, 0);
}

void raw_remove_shard(struct raw *raw, uint32_t shard)
{
	char object[CHI_OBJECT_SIZE];
	chi_shard_object(raw->place.name, shard, object);
	assert_int_equal(rados_remove(raw->io, object), 0);
}

bool raw_first_of_head(struct raw *raw, enum chi_omap_tree tree, uint8_t id[16])
{
	char object[CHI_OBJECT_SIZE];
	chi_head_object(raw->place.name, object);
	return count(raw, object, tree, id, 16) > 0;
}

void raw_head(struct raw *raw, const char *text)
{
	char object[CHI_OBJECT_SIZE];
	chi_head_object(raw->place.name, object);
	assert_int_equal(rados_write_full(raw->io, object, text, strlen(text)), 0);
}

void raw_read_head(struct raw *raw, struct chi_rados_head *out)
{
	char object[CHI_OBJECT_SIZE];
	char text[CHI_RADOS_HEAD_SIZE];
	chi_head_object(raw->place.name, object);
	int len = rados_read(raw->io, object, text, sizeof(text), 0);
	assert_true(len > 0);
	assert_int_equal(chi_rados_head_parse(text, (size_t)len, out, NULL), CHI_OK);
}

uint32_t raw_shard_of(const struct chi_key *key)
{
	return chi_shard_of(key->bytes, key->len, RAW_SHARDS);
}
