/* SPDX-License-Identifier: MIT */
/* A writer's queue, without its thread: limits, order, what may share a commit; and that a job
 * owns copies of all it was given. */
#include <string.h>

#include "base/attr.h"
#include "daemon/write/job.h"
#include "daemon/settings/limits.h"
#include "daemon/write/writer.h"
#include "tests/base/cases.h"

/* No worker takes an answer here. */
static const struct chi_job_delivery delivery;

static const struct chi_conn_ref no_conn;

static struct chi_job *new_job(enum chi_op op, size_t n)
{
	struct chi_job *job = chi_job_new(&no_conn, 1, op, &delivery);
	assert_non_null(job);
	/* Only counted here; nothing looks at the entries. */
	job->records = n;
	return job;
}

static struct chi_job *push(struct chi_store_writer *writer, enum chi_op op, size_t n)
{
	struct chi_job *job = new_job(op, n);
	assert_int_equal(chi_store_writer_push(writer, job), CHI_OK);
	return job;
}

static void free_group(struct chi_store_writer *writer, struct chi_job *group)
{
	while (group != NULL) {
		struct chi_job *next = group->next;
		chi_store_writer_done(writer, group);
		chi_job_free(group);
		group = next;
	}
}

/* What is over the limit is refused and may be tried again; nothing is half taken. */
CASE(test_record_limit)
{
	struct chi_store_writer writer;
	chi_store_writer_init(&writer, NULL, 1 << 20, 10);
	push(&writer, CHI_OP_PUT, 6);
	struct chi_job *five = new_job(CHI_OP_PUT, 5);
	assert_int_equal(chi_store_writer_push(&writer, five), -CHI_EBUSY);
	push(&writer, CHI_OP_PUT, 3);
	push(&writer, CHI_OP_DELETE, 1);
	struct chi_job *one = new_job(CHI_OP_PUT, 1);
	assert_int_equal(chi_store_writer_push(&writer, one), -CHI_EBUSY);
	/* Being written still counts; done does not. */
	struct chi_job *group = chi_store_writer_take(&writer);
	assert_int_equal(chi_store_writer_push(&writer, one), -CHI_EBUSY);
	free_group(&writer, group);
	assert_int_equal(writer.records, 0);
	assert_int_equal(writer.bytes, 0);
	assert_int_equal(chi_store_writer_push(&writer, one), CHI_OK);
	assert_int_equal(chi_store_writer_push(&writer, five), CHI_OK);
	chi_store_writer_deinit(&writer);
}

/* The limit itself is allowed. */
CASE(test_byte_limit)
{
	struct chi_store_writer writer;
	struct chi_job *jobs[3];
	for (size_t i = 0; i < 3; i++) {
		jobs[i] = new_job(CHI_OP_PUT, 1);
		jobs[i]->bytes = 1000;
	}
	for (uint64_t limit = 1999; limit <= 2001; limit++) {
		chi_store_writer_init(&writer, NULL, limit, 100);
		assert_int_equal(chi_store_writer_push(&writer, jobs[0]), CHI_OK);
		int second = chi_store_writer_push(&writer, jobs[1]);
		assert_int_equal(second, limit >= 2000 ? CHI_OK : -CHI_EBUSY);
		if (second == CHI_OK) {
			assert_int_equal(chi_store_writer_push(&writer, jobs[2]), -CHI_EBUSY);
		}
		/* Taken and done, but not freed: they are used again. */
		for (struct chi_job *job = chi_store_writer_take(&writer); job != NULL;
		     job = job->next) {
			chi_store_writer_done(&writer, job);
		}
		chi_store_writer_deinit(&writer);
	}
	for (size_t i = 0; i < 3; i++) {
		chi_job_free(jobs[i]);
	}
}

/* However large: or a job above the limit could never be done. */
CASE(test_one_job_is_always_taken)
{
	struct chi_store_writer writer;
	chi_store_writer_init(&writer, NULL, 1, 1);
	push(&writer, CHI_OP_PUT, 100);
	chi_store_writer_deinit(&writer);
}

/* Puts and deletes go into one transaction in the order they came, also around other work. */
CASE(test_batches_share_a_commit_in_order)
{
	struct chi_store_writer writer;
	chi_store_writer_init(&writer, NULL, 1 << 20, 1000);
	assert_null(chi_store_writer_take(&writer));
	struct chi_job *a = push(&writer, CHI_OP_PUT, 1);
	struct chi_job *b = push(&writer, CHI_OP_DELETE, 1);
	struct chi_job *c = push(&writer, CHI_OP_COMPACT, 0);
	struct chi_job *d = push(&writer, CHI_OP_RESCORE, 0);
	struct chi_job *e = push(&writer, CHI_OP_PUT, 1);
	struct chi_job *group = chi_store_writer_take(&writer);
	assert_ptr_equal(group, a);
	assert_ptr_equal(group->next, b);
	assert_null(b->next);
	free_group(&writer, group);
	/* Whole-store work has a group of its own. */
	struct chi_job *const alone[] = {c, d, e};
	for (size_t i = 0; i < 3; i++) {
		group = chi_store_writer_take(&writer);
		assert_ptr_equal(group, alone[i]);
		assert_null(group->next);
		free_group(&writer, group);
	}
	assert_null(chi_store_writer_take(&writer));
	push(&writer, CHI_OP_PUT, 1);
	chi_store_writer_deinit(&writer);
}

