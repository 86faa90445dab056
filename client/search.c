/* SPDX-License-Identifier: MIT */
/* The public calls that search a whole store (chistore/search.h, chistore/insight.h). */
#include "client/core/pages.h"

#include <string.h>

#include "search/filter/terms.h"

static int check_name(struct chi_client *client, const char *name)
{
	return chi_gameset_name_check(name, strlen(name), &client->error);
}

static int change_gameset(struct chi_client *client, enum chi_op op, const char *name,
			  const void *request, struct chi_affected *done)
{
	int status = chi_client_begin(client);
	status = status == CHI_OK ? check_name(client, name) : status;
	status = chi_client_settle(client, status);
	return status == CHI_OK ? chi_client_call(client, op, request, done) : status;
}

int chi_gameset_make(struct chi_client *client, const char *name, const char *filter,
		     uint64_t *games)
{
	const struct chi_gameset_request request = {name, filter != NULL ? filter : ""};
	struct chi_affected done = {0};
	int status = change_gameset(client, CHI_OP_MAKE_GAMESET, name, &request, &done);
	if (games != NULL) {
		*games = status == CHI_OK ? done.n : 0;
	}
	return chi_client_end(client, status);
}

int chi_gamesets_list(struct chi_client *client, const char *name, struct chi_gamesets *out)
{
	const struct chi_gamesets_spec spec = {.name = name};
	*out = (struct chi_gamesets){0};
	/* On the wire an empty name is none. */
	if (name != NULL && name[0] == '\0') {
		int refused = chi_client_begin(client);
		refused = refused == CHI_OK ? check_name(client, name) : refused;
		return chi_client_end(client, refused);
	}
	int status = chi_client_settle(client, chi_client_begin(client));
	status = status == CHI_OK ? chi_client_call(client, CHI_OP_GAMESETS, &spec, out) : status;
	status = status == CHI_OK && name != NULL && out->n == 0 ? CHI_NONE : status;
	if (status != CHI_OK) {
		*out = (struct chi_gamesets){0};
	}
	return chi_client_answer(client, status);
}

int chi_gameset_drop(struct chi_client *client, const char *name)
{
	const struct chi_gamesets_spec request = {name};
	struct chi_affected done = {0};
	int status = change_gameset(client, CHI_OP_DROP_GAMESET, name, &request, &done);
	return chi_client_end(client, status == CHI_OK && done.n == 0 ? CHI_NONE : status);
}

int chi_stats_list(struct chi_client *client, const struct chi_stats_spec *spec,
		   struct chi_stats_result *out)
{
	struct chi_stats_spec asked;
	int status = CHI_BEGIN_WITH(client, &asked, spec);
	return chi_pages_all(client, status, CHI_OP_STATS, &asked, out);
}

int chi_twins_list(struct chi_client *client, const struct chi_twin_spec *spec,
		   struct chi_twin_groups *out)
{
	struct chi_twin_spec asked;
	int status = CHI_BEGIN_WITH(client, &asked, spec);
	return chi_pages_all(client, status, CHI_OP_TWINS, &asked, out);
}

int chi_insight_list(struct chi_client *client, const struct chi_insight_spec *spec,
		     struct chi_insight_result *out)
{
	struct chi_insight_spec asked;
	int status = CHI_BEGIN_WITH(client, &asked, spec);
	return chi_pages_all(client, status, CHI_OP_INSIGHT, &asked, out);
}
