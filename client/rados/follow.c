/* SPDX-License-Identifier: MIT */
/*
 * A store that gets other shards while it is open (reshard/). Those that a client knows can be read
 * until the new ones are there, then they are removed; they take no writes from when they are
 * copied on. A client that meets one that is gone or takes no writes looks at the head, which
 * says what to do: wait, or use the new shards.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/fault.h"
#include "client/rados/rados.h"

/* How often a writer that waits looks at the head. */
#define LOOK_MS 100

int chi_rados_adopt(struct chi_client *client, const struct chi_rados_head *head)
{
	struct chi_rados *rados = client->rados;
	bool *known = calloc(head->shards, sizeof(*known));
	if (known == NULL) {
		return -CHI_ENOMEM;
	}
	free(rados->known);
	rados->known = known;
	rados->head = *head;
	rados->moved = false;
	rados->sealed = false;
	chi_shard_stamp(head, rados->stamp);
	return CHI_OK;
}

static bool is_same_store(const struct chi_client *client, const struct chi_rados_head *head)
{
	const struct chi_rados_head *own = &client->rados->head;
	return head->ready && memcmp(head->uuid, own->uuid, sizeof(head->uuid)) == 0;
}

/* True if the head says that there are other shards of the same store than the client's. */
static bool has_others(const struct chi_client *client, const struct chi_rados_head *head)
{
	return is_same_store(client, head) && head->generation != client->rados->head.generation;
}

int chi_rados_refresh(struct chi_client *client)
{
	struct chi_rados_head head;
	int status = chi_rados_read_head(client, &head, NULL);
	if (status == CHI_OK && has_others(client, &head)) {
		return chi_rados_adopt(client, &head);
	}
	if (status == CHI_OK && is_same_store(client, &head)) {
		client->rados->head = head;
	}
	return status;
}

bool chi_rados_follow(struct chi_client *client)
{
	struct chi_rados_head head;
	struct chi_fault why = client->error;
	if (!client->rados->moved) {
		return false;
	}
	client->rados->moved = false;
	bool follows = chi_rados_read_head(client, &head, NULL) == CHI_OK &&
		       has_others(client, &head) && chi_rados_adopt(client, &head) == CHI_OK;
	client->error = why;
	if (follows) {
		client->error.text[0] = '\0';
	}
	return follows;
}

int chi_rados_resharded(struct chi_client *client)
{
	return chi_fault(&client->error, -CHI_ESTALE,
			 "the store was resharded meanwhile: begin again");
}

int chi_rados_interrupted(struct chi_client *client, int status)
{
	return status < 0 && chi_rados_follow(client) ? chi_rados_resharded(client) : status;
}

int chi_rados_busy(struct chi_client *client)
{
	return chi_fault(&client->error, -CHI_EBUSY, "the store is being resharded");
}

static int interrupted_fault(struct chi_client *client)
{
	return chi_fault(&client->error, -CHI_EBUSY,
			 "the store takes no writes: a reshard of it was interrupted; repeat it");
}

int chi_rados_await(struct chi_client *client, int64_t end)
{
	struct chi_rados_head head = {.beat = 0};
	uint64_t beat = 0;
	int64_t seen = chi_now_ms();
	const struct timespec pause = {.tv_nsec = LOOK_MS * 1000000L};
	for (;;) {
		int status = chi_rados_read_head(client, &head, NULL);
		int64_t now = chi_now_ms();
		if (status < 0 || has_others(client, &head)) {
			return status < 0 ? status : chi_rados_adopt(client, &head);
		}
		if (head.step != CHI_RESHARD_COPYING) {
			if (is_same_store(client, &head)) {
				client->rados->head = head;
			}
			return CHI_OK;
		}
		seen = head.beat != beat ? now : seen;
		beat = head.beat;
		if (now - seen > CHI_RESHARD_LEASE) {
			return interrupted_fault(client);
		}
		if (now > end) {
			return chi_rados_busy(client);
		}
		(void)nanosleep(&pause, NULL);
	}
}

int chi_rados_ask_past(struct chi_client *client, uint32_t generation, uint32_t shard,
		       struct chi_object_op *op)
{
	uint8_t id[CHI_PAST_ID];
	struct chi_omap_key keys[2] = {chi_stamp_key};
	chi_past_id(client->rados->id, generation, shard, id);
	chi_omap_key(CHI_OMAP_PAST, id, sizeof(id), &keys[1]);
	chi_object_of_shard(client, chi_shard_of(id, sizeof(id), client->rados->head.shards), op);
	return chi_object_get(op, keys, 2);
}