/* Games count as positions do: a dump has hundreds of thousands, and nothing else in their puts. */
CASE(test_job_counts_its_games)
{
	struct chi_arena arena;
	chi_arena_init(&arena, 1 << 20);
	struct chi_put_request *request = chi_arena_array(&arena, 1, sizeof(*request));
	request->n_games = 2;
	request->durability = CHI_ASYNC;
	struct chi_job *job = chi_job_new(&no_conn, 1, CHI_OP_PUT, &delivery);
	size_t before = job->bytes;
	chi_job_take_request(job, request, &arena);
	/* Also what the arena has taken and not handed out. */
	assert_true(job->bytes >= before + 4096);
	assert_int_equal(job->records, 2);
	assert_int_equal(job->durability, CHI_ASYNC);
	chi_job_free(job);
}

/* What changes positions by the thousand counted as nothing. */
CASE(test_queue_jobs_without_positions)
{
	struct chi_queue_take_request first = {.limit = 300};
	struct chi_queue_take_request named = {.positions.n = 2, .limit = 300};
	struct chi_queue_settle_request all = {.action = CHI_QUEUE_DROP};
	struct chi_queue_settle_request one = {.positions.n = 1, .action = CHI_QUEUE_DROP};
	const struct {
		enum chi_op op;
		void *request;
		size_t records;
	} rows[] = {
		{CHI_OP_QUEUE_TAKE, &first, 300},
		{CHI_OP_QUEUE_TAKE, &named, 2},
		{CHI_OP_QUEUE_SETTLE, &all, CHI_GROUP_RECORDS},
		{CHI_OP_QUEUE_SETTLE, &one, 1},
	};
	for (size_t i = 0; i < CHI_COUNT(rows); i++) {
		struct chi_job *job = chi_job_new(&no_conn, 1, rows[i].op, &delivery);
		struct chi_arena arena;
		chi_arena_init(&arena, 1000);
		chi_job_take_request(job, rows[i].request, &arena);
		assert_int_equal(job->records, rows[i].records);
		chi_job_free(job);
	}
}

/* Answers wait for the whole group, so it ends at a number of records. */
CASE(test_group_is_bounded)
{
	struct chi_store_writer writer;
	chi_store_writer_init(&writer, NULL, 1 << 30, 1 << 30);
	push(&writer, CHI_OP_PUT, CHI_GROUP_RECORDS - 1);
	push(&writer, CHI_OP_PUT, 1);
	push(&writer, CHI_OP_PUT, 1);
	struct chi_job *group = chi_store_writer_take(&writer);
	assert_non_null(group->next);
	assert_null(group->next->next);
	free_group(&writer, group);
	group = chi_store_writer_take(&writer);
	assert_int_equal(group->records, 1);
	free_group(&writer, group);
	chi_store_writer_deinit(&writer);
}

/* What an operation's own struct leads to becomes the job's, and counts. */
CASE(test_job_takes_its_request)
{
	struct chi_arena arena;
	chi_arena_init(&arena, 1 << 20);
	struct chi_name_change *changes = chi_arena_array(&arena, 2, sizeof(*changes));
	struct chi_change_names_request *request = chi_arena_array(&arena, 1, sizeof(*request));
	*request = (struct chi_change_names_request){.changes = changes, .n = 2, .dry_run = true};
	changes[1].name = chi_arena_text(&arena, "Carlsen,M", 9);
	struct chi_job *job = chi_job_new(&no_conn, 1, CHI_OP_CHANGE_NAMES, &delivery);
	size_t before = job->bytes;
	size_t held = chi_arena_held(&arena);
	chi_job_take_request(job, request, &arena);
	assert_int_equal(chi_arena_held(&arena), 0);
	assert_non_null(chi_arena_alloc(&arena, 100));
	chi_arena_deinit(&arena);
	const struct chi_change_names_request *taken = job->request;
	assert_string_equal(taken->changes[1].name, "Carlsen,M");
	assert_int_equal(job->records, 2);
	assert_int_equal(job->bytes, before + held);
	assert_true(job->is_trial);
	chi_job_free(job);
}

/* What is not to be committed has no commit to share. */
CASE(test_dry_run_stands_alone)
{
	struct chi_store_writer writer;
	chi_store_writer_init(&writer, NULL, 1 << 20, 100);
	push(&writer, CHI_OP_PUT, 1);
	struct chi_job *names = push(&writer, CHI_OP_CHANGE_NAMES, 1);
	struct chi_job *dry = new_job(CHI_OP_CHANGE_NAMES, 1);
	dry->is_trial = true;
	assert_int_equal(chi_store_writer_push(&writer, dry), CHI_OK);
	push(&writer, CHI_OP_DROP_GAMESET, 1);
	struct chi_job *group = chi_store_writer_take(&writer);
	assert_ptr_equal(group->next, names);
	assert_null(names->next);
	free_group(&writer, group);
	group = chi_store_writer_take(&writer);
	assert_ptr_equal(group, dry);
	assert_null(group->next);
	free_group(&writer, group);
	chi_store_writer_deinit(&writer);
}
