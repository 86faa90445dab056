/* SPDX-License-Identifier: MIT */
/* The tables of all interfaces, and the page: the first that fits answers. */
#include "http/routes.h"

#include <string.h>

#include "http/api/api.h"
#include "http/cdb/cdb.h"
#include "http/lila/lila.h"
#include "http/page.h"
#include "service/log.h"

static int run_metrics(struct call *call)
{
	call->type = "text/plain; version=0.0.4; charset=utf-8";
	server_metrics(call->loop->server, &call->out);
	return CHI_OK;
}

static int run_page(struct call *call)
{
	call->file = page_find(call->loop->server->page, call->path);
	if (call->file == NULL) {
		return call_not_found(call, "there is no such file");
	}
	call->type = call->file->type;
	return CHI_OK;
}

static const struct route own_routes[] = {
	{"/metrics", ROUTE_LOCAL | ROUTE_LIVE, run_metrics, NULL, NULL},
	{.path = NULL},
};

static const struct route page_route = {"/", ROUTE_LOCAL | ROUTE_OPEN, run_page, NULL, NULL};

static const struct route *const tables[] = {own_routes, lila_routes, cdb_routes, api_routes};

static bool fits(const struct route *route, const char *path)
{
	size_t n = strlen(route->path);
	size_t len = strlen(path);
	if ((route->flags & ROUTE_UNDER) != 0) {
		return len > n && memcmp(path, route->path, n) == 0;
	}
	if ((route->flags & ROUTE_END) != 0) {
		return len >= n && strcmp(path + len - n, route->path) == 0;
	}
	return strcmp(path, route->path) == 0;
}

const struct route *routes_find(const struct http_server *server, const char *path)
{
	for (size_t i = 0; i < CHI_COUNT(tables); i++) {
		for (const struct route *route = tables[i]; route->path != NULL; route++) {
			if (fits(route, path)) {
				return route;
			}
		}
	}
	return page_find(server->page, path) != NULL ? &page_route : NULL;
}

/* Of the services whose interfaces the tables have; today's names, and those before. */
static const char *const services[] = {"www.chessdb.cn",       "chessdb.cn",
				       "explorer.lichess.org", "explorer.lichess.ovh",
				       "lichess.org",	       NULL};

int routes_init(struct http_server *server, struct chi_fault *fault)
{
	server->services = services;
	int status = page_load(server->config->web, &server->page, fault);
	if (status == CHI_OK && page_find(server->page, "/") == NULL) {
		log_warning("page.none", "there is no page in '{path}': see --web",
			    log_text("path", server->config->web));
	}
	return status;
}

void routes_deinit(struct http_server *server)
{
	page_free(server->page);
}
