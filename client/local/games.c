/* SPDX-License-Identifier: MIT */
/* Games of a directory. */
#include "client/local/games.h"

#include <string.h>

#include "search/explore.h"
#include "search/texts.h"
#include "store/store.h"

/* It remembers what it has unpacked. */
int chi_inproc_texts(struct chi_client *client, struct chi_read *read, struct chi_game_texts **out)
{
	struct chi_game_texts **texts = &client->inproc.texts;
	int status = *texts == NULL ? chi_game_texts_new(texts) : CHI_OK;
	*out = *texts;
	return status == CHI_OK ? chi_game_texts_begin(*texts, read) : status;
}

static int explore_all(struct chi_filtered_explore *explore)
{
	int status;
	do {
		status = chi_filtered_explore_step(explore, UINT64_MAX);
	} while (status == CHI_OK);
	return status == CHI_NONE ? CHI_OK : status;
}

int chi_inproc_explore_filtered(struct chi_client *client, const struct chi_key *key,
				const char *filter, struct chi_explore *out)
{
	struct chi_read *read = NULL;
	struct chi_filtered_explore *explore = NULL;
	int status = chi_read_begin(client->inproc.store, &read);
	if (status != CHI_OK) {
		return status;
	}
	status = chi_filtered_explore_open(read, key, filter != NULL ? filter : "",
					   filter != NULL ? strlen(filter) : 0, &explore,
					   &client->error);
	const char *name = NULL;
	for (size_t i = 0;
	     status == CHI_OK && (name = chi_filtered_explore_unknown(explore, i)) != NULL; i++) {
		chi_client_tell_unknown(client, name);
	}
	if (status == CHI_OK) {
		status = explore_all(explore);
	}
	if (status == CHI_OK) {
		status = chi_filtered_explore_result(explore, &client->answer->arena, out,
						     &client->error);
	}
	if (explore != NULL) {
		chi_filtered_explore_close(explore);
	}
	chi_read_end(read);
	return status;
}
