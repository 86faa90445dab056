/* SPDX-License-Identifier: MIT */
/* The games of a store behind a socket. */
#include "base/fault.h"
#include "client/client_priv.h"

static int refuse(struct chi_client *client)
{
	return chi_fault(&client->error, -CHI_EUNSUPPORTED, "this server does not list games");
}

int chi_remote_get_games(struct chi_client *client, const uint8_t *after, struct chi_game *out,
			 size_t max, size_t *n)
{
	(void)after;
	(void)out;
	(void)max;
	*n = 0;
	return refuse(client);
}

int chi_remote_put_games(struct chi_client *client, const struct chi_game *games, size_t n)
{
	(void)games;
	(void)n;
	return refuse(client);
}
