/* SPDX-License-Identifier: MIT */
/*
 * Writers and readers in processes of their own, for the tests that let them collide and for those
 * that kill the daemon under them. Uses the public interface alone. generation.h says what is
 * written.
 *
 * The option --torn is the control of the first check: it writes a generation in two puts, and the
 * readers must then complain.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "chistore.h"
#include "tests/system/generation.h"

#define PROBE_MAX 1000

/* Exit codes. The driver tells a check that found something from a program that failed. */
enum {
	DONE = 0,
	FOUND = 1,   /* torn or missing: what the test is about */
	TROUBLE = 2, /* usage, or a call that should work failed */
	CUT = 3,     /* a writer's peer went away; what was acknowledged stays */
};

struct job {
	const char *address;
	uint64_t writers;	     /* readers: how many writers there are */
	uint64_t writer;	     /* 0..WRITERS_MAX - 1 */
	uint64_t first;		     /* generation to begin with */
	uint64_t acked[WRITERS_MAX]; /* check: of so many writers, the last generation that was
					acknowledged */
	uint64_t n_acked;
	uint64_t added[WRITERS_MAX]; /* check: of as many adders, what was acknowledged */
	uint64_t n_added;
	bool exactly;	   /* check: adders have ended, nothing can be on the way */
	uint64_t seconds;  /* 0: no end */
	uint64_t kill_at;  /* write: right after the acknowledgement of this generation... */
	uint64_t kill_pid; /* ...kill -9 this process; 0: the writer itself */
	bool async;
	bool torn;
};

static volatile sig_atomic_t stopped;

static void stop(int number)
{
	(void)number;
	stopped = 1;
}

static uint64_t now_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static bool over(const struct job *job, uint64_t start)
{
	return stopped != 0 || (job->seconds != 0 && now_ms() - start >= job->seconds * 1000);
}

/* ---- Writing ----------------------------------------------------------------------------- */

/* Stores a generation; -CHI_EBUSY is what a crowd must expect and is tried again. */
static int put_again(struct chi_client *client, const struct job *job,
		     const struct chi_put_entry *puts, size_t n)
{
	int status;
	do {
		status = chi_put(client, puts, n, job->async ? CHI_ASYNC : CHI_SYNC, NULL);
	} while (status == -CHI_EBUSY && stopped == 0);
	return status;
}

static int put_generation(struct chi_client *client, const struct job *job,
			  struct chi_put_entry *puts, uint64_t generation)
{
	struct chi_key mark = mark_key(job->writer, generation);
	size_t half = job->torn ? SET / 2 : SET + 1;
	for (size_t i = 0; i < SET; i++) {
		puts[i] = make_put(&puts[i].key, generation);
	}
	puts[SET] = make_put(&mark, generation);
	int status = put_again(client, job, puts, half);
	if (status == CHI_OK && half <= SET) {
		status = put_again(client, job, puts + half, SET + 1 - half);
	}
	return status;
}

/* One write(2) a line: what has been said is said, whatever happens to this process next. */
static void say(const char *word, uint64_t number)
{
	char line[64];
	int len = snprintf(line, sizeof(line), "%s %" PRIu64 "\n", word, number);
	if (write(STDOUT_FILENO, line, (size_t)len) != len) {
		_exit(TROUBLE);
	}
}

static void tell(struct chi_client *client, const char *what, uint64_t number, int status)
{
	fprintf(stderr, "hammer: %s %" PRIu64 ": %s (%s)\n", what, number, chi_strerror(status),
		chi_error(client));
}

/* What a write that failed makes of the writer: told to stop while it waited, cut off, or wrong. */
static int writer_end(int status)
{
	if (status == -CHI_EBUSY) {
		return DONE;
	}
	return status == -CHI_ECONNECT ? CUT : TROUBLE;
}

static int run_write(struct chi_client *client, const struct job *job)
{
	static struct chi_put_entry puts[SET + 1];
	uint64_t start = now_ms();
	for (size_t i = 0; i < SET; i++) {
		puts[i].key = set_key(job->writer, i);
	}
	for (uint64_t generation = job->first; !over(job, start); generation++) {
		int status = put_generation(client, job, puts, generation);
		if (status != CHI_OK) {
			tell(client, "not acknowledged: generation", generation, status);
			return writer_end(status);
		}
		say("ack", generation);
		if (generation == job->kill_at) {
			kill(job->kill_pid != 0 ? (pid_t)job->kill_pid : getpid(), SIGKILL);
		}
	}
	return DONE;
}

