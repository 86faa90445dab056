/* SPDX-License-Identifier: MIT */
/*
 * The steps of a reshard, each of them told by the head before it is made: old shards are sealed,
 * so that they take no writes; their entries are copied to new ones, of a generation whose number
 * was never used; one change of the head makes these the store's; the old ones are removed. A
 * client that is killed leaves a head that says how far it was, and the next one takes over when
 * the head's beat has stopped. What the one that was taken for dead still does hurts no one: it
 * cannot change the head any more, and its new shards are of another generation.
 */
#include "client/rados/reshard/reshard.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "base/clock.h"
#include "base/fault.h"
#include "client/rados/import/journal.h"

#define BEAT_MS 1000
#define LOOK_MS 200

/* ---- The head ---------------------------------------------------------------------------- */

static bool same_head(const struct chi_rados_head *a, const struct chi_rados_head *b)
{
	char texts[2][CHI_RADOS_HEAD_SIZE];
	(void)chi_rados_head_print(a, texts[0]);
	(void)chi_rados_head_print(b, texts[1]);
	return strcmp(texts[0], texts[1]) == 0;
}

static int taken_over(struct chi_client *client)
{
	return chi_fault(&client->error, -CHI_EBUSY,
			 "another client changed the store's head or reshards the store");
}

/* From the head that this client knows to `next`. -CHI_EBUSY: it is another one by now. A change
 * whose answer was lost and that is made twice is found to be made. */
static int change_head(struct chi_reshard *reshard, const struct chi_rados_head *next)
{
	struct chi_client *client = reshard->client;
	int status = -CHI_EBUSY;
	while (status == -CHI_EBUSY) {
		struct chi_rados_head now;
		uint64_t version = 0;
		status = chi_rados_read_head(client, &now, &version);
		if (status == CHI_OK && same_head(&now, next)) {
			break;
		}
		if (status == CHI_OK && !same_head(&now, &reshard->head)) {
			return taken_over(client);
		}
		if (status == CHI_OK) {
			client->error.text[0] = '\0';
			status = chi_rados_write_head(client, next, version);
		}
	}
	if (status == CHI_OK) {
		client->error.text[0] = '\0';
		reshard->head = *next;
	}
	return status;
}

/* No two clients draw the same. */
static int draw_beat(struct chi_rados_head *head)
{
	return getrandom(&head->beat, sizeof(head->beat), 0) == sizeof(head->beat) ? CHI_OK
										   : -CHI_EIO;
}

static int change_beat(struct chi_reshard *reshard)
{
	struct chi_rados_head next = reshard->head;
	int status = draw_beat(&next);
	reshard->next_beat = chi_now_ms() + BEAT_MS;
	return status == CHI_OK ? change_head(reshard, &next) : status;
}

int chi_reshard_beat(struct chi_reshard *reshard)
{
	const volatile int *cancel = reshard->options->cancel;
	if (cancel != NULL && *cancel != 0) {
		return -CHI_ECANCELED;
	}
	return chi_now_ms() < reshard->next_beat ? CHI_OK : change_beat(reshard);
}

/* No reshard is going on; the generation that was begun is not begun again. */
static void settle(struct chi_rados_head *head, uint32_t begun)
{
	head->step = CHI_RESHARD_NONE;
	head->other_shards = 0;
	head->other_generation = begun > head->generation ? begun : 0;
	head->beat = 0;
}

/* ---- What was left ----------------------------------------------------------------------- */

/* The old shards of a reshard that is done but for their removal. */
static int finish(struct chi_reshard *reshard)
{
	struct chi_client *client = reshard->client;
	int status = chi_shards_remove(client, reshard->head.other_shards,
				       reshard->head.other_generation);
	bool done = false;
	while (status == CHI_OK && !done) {
		struct chi_rados_head next = reshard->head;
		settle(&next, 0);
		status = change_head(reshard, &next);
		/* Base rates were put, or an import committed. */
		if (status == -CHI_EBUSY) {
			client->error.text[0] = '\0';
			status = chi_rados_read_head(client, &reshard->head, NULL);
			done = reshard->head.step != CHI_RESHARD_REMOVING;
		} else {
			done = true;
		}
	}
	return status;
}

/* Waits for as long as a client that is alive may leave the head as it is. */
static int await_death(struct chi_reshard *reshard)
{
	struct chi_client *client = reshard->client;
	int64_t end = chi_now_ms() + CHI_RESHARD_LEASE;
	const struct timespec pause = {.tv_nsec = LOOK_MS * 1000000L};
	int status = CHI_OK;
	while (status == CHI_OK && chi_now_ms() < end) {
		struct chi_rados_head now;
		(void)nanosleep(&pause, NULL);
		status = chi_rados_read_head(client, &now, NULL);
		if (status == CHI_OK && !same_head(&now, &reshard->head)) {
			return chi_fault(&client->error, -CHI_EBUSY,
					 "another client reshards the store");
		}
	}
	return status;
}

/* A reshard whose client was killed: it changes the head no more, and its new shards are removed.
 * The old ones may be sealed. */
static int take_over(struct chi_reshard *reshard)
{
	int status = await_death(reshard);
	status = status == CHI_OK ? change_beat(reshard) : status;
	return status == CHI_OK ? chi_shards_remove(reshard->client, reshard->head.other_shards,
						    reshard->head.other_generation)
				: status;
}

