/* SPDX-License-Identifier: MIT */
/* One mutex over two lists: pieces are a megabyte, so it is never held for long. */
#include "import/queue.h"

#include <stdlib.h>

#include "base/fault.h"

/* Streams that may wait to be collected, for each piece that may wait to be read. */
#define STREAMS_A_PIECE 4

void chi_queue_init(struct chi_queue *queue, size_t piece_size, size_t pieces_max)
{
	*queue = (struct chi_queue){.piece_size = piece_size, .pieces_max = pieces_max};
	pthread_mutex_init(&queue->mutex, NULL);
	pthread_cond_init(&queue->work, NULL);
	pthread_cond_init(&queue->room, NULL);
}

static void free_pieces(struct chi_piece *piece)
{
	while (piece != NULL) {
		struct chi_piece *next = piece->next;
		free(piece);
		piece = next;
	}
}

void chi_stream_free(struct chi_import_stream *stream)
{
	if (stream == NULL) {
		return;
	}
	free_pieces(stream->first);
	free(stream->name);
	chi_notes_deinit(&stream->notes);
	free(stream->told);
	free(stream);
}

void chi_queue_deinit(struct chi_queue *queue)
{
	while (queue->oldest != NULL) {
		struct chi_import_stream *stream = queue->oldest;
		queue->oldest = stream->next;
		chi_stream_free(stream);
	}
	free_pieces(queue->spare);
	pthread_cond_destroy(&queue->room);
	pthread_cond_destroy(&queue->work);
	pthread_mutex_destroy(&queue->mutex);
}

/* With the mutex held. An open stream goes on however many wait: it may be the oldest itself. */
static bool is_queue_full(const struct chi_queue *queue)
{
	return queue->pieces >= queue->pieces_max ||
	       (queue->waiting >= STREAMS_A_PIECE * queue->pieces_max && queue->newest->closed &&
		!queue->oldest->done);
}

int chi_queue_piece(struct chi_queue *queue, struct chi_piece **out)
{
	pthread_mutex_lock(&queue->mutex);
	while (is_queue_full(queue) && queue->status == CHI_OK) {
		pthread_cond_wait(&queue->room, &queue->mutex);
	}
	int rc = queue->status;
	struct chi_piece *piece = queue->spare;
	if (rc == CHI_OK && piece != NULL) {
		queue->spare = piece->next;
	}
	pthread_mutex_unlock(&queue->mutex);
	if (rc != CHI_OK) {
		return rc;
	}
	if (piece == NULL) {
		piece = malloc(sizeof(*piece) + queue->piece_size);
		if (piece == NULL) {
			return -CHI_ENOMEM;
		}
	}
	piece->next = NULL;
	piece->len = 0;
	*out = piece;
	return CHI_OK;
}

/* The stream that the next piece belongs to; NULL: out of memory. With the mutex held. */
static struct chi_import_stream *current(struct chi_queue *queue, char **name)
{
	if (queue->newest != NULL && !queue->newest->closed) {
		return queue->newest;
	}
	struct chi_import_stream *stream = calloc(1, sizeof(*stream));
	if (stream == NULL) {
		return NULL;
	}
	stream->number = queue->streams++;
	stream->name = *name;
	*name = NULL;
	queue->waiting++;
	if (queue->newest != NULL) {
		queue->newest->next = stream;
	} else {
		queue->oldest = stream;
	}
	queue->newest = stream;
	if (queue->unclaimed == NULL) {
		queue->unclaimed = stream;
	}
	return stream;
}

int chi_queue_put(struct chi_queue *queue, struct chi_piece *piece, char **name, bool closes)
{
	pthread_mutex_lock(&queue->mutex);
	struct chi_import_stream *stream = current(queue, name);
	if (stream == NULL) {
		pthread_mutex_unlock(&queue->mutex);
		free(piece);
		return -CHI_ENOMEM;
	}
	if (stream->last != NULL) {
		stream->last->next = piece;
	} else {
		stream->first = piece;
	}
	stream->last = piece;
	stream->closed = closes;
	queue->pieces++;
	int rc = queue->status;
	/* All are woken: the reader of an open stream waits for this piece, not for any. */
	pthread_cond_broadcast(&queue->work);
	pthread_mutex_unlock(&queue->mutex);
	return rc;
}

