/* SPDX-License-Identifier: MIT */
/*
 * bench_hiredis SOCKET LISTS: Redis through its own C library, as a program would use it; ours
 * beside it is bench_client. Operations: "get LIST COUNT" one at a time, "mget LIST BATCH COUNT",
 * "pipe LIST PIPELINE COUNT", and "range": the whole sorted set, by pages of ZRANGEBYLEX.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hiredis/hiredis.h>

#include "bench/bench.h"
#include "bench/lists.h"

#define PAGE	   10000 /* rows a request; what our server sends at most in a response */
#define BATCH_MAX  4096
#define MEMBER_MAX 32

static const char *const names[] = {"games", "random", "search"};
#define LISTS (sizeof(names) / sizeof(names[0]))

struct bench {
	redisContext *redis;
	struct bench_list lists[LISTS];
};

static redisReply *checked(const struct bench *bench, void *reply, int type)
{
	redisReply *r = reply;
	if (r == NULL || (r->type != type && r->type != REDIS_REPLY_NIL)) {
		bench_die("redis: %s", r != NULL && r->str != NULL ? r->str : bench->redis->errstr);
	}
	return r;
}

static void get(struct bench *bench, const struct bench_list *list, size_t n,
		struct bench_result *out)
{
	for (size_t i = 0; i < n; i++) {
		const char *argv[] = {"GET", (const char *)list->keys[i].bytes};
		size_t lens[] = {3, list->keys[i].len};
		redisReply *reply = checked(bench, redisCommandArgv(bench->redis, 2, argv, lens),
					    REDIS_REPLY_STRING);
		out->sum += reply->type == REDIS_REPLY_STRING;
		freeReplyObject(reply);
	}
}

static void mget(struct bench *bench, const struct bench_list *list, size_t batch, size_t n,
		 struct bench_result *out)
{
	const char *argv[BATCH_MAX + 1] = {"MGET"};
	size_t lens[BATCH_MAX + 1] = {4};
	for (size_t i = 0; i < n; i += batch) {
		size_t len = n - i < batch ? n - i : batch;
		for (size_t j = 0; j < len; j++) {
			argv[j + 1] = (const char *)list->keys[i + j].bytes;
			lens[j + 1] = list->keys[i + j].len;
		}
		redisReply *reply =
			checked(bench, redisCommandArgv(bench->redis, (int)len + 1, argv, lens),
				REDIS_REPLY_ARRAY);
		for (size_t j = 0; j < reply->elements; j++) {
			out->sum += reply->element[j]->type == REDIS_REPLY_STRING;
		}
		freeReplyObject(reply);
	}
}

static void pipe_gets(struct bench *bench, const struct bench_list *list, size_t pipeline, size_t n,
		      struct bench_result *out)
{
	for (size_t i = 0; i < n; i += pipeline) {
		size_t len = n - i < pipeline ? n - i : pipeline;
		for (size_t j = 0; j < len; j++) {
			const struct chi_key *key = &list->keys[i + j];
			const char *argv[] = {"GET", (const char *)key->bytes};
			size_t lens[] = {3, key->len};
			if (redisAppendCommandArgv(bench->redis, 2, argv, lens) != REDIS_OK) {
				bench_die("redis: %s", bench->redis->errstr);
			}
		}
		for (size_t j = 0; j < len; j++) {
			void *raw = NULL;
			(void)redisGetReply(bench->redis, &raw);
			redisReply *reply = checked(bench, raw, REDIS_REPLY_STRING);
			out->sum += reply->type == REDIS_REPLY_STRING;
			freeReplyObject(reply);
		}
	}
}

/* Page after page, each from after the last member of the one before; the sum is as our scans
 * have it, over the statistic. */
static void range(struct bench *bench, struct bench_result *out)
{
	char from[MEMBER_MAX] = "-";
	size_t from_len = 1;
	size_t n;
	char page[16];
	int page_len = snprintf(page, sizeof(page), "%d", PAGE);
	do {
		const char *argv[] = {"ZRANGEBYLEX", "strength", from, "+", "LIMIT", "0", page};
		size_t lens[] = {11, 8, from_len, 1, 5, 1, (size_t)page_len};
		redisReply *reply = checked(bench, redisCommandArgv(bench->redis, 7, argv, lens),
					    REDIS_REPLY_ARRAY);
		n = reply->elements;
		for (size_t i = 0; i < n; i++) {
			const uint8_t *member = (const uint8_t *)reply->element[i]->str;
			out->sum += (uint64_t)member[0] * 100 + member[1];
		}
		if (n > 0) {
			const redisReply *last = reply->element[n - 1];
			from[0] = '(';
			from_len = last->len + 1;
			if (from_len > sizeof(from)) {
				bench_die("a member of %zu bytes", (size_t)last->len);
			}
			memcpy(from + 1, last->str, last->len);
		}
		out->done += n;
		freeReplyObject(reply);
	} while (n == PAGE);
}

static const struct bench_list *find_list(const struct bench *bench, const char *name, size_t *n)
{
	for (size_t i = 0; i < LISTS; i++) {
		if (strcmp(name, names[i]) == 0) {
			*n = *n < bench->lists[i].n ? *n : bench->lists[i].n;
			return &bench->lists[i];
		}
	}
	bench_die("no such list: '%s'", name);
}

static bool run_gets(struct bench *bench, const char *line, struct bench_result *out)
{
	char name[16];
	size_t group = 1;
	size_t n;
	if (sscanf(line, "get %15s %zu", name, &n) == 2) {
		const struct bench_list *list = find_list(bench, name, &n);
		get(bench, list, n, out);
	} else if (sscanf(line, "mget %15s %zu %zu", name, &group, &n) == 3 && group > 0 &&
		   group <= BATCH_MAX) {
		const struct bench_list *list = find_list(bench, name, &n);
		mget(bench, list, group, n, out);
	} else if (sscanf(line, "pipe %15s %zu %zu", name, &group, &n) == 3 && group > 0) {
		const struct bench_list *list = find_list(bench, name, &n);
		pipe_gets(bench, list, group, n, out);
	} else {
		return false;
	}
	out->done = n;
	return true;
}

static bool run_line(void *context, const char *line, struct bench_result *out)
{
	struct bench *bench = context;
	bool known = true;
	uint64_t start = bench_now();
	if (strcmp(line, "range") == 0) {
		range(bench, out);
	} else {
		known = run_gets(bench, line, out);
	}
	out->ns = bench_now() - start;
	return known;
}

int main(int argc, char **argv)
{
	struct bench bench = {0};
	if (argc != 3) {
		fprintf(stderr, "usage: bench_hiredis SOCKET LISTS\n");
		return 2;
	}
	for (size_t i = 0; i < LISTS; i++) {
		bench_list_load(argv[2], names[i], &bench.lists[i]);
	}
	bench.redis = redisConnectUnix(argv[1]);
	if (bench.redis == NULL || bench.redis->err != 0) {
		bench_die("cannot connect to '%s'", argv[1]);
	}
	bench_serve(run_line, &bench);
	redisFree(bench.redis);
	for (size_t i = 0; i < LISTS; i++) {
		bench_list_free(&bench.lists[i]);
	}
	return 0;
}
