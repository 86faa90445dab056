/* SPDX-License-Identifier: MIT */
/* A book in memory and the walk over it. Each group of entries, those with one key, is queued at
 * most once, so the queue is never longer than the book. */
#include "formats/polyglot.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/attr.h"
#include "base/buffer.h"
#include "base/fault.h"
#include "chess/fen.h"
#include "chess/key.h"
#include "chess/polyglot.h"

/* What is read at first of a file that has no size. */
#define READ_FIRST ((size_t)1 << 16)

/* A position that is to be visited. */
struct pending {
	struct chi_key key;
	bool alias;
	size_t group; /* its first entry */
};

struct chi_book {
	uint8_t *bytes;
	size_t len;
	size_t n;     /* entries */
	bool *queued; /* n: the first entry of a group that was queued */
	struct pending *queue;
	size_t head;
	size_t tail;
	size_t room;
	struct chi_move_stat moves[CHI_MOVES_MAX]; /* of the position that is visited */
};

static void close_fd(int *fd)
{
	if (*fd > STDIN_FILENO) {
		(void)close(*fd);
	}
}

static void book_freep(struct chi_book **book)
{
	chi_book_close(*book);
}

void chi_book_close(struct chi_book *book)
{
	if (book == NULL) {
		return;
	}
	free(book->bytes);
	free(book->queued);
	free(book->queue);
	free(book);
}

static int system_fault(struct chi_fault *fault)
{
	int status = errno == ENOENT ? -CHI_ENOSTORE : errno == EACCES ? -CHI_EACCES : -CHI_EIO;
	return chi_fault(fault, status, "%s", strerror(errno));
}

/* The whole file. One byte more than its size is asked for, so that its end is seen at once; what
 * has no size, or grows, doubles. */
static int read_all(struct chi_buffer *content, int fd, struct chi_fault *fault)
{
	struct stat status;
	if (fstat(fd, &status) != 0) {
		return system_fault(fault);
	}
	bool sized = S_ISREG(status.st_mode) && (uint64_t)status.st_size <= CHI_BOOK_MAX;
	size_t wanted = sized ? (size_t)status.st_size + 1 : READ_FIRST;
	while (content->len <= CHI_BOOK_MAX) {
		size_t left = content->limit - content->len;
		uint8_t *room = chi_buffer_reserve(content, wanted < left ? wanted : left);
		if (room == NULL) {
			return chi_fault_plain(fault, -CHI_ENOMEM);
		}
		ssize_t n = read(fd, room, content->capacity - content->len);
		if (n < 0 && errno != EINTR) {
			return system_fault(fault);
		}
		if (n == 0) {
			return CHI_OK;
		}
		chi_buffer_added(content, n > 0 ? (size_t)n : 0);
		wanted = 1;
	}
	return chi_fault(fault, -CHI_ETOOBIG, "a book is at most %" PRIu64 " bytes", CHI_BOOK_MAX);
}

static struct chi_polyglot_entry entry_at(const struct chi_book *book, size_t i)
{
	struct chi_polyglot_entry entry;
	chi_polyglot_unpack(book->bytes + i * CHI_POLYGLOT_ENTRY, &entry);
	return entry;
}

/* Whole entries, ascending: else looking one up would miss it. */
static int check(struct chi_book *book, struct chi_fault *fault)
{
	book->n = book->len / CHI_POLYGLOT_ENTRY;
	if (book->len % CHI_POLYGLOT_ENTRY != 0) {
		return chi_fault(
			fault, -CHI_ESYNTAX,
			"not a Polyglot book, or one cut short: at byte %zu an entry of %d bytes "
			"has %zu",
			book->n * CHI_POLYGLOT_ENTRY, CHI_POLYGLOT_ENTRY,
			book->len % CHI_POLYGLOT_ENTRY);
	}
	for (size_t i = 1; i < book->n; i++) {
		if (entry_at(book, i).key < entry_at(book, i - 1).key) {
			return chi_fault(
				fault, -CHI_ESYNTAX,
				"not a Polyglot book: the entry at byte %zu has a lower key "
				"than the one before it",
				i * CHI_POLYGLOT_ENTRY);
		}
	}
	return CHI_OK;
}

