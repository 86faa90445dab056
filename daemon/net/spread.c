/* SPDX-License-Identifier: MIT */
/*
 * A worker that serves many clients needs fewer wake-ups a request than several that serve a few
 * each, and leaves the other processors to the clients. So:
 *
 *   a new connection  goes to the first worker that is not busy; if all are, to each in turn
 *   a query           runs where the fewest do: its connection goes there first
 *   a worker that has had no time left for a second, while another is idle and the machine has a
 *   processor to spare, gives that half of the connections that it served last
 */
#include "daemon/net/net.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "daemon/net/server.h"

/* Between two measurements; one that is older than several is of a worker that sleeps. */
#define NOTE_US	 100000
#define STALE_US 400000
/* Percent of a processor: no new connections; nothing left; able to take half of another's. */
#define BUSY 70u
#define FULL 90u
#define IDLE 50u
/* How long a worker must have nothing left. */
#define FULL_US 1000000

static unsigned busy_of(struct chi_worker *worker, int64_t now)
{
	return now - atomic_load(&worker->busy_us) > STALE_US ? 0 : atomic_load(&worker->busy);
}

struct chi_worker *chi_spread_pick(struct chi_server *server, bool evenly)
{
	int64_t now = chi_now_us();
	for (size_t i = 0; i < server->n_workers && !evenly; i++) {
		struct chi_worker *worker = server->workers[i];
		if (busy_of(worker, now) < BUSY && atomic_load(&worker->n_runnable) == 0) {
			return worker;
		}
	}
	struct chi_worker *worker = server->workers[server->next_worker];
	server->next_worker = (server->next_worker + 1) % server->n_workers;
	return worker;
}

bool chi_spread_query(struct chi_conn *conn)
{
	struct chi_worker *worker = conn->worker;
	struct chi_server *server = worker->server;
	struct chi_worker *best = worker;
	bool moved = conn->moved;
	/* It has come for this query: it must not be sent on and on. */
	conn->moved = false;
	if (moved || worker->stopping || !chi_conn_may_move(conn)) {
		return false;
	}
	for (size_t i = 0; i < server->n_workers; i++) {
		if (atomic_load(&server->workers[i]->n_runnable) < atomic_load(&best->n_runnable)) {
			best = server->workers[i];
		}
	}
	conn->moved = best != worker;
	conn->to = conn->moved ? best : NULL;
	return conn->moved;
}

/* What all processors together have had nothing to do, us; -1: not known, as in a service that
 * does not see the machine. */
static int64_t idle_us(const struct chi_server *server)
{
	char text[256];
	unsigned long long idle = 0, waits = 0;
	ssize_t n = server->cpu_fd < 0 ? -1 : pread(server->cpu_fd, text, sizeof(text) - 1, 0);
	text[n < 0 ? 0 : n] = '\0';
	if (sscanf(text, "cpu %*u %*u %*u %llu %llu", &idle, &waits) != 2) {
		return -1;
	}
	return (int64_t)(idle + waits) * (1000000 / sysconf(_SC_CLK_TCK));
}

/* The least busy of the others, if it can take half of what this one does. */
static struct chi_worker *find_idle(const struct chi_worker *worker, int64_t now)
{
	const struct chi_server *server = worker->server;
	struct chi_worker *best = NULL;
	unsigned least = IDLE;
	for (size_t i = 0; i < server->n_workers; i++) {
		struct chi_worker *each = server->workers[i];
		if (each != worker && busy_of(each, now) < least &&
		    atomic_load(&each->n_runnable) == 0) {
			least = busy_of(each, now);
			best = each;
		}
	}
	return best;
}

/* Every second of those that were served just now, and have nothing on the way. */
static void give_half(struct chi_worker *worker, struct chi_worker *to, int64_t now)
{
	bool give = false;
	struct chi_conn *next = NULL;
	for (struct chi_conn *conn = TAILQ_FIRST(&worker->conns); conn != NULL; conn = next) {
		next = TAILQ_NEXT(conn, all_link);
		if (now - conn->served_us < NOTE_US && !conn->is_ready && conn->in.len == 0 &&
		    chi_conn_may_move(conn)) {
			if (give) {
				chi_conn_move(conn, to);
			}
			give = !give;
		}
	}
}

/* A whole processor to spare is half of one a worker that takes half: less would only take turns
 * with the clients of this machine. */
static bool has_processor(const struct chi_worker *worker, int64_t now)
{
	int64_t idle = idle_us(worker->server);
	return idle < 0 || worker->full_idle_us < 0 ||
	       idle - worker->full_idle_us >= (now - worker->full_us) / 2;
}

void chi_spread_note(struct chi_worker *worker, int64_t now)
{
	int64_t passed = now - atomic_load_explicit(&worker->busy_us, memory_order_relaxed);
	struct timespec cpu = {0};
	if (passed < NOTE_US || worker->server->n_workers < 2 || worker->stopping) {
		return;
	}
	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
	int64_t used = (int64_t)cpu.tv_sec * 1000000 + cpu.tv_nsec / 1000 - worker->spun_us;
	int64_t share = (used - worker->used_us) * 100 / passed;
	unsigned busy = share > 0 ? (unsigned)share : 0;
	worker->used_us = used;
	atomic_store(&worker->busy, busy);
	atomic_store(&worker->busy_us, now);
	if (busy < FULL) {
		worker->full_us = 0;
	} else if (worker->full_us == 0) {
		worker->full_us = now;
		worker->full_idle_us = idle_us(worker->server);
	} else if (now - worker->full_us >= FULL_US) {
		struct chi_worker *to = find_idle(worker, now);
		if (to != NULL && has_processor(worker, now)) {
			give_half(worker, to, now);
		}
		worker->full_us = 0;
	}
}
