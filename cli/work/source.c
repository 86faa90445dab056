/* SPDX-License-Identifier: MIT */
/* Positions kept for the next round take the places of those taken in this one. */
#include "cli/work/source.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"

void source_init(struct key_source *source)
{
	*source = (struct key_source){.n = 0};
	(void)pthread_mutex_init(&source->mutex, NULL);
}

void source_free(struct key_source *source)
{
	(void)pthread_mutex_destroy(&source->mutex);
	free(source->keys);
}

int source_add(struct key_source *source, const struct chi_key *key)
{
	if (source->n == SOURCE_MAX) {
		return -CHI_ETOOBIG;
	}
	if (chi_grow(&source->keys, &source->room, source->n + 1, sizeof(*source->keys)) < 0) {
		return -CHI_ENOMEM;
	}
	source->keys[source->n++] = *key;
	return CHI_OK;
}

enum source_next source_take(struct key_source *source, struct chi_key *key)
{
	enum source_next next = SOURCE_WAIT;
	(void)pthread_mutex_lock(&source->mutex);
	if (source->next < source->n) {
		*key = source->keys[source->next++];
		source->active++;
		next = SOURCE_TAKEN;
	} else if (source->active == 0 && source->kept == 0) {
		next = SOURCE_END;
	} else if (source->active == 0) {
		source->n = source->kept;
		source->next = 0;
		source->kept = 0;
		next = SOURCE_ROUND;
	}
	(void)pthread_mutex_unlock(&source->mutex);
	return next;
}

void source_done(struct key_source *source)
{
	(void)pthread_mutex_lock(&source->mutex);
	source->active--;
	(void)pthread_mutex_unlock(&source->mutex);
}

void source_keep(struct key_source *source, const struct chi_key *key)
{
	(void)pthread_mutex_lock(&source->mutex);
	/* Before `next`: this one was taken, and not kept yet. */
	source->keys[source->kept++] = *key;
	source->active--;
	(void)pthread_mutex_unlock(&source->mutex);
}

size_t source_left(struct key_source *source)
{
	(void)pthread_mutex_lock(&source->mutex);
	size_t left = source->n - source->next + source->active + source->kept;
	(void)pthread_mutex_unlock(&source->mutex);
	return left;
}
