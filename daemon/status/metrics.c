/* SPDX-License-Identifier: MIT */
/* Values of labels are names from tables, and stores' names, none of which needs an escape. */
#include "daemon/status/http.h"

#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>

#include "base/attr.h"
#include "base/clock.h"
#include "daemon/net/net.h"
#include "daemon/net/server.h"
#include "daemon/net/tally.h"
#include "store/store.h"
#include "daemon/write/writer.h"

/* What is said of one store. */
struct facts {
	bool known; /* `info` and what follows up to disk_free */
	bool disk_known;
	struct chi_info info;
	uint64_t games;
	uint64_t readers;
	uint64_t readers_max;
	uint64_t disk_free;
	uint64_t read_only;
	uint64_t crashes;
	uint64_t looks;
	uint64_t moves;
	uint64_t moved_s;
	uint64_t queue_bytes;
	uint64_t queue_bytes_max;
	uint64_t queue_records;
	uint64_t queue_records_max;
	uint64_t batches;
	uint64_t failures;
};

static const char *const classes[CHI_CLASSES] = {
	[CHI_CLASS_SESSION] = "session", [CHI_CLASS_PROBE] = "probe", [CHI_CLASS_GET] = "get",
	[CHI_CLASS_SCAN] = "scan",	 [CHI_CLASS_WRITE] = "write", [CHI_CLASS_IMPORT] = "import",
	[CHI_CLASS_STORE] = "store",
};

static const char *const states[CHI_CONN_STATES] = {
	[CHI_CONN_HELLO] = "hello",
	[CHI_CONN_OPEN] = "open",
	[CHI_CONN_ENDING] = "ending",
	[CHI_CONN_LINGER] = "linger",
};

enum reason {
	NO_REJECT,
	BUSY,
	NOT_ALLOWED,
	MALFORMED,
	LIMITS,
	HANDSHAKE,
	REASONS,
};

static const char *const reasons[REASONS] = {
	[BUSY] = "busy",     [NOT_ALLOWED] = "not_allowed", [MALFORMED] = "malformed",
	[LIMITS] = "limits", [HANDSHAKE] = "handshake",
};

/* How results are called, and why a request that has one was turned down. */
static const struct {
	const char *name;
	enum reason reason;
} results[CHI_RESULTS] = {
	[CHI_OK] = {"ok", NO_REJECT},
	[CHI_EINVAL] = {"invalid", MALFORMED},
	[CHI_EFEN] = {"bad_fen", MALFORMED},
	[CHI_EKEY] = {"bad_key", MALFORMED},
	[CHI_EMOVE] = {"bad_move", MALFORMED},
	[CHI_ESYNTAX] = {"bad_syntax", MALFORMED},
	[CHI_ETOOBIG] = {"too_large", LIMITS},
	[CHI_ENOMEM] = {"no_memory", LIMITS},
	[CHI_EIO] = {"io", NO_REJECT},
	[CHI_EFULL] = {"disk_full", NO_REJECT},
	[CHI_ENOSTORE] = {"no_such_store", MALFORMED},
	[CHI_EEXIST] = {"exists", NO_REJECT},
	[CHI_EVERSION] = {"wrong_version", MALFORMED},
	[CHI_ECORRUPT] = {"corrupt", NO_REJECT},
	[CHI_EACCES] = {"denied", NOT_ALLOWED},
	[CHI_EREADONLY] = {"read_only", NOT_ALLOWED},
	[CHI_EBUSY] = {"busy", BUSY},
	[CHI_ENETFS] = {"network_file_system", NO_REJECT},
	[CHI_EFORK] = {"fork", NO_REJECT},
	[CHI_ECONNECT] = {"not_connected", NO_REJECT},
	[CHI_ETIMEOUT] = {"timed_out", LIMITS},
	[CHI_EPROTO] = {"malformed", MALFORMED},
	[CHI_EUNSUPPORTED] = {"unsupported", MALFORMED},
	[CHI_ECANCELED] = {"canceled", NO_REJECT},
	[CHI_EINTERNAL] = {"internal", NO_REJECT},
	[CHI_ESTALE] = {"stale", NO_REJECT},
	[CHI_EFORGOTTEN] = {"forgotten", NO_REJECT},
};

