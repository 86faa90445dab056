/* SPDX-License-Identifier: MIT */
/* Games of a directory. */
#include "client/local/games.h"

#include "search/texts.h"

/* It remembers what it has unpacked. */
int chi_inproc_texts(struct chi_client *client, struct chi_read *read, struct chi_game_texts **out)
{
	struct chi_game_texts **texts = &client->inproc.texts;
	int status = *texts == NULL ? chi_game_texts_new(texts) : CHI_OK;
	*out = *texts;
	return status == CHI_OK ? chi_game_texts_begin(*texts, read) : status;
}
