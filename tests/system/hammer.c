/* SPDX-License-Identifier: MIT */
/*
 * Writers and readers in processes of their own, for the tests that let them collide and for those
 * that kill the daemon under them. Uses the public interface alone.
 *
 * A writer's batch is a *generation*: in one chi_put it gives all SET positions of the writer the
 * generation's number, and adds one position, the generation's *mark*, that no other generation
 * ever touches. So:
 *  - readers must find one and the same number in the whole set, and never a smaller one than
 *    before: anything else is half a batch, or a step back;
 *  - afterwards the marks 1..T must all be there, T being the number in the set, and T must not be
 *    below the last generation that was acknowledged: anything else is a lost write.
 * The statistic moves with the number too, so each generation changes both trees.
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

#define SET	    100 /* positions of a writer that every generation rewrites */
#define WRITERS_MAX 16
#define GENERATIONS (UINT64_C(1) << 24)
#define PROBE_MAX   1000
#define MARK_BIT    (UINT32_C(1) << 29)

/* Exit codes. The driver tells a check that found something from a program that failed. */
enum {
	DONE = 0,
	FOUND = 1,   /* torn or missing: what the test is about */
	TROUBLE = 2, /* usage, or a call that should work failed */
	CUT = 3,     /* a writer's peer went away; what was acknowledged stands */
};

struct job {
	const char *address;
	uint64_t writers;  /* readers: how many writers there are */
	uint64_t writer;   /* 0..WRITERS_MAX - 1 */
	uint64_t first;	   /* generation to begin with */
	uint64_t acked;	   /* check: the last generation that was acknowledged */
	uint64_t seconds;  /* 0: no end */
	uint64_t kill_at;  /* write: right behind the acknowledgement of this generation... */
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

/*
 * The position number `id` (below 2^30): a king in each lower and upper corner and a white knight
 * on square 8 + i for each bit i of the number. Different numbers are different positions.
 */
static struct chi_key make_key(uint32_t id)
{
	struct chi_key key;
	struct chi_fault fault = {""};
	uint64_t knights = (uint64_t)id << 8;
	uint64_t white_king = 1;
	uint64_t black_king = UINT64_C(1) << 63;
	struct chi_board board = {
		.white = knights | white_king,
		.black = black_king,
		.knights = knights,
		.kings = white_king | black_king,
		.en_passant = -1,
		.black_to_move = (id & 1) != 0,
	};
	if (chi_key_from_board(&board, &key, &fault) != CHI_OK) {
		fprintf(stderr, "hammer: position %" PRIu32 ": %s\n", id, fault.text);
		exit(TROUBLE);
	}
	return key;
}

static struct chi_key set_key(uint64_t writer, uint64_t slot)
{
	return make_key((uint32_t)((writer + 1) << 24 | slot));
}

static struct chi_key mark_key(uint64_t writer, uint64_t generation)
{
	return make_key((uint32_t)(MARK_BIT | writer << 24 | generation));
}

static uint16_t chi2_of(uint64_t generation)
{
	return (uint16_t)(1 + generation * 7919 % CHI_CHI2_MAX);
}

static struct chi_put make_put(const struct chi_key *key, uint64_t generation)
{
	struct chi_put put = {.key = *key, .parts = CHI_PUT_CHI2 | CHI_PUT_COUNTS};
	put.record.chi2 = chi2_of(generation);
	put.record.counts.white = generation;
	return put;
}

static bool row_is(const struct chi_row *row, uint64_t generation)
{
	return row->found && row->counts.white == generation && row->chi2 == chi2_of(generation);
}

/* ---- Writing ----------------------------------------------------------------------------- */

/* Stores a generation; -CHI_EBUSY is what a crowd must expect and is tried again. */
static int put_again(struct chi_client *client, const struct job *job, const struct chi_put *puts,
		     size_t n)
{
	int status;
	do {
		status = chi_put(client, puts, n, job->async ? CHI_ASYNC : CHI_SYNC, NULL);
	} while (status == -CHI_EBUSY && stopped == 0);
	return status;
}

static int put_generation(struct chi_client *client, const struct job *job, struct chi_put *puts,
			  uint64_t generation)
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
	static struct chi_put puts[SET + 1];
	uint64_t start = now_ms();
	for (size_t i = 0; i < SET; i++) {
		puts[i].key = set_key(job->writer, i);
	}
	for (uint64_t generation = job->first; !over(job, start); generation++) {
		int status = put_generation(client, job, puts, generation);
		if (status != CHI_OK) {
			fprintf(stderr,
				"hammer: generation %" PRIu64 " not acknowledged: %s (%s)\n",
				generation, chi_strerror(status), chi_error(client));
			return writer_end(status);
		}
		say("ack", generation);
		if (generation == job->kill_at) {
			kill(job->kill_pid != 0 ? (pid_t)job->kill_pid : getpid(), SIGKILL);
		}
	}
	return DONE;
}

/* ---- Reading ----------------------------------------------------------------------------- */

/* The set's number in *generation; false, with a line on standard error, if it has several. A set
 * that is not there yet has the number 0, in whole or not at all. */
static bool one_generation(const struct chi_row *rows, uint64_t writer, uint64_t *generation)
{
	uint64_t first = rows[0].counts.white;
	for (size_t i = 0; i < SET; i++) {
		bool same = first == 0 ? !rows[i].found : row_is(&rows[i], first);
		if (!same) {
			fprintf(stderr,
				"hammer: torn: writer %" PRIu64
				", position 0 is of generation %" PRIu64
				", position %zu of %" PRIu64 "\n",
				writer, first, i, rows[i].counts.white);
			return false;
		}
	}
	*generation = first;
	return true;
}

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
			fprintf(stderr, "hammer: probe: %s (%s)\n", chi_strerror(status),
				chi_error(client));
			return TROUBLE;
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

