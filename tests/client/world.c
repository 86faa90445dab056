/* SPDX-License-Identifier: MIT */
#include "tests/base/cases.h"
#include "tests/client/world.h"

#include <ftw.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/attr.h"
#include "tests/client/identity.h"

/* How long a daemon may take to be ready: only reached if it never will be. */
#define READY_MS 20000

bool world_under_valgrind(void)
{
	const char *preloaded = getenv("LD_PRELOAD");
	return preloaded != NULL && strstr(preloaded, "vgpreload") != NULL;
}

bool world_cage(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_read, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = {.len = sizeof(code) / sizeof(code[0]), .filter = code};
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

const struct chi_prober_options world_patience = {CHI_PROBER_OPTIONS_INIT, .deadline_ms = 120000};

bool world_possible(enum world_kind kind)
{
	return kind == WORLD_FILE ||
	       getenv(kind == WORLD_RADOS ? "CHISTORE_TEST_RADOS" : "CHISTORED") != NULL;
}

void world_make_dir(char dir[64])
{
	strcpy(dir, "/tmp/chistore-test-XXXXXX");
	assert_non_null(mkdtemp(dir));
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *ftw)
{
	(void)info;
	(void)type;
	(void)ftw;
	return remove(path);
}

void world_remove_dir(const char *dir)
{
	assert_int_equal(nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

/* Finds PORT in the line that says where the daemon listens. */
static void take_port(struct world *world, const char *line)
{
	size_t len = strlen(world->listen) - 1; /* up to the 0 */
	const char *at = strstr(line, world->kind == WORLD_TCP ? "tcp:127" : "tls:127");
	assert_non_null(at);
	(void)snprintf(world->address, sizeof(world->address), "%.*s%.*s", (int)len, world->listen,
		       (int)strspn(at + len, "0123456789"), at + len);
}

static void await_ready(struct world *world)
{
	char text[4096] = "";
	size_t len = 0;
	for (;;) {
		struct pollfd one = {.fd = world->log, .events = POLLIN};
		assert_int_equal(poll(&one, 1, READY_MS), 1);
		ssize_t n = read(world->log, text + len, sizeof(text) - 1 - len);
		if (n <= 0) {
			fail_msg("the daemon ended: %s", text);
		}
		len += (size_t)n;
		text[len] = '\0';
		char *line = strstr(text, "ready, listening on");
		if (line != NULL && strchr(line, '\n') != NULL) {
			if (world->kind == WORLD_TCP || world->kind == WORLD_TLS) {
				take_port(world, line);
			}
			return;
		}
	}
}

void world_start_daemon(struct world *world)
{
	const char *program = getenv("CHISTORED");
	int ends[2];
	assert_non_null(program);
	assert_int_equal(pipe(ends), 0);
	world->daemon = fork();
	assert_true(world->daemon >= 0);
	if (world->daemon == 0) {
		/* A test that fails jumps out of everything: its daemon ends with it. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(ends[1], STDERR_FILENO);
		dup2(ends[1], STDOUT_FILENO);
		close(ends[0]);
		close(ends[1]);
		const char *tls = world->kind == WORLD_TLS ? "--tls-cert" : (char *)NULL;
		execl(program, program, "--store", world->store, "--listen", world->listen, tls,
		      world->cert, "--tls-key", world->key, "--tls-ca", world->cert, "--access",
		      world->access, (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	world->log = ends[0];
	await_ready(world);
}

void world_stop_daemon(struct world *world)
{
	int status = 0;
	assert_int_equal(kill(world->daemon, SIGTERM), 0);
	/* What it still says must not block it. */
	char text[4096];
	ssize_t n = 0;
	while ((n = read(world->log, text, sizeof(text) - 1)) > 0) {
		text[n] = '\0';
		if (strstr(text, "ERROR: ") != NULL || strstr(text, "runtime error") != NULL) {
			fail_msg("%s", text);
		}
	}
	close(world->log);
	world->log = -1;
	assert_int_equal(waitpid(world->daemon, &status, 0), world->daemon);
	world->daemon = 0;
	assert_int_equal(status, 0);
}

void world_kill_daemon(struct world *world)
{
	assert_int_equal(kill(world->daemon, SIGKILL), 0);
	assert_int_equal(waitpid(world->daemon, NULL, 0), world->daemon);
	world->daemon = 0;
	close(world->log);
	world->log = -1;
}

struct chi_options world_options(const struct world *world)
{
	struct chi_options options = {CHI_OPTIONS_INIT, .writable = true};
	if (world->kind == WORLD_TLS) {
		options.tls_ca = world->cert;
		options.tls_cert = world->cert;
		options.tls_key = world->key;
	}
	return options;
}

struct chi_client *world_open(const struct world *world)
{
	struct chi_options options = world_options(world);
	struct chi_client *client = NULL;
	struct chi_fault fault = {{0}};
	if (chi_open(world->address, &options, &client, &fault) != CHI_OK) {
		fail_msg("cannot open %s: %s", world->address, fault.text);
	}
	return client;
}

static void prepare_tls(struct world *world)
{
	(void)snprintf(world->cert, sizeof(world->cert), "%.60s/crt", world->dir);
	(void)snprintf(world->key, sizeof(world->key), "%.60s/key", world->dir);
	(void)snprintf(world->access, sizeof(world->access), "%.60s/access", world->dir);
	identity_make(world->cert, world->key);
	FILE *file = fopen(world->access, "w");
	assert_non_null(file);
	assert_true(fputs("cert test admin\n", file) >= 0);
	assert_int_equal(fclose(file), 0);
	/* Who may do what only its owner may say. */
	assert_int_equal(chmod(world->access, 0600), 0);
}

uint64_t world_games(const struct world *world)
{
	struct chi_client *client = world_open(world);
	struct chi_key key = world_key(0);
	struct chi_row row;
	world_ok(client, chi_probe(client, &key, 1, &row));
	chi_close(client);
	return row.found ? row.counts.white : 0;
}

/* A name that no other test has: the pool is common to all. */
static void name_objects(struct world *world)
{
	static unsigned made;
	(void)snprintf(world->address, sizeof(world->address),
		       "rados:chistore/t-%d-%u?conf=%.300s&shards=7", (int)getpid(), ++made,
		       getenv("CHISTORE_TEST_RADOS"));
}

void world_make(struct world *world, enum world_kind kind, enum chi_statistic statistic)
{
	world_make_keeping(world, kind, statistic,
			   kind == WORLD_RADOS ? CHI_KEEP_COUNTS : CHI_KEEP_GAMES);
}

void world_make_keeping(struct world *world, enum world_kind kind, enum chi_statistic statistic,
			enum chi_keep keep)
{
	*world = (struct world){.kind = kind, .log = -1};
	struct chi_fault fault = {{0}};
	world_make_dir(world->dir);
	(void)snprintf(world->store, sizeof(world->store), "%.60s/store", world->dir);
	const char *where = world->store;
	if (kind == WORLD_RADOS) {
		name_objects(world);
		where = world->address;
	}
	if (chi_store_create(where, statistic, keep, &fault) != CHI_OK) {
		fail_msg("cannot create %s: %s", where, fault.text);
	}
	if (kind == WORLD_RADOS) {
		/* No daemon. */
	} else if (kind == WORLD_FILE) {
		strcpy(world->address, world->store);
	} else if (kind == WORLD_UNIX) {
		(void)snprintf(world->address, sizeof(world->address), "unix:%.60s/socket",
			       world->dir);
		strcpy(world->listen, world->address);
	} else if (kind == WORLD_TCP) {
		strcpy(world->listen, "tcp:127.0.0.1:0");
	} else {
		strcpy(world->listen, "tls:127.0.0.1:0");
		prepare_tls(world);
	}
	if (kind != WORLD_FILE && kind != WORLD_RADOS) {
		world_start_daemon(world);
	}
	world->client = world_open(world);
}

void world_free(struct world *world)
{
	chi_close(world->client);
	if (world->daemon != 0) {
		world_stop_daemon(world);
	}
	world_remove_dir(world->dir);
}

struct chi_key world_key(unsigned i)
{
	unsigned white = i % 64;
	unsigned black = (white + 1 + i / 64 % 63) % 64;
	/* The knight takes the (i / 4032)-th of the 62 free squares. */
	unsigned knight = 0;
	for (unsigned left = i / 4032 % 62 + 1; left > 0;) {
		if (knight != white && knight != black) {
			left--;
		}
		knight += left > 0;
	}
	struct chi_board board = {
		.white = UINT64_C(1) << white | UINT64_C(1) << knight,
		.black = UINT64_C(1) << black,
		.kings = UINT64_C(1) << white | UINT64_C(1) << black,
		.knights = UINT64_C(1) << knight,
		.en_passant = -1,
	};
	struct chi_key key;
	struct chi_fault fault = {{0}};
	if (chi_key_from_board(&board, &key, &fault) != CHI_OK) {
		fail_msg("position %u: %s", i, fault.text);
	}
	return key;
}

/* ---- What tests of calls share -------------------------------------------------------------- */

static enum world_kind chosen;

bool world_choose(int argc, char **argv)
{
	static const char *const names[] = {[WORLD_FILE] = "file",
					    [WORLD_UNIX] = "unix",
					    [WORLD_TCP] = "tcp",
					    [WORLD_TLS] = "tls",
					    [WORLD_RADOS] = "rados"};
	for (int i = WORLD_FILE; argc > 1 && i <= WORLD_RADOS; i++) {
		if (strcmp(argv[1], names[i]) == 0) {
			chosen = (enum world_kind)i;
		}
	}
	if (!world_possible(chosen)) {
		printf("1..0 # SKIP %s\n", chosen == WORLD_RADOS
						   ? "CHISTORE_TEST_RADOS names no cluster"
						   : "CHISTORED does not name the daemon");
		return false;
	}
	return true;
}

enum world_kind world_chosen(void)
{
	return chosen;
}

static int make_with(void **state, enum chi_statistic statistic)
{
	struct world *world = calloc(1, sizeof(*world));
	assert_non_null(world);
	world_make(world, chosen, statistic);
	*state = world;
	return 0;
}

int world_external(void **state)
{
	return make_with(state, CHI_STATISTIC_EXTERNAL);
}

int world_control(void **state)
{
	return make_with(state, CHI_STATISTIC_CONTROL);
}

int world_drop(void **state)
{
	world_free(*state);
	free(*state);
	return 0;
}

void world_ok(struct chi_client *client, int status)
{
	if (status != CHI_OK) {
		fail_msg("status %d: %s", status, chi_error(client));
	}
	assert_string_equal(chi_error(client), "");
}

void world_refused(struct chi_client *client, int status, int wanted, const char *says)
{
	if (status != wanted || strstr(chi_error(client), says) == NULL) {
		fail_msg("status %d, not %d: '%s' lacks '%s'", status, wanted, chi_error(client),
			 says);
	}
}

struct chi_put_entry *world_puts(unsigned from, size_t n)
{
	struct chi_put_entry *puts = calloc(n, sizeof(*puts));
	for (size_t i = 0; i < n; i++) {
		puts[i].key = world_key(from + (unsigned)i);
		puts[i].parts = CHI_PUT_CHI2 | CHI_PUT_COUNTS;
		puts[i].record.chi2 = (uint16_t)(100 + (from + i) % 20000);
		puts[i].record.counts.white = from + i;
	}
	return puts;
}

void world_fill(struct chi_client *client, unsigned from, size_t n)
{
	_cleanup_(chi_freep) struct chi_put_entry *puts = world_puts(from, n);
	struct chi_put_result did;
	world_ok(client, chi_put(client, puts, n, CHI_SYNC, &did));
	assert_int_equal(did.added, n);
}