/* Back to the old shards, of which some are sealed, after this client's change of the head. */
static int give_back(struct chi_reshard *reshard)
{
	uint32_t begun = reshard->head.other_generation;
	struct chi_rados_head next = reshard->head;
	int status = chi_shards_unseal(reshard->client, begun);
	settle(&next, begun);
	return status == CHI_OK ? change_head(reshard, &next) : status;
}

/* ---- A reshard --------------------------------------------------------------------------- */

static int begin(struct chi_reshard *reshard, uint32_t shards)
{
	struct chi_rados_head next = reshard->head;
	uint32_t begun =
		next.other_generation > next.generation ? next.other_generation : next.generation;
	if (begun == UINT32_MAX) {
		return chi_fault(&reshard->client->error, -CHI_ETOOBIG,
				 "the store was resharded too often");
	}
	next.step = CHI_RESHARD_COPYING;
	next.other_shards = shards;
	next.other_generation = begun + 1;
	int status = draw_beat(&next);
	reshard->next_beat = chi_now_ms() + BEAT_MS;
	return status == CHI_OK ? change_head(reshard, &next) : status;
}

/* The new shards become the store's. */
static int switch_over(struct chi_reshard *reshard)
{
	struct chi_rados_head next = reshard->head;
	next.step = CHI_RESHARD_REMOVING;
	next.shards = reshard->head.other_shards;
	next.generation = reshard->head.other_generation;
	next.other_shards = reshard->head.shards;
	next.other_generation = reshard->head.generation;
	next.beat = 0;
	int status = change_head(reshard, &next);
	return status == CHI_OK ? chi_rados_adopt(reshard->client, &next) : status;
}

static int count(struct chi_reshard *reshard)
{
	struct chi_shard_client sum;
	int status = chi_rados_sum(reshard->client, &sum);
	int64_t total = sum.positions + sum.known + sum.games[0] + sum.games[1] + sum.games[2] +
			sum.games[3];
	reshard->total = total > 0 ? (uint64_t)total : 0;
	return status;
}

static int make(struct chi_reshard *reshard)
{
	int status = chi_shards_seal(reshard, reshard->head.other_generation);
	status = status == CHI_OK ? count(reshard) : status;
	status = status == CHI_OK ? chi_shards_make(reshard) : status;
	status = status == CHI_OK ? chi_reshard_copy(reshard) : status;
	/* Once more the proof that no one has taken over, and that no one gave up. */
	reshard->next_beat = 0;
	status = status == CHI_OK ? chi_reshard_beat(reshard) : status;
	return status == CHI_OK ? switch_over(reshard) : status;
}

/* After a failure: the old shards as they were, if that is possible. */
static int take_back(struct chi_reshard *reshard, int status)
{
	struct chi_client *client = reshard->client;
	struct chi_fault why = client->error;
	struct chi_rados_head head;
	int rc = chi_rados_read_head(client, &head, NULL);
	/* The change of the head that failed was made. */
	if (rc == CHI_OK && head.generation == reshard->head.other_generation) {
		reshard->head = head;
		return chi_rados_adopt(client, &head);
	}
	rc = rc == CHI_OK ? change_beat(reshard) : rc;
	/* The other client settles it. */
	if (rc == -CHI_EBUSY) {
		client->error = why;
		return status;
	}
	rc = rc == CHI_OK ? chi_shards_remove(client, reshard->head.other_shards,
					      reshard->head.other_generation)
			  : rc;
	rc = rc == CHI_OK ? give_back(reshard) : rc;
	const char *text = why.text[0] != '\0' ? why.text : chi_strerror(status);
	return chi_fault(&client->error, status, "%.180s; %s", text,
			 rc == CHI_OK ? "the store is as it was"
				      : "the store takes no writes until it is resharded");
}

/* The head without what other reshards and imports have left. *taken: old shards may be sealed. */
static int clear_way(struct chi_reshard *reshard, bool *taken)
{
	struct chi_client *client = reshard->client;
	struct chi_put_result unwanted = {0};
	int status = chi_rados_refresh(client);
	*taken = false;
	while (status == CHI_OK) {
		reshard->head = client->rados->head;
		if (reshard->head.step == CHI_RESHARD_REMOVING) {
			status = finish(reshard);
		} else if (reshard->head.step == CHI_RESHARD_COPYING) {
			status = take_over(reshard);
			*taken = true;
			return status;
		} else if (reshard->head.import_parts > 0) {
			status = chi_rados_roll(client, reshard->options->progress,
						reshard->options->context, &unwanted);
		} else {
			return CHI_OK;
		}
		status = status == CHI_OK ? chi_rados_refresh(client) : status;
	}
	return status;
}

static int run(struct chi_reshard *reshard, uint32_t shards)
{
	bool taken = false;
	int status = clear_way(reshard, &taken);
	if (status != CHI_OK) {
		return status;
	}
	reshard->before = reshard->head.shards;
	if (shards == reshard->head.shards) {
		return taken ? give_back(reshard) : CHI_OK;
	}
	status = begin(reshard, shards);
	if (status != CHI_OK) {
		return status;
	}
	status = make(reshard);
	status = status != CHI_OK ? take_back(reshard, status) : status;
	return status == CHI_OK ? finish(reshard) : status;
}

int chi_rados_reshard(struct chi_client *client, uint32_t shards,
		      const struct chi_reshard_options *options, struct chi_reshard_result *result)
{
	struct chi_reshard reshard = {.client = client, .options = options};
	int status = chi_rados_interrupted(client, run(&reshard, shards));
	result->before = reshard.before;
	result->shards = client->rados->head.shards;
	result->positions = reshard.positions;
	return status;
}