/* Ends when it is told to, with nothing on the way. */
static int run_add(struct chi_client *client, const struct job *job)
{
	struct chi_put_entry put = {
		.key = game_key(job->writer), .parts = CHI_PUT_ADD, .record.counts.white = 1};
	for (uint64_t games = 1; stopped == 0; games++) {
		int status = chi_put(client, &put, 1, CHI_SYNC, NULL);
		if (status != CHI_OK) {
			tell(client, "not acknowledged: game", games, status);
			return TROUBLE;
		}
		say("ack", games);
	}
	return DONE;
}

/* ---- Reading ----------------------------------------------------------------------------- */

struct reading {
	struct chi_key keys[WRITERS_MAX * SET];
	struct chi_row rows[WRITERS_MAX * SET];
	uint64_t seen[WRITERS_MAX]; /* the highest number of each writer's set so far */
	uint64_t rounds;
	uint64_t torn;
	uint64_t back;	  /* a set went back to an earlier generation */
	uint64_t missing; /* a set's number was there, and the mark of that generation was not */
};

/* A generation that was seen must have its mark ever after. */
static int check_mark(struct chi_client *client, struct reading *reading, uint64_t writer,
		      uint64_t generation)
{
	struct chi_row row;
	struct chi_key key = mark_key(writer, generation);
	int status = chi_probe(client, &key, 1, &row);
	if (status == CHI_OK && !row_is(&row, generation)) {
		fprintf(stderr,
			"hammer: generation %" PRIu64 " of writer %" PRIu64 " has no mark\n",
			generation, writer);
		reading->missing++;
	}
	return status;
}

/* All sets in one call: one snapshot. */
static int read_round(struct chi_client *client, const struct job *job, struct reading *reading)
{
	int status = chi_probe(client, reading->keys, job->writers * SET, reading->rows);
	for (uint64_t w = 0; w < job->writers && status == CHI_OK; w++) {
		uint64_t generation = 0;
		if (!one_generation(reading->rows + w * SET, w, &generation)) {
			reading->torn++;
			continue;
		}
		if (generation < reading->seen[w]) {
			fprintf(stderr,
				"hammer: writer %" PRIu64 " went back from %" PRIu64 " to %" PRIu64
				"\n",
				w, reading->seen[w], generation);
			reading->back++;
		}
		if (generation > reading->seen[w] && !job->torn) {
			status = check_mark(client, reading, w, generation);
		}
		reading->seen[w] = generation;
	}
	reading->rounds++;
	return status;
}

static int run_read(struct chi_client *client, const struct job *job)
{
	static struct reading reading;
	uint64_t start = now_ms();
	for (uint64_t i = 0; i < job->writers * SET; i++) {
		reading.keys[i] = set_key(i / SET, i % SET);
	}
	while (!over(job, start)) {
		int status = read_round(client, job, &reading);
		if (status != CHI_OK) {
			tell(client, "reading, round", reading.rounds, status);
			return TROUBLE;
		}
		if (reading.rounds == 1) {
			say("reading", 1);
		}
		if (job->torn && reading.torn != 0) {
			break;
		}
	}
	say("rounds", reading.rounds);
	say("torn", reading.torn);
	say("back", reading.back);
	say("missing", reading.missing);
	for (uint64_t w = 0; w < job->writers; w++) {
		say("seen", reading.seen[w]);
	}
	return reading.torn + reading.back + reading.missing != 0 ? FOUND : DONE;
}

/* ---- Checking afterwards ------------------------------------------------------------------ */

struct checking {
	struct chi_client *client;
	const struct job *job;
	uint64_t bad;
};