int chi_book_take(uint8_t *bytes, size_t len, struct chi_book **out, struct chi_fault *fault)
{
	*out = NULL;
	_cleanup_(book_freep) struct chi_book *book = calloc(1, sizeof(*book));
	if (book == NULL) {
		free(bytes);
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	book->bytes = bytes;
	book->len = len;
	int rc = check(book, fault);
	if (rc < 0) {
		return rc;
	}
	book->queued = calloc(book->n + 1, sizeof(*book->queued));
	if (book->queued == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	*out = book;
	book = NULL;
	return CHI_OK;
}

int chi_book_open(const char *path, struct chi_book **out, struct chi_fault *fault)
{
	bool standard = strcmp(path, "-") == 0;
	struct chi_buffer content;
	*out = NULL;
	_cleanup_(close_fd) int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		return system_fault(fault);
	}
	chi_buffer_init(&content, (size_t)CHI_BOOK_MAX + 1);
	int rc = read_all(&content, fd, fault);
	if (rc < 0) {
		chi_buffer_deinit(&content);
		return rc;
	}
	return chi_book_take(content.data, content.len, out, fault);
}

/* The first entry of a key; n if there is none. */
static size_t find(const struct chi_book *book, uint64_t key)
{
	size_t low = 0;
	size_t high = book->n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (entry_at(book, middle).key < key) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low < book->n && entry_at(book, low).key == key ? low : book->n;
}

/* Books made from positions such as ours have no entry under Polyglot's own key where that counts a
 * capture that is not legal: they are asked for ours, too. */
static int enqueue(struct chi_book *book, const struct chi_position *position, int ep)
{
	uint64_t theirs = chi_polyglot_key(position, ep);
	uint64_t ours = chi_polyglot_key(position, position->ep);
	size_t group = find(book, theirs);
	if (group == book->n && ours != theirs) {
		group = find(book, ours);
	}
	if (group == book->n || book->queued[group]) {
		return CHI_OK;
	}
	if (book->tail == book->room) {
		size_t room = book->room > 0 ? 2 * book->room : 256;
		struct pending *queue = reallocarray(book->queue, room, sizeof(*queue));
		if (queue == NULL) {
			return -CHI_ENOMEM;
		}
		book->queue = queue;
		book->room = room;
	}
	book->queued[group] = true;
	struct pending *pending = &book->queue[book->tail++];
	*pending = (struct pending){.alias = ours != theirs, .group = group};
	chi_key_encode(position, &pending->key);
	return CHI_OK;
}

/* Takes a move among those of the position, in its place; one that occurs twice has both weights.
 */
static void add_move(struct chi_book_position *at, struct chi_move_stat *moves, chi_move move,
		     uint16_t weight)
{
	size_t i = 0;
	while (i < at->n_moves && moves[i].move < move) {
		i++;
	}
	at->weight += weight;
	if (i < at->n_moves && moves[i].move == move) {
		moves[i].counts.other += weight;
		return;
	}
	if (at->n_moves == CHI_MOVES_MAX) {
		return; /* more than any position of a game has */
	}
	memmove(moves + i + 1, moves + i, (at->n_moves - i) * sizeof(*moves));
	moves[i] = (struct chi_move_stat){.move = move, .counts = {.other = weight}};
	at->n_moves++;
}

/* One group: its moves, and the positions after them. */
static int visit_group(struct chi_book *book, const struct pending *pending, chi_book_visit *visit,
		       void *context, struct chi_book_result *result)
{
	struct chi_book_position at = {.key = pending->key, .alias = pending->alias};
	struct chi_position position;
	int rc = chi_key_decode(&pending->key, &position, NULL);
	uint64_t key = entry_at(book, pending->group).key;
	at.moves = book->moves;
	for (size_t i = pending->group; rc == CHI_OK && i < book->n; i++) {
		struct chi_polyglot_entry entry = entry_at(book, i);
		chi_move move = 0;
		if (entry.key != key) {
			break;
		}
		result->unreachable--;
		if (chi_polyglot_move(&position, entry.move, &move) != CHI_OK) {
			result->illegal++;
			continue;
		}
		if (entry.weight > 0) {
			add_move(&at, book->moves, move, entry.weight);
		} else {
			result->weightless++;
		}
		struct chi_position next;
		chi_position_play(&position, move, &next);
		rc = enqueue(book, &next, chi_polyglot_passed(&position, move));
	}
	if (rc < 0 || at.n_moves == 0) {
		return rc;
	}
	result->positions++;
	result->moves += at.n_moves;
	return visit(context, &at);
}

int chi_book_walk(struct chi_book *book, chi_book_visit *visit, void *context,
		  const volatile sig_atomic_t *cancel, struct chi_book_result *result)
{
	struct chi_position start;
	*result = (struct chi_book_result){.entries = book->n, .unreachable = book->n};
	book->head = 0;
	book->tail = 0;
	memset(book->queued, 0, book->n);
	int rc = chi_fen_parse(CHI_FEN_START, strlen(CHI_FEN_START), &start, NULL);
	if (rc == CHI_OK) {
		rc = enqueue(book, &start, CHI_NO_SQUARE);
	}
	while (rc == CHI_OK && book->head < book->tail) {
		struct pending pending = book->queue[book->head++];
		if (cancel != NULL && *cancel != 0) {
			return -CHI_ECANCELED;
		}
		rc = visit_group(book, &pending, visit, context, result);
	}
	return rc;
}