bool chi_queue_open(struct chi_queue *queue)
{
	pthread_mutex_lock(&queue->mutex);
	bool open = queue->newest != NULL && !queue->newest->closed;
	pthread_mutex_unlock(&queue->mutex);
	return open;
}

void chi_queue_end(struct chi_queue *queue)
{
	pthread_mutex_lock(&queue->mutex);
	queue->ended = true;
	pthread_cond_broadcast(&queue->work);
	pthread_mutex_unlock(&queue->mutex);
}

struct chi_import_stream *chi_queue_collect(struct chi_queue *queue)
{
	pthread_mutex_lock(&queue->mutex);
	struct chi_import_stream *stream = queue->oldest;
	if (stream != NULL && stream->done) {
		queue->oldest = stream->next;
		queue->waiting--;
		if (queue->newest == stream) {
			queue->newest = NULL;
		}
	} else {
		stream = NULL;
	}
	pthread_mutex_unlock(&queue->mutex);
	return stream;
}

struct chi_import_stream *chi_queue_claim(struct chi_queue *queue)
{
	pthread_mutex_lock(&queue->mutex);
	while (queue->unclaimed == NULL && !queue->ended && queue->status == CHI_OK) {
		pthread_cond_wait(&queue->work, &queue->mutex);
	}
	struct chi_import_stream *stream = queue->status == CHI_OK ? queue->unclaimed : NULL;
	if (stream != NULL) {
		queue->unclaimed = stream->next;
	}
	pthread_mutex_unlock(&queue->mutex);
	return stream;
}

/* With the mutex held. */
static void give_back(struct chi_queue *queue, struct chi_piece *piece)
{
	if (piece != NULL) {
		piece->next = queue->spare;
		queue->spare = piece;
		queue->pieces--;
		pthread_cond_signal(&queue->room);
	}
}

struct chi_piece *chi_queue_next(struct chi_queue *queue, struct chi_import_stream *stream,
				 struct chi_piece *last)
{
	pthread_mutex_lock(&queue->mutex);
	give_back(queue, last);
	while (stream->first == NULL && !stream->closed && queue->status == CHI_OK) {
		pthread_cond_wait(&queue->work, &queue->mutex);
	}
	struct chi_piece *piece = queue->status == CHI_OK ? stream->first : NULL;
	if (piece != NULL) {
		stream->first = piece->next;
		if (piece->next == NULL) {
			stream->last = NULL;
		}
	}
	pthread_mutex_unlock(&queue->mutex);
	return piece;
}

void chi_queue_done(struct chi_queue *queue, struct chi_import_stream *stream)
{
	pthread_mutex_lock(&queue->mutex);
	stream->done = true;
	pthread_cond_signal(&queue->room);
	pthread_mutex_unlock(&queue->mutex);
}

void chi_queue_fail(struct chi_queue *queue, int status, const struct chi_fault *fault)
{
	pthread_mutex_lock(&queue->mutex);
	if (queue->status == CHI_OK) {
		queue->status = status;
		queue->fault = *fault;
	}
	pthread_cond_broadcast(&queue->work);
	pthread_cond_broadcast(&queue->room);
	pthread_mutex_unlock(&queue->mutex);
}

int chi_queue_status(struct chi_queue *queue, struct chi_fault *fault)
{
	pthread_mutex_lock(&queue->mutex);
	int rc = queue->status;
	if (rc != CHI_OK && fault != NULL) {
		*fault = queue->fault;
	}
	pthread_mutex_unlock(&queue->mutex);
	return rc;
}
