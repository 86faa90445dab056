/* SPDX-License-Identifier: MIT */
/* The games that reached a position, with no more of their heads than store/record/briefs.h has: a
 * chunk of columns is read only for a game that is not known there. One thread. */
#pragma once

#include <stdint.h>

#include "chistore/types.h"
#include "store/archive.h"

struct chi_brief_list;

/* Numbers below `from` are left out. Valid until the snapshot ends. -CHI_ENOMEM, -CHI_ECORRUPT. */
CHI_MUSTUSE int chi_brief_list_open(struct chi_read *read, const struct chi_key *key, uint64_t from,
				    struct chi_brief_list **out);
/* NULL is fine. */
void chi_brief_list_close(struct chi_brief_list *list);

/* Games of the position in all, those below `from` too. */
uint64_t chi_brief_list_games(const struct chi_brief_list *list);

/* The next game, and a move that it played there, 0: it ended. head->number is 0 if *steps, which
 * shrink, were used up before. CHI_NONE: there are no more; -CHI_ENOMEM, -CHI_ECORRUPT. */
CHI_MUSTUSE int chi_brief_list_next(struct chi_brief_list *list, uint64_t *steps,
				    struct chi_game_head *head, chi_move *move);
