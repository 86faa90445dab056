/* SPDX-License-Identifier: MIT */
/*
 * A worker that serves many clients needs fewer wake-ups a request than several that serve a few
 * each, and leaves the other processors to the clients. So:
 *
 *   a new connection  goes to the first worker that has room for more and is not busy; if none is
 *                     so, to the one with the fewest
 *   a query           runs where the fewest do: its connection goes there first
 */
#include "daemon/net/net.h"

#include "base/clock.h"
#include "daemon/net/server.h"

/* With 50 clients a worker took 40 % less time a request than two that shared them
 * (docs/MEASURED.md); some more than those, and the rest is for other workers. */
#define CONNS_FULL 64u
/* So many fewer must run elsewhere for a query to go there: moving for one less would gain it
 * nothing that lasts, and short queries would have their connections moved at each request. */
#define QUERIES_FEWER 2u

static struct chi_worker *find_least(const struct chi_server *server)
{
	struct chi_worker *best = server->workers[0];
	for (size_t i = 1; i < server->n_workers; i++) {
		struct chi_worker *worker = server->workers[i];
		best = atomic_load(&worker->n_conns) < atomic_load(&best->n_conns) ? worker : best;
	}
	return best;
}

struct chi_worker *chi_spread_pick(struct chi_server *server, bool evenly)
{
	if (evenly) {
		server->next_worker = (server->next_worker + 1) % server->n_workers;
		return server->workers[server->next_worker];
	}
	int64_t now = chi_now_us();
	for (size_t i = 0; i < server->n_workers; i++) {
		struct chi_worker *worker = server->workers[i];
		size_t n = atomic_load(&worker->n_conns);
		/* It was busy with connections that are gone. */
		if (n == 0 || (n < CONNS_FULL && !chi_loop_is_busy(&worker->loop, now))) {
			return worker;
		}
	}
	return find_least(server);
}

static size_t queries_of(const struct chi_worker *worker)
{
	return atomic_load(&worker->n_runnable) + atomic_load(&worker->n_coming);
}

bool chi_spread_query(struct chi_conn *conn)
{
	const struct chi_server *server = conn->worker->server;
	struct chi_worker *best = conn->worker;
	/* One that has come for this query must not be sent on and on. */
	if (conn->came_for_query || conn->worker->stopping || !chi_conn_may_move(conn)) {
		return false;
	}
	for (size_t i = 0; i < server->n_workers; i++) {
		struct chi_worker *worker = server->workers[i];
		best = queries_of(worker) < queries_of(best) ? worker : best;
	}
	if (queries_of(best) + QUERIES_FEWER > queries_of(conn->worker)) {
		return false;
	}
	atomic_fetch_add(&best->n_coming, 1);
	conn->came_for_query = true;
	conn->move_to = best;
	return true;
}

void chi_spread_arrived(struct chi_conn *conn)
{
	if (conn->came_for_query) {
		conn->came_for_query = false;
		atomic_fetch_sub(&conn->worker->n_coming, 1);
	}
}
