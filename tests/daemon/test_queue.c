/* SPDX-License-Identifier: MIT */
/* A writer's queue, without its thread: limits, order, what may share a commit; and that a job
 * owns copies of all it was given. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/attr.h"
#include "daemon/write/job.h"
#include "daemon/settings/limits.h"
#include "daemon/write/writer.h"

/* No worker takes an answer here. */
static const struct chi_job_delivery delivery;

static const struct chi_conn_ref no_conn;

static struct chi_job *new_job(enum chi_op op, size_t n)
{
	struct chi_job *job = chi_job_new(&no_conn, 1, op, &delivery);
	assert_non_null(job);
	/* Only counted here; nothing looks at the entries. */
	job->n = n;
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
static void test_record_limit(void **state)
{
	(void)state;
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
static void test_byte_limit(void **state)
{
	(void)state;
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
static void test_one_job_is_always_taken(void **state)
{
	(void)state;
	struct chi_store_writer writer;
	chi_store_writer_init(&writer, NULL, 1, 1);
	push(&writer, CHI_OP_PUT, 100);
	chi_store_writer_deinit(&writer);
}

/* Puts and deletes go into one transaction in the order they came, also around other work. */
static void test_batches_share_a_commit_in_order(void **state)
{
	(void)state;
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

static void test_job_owns_its_game_ids(void **state)
{
	(void)state;
	struct chi_game_id games[2] = {{.id = {1}, .result = CHI_RESULT_DRAW},
				       {.id = {2}, .max_ply = 9}};
	struct chi_job *job = chi_job_new(&no_conn, 1, CHI_OP_PUT, &delivery);
	size_t before = job->bytes;
	assert_int_equal(chi_job_copy_game_ids(job, games, 2), CHI_OK);
	assert_true(job->bytes >= before + sizeof(games));
	/* Also what the arena has taken and not handed out. */
	assert_true(job->bytes >= before + 4096);
	memset(games, 0, sizeof(games));
	assert_int_equal(job->n_games, 2);
	/* A dump has hundreds of thousands, and nothing else in their puts. */
	assert_int_equal(job->records, 2);
	assert_int_equal(job->games[0].result, CHI_RESULT_DRAW);
	assert_int_equal(job->games[1].max_ply, 9);
	chi_job_free(job);
}

/* What changes positions by the thousand counted as nothing. */
static void test_queue_jobs_without_positions(void **state)
{
	(void)state;
	const struct chi_queue_job queue = {.limit = 300, .action = CHI_QUEUE_DROP};
	const struct {
		enum chi_op op;
		size_t n;
		size_t records;
	} rows[] = {
		{CHI_OP_QUEUE_TAKE, 0, 300},
		{CHI_OP_QUEUE_TAKE, 2, 2},
		{CHI_OP_QUEUE_SETTLE, 0, CHI_GROUP_RECORDS},
		{CHI_OP_QUEUE_SETTLE, 1, 1},
	};
	for (size_t i = 0; i < CHI_COUNT(rows); i++) {
		struct chi_job *job = chi_job_new(&no_conn, 1, rows[i].op, &delivery);
		const struct chi_key keys[2] = {{.len = 9}, {.len = 9}};
		chi_job_set_queue(job, &queue, "me");
		assert_int_equal(chi_job_copy_keys(job, keys, rows[i].n), CHI_OK);
		chi_job_count_queue(job);
		assert_int_equal(job->records, rows[i].records);
		chi_job_free(job);
	}
}

/* Answers wait for the whole group, so it ends at a number of records. */
static void test_group_is_bounded(void **state)
{
	(void)state;
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
	assert_int_equal(group->n, 1);
	free_group(&writer, group);
	chi_store_writer_deinit(&writer);
}

/* The request's memory is gone before the writer gets to it. */
static void test_job_owns_its_records(void **state)
{
	(void)state;
	char engine[] = "engine";
	char note[] = "note";
	chi_move pv[] = {1, 2};
	chi_move line[] = {3};
	struct chi_ply_stat plies[] = {{.ply = 6, .games = 7}};
	struct chi_move_stat moves[] = {{.move = 4, .counts = {.white = 5}}};
	struct chi_eval evals[] = {{.engine = engine, .engine_len = 6, .pv = pv, .n_pv = 2}};
	struct chi_put puts[2] = {0};
	puts[1].key.len = 9;
	puts[1].record = (struct chi_record){.moves = moves,
					     .n_moves = 1,
					     .evals = evals,
					     .n_evals = 1,
					     .plies = plies,
					     .n_plies = 1,
					     .line = line,
					     .n_line = 1,
					     .note = note,
					     .n_note = 4};
	struct chi_job *job = chi_job_new(&no_conn, 1, CHI_OP_PUT, &delivery);
	size_t before = job->bytes;
	assert_int_equal(chi_job_copy_puts(job, puts, 2), CHI_OK);
	assert_true(job->bytes >= before + 2 * sizeof(puts[0]));
	memset(engine, 'x', 6);
	memset(note, 'x', 4);
	memset(pv, 0, sizeof(pv));
	memset(line, 0, sizeof(line));
	memset(moves, 0, sizeof(moves));
	memset(plies, 0, sizeof(plies));
	memset(evals, 0, sizeof(evals));
	memset(puts, 0, sizeof(puts));
	const struct chi_record *record = &job->puts[1].record;
	assert_int_equal(job->puts[1].key.len, 9);
	assert_string_equal(record->note, "note");
	assert_int_equal(record->line[0], 3);
	assert_int_equal(record->plies[0].games, 7);
	assert_int_equal(record->moves[0].counts.white, 5);
	assert_string_equal(record->evals[0].engine, "engine");
	assert_int_equal(record->evals[0].pv[1], 2);
	assert_null(job->puts[0].record.evals);
	chi_job_free(job);
}

/* And of changes of names; what it refuses outlives it, in the answer. */
static void test_job_owns_its_changes(void **state)
{
	(void)state;
	char name[] = "Carlsen,M";
	char to[] = "Carlsen, Magnus";
	const struct chi_name_change changes[] = {
		{.action = CHI_NAME_JOIN, .kind = CHI_NAME_PLAYER, .name = name, .to = to},
		{.action = CHI_NAME_PART, .kind = CHI_NAME_PLAYER, .name = name},
	};
	struct chi_job *job = chi_job_new(&no_conn, 1, CHI_OP_CHANGE_NAMES, &delivery);
	assert_int_equal(chi_job_copy_changes(job, changes, 2), CHI_OK);
	memset(name, 'x', sizeof(name) - 1);
	memset(to, 'x', sizeof(to) - 1);
	assert_int_equal(job->records, 2);
	assert_string_equal(job->changes[0].name, "Carlsen,M");
	assert_string_equal(job->changes[0].to, "Carlsen, Magnus");
	assert_null(job->changes[1].to);
	chi_job_free(job);
}

/* What is not to be committed has no commit to share. */
static void test_dry_run_stands_alone(void **state)
{
	(void)state;
	struct chi_store_writer writer;
	chi_store_writer_init(&writer, NULL, 1 << 20, 100);
	push(&writer, CHI_OP_PUT, 1);
	struct chi_job *names = push(&writer, CHI_OP_CHANGE_NAMES, 1);
	struct chi_job *dry = new_job(CHI_OP_CHANGE_NAMES, 1);
	dry->dry_run = true;
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_record_limit),
		cmocka_unit_test(test_byte_limit),
		cmocka_unit_test(test_one_job_is_always_taken),
		cmocka_unit_test(test_batches_share_a_commit_in_order),
		cmocka_unit_test(test_group_is_bounded),
		cmocka_unit_test(test_job_owns_its_records),
		cmocka_unit_test(test_queue_jobs_without_positions),
		cmocka_unit_test(test_job_owns_its_game_ids),
		cmocka_unit_test(test_job_owns_its_changes),
		cmocka_unit_test(test_dry_run_stands_alone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