/* ---- Stores ------------------------------------------------------------------------------ */

static void take_info(const struct chi_served *served, struct facts *facts)
{
	const struct chi_info *info = &facts->info;
	struct statvfs disk;
	const char *path = served->server->config->stores[served->index].path;
	facts->known = chi_dir_info(served->copy->store, &facts->info) == CHI_OK;
	/* The path may lead nowhere for a while. */
	facts->disk_known = facts->known && statvfs(path, &disk) == 0;
	if (facts->known) {
		facts->games = info->games.white + info->games.draws + info->games.black +
			       info->games.other;
		facts->readers = info->readers;
		facts->readers_max = info->readers_max;
	}
	if (facts->disk_known) {
		facts->disk_free = (uint64_t)disk.f_bavail * disk.f_frsize;
	}
}

/* `exchanging`: a compaction may have a store's files in its hands. */
static void take_facts(struct chi_served *served, bool exchanging, struct facts *facts)
{
	struct chi_store_writer *writer = served->writer;
	*facts = (struct facts){.queue_bytes_max = writer->bytes_max,
				.queue_records_max = writer->records_max,
				.read_only = chi_served_read_only(served) != CHI_READ_ONLY_NOT,
				.crashes = served->crashes.count,
				.looks = chi_counter_value(&served->moves.looks),
				.moves = atomic_load(&served->moves.count),
				.moved_s = atomic_load(&served->moves.last_s),
				.batches = chi_counter_value(&writer->batches),
				.failures = chi_counter_value(&writer->failures)};
	pthread_mutex_lock(&writer->lock);
	facts->queue_bytes = writer->bytes;
	facts->queue_records = writer->records;
	pthread_mutex_unlock(&writer->lock);
	if (!exchanging) {
		take_info(served, facts);
	}
}

/* ---- The page ---------------------------------------------------------------------------- */