/* Marks first..last of a writer; each must be there, or each be absent if `present` is false. */
static int check_marks(struct checking *c, uint64_t writer, uint64_t first, uint64_t last,
		       bool present)
{
	static struct chi_key keys[PROBE_MAX];
	static struct chi_row rows[PROBE_MAX];
	int status = CHI_OK;
	for (uint64_t from = first; from <= last && status == CHI_OK; from += PROBE_MAX) {
		size_t n = last - from + 1 < PROBE_MAX ? (size_t)(last - from + 1) : PROBE_MAX;
		for (size_t i = 0; i < n; i++) {
			keys[i] = mark_key(writer, from + i);
		}
		status = chi_probe(c->client, keys, n, rows);
		for (size_t i = 0; i < n && status == CHI_OK; i++) {
			if (present ? !row_is(&rows[i], from + i) : rows[i].found) {
				fprintf(stderr,
					"hammer: writer %" PRIu64 ", mark %" PRIu64 " is %s\n",
					writer, from + i,
					present ? "lost" : "there, its set is not");
				c->bad++;
			}
		}
	}
	return status;
}

/* Prints "top T", the number of the writer's set. */
static int check_writer(struct checking *c, uint64_t writer, uint64_t acked)
{
	static struct chi_key keys[SET];
	static struct chi_row rows[SET];
	uint64_t top = 0;
	for (uint64_t i = 0; i < SET; i++) {
		keys[i] = set_key(writer, i);
	}
	int status = chi_probe(c->client, keys, SET, rows);
	if (status == CHI_OK && !one_generation(rows, writer, &top)) {
		c->bad++;
		return CHI_OK;
	}
	if (status == CHI_OK) {
		status = check_marks(c, writer, 1, top, true);
	}
	if (status == CHI_OK) {
		uint64_t behind = acked > top ? acked : top;
		status = check_marks(c, writer, top + 1, behind + 10, false);
	}
	if (status == CHI_OK) {
		say("top", top);
	}
	if (status == CHI_OK && top < acked) {
		fprintf(stderr,
			"hammer: lost: generation %" PRIu64 " of writer %" PRIu64
			" was acknowledged, %" PRIu64 " is there\n",
			acked, writer, top);
		c->bad++;
	}
	return status;
}

/* Prints "games N". */
static int check_adder(struct checking *c, uint64_t adder, uint64_t acked)
{
	struct chi_key key = game_key(adder);
	struct chi_row row;
	int status = chi_probe(c->client, &key, 1, &row);
	if (status != CHI_OK) {
		return status;
	}
	uint64_t games = row.found ? row.counts.white : 0;
	say("games", games);
	if (games < acked || (c->job->exactly && games != acked)) {
		fprintf(stderr,
			"hammer: %s: adder %" PRIu64 " was told of %" PRIu64 " games, %" PRIu64
			" are there\n",
			games < acked ? "lost" : "twice", adder, acked, games);
		c->bad++;
	}
	return CHI_OK;
}

static void print_report(void *context, const char *text)
{
	(void)context;
	fprintf(stderr, "hammer: verify: %s\n", text);
}

/* The writers from --writer on, the adders after them, and both trees. */
static int run_check(struct chi_client *client, const struct job *job)
{
	struct checking c = {.client = client, .job = job};
	struct chi_verify_result result;
	uint64_t next = job->writer;
	int status = CHI_OK;
	for (uint64_t i = 0; i < job->n_acked && status == CHI_OK; i++) {
		status = check_writer(&c, next++, job->acked[i]);
	}
	for (uint64_t i = 0; i < job->n_added && status == CHI_OK; i++) {
		status = check_adder(&c, next++, job->added[i]);
	}
	if (status == CHI_OK) {
		status = chi_store_verify(client, print_report, NULL, &result);
		c.bad += status == -CHI_ECORRUPT;
	}
	if (status != CHI_OK && status != -CHI_ECORRUPT) {
		tell(client, "check, up to", next, status);
		return TROUBLE;
	}
	return c.bad != 0 ? FOUND : DONE;
}

/* ---- Start ------------------------------------------------------------------------------- */

static const char usage[] =
	"usage: hammer write ADDRESS --writer W [--first G] [--seconds S] [--async] [--torn]\n"
	"                    [--kill-at G [--kill-pid PID]]\n"
	"       hammer read ADDRESS --writers N [--seconds S] [--torn]\n"
	"       hammer add ADDRESS --writer W\n"
	"       hammer check ADDRESS [--writer W] [--acked G,G...] [--added N,N...] [--exactly]\n";

