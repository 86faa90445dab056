/* SPDX-License-Identifier: MIT */
/* The limits of messages with names, gamesets and patterns, at n and at n + 1. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/attr.h"
#include "tests/proto/wire.h"

static char letters[20000];

/* So many letters. */
static const char *text(size_t len)
{
	memset(letters, 'a', sizeof(letters));
	letters[len] = '\0';
	return letters;
}

/* "": accepted. */
static void expect(const struct chi_request *request, int status, const char *field)
{
	_cleanup_(chi_arena_deinit) struct chi_arena arena;
	struct chi_request again;
	const char *found = NULL;
	chi_arena_init(&arena, WIRE_LIMIT);
	assert_int_equal(wire_request(request, &arena, &again, &found), status);
	assert_string_equal(found, field);
}

static void lists_of_names(void **state)
{
	(void)state;
	struct chi_request request = {.id = 1, .op = CHI_OP_NAMES};
	struct chi_names_spec spec = {.kind = CHI_NAME_PLAYER, .wanted = text(CHI_NAME_WANTED_MAX)};
	request.body = &spec;
	expect(&request, CHI_OK, "");
	spec.wanted = text(CHI_NAME_WANTED_MAX + 1);
	expect(&request, -CHI_ETOOBIG, "names.wanted");
	spec = (struct chi_names_spec){.kind = CHI_NAME_KINDS};
	expect(&request, -CHI_EINVAL, "names.kind");
}

static void changes(void **state)
{
	(void)state;
	struct chi_name_change *list = test_calloc(CHI_NAME_CHANGES_MAX + 1, sizeof(*list));
	for (size_t i = 0; i <= CHI_NAME_CHANGES_MAX; i++) {
		list[i] = (struct chi_name_change){.action = CHI_NAME_PART, .name = "a"};
	}
	struct chi_request request = {.id = 1, .op = CHI_OP_CHANGE_NAMES};
	request.u.change_names.changes = list;
	for (size_t n = CHI_NAME_CHANGES_MAX - 1; n <= CHI_NAME_CHANGES_MAX; n++) {
		request.u.change_names.n = n;
		expect(&request, CHI_OK, "");
	}
	request.u.change_names.n++;
	expect(&request, -CHI_ETOOBIG, "change_names.changes[10000]");
	request.u.change_names.n = 2;
	list[1].name = text(CHI_NAME_TEXT_MAX);
	list[1].to = letters;
	expect(&request, CHI_OK, "");
	text(CHI_NAME_TEXT_MAX + 1);
	expect(&request, -CHI_ETOOBIG, "change_names.changes[1].name");
	list[1].name = "b";
	expect(&request, -CHI_ETOOBIG, "change_names.changes[1].to");
	list[1].to = "\xff";
	expect(&request, -CHI_EINVAL, "change_names.changes[1].to");
	list[1].to = NULL;
	list[1].action = CHI_NAME_FIDE + 1;
	expect(&request, -CHI_EINVAL, "change_names.changes[1].action");
	list[1].action = CHI_NAME_PART;
	request.idempotency_key.sequence = request.idempotency_key.unanswered = 1;
	expect(&request, CHI_OK, "");
	test_free(list);
}

static void names_of_gamesets(void **state)
{
	(void)state;
	static const struct {
		enum chi_op op;
		const char *field;
	} ops[] = {
		{CHI_OP_MAKE_GAMESET, "make_gameset.name"},
		{CHI_OP_DROP_GAMESET, "drop_gameset.name"},
	};
	for (size_t i = 0; i < CHI_COUNT(ops); i++) {
		struct chi_request request = {.id = 1, .op = ops[i].op};
		request.u.gameset.name = text(CHI_GAMESET_TEXT_MAX);
		expect(&request, CHI_OK, "");
		text(CHI_GAMESET_TEXT_MAX + 1);
		expect(&request, -CHI_ETOOBIG, ops[i].field);
		request.idempotency_key.sequence = request.idempotency_key.unanswered = 1;
		request.u.gameset.name = "a";
		expect(&request, CHI_OK, "");
	}
	struct chi_request request = {.id = 1, .op = CHI_OP_MAKE_GAMESET};
	request.u.gameset.filter = text(CHI_FILTER_MAX);
	expect(&request, CHI_OK, "");
	text(CHI_FILTER_MAX + 1);
	expect(&request, -CHI_ETOOBIG, "make_gameset.filter");
}

static void patterns(void **state)
{
	(void)state;
	struct chi_request request = {.id = 1, .op = CHI_OP_FIND};
	request.u.find.pattern = text(CHI_FILTER_MAX);
	request.u.find.filter = letters;
	expect(&request, CHI_OK, "");
	text(CHI_FILTER_MAX + 1);
	expect(&request, -CHI_ETOOBIG, "find.pattern");
	request.u.find.pattern = "";
	expect(&request, -CHI_ETOOBIG, "find.filter");
	request.u.find.filter = "";
	request.u.find.cursor = text(CHI_SEARCH_CURSOR_SIZE - 1);
	request.u.find.window = CHI_WINDOW_MAX;
	expect(&request, CHI_OK, "");
	text(CHI_SEARCH_CURSOR_SIZE);
	expect(&request, -CHI_ETOOBIG, "find.cursor");
	request.u.find.cursor = "";
	request.u.find.window++;
	expect(&request, -CHI_EINVAL, "find.window");
	request.u.find.window = 0;
	request.u.find.want = CHI_GAMES_PGN;
	expect(&request, CHI_OK, "");
	request.u.find.want++;
	expect(&request, -CHI_EINVAL, "find.want");
}

