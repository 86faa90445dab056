/* SPDX-License-Identifier: MIT */
/* Keys in a list, and a hash table of their places. */
#include "http/net/queue.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/attr.h"
#include "base/fault.h"
#include "chistore.h"

#define SLOTS (4 * QUEUE_MOST) /* of them a quarter is used at most */

struct queue {
	pthread_mutex_t lock;
	int fd; /* -1: none */
	size_t n;
	struct chi_key keys[QUEUE_MOST];
	uint32_t slots[SLOTS]; /* place in `keys`, plus one; 0: empty */
};

/* Its slot, or the empty one where it belongs. */
static uint32_t *slot_of(struct queue *queue, const struct chi_key *key)
{
	size_t at = XXH3_64bits(key->bytes, key->len) % SLOTS;
	while (queue->slots[at] != 0 &&
	       memcmp(&queue->keys[queue->slots[at] - 1], key, sizeof(*key)) != 0) {
		at = (at + 1) % SLOTS;
	}
	return &queue->slots[at];
}

static void put(struct queue *queue, const struct chi_key *key, uint32_t *slot)
{
	queue->keys[queue->n] = *key;
	*slot = (uint32_t)++queue->n;
}

/* Lines that are no FENs, such as one that a crash has cut, are passed over. */
static void read_all(struct queue *queue, FILE *file)
{
	char line[CHI_FEN_SIZE + 2];
	while (queue->n < QUEUE_MOST && fgets(line, sizeof(line), file) != NULL) {
		struct chi_key key;
		if (chi_key_from_fen(line, strcspn(line, "\r\n"), &key, NULL) == CHI_OK) {
			uint32_t *slot = slot_of(queue, &key);
			if (*slot == 0) {
				put(queue, &key, slot);
			}
		}
	}
}

int queue_open(const char *path, struct queue **out, struct chi_fault *fault)
{
	struct queue *queue = calloc(1, sizeof(*queue));
	*out = queue;
	if (queue == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	pthread_mutex_init(&queue->lock, NULL);
	queue->fd = -1;
	if (path == NULL) {
		return CHI_OK;
	}
	queue->fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
	int copy = queue->fd >= 0 ? dup(queue->fd) : -1;
	FILE *file = copy >= 0 ? fdopen(copy, "r") : NULL;
	if (file == NULL) {
		return chi_fault(fault, errno == EACCES ? -CHI_EACCES : -CHI_EIO,
				 "cannot open the queue '%s' (%s)", path, strerror(errno));
	}
	read_all(queue, file);
	(void)fclose(file);
	return CHI_OK;
}

void queue_close(struct queue *queue)
{
	if (queue == NULL) {
		return;
	}
	if (queue->fd >= 0) {
		close(queue->fd);
	}
	pthread_mutex_destroy(&queue->lock);
	free(queue);
}

static int add(struct queue *queue, const struct chi_key *key, bool *added, struct chi_fault *fault)
{
	char fen[CHI_FEN_SIZE + 1];
	uint32_t *slot = slot_of(queue, key);
	*added = *slot == 0;
	if (!*added) {
		return CHI_OK;
	}
	if (queue->n == QUEUE_MOST) {
		return chi_fault(fault, -CHI_EBUSY, "the queue is full");
	}
	int status = chi_key_to_fen(key, fen, fault);
	if (status < 0) {
		return status;
	}
	size_t len = strlen(fen);
	fen[len++] = '\n';
	if (queue->fd >= 0 && write(queue->fd, fen, len) != (ssize_t)len) {
		return chi_fault(fault, -CHI_EIO, "cannot write the queue (%s)", strerror(errno));
	}
	put(queue, key, slot);
	return CHI_OK;
}

int queue_add(struct queue *queue, const struct chi_key *key, bool *added, struct chi_fault *fault)
{
	pthread_mutex_lock(&queue->lock);
	int status = add(queue, key, added, fault);
	pthread_mutex_unlock(&queue->lock);
	return status;
}

void queue_say(struct queue *queue, uint64_t limit, struct writer *out)
{
	pthread_mutex_lock(&queue->lock);
	out_object(out, NULL);
	out_number(out, "total", queue->n);
	out_array(out, "positions");
	for (size_t i = queue->n; i > 0 && limit > 0; i--, limit--) {
		char fen[CHI_FEN_SIZE];
		if (chi_key_to_fen(&queue->keys[i - 1], fen, NULL) == CHI_OK) {
			out_text(out, NULL, fen);
		}
	}
	out_end(out, ']');
	out_end(out, '}');
	pthread_mutex_unlock(&queue->lock);
}
