/* SPDX-License-Identifier: MIT */
/*
 * Nothing here is written by others: each counter is read once, so that of two pages the later one
 * never shows less. A histogram's count is the sum of its buckets, not a number of its own. Values
 * of labels are names from tables, and stores' names, none of which needs an escape.
 */
#include "daemon/status/metrics.h"

#include <event2/buffer.h>
#include <stdarg.h>
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

struct page {
	struct evbuffer *out;
	bool failed;
};

/* What is said of one store. */
struct facts {
	bool known; /* `info` and what follows up to read_only */
	struct chi_info info;
	uint64_t games;
	uint64_t readers;
	uint64_t readers_max;
	uint64_t disk_free;
	uint64_t read_only;
	uint64_t crashes;
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

/* ---- Lines ------------------------------------------------------------------------------- */

CHI_PRINTF(2, 3)
static void print(struct page *page, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	page->failed = evbuffer_add_vprintf(page->out, format, arguments) < 0 || page->failed;
	va_end(arguments);
}

static void head(struct page *page, const char *name, const char *type, const char *help)
{
	print(page, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void plain(struct page *page, const char *name, const char *type, const char *help,
		  uint64_t value)
{
	head(page, name, type, help);
	print(page, "%s %llu\n", name, (unsigned long long)value);
}

/* Whole and fraction apart: the decimal point must not depend on a locale. */
static void seconds(struct page *page, uint64_t us)
{
	print(page, "%llu.%06llu", (unsigned long long)(us / 1000000),
	      (unsigned long long)(us % 1000000));
}

static void in_seconds(struct page *page, const char *name, const char *type, const char *help,
		       uint64_t us)
{
	head(page, name, type, help);
	print(page, "%s ", name);
	seconds(page, us);
	print(page, "\n");
}

/* The lines of one histogram; its buckets include those below them. */
static void print_times(struct page *page, const char *name, const char *label, const char *value,
			const struct chi_histogram *times)
{
	uint64_t n = 0;
	for (size_t i = 0; i < CHI_HISTOGRAM_BOUNDS; i++) {
		n += chi_counter_value(&times->buckets[i]);
		print(page, "%s_bucket{%s=\"%s\",le=\"", name, label, value);
		seconds(page, chi_histogram_bounds[i]);
		print(page, "\"} %llu\n", (unsigned long long)n);
	}
	n += chi_counter_value(&times->buckets[CHI_HISTOGRAM_BOUNDS]);
	print(page, "%s_bucket{%s=\"%s\",le=\"+Inf\"} %llu\n", name, label, value,
	      (unsigned long long)n);
	print(page, "%s_sum{%s=\"%s\"} ", name, label, value);
	seconds(page, chi_counter_value(&times->sum_us));
	print(page, "\n%s_count{%s=\"%s\"} %llu\n", name, label, value, (unsigned long long)n);
}

/* ---- Sums -------------------------------------------------------------------------------- */

/* A tally is counters and nothing else. */
static void add_tally(struct chi_tally *totals, const struct chi_tally *tally)
{
	_Static_assert(sizeof(*tally) % sizeof(chi_counter) == 0, "counters without gaps");
	chi_counter *to = (chi_counter *)(void *)totals;
	const chi_counter *from = (const chi_counter *)(const void *)tally;
	for (size_t i = 0; i < sizeof(*tally) / sizeof(*from); i++) {
		chi_scan_count(&to[i], chi_counter_value(&from[i]));
	}
}

static void take_info(const struct chi_served *served, struct facts *facts)
{
	const struct chi_info *info = &facts->info;
	struct statvfs disk;
	const char *path = served->server->config->stores[served->index].path;
	facts->known =
		chi_dir_info(served->store, &facts->info) == CHI_OK && statvfs(path, &disk) == 0;
	if (facts->known) {
		facts->games = info->games.white + info->games.draws + info->games.black +
			       info->games.other;
		facts->readers = info->readers;
		facts->readers_max = info->readers_max;
		facts->disk_free = (uint64_t)disk.f_bavail * disk.f_frsize;
	}
}

/* `exchanging`: a compaction may have a store's files in its hands. */
static void take_facts(struct chi_served *served, bool exchanging, struct facts *facts)
{
	struct chi_store_writer *writer = served->writer;
	*facts = (struct facts){.queue_bytes_max = writer->bytes_max,
				.queue_records_max = writer->records_max,
				.read_only = !served->writable,
				.crashes = served->crashes.count,
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

static void print_process(struct page *page, const struct chi_server *server)
{
	struct rusage usage = {0};
	int64_t up = chi_now_us() - server->started_us;
	head(page, "chistore_build_info", "gauge", "The program; always 1.");
	print(page, "chistore_build_info{version=\"%s\"} 1\n", CHI_VERSION);
	in_seconds(page, "chistore_uptime_seconds", "gauge", "Time since the start.", (uint64_t)up);
	getrusage(RUSAGE_SELF, &usage);
	in_seconds(page, "process_cpu_seconds_total", "counter",
		   "Processor time used, in the program and in the kernel.",
		   (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 +
			   (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec));
}

static void print_operations(struct page *page, const struct chi_tally *totals)
{
	head(page, "chistore_operations_total", "counter",
	     "Requests answered, by operation and result.");
	for (size_t op = 0; op < CHI_OP_COUNT_OF_OPS; op++) {
		for (size_t result = 0; result < CHI_RESULTS; result++) {
			if (result != 0 && totals->answers[op][result] == 0) {
				continue;
			}
			print(page,
			      "chistore_operations_total{operation=\"%s\",result=\"%s\"} %llu\n",
			      chi_op_name((enum chi_op)op), results[result].name,
			      (unsigned long long)totals->answers[op][result]);
		}
	}
	head(page, "chistore_operation_seconds", "histogram",
	     "Time from starting a request to its last answer.");
	for (size_t i = 0; i < CHI_CLASSES; i++) {
		print_times(page, "chistore_operation_seconds", "class", classes[i],
			    &totals->latency[i]);
	}
	plain(page, "chistore_operations_abandoned_total", "counter",
	      "Requests whose client disconnected before the last answer.", totals->abandoned);
}

static void print_rejects(struct page *page, const struct chi_server *server,
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
	head(page, "chistore_rejects_total", "counter",
	     "Requests and connections refused, by reason.");
	for (size_t i = BUSY; i < REASONS; i++) {
		print(page, "chistore_rejects_total{reason=\"%s\"} %llu\n", reasons[i],
		      (unsigned long long)counts[i]);
	}
}

static void print_connections(struct page *page, const struct chi_server *server,
			      const struct chi_tally *totals)
{
	head(page, "chistore_connections", "gauge", "Connections that are open, by state.");
	for (size_t i = 0; i < CHI_CONN_STATES; i++) {
		print(page, "chistore_connections{state=\"%s\"} %llu\n", states[i],
		      (unsigned long long)totals->connections[i]);
	}
	plain(page, "chistore_connections_max", "gauge", "Connections that may be open at once.",
	      server->connections_max);
	plain(page, "chistore_connections_accepted_total", "counter", "Connections taken.",
	      chi_counter_value(&server->accepted));
	plain(page, "chistore_connections_turned_away_total", "counter",
	      "Connections refused because there were too many.",
	      chi_counter_value(&server->turned_away));
	plain(page, "chistore_connections_cut_off_total", "counter",
	      "Connections closed because the client did not read its answers.", totals->cut_off);
	plain(page, "chistore_received_bytes_total", "counter", "Bytes of requests.",
	      totals->received);
	plain(page, "chistore_sent_bytes_total", "counter", "Bytes of answers.", totals->sent);
	plain(page, "chistore_buffered_bytes", "gauge", "Memory of all clients' buffers.",
	      atomic_load(&server->buffered));
	plain(page, "chistore_buffered_bytes_max", "gauge",
	      "Memory of all clients' buffers above which requests are refused.",
	      server->config->limits.buffer_bytes);
	plain(page, "chistore_tasks", "gauge", "Backups and verifications that are running.",
	      atomic_load(&server->tasks));
	plain(page, "chistore_imports", "gauge", "Imports that are running.",
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

static void print_stores(struct page *page, struct chi_server *server)
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
		head(page, families[f].name, families[f].type, families[f].help);
		for (size_t i = 0; i < server->n_stores; i++) {
			const char *at = (const char *)&facts[i] + families[f].offset;
			if (facts[i].known || families[f].always) {
				print(page, "%s{store=\"%s\"} %llu\n", families[f].name,
				      server->stores[i].name,
				      (unsigned long long)*(const uint64_t *)(const void *)at);
			}
		}
	}
	head(page, "chistore_commit_seconds", "histogram",
	     "Time that group commits took; each is synced to the disk once.");
	for (size_t i = 0; i < server->n_stores; i++) {
		print_times(page, "chistore_commit_seconds", "store", server->stores[i].name,
			    &server->stores[i].writer->commits);
	}
}

int chi_metrics_page(struct chi_server *server, struct evbuffer *out)
{
	static struct chi_tally totals;
	struct page page = {.out = out};
	memset(&totals, 0, sizeof(totals));
	for (size_t i = 0; i < server->n_workers; i++) {
		add_tally(&totals, &server->workers[i]->tally);
	}
	print_process(&page, server);
	print_operations(&page, &totals);
	print_rejects(&page, server, &totals);
	print_connections(&page, server, &totals);
	print_stores(&page, server);
	return page.failed ? -CHI_ENOMEM : CHI_OK;
}