static _Noreturn void misused(void)
{
	fputs(usage, stderr);
	exit(TROUBLE);
}

/* A number below `bound`; ends the program if `text` is none. */
static uint64_t number(const char *text, uint64_t bound)
{
	char *end;
	errno = 0;
	unsigned long long value = strtoull(text, &end, 10);
	if (errno != 0 || end == text || *end != '\0' || value >= bound) {
		fprintf(stderr, "hammer: '%s' is not a number below %" PRIu64 "\n", text, bound);
		exit(TROUBLE);
	}
	return value;
}

/* Numbers with commas between them; returns how many. */
static uint64_t numbers(char *text, uint64_t out[WRITERS_MAX])
{
	uint64_t n = 0;
	char *rest = NULL;
	for (char *word = strtok_r(text, ",", &rest); word != NULL;
	     word = strtok_r(NULL, ",", &rest)) {
		if (n == WRITERS_MAX) {
			fprintf(stderr, "hammer: more than %d numbers\n", WRITERS_MAX);
			exit(TROUBLE);
		}
		out[n++] = number(word, GENERATIONS);
	}
	return n;
}

static void parse_option(struct job *job, int option)
{
	switch (option) {
	case 'n':
		job->writers = number(optarg, WRITERS_MAX + 1);
		break;
	case 'w':
		job->writer = number(optarg, WRITERS_MAX);
		break;
	case 'f':
		job->first = number(optarg, GENERATIONS);
		break;
	case 'a':
		job->n_acked = numbers(optarg, job->acked);
		break;
	case 'd':
		job->n_added = numbers(optarg, job->added);
		break;
	case 'e':
		job->exactly = true;
		break;
	case 's':
		job->seconds = number(optarg, 1000000);
		break;
	case 'p':
		job->kill_pid = number(optarg, INT32_MAX);
		break;
	case 'k':
		job->kill_at = number(optarg, GENERATIONS);
		break;
	case 'y':
		job->async = true;
		break;
	case 't':
		job->torn = true;
		break;
	default:
		misused();
	}
}

static void parse_argv(struct job *job, int argc, char **argv)
{
	static const struct option options[] = {
		{"writers", required_argument, NULL, 'n'},
		{"writer", required_argument, NULL, 'w'},
		{"first", required_argument, NULL, 'f'},
		{"acked", required_argument, NULL, 'a'},
		{"added", required_argument, NULL, 'd'},
		{"exactly", no_argument, NULL, 'e'},
		{"seconds", required_argument, NULL, 's'},
		{"kill-pid", required_argument, NULL, 'p'},
		{"kill-at", required_argument, NULL, 'k'},
		{"async", no_argument, NULL, 'y'},
		{"torn", no_argument, NULL, 't'},
		{NULL, 0, NULL, 0},
	};
	int option;
	job->address = argv[2];
	optind = 3;
	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		parse_option(job, option);
	}
	if (optind != argc) {
		misused();
	}
}

static const struct mode {
	const char *name;
	int (*run)(struct chi_client *client, const struct job *job);
	bool writes;
	bool repeats; /* else what is not answered is what it counts */
} modes[] = {
	{"write", run_write, true, false},
	{"add", run_add, true, true},
	{"read", run_read, false, false},
	{"check", run_check, false, false},
};

static const struct mode *mode_of(const char *name)
{
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (strcmp(modes[i].name, name) == 0) {
			return &modes[i];
		}
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct job job = {.writers = 1, .first = 1};
	struct chi_client *client = NULL;
	struct chi_fault fault = {""};
	const struct mode *mode = argc >= 3 ? mode_of(argv[1]) : NULL;
	if (mode == NULL) {
		misused();
	}
	parse_argv(&job, argc, argv);
	struct chi_options options = {CHI_OPTIONS_INIT, .client_name = "hammer",
				      .lock_wait_ms = 20000, .writable = mode->writes,
				      .repeat_ms = mode->repeats ? 0 : CHI_NO_REPEAT};
	signal(SIGTERM, stop);
	if (chi_open(job.address, &options, &client, &fault) != CHI_OK) {
		fprintf(stderr, "hammer: cannot open '%s': %s\n", job.address, fault.text);
		return TROUBLE;
	}
	int code = mode->run(client, &job);
	chi_close(client);
	return code;
}