static void print_process(struct chi_metrics *page, const struct chi_server *server)
{
	struct rusage usage = {0};
	int64_t up = chi_now_us() - server->started_us;
	chi_metrics_head(page, "chistore_build_info", "gauge", "The program; always 1.");
	chi_metrics_print(page, "chistore_build_info{version=\"%s\"} 1\n", CHI_VERSION);
	chi_metrics_time(page, "chistore_uptime_seconds", "gauge", "Time since the start.",
			 (uint64_t)up);
	getrusage(RUSAGE_SELF, &usage);
	chi_metrics_time(page, "process_cpu_seconds_total", "counter",
			 "Processor time used, in the program and in the kernel.",
			 (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 +
				 (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec));
}

static void print_operations(struct chi_metrics *page, const struct chi_tally *totals)
{
	chi_metrics_head(page, "chistore_operations_total", "counter",
			 "Requests answered, by operation and result.");
	for (size_t op = 0; op < CHI_OP_COUNT_OF_OPS; op++) {
		for (size_t result = 0; result < CHI_RESULTS; result++) {
			if (result != 0 && totals->answers[op][result] == 0) {
				continue;
			}
			chi_metrics_print(
				page,
				"chistore_operations_total{operation=\"%s\",result=\"%s\"} %llu\n",
				chi_op_name((enum chi_op)op), results[result].name,
				(unsigned long long)totals->answers[op][result]);
		}
	}
	chi_metrics_head(page, "chistore_operation_seconds", "histogram",
			 "Time from starting a request to its last answer.");
	for (size_t i = 0; i < CHI_CLASSES; i++) {
		chi_metrics_histogram(page, "chistore_operation_seconds", "class", classes[i],
				      &totals->latency[i]);
	}
	chi_metrics_value(page, "chistore_operations_abandoned_total", "counter",
			  "Requests whose client disconnected before the last answer.",
			  totals->abandoned);
}

static void print_rejects(struct chi_metrics *page, const struct chi_server *server,
			  const struct chi_tally *totals)
{
	uint64_t counts[REASONS] = {0};
	counts[BUSY] = chi_counter_value(&server->turned_away);
	counts[LIMITS] = totals->cut_off;
	counts[HANDSHAKE] = totals->no_tls;
	for (size_t op = 0; op < CHI_OP_COUNT_OF_OPS; op++) {
		for (size_t result = 0; result < CHI_RESULTS; result++) {
			counts[results[result].reason] += totals->answers[op][result];
		}
	}
	chi_metrics_head(page, "chistore_rejects_total", "counter",
			 "Requests and connections refused, by reason.");
	for (size_t i = BUSY; i < REASONS; i++) {
		chi_metrics_print(page, "chistore_rejects_total{reason=\"%s\"} %llu\n", reasons[i],
				  (unsigned long long)counts[i]);
	}
}

static void print_connections(struct chi_metrics *page, const struct chi_server *server,
			      const struct chi_tally *totals)
{
	chi_metrics_head(page, "chistore_connections", "gauge",
			 "Connections that are open, by state.");
	for (size_t i = 0; i < CHI_CONN_STATES; i++) {
		chi_metrics_print(page, "chistore_connections{state=\"%s\"} %llu\n", states[i],
				  (unsigned long long)totals->connections[i]);
	}
	chi_metrics_value(page, "chistore_connections_max", "gauge",
			  "Connections that may be open at once.", server->connections_max);
	chi_metrics_value(page, "chistore_connections_accepted_total", "counter",
			  "Connections taken.", chi_counter_value(&server->accepted));
	chi_metrics_value(page, "chistore_connections_turned_away_total", "counter",
			  "Connections refused because there were too many.",
			  chi_counter_value(&server->turned_away));
	chi_metrics_value(page, "chistore_connections_cut_off_total", "counter",
			  "Connections closed because the client did not read its answers.",
			  totals->cut_off);
	chi_metrics_value(page, "chistore_connections_moved_total", "counter",
			  "Connections given to a thread that runs fewer queries.",
			  totals->moved_for_query);
	chi_metrics_value(page, "chistore_received_bytes_total", "counter", "Bytes of requests.",
			  totals->received);
	chi_metrics_value(page, "chistore_sent_bytes_total", "counter", "Bytes of answers.",
			  totals->sent);
	chi_metrics_value(page, "chistore_buffered_bytes", "gauge",
			  "Memory of all clients' buffers.", atomic_load(&server->buffered));
	chi_metrics_value(page, "chistore_buffered_bytes_max", "gauge",
			  "Memory of all clients' buffers above which requests are refused.",
			  server->config->limits.buffer_bytes);
	chi_metrics_value(page, "chistore_tasks", "gauge",
			  "Backups and verifications that are running.",
			  atomic_load(&server->tasks));
	chi_metrics_value(page, "chistore_imports", "gauge", "Imports that are running.",
			  atomic_load(&server->import_sessions.n));
}

#define FACT(field) offsetof(struct facts, field)

static const struct {
	const char *name;
	const char *type;
	const char *help;
	size_t offset;
	bool always; /* said also while a store is exchanged */
} families[] = {
	{"chistore_store_positions", "gauge", "Positions stored.", FACT(info.positions), false},
	{"chistore_store_games", "gauge", "Games counted.", FACT(games), false},
	{"chistore_store_transactions_total", "counter",
	 "Write transactions committed since the store was made.", FACT(info.sequence), false},
	{"chistore_store_file_bytes", "gauge", "Size of the data file.", FACT(info.file_bytes),
	 false},
	{"chistore_store_used_bytes", "gauge", "Part of the data file that is in use.",
	 FACT(info.used_bytes), false},
	{"chistore_store_map_bytes", "gauge", "Address space, the most that the file can grow to.",
	 FACT(info.map_bytes), false},
	{"chistore_store_disk_free_bytes", "gauge",
	 "Free space of the file system that the store is on.", FACT(disk_free), false},
	{"chistore_store_readers", "gauge", "Reader slots in use, by all processes.", FACT(readers),
	 false},
	{"chistore_store_readers_max", "gauge", "Reader slots.", FACT(readers_max), false},
	{"chistore_store_oldest_reader_transactions", "gauge",
	 "Transactions committed since the oldest open snapshot began; 0 without one.",
	 FACT(info.oldest_reader), false},
	{"chistore_store_read_only", "gauge", "1 if the store is served read-only.",
	 FACT(read_only), true},
	{"chistore_store_crashes", "gauge",
	 "Crashes of the server before this start, since its last clean stop.", FACT(crashes),
	 true},
	{"chistore_store_looks_total", "counter",
	 "Looks where the store's path leads to, of a server that only reads.", FACT(looks), true},
	{"chistore_store_moves_total", "counter",
	 "Moves to another copy at the store's path, of a server that only reads.", FACT(moves),
	 true},
	{"chistore_store_moved_timestamp_seconds", "gauge",
	 "Time of the last of these, in seconds since 1970; 0: there was none.", FACT(moved_s),
	 true},
	{"chistore_write_queue_bytes", "gauge", "Writes accepted and not committed yet.",
	 FACT(queue_bytes), true},
	{"chistore_write_queue_bytes_max", "gauge", "Bytes above which writes are refused.",
	 FACT(queue_bytes_max), true},
	{"chistore_write_queue_records", "gauge", "The same in records.", FACT(queue_records),
	 true},
	{"chistore_write_queue_records_max", "gauge", "Records above which writes are refused.",
	 FACT(queue_records_max), true},
	{"chistore_committed_batches_total", "counter",
	 "Writes of clients committed, several in one commit.", FACT(batches), true},
	{"chistore_commit_failures_total", "counter", "Commits that failed.", FACT(failures), true},
};

static bool is_said(const struct facts *facts, size_t offset, bool always)
{
	return always || (offset == FACT(disk_free) ? facts->disk_known : facts->known);
}

static void print_stores(struct chi_metrics *page, struct chi_server *server)
{
	static struct facts facts[CHI_STORES_MAX];
	bool locked = pthread_mutex_trylock(&server->compact_lock) == 0;
	for (size_t i = 0; i < server->n_stores; i++) {
		take_facts(&server->stores[i], !locked, &facts[i]);
	}
	if (locked) {
		pthread_mutex_unlock(&server->compact_lock);
	}
	for (size_t f = 0; f < CHI_COUNT(families); f++) {
		chi_metrics_head(page, families[f].name, families[f].type, families[f].help);
		for (size_t i = 0; i < server->n_stores; i++) {
			const char *at = (const char *)&facts[i] + families[f].offset;
			if (is_said(&facts[i], families[f].offset, families[f].always)) {
				chi_metrics_print(
					page, "%s{store=\"%s\"} %llu\n", families[f].name,
					server->stores[i].name,
					(unsigned long long)*(const uint64_t *)(const void *)at);
			}
		}
	}
	chi_metrics_head(page, "chistore_commit_seconds", "histogram",
			 "Time that group commits took; each is synced to the disk once.");
	for (size_t i = 0; i < server->n_stores; i++) {
		chi_metrics_histogram(page, "chistore_commit_seconds", "store",
				      server->stores[i].name, &server->stores[i].writer->commits);
	}
}

int chi_metrics_page(struct chi_server *server, struct chi_buffer *out)
{
	static struct chi_tally totals;
	struct chi_metrics page = {.out = out};
	memset(&totals, 0, sizeof(totals));
	for (size_t i = 0; i < server->n_workers; i++) {
		chi_counters_add(&totals, &server->workers[i]->tally, sizeof(totals));
	}
	print_process(&page, server);
	print_operations(&page, &totals);
	print_rejects(&page, server, &totals);
	print_connections(&page, server, &totals);
	print_stores(&page, server);
	return page.failed ? -CHI_ENOMEM : CHI_OK;
}