/* Marks first..last; each must be there, or each be absent if `present` is false. */
static int check_marks(struct chi_client *client, const struct job *job, uint64_t first,
		       uint64_t last, bool present, uint64_t *bad)
{
	static struct chi_key keys[PROBE_MAX];
	static struct chi_row rows[PROBE_MAX];
	int status = CHI_OK;
	for (uint64_t from = first; from <= last && status == CHI_OK; from += PROBE_MAX) {
		size_t n = last - from + 1 < PROBE_MAX ? (size_t)(last - from + 1) : PROBE_MAX;
		for (size_t i = 0; i < n; i++) {
			keys[i] = mark_key(job->writer, from + i);
		}
		status = chi_probe(client, keys, n, rows);
		for (size_t i = 0; i < n && status == CHI_OK; i++) {
			if (present ? !row_is(&rows[i], from + i) : rows[i].found) {
				fprintf(stderr, "hammer: mark %" PRIu64 " is %s\n", from + i,
					present ? "lost" : "there, its set is not");
				++*bad;
			}
		}
	}
	return status;
}

/* Prints "top T", the number of the set. */
static int run_check(struct chi_client *client, const struct job *job)
{
	static struct chi_key keys[SET];
	static struct chi_row rows[SET];
	uint64_t top = 0;
	uint64_t bad = 0;
	for (uint64_t i = 0; i < SET; i++) {
		keys[i] = set_key(job->writer, i);
	}
	int status = chi_probe(client, keys, SET, rows);
	if (status == CHI_OK && !one_generation(rows, job->writer, &top)) {
		return FOUND;
	}
	if (status == CHI_OK) {
		status = check_marks(client, job, 1, top, true, &bad);
	}
	if (status == CHI_OK) {
		uint64_t behind = job->acked > top ? job->acked : top;
		status = check_marks(client, job, top + 1, behind + 10, false, &bad);
	}
	if (status != CHI_OK) {
		fprintf(stderr, "hammer: probe: %s (%s)\n", chi_strerror(status),
			chi_error(client));
		return TROUBLE;
	}
	say("top", top);
	if (top < job->acked) {
		fprintf(stderr,
			"hammer: lost: generation %" PRIu64 " was acknowledged, %" PRIu64
			" is there\n",
			job->acked, top);
		bad++;
	}
	return bad != 0 ? FOUND : DONE;
}

/* ---- Start ------------------------------------------------------------------------------- */

static const char usage[] =
	"usage: hammer write ADDRESS --writer W [--first G] [--seconds S] [--async] [--torn]\n"
	"                    [--kill-at G [--kill-pid PID]]\n"
	"       hammer read ADDRESS --writers N [--seconds S] [--torn]\n"
	"       hammer check ADDRESS --writer W --acked G\n";

/* A number below `bound`; ends the program if `text` is none. */
static uint64_t number(const char *text, uint64_t bound)
{
	char *end;
	errno = 0;
	unsigned long long value = strtoull(text, &end, 10);
	if (errno != 0 || end == text || *end != '\0' || value >= bound) {
		fprintf(stderr, "hammer: '%s' is no number below %" PRIu64 "\n", text, bound);
		exit(TROUBLE);
	}
	return value;
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
		job->acked = number(optarg, GENERATIONS);
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
		fputs(usage, stderr);
		exit(TROUBLE);
	}
}

static void parse_argv(struct job *job, int argc, char **argv)
{
	static const struct option options[] = {
		{"writers", required_argument, NULL, 'n'},
		{"writer", required_argument, NULL, 'w'},
		{"first", required_argument, NULL, 'f'},
		{"acked", required_argument, NULL, 'a'},
		{"seconds", required_argument, NULL, 's'},
		{"kill-pid", required_argument, NULL, 'p'},
		{"kill-at", required_argument, NULL, 'k'},
		{"async", no_argument, NULL, 'y'},
		{"torn", no_argument, NULL, 't'},
		{NULL, 0, NULL, 0},
	};
	int option;
	if (argc < 3) {
		fputs(usage, stderr);
		exit(TROUBLE);
	}
	job->address = argv[2];
	optind = 3;
	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		parse_option(job, option);
	}
	if (optind != argc) {
		fputs(usage, stderr);
		exit(TROUBLE);
	}
}

int main(int argc, char **argv)
{
	struct job job = {.writers = 1, .first = 1};
	struct chi_client *client = NULL;
	struct chi_fault fault = {""};
	struct chi_options options = {.client_name = "hammer",
				      .lock_wait_ms = 20000,
				      /* What is not answered is what it counts. */
				      .repeat_ms = CHI_NO_REPEAT};
	int code = TROUBLE;
	parse_argv(&job, argc, argv);
	options.writable = strcmp(argv[1], "write") == 0;
	signal(SIGTERM, stop);
	if (chi_open(job.address, &options, &client, &fault) != CHI_OK) {
		fprintf(stderr, "hammer: cannot open '%s': %s\n", job.address, fault.text);
		return TROUBLE;
	}
	if (options.writable) {
		code = run_write(client, &job);
	} else if (strcmp(argv[1], "read") == 0) {
		code = run_read(client, &job);
	} else if (strcmp(argv[1], "check") == 0) {
		code = run_check(client, &job);
	} else {
		fputs(usage, stderr);
	}
	chi_close(client);
	return code;
}