/* Of scans, counts and twins. */
static void filters_of_games(void **state)
{
	static const enum chi_op ops[] = {CHI_OP_SCAN, CHI_OP_COUNT};
	static const char *const fields[] = {"scan.games", "count.games"};
	struct chi_request twins = {.id = 1, .op = CHI_OP_TWINS};
	(void)state;
	struct chi_twin_spec spec = {.filter = text(CHI_FILTER_MAX)};
	twins.body = &spec;
	twins.window = CHI_WINDOW_MAX;
	expect(&twins, CHI_OK, "");
	text(CHI_FILTER_MAX + 1);
	expect(&twins, -CHI_ETOOBIG, "twins.filter");
	spec.filter = "";
	twins.window++;
	expect(&twins, -CHI_EINVAL, "window");
	for (size_t i = 0; i < CHI_COUNT(ops); i++) {
		struct chi_request request = {.id = 1, .op = ops[i]};
		request.u.scan.spec.games = text(CHI_FILTER_MAX);
		expect(&request, CHI_OK, "");
		text(CHI_FILTER_MAX + 1);
		expect(&request, -CHI_ETOOBIG, fields[i]);
		request.u.scan.spec.games = "\xff";
		expect(&request, -CHI_EINVAL, fields[i]);
	}
}

/* Packs and unpacks an answer. */
static int answer(const struct chi_response *response)
{
	_cleanup_(chi_arena_deinit) struct chi_arena arena;
	_cleanup_(chi_buffer_deinit) struct chi_buffer wire;
	struct chi_response again;
	struct chi_fault fault = {""};
	size_t len = 0;
	chi_arena_init(&arena, WIRE_LIMIT);
	chi_buffer_init(&wire, WIRE_LIMIT);
	assert_int_equal(chi_response_pack(response, &wire), CHI_OK);
	const uint8_t *body = wire_body(&wire, &len);
	return chi_response_unpack(body, len, &arena, &again, &fault);
}

static void answers(void **state)
{
	(void)state;
	struct chi_name_row *names = test_calloc(CHI_NAMES_MAX + 1, sizeof(*names));
	struct chi_name_refusal *refused = test_calloc(CHI_NAME_CHANGES_MAX + 1, sizeof(*refused));
	for (size_t i = 0; i <= CHI_NAMES_MAX; i++) {
		names[i].text = refused[i].reason = "a";
	}
	struct chi_game_row *games = test_calloc(CHI_SCAN_ROWS_MAX + 1, sizeof(*games));
	static const uint32_t numbers[] = {1, 2};
	struct chi_twin_group *groups = test_calloc(CHI_TWINS_MAX + 1, sizeof(*groups));
	for (size_t i = 0; i <= CHI_TWINS_MAX; i++) {
		groups[i] = (struct chi_twin_group){numbers, 2};
	}
	for (size_t i = 0; i <= CHI_SCAN_ROWS_MAX; i++) {
		games[i].head.number = 1;
	}
	for (int over = 0; over < 2; over++) {
		int status = over == 0 ? CHI_OK : -CHI_EPROTO;
		struct chi_response response = {.id = 1, .op = CHI_OP_NAMES};
		struct chi_names list = {.rows = names, .n = (size_t)(CHI_NAMES_MAX + over)};
		response.body = &list;
		assert_int_equal(answer(&response), status);
		list.n = 1;
		names[0].text = text((size_t)(CHI_NAME_TEXT_MAX + over));
		assert_int_equal(answer(&response), status);
		names[0].text = "a";
		response = (struct chi_response){.id = 1, .op = CHI_OP_CHANGE_NAMES};
		response.u.change_names.refused = refused;
		response.u.change_names.n_refused = (size_t)(CHI_NAME_CHANGES_MAX + over);
		assert_int_equal(answer(&response), status);
		response.u.change_names.n_refused = 1;
		refused[0].reason = text((size_t)(CHI_REFUSAL_TEXT_MAX + over));
		assert_int_equal(answer(&response), status);
		refused[0].reason = "a";
		response = (struct chi_response){.id = 1, .op = CHI_OP_FIND};
		response.u.find.thousandths = (uint16_t)(CHI_FIND_THOUSANDTHS + over);
		assert_int_equal(answer(&response), status);
		response = (struct chi_response){.id = 1, .op = CHI_OP_FIND};
		response.u.find.games = games;
		response.u.find.n_games = (size_t)(CHI_SCAN_ROWS_MAX + over);
		assert_int_equal(answer(&response), status);
		response = (struct chi_response){.id = 1, .op = CHI_OP_TWINS};
		const struct chi_twin_groups twins = {.groups = groups,
						      .n = (size_t)(CHI_TWINS_MAX + over)};
		response.body = &twins;
		assert_int_equal(answer(&response), status);
	}
	test_free(games);
	test_free(groups);
	test_free(names);
	test_free(refused);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_of_names),    cmocka_unit_test(changes),
		cmocka_unit_test(names_of_gamesets), cmocka_unit_test(patterns),
		cmocka_unit_test(filters_of_games),  cmocka_unit_test(answers),
	};
	return cmocka_run_group_tests_name("limits of searches", tests, NULL, NULL);
}
