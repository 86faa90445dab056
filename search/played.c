/* SPDX-License-Identifier: MIT */
#include "search/played.h"

#include <stdlib.h>

#include "base/attr.h"

struct chi_played {
	struct chi_read *read;
	struct chi_key key;
	struct chi_reached *reached;	   /* NULL: to be opened */
	const struct chi_posting *entries; /* the next ones */
	size_t n;
	uint32_t last; /* number that was asked for */
};

/* A list read to its end has no entry left. */
static int begin_list(struct chi_played *played, uint32_t from)
{
	chi_reached_close(played->reached);
	played->reached = NULL;
	played->n = 0;
	return chi_reached_open(played->read, &played->key, from, &played->reached);
}

int chi_played_open(struct chi_read *read, const struct chi_key *key, struct chi_played **out)
{
	struct chi_played *played = calloc(1, sizeof(*played));
	if (played == NULL) {
		return -CHI_ENOMEM;
	}
	played->read = read;
	played->key = *key;
	int rc = begin_list(played, 1);
	if (rc != CHI_OK) {
		chi_played_close(played);
		return rc;
	}
	*out = played;
	return CHI_OK;
}

void chi_played_close(struct chi_played *played)
{
	if (played != NULL) {
		chi_reached_close(played->reached);
		free(played);
	}
}

int chi_played_find(struct chi_played *played, uint32_t number, chi_move *move)
{
	int rc = CHI_OK;
	if (number <= played->last || played->reached == NULL) {
		rc = begin_list(played, number);
	}
	played->last = number;
	while (rc == CHI_OK) {
		for (; played->n > 0 && played->entries->game < number; played->n--) {
			played->entries++;
		}
		if (played->n > 0) {
			break;
		}
		rc = chi_reached_next(played->reached, &played->entries, &played->n);
	}
	if (rc != CHI_OK || played->entries->game != number) {
		return rc < 0 ? rc : CHI_NONE;
	}
	*move = played->entries->move;
	return CHI_OK;
}
