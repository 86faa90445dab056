/* SPDX-License-Identifier: MIT */
/* The table of operations. */
#include "ops/op.h"

#include <string.h>

#include "base/attr.h"
#include "base/fault.h"
#include "ops/change.h"
#include "ops/queries.h"
#include "proto/msg.h"

#define READ	CHI_ROLE_READ
#define WRITE	CHI_ROLE_WRITE
#define ADMIN	CHI_ROLE_ADMIN
#define STORE	CHI_NEEDS_STORE
#define CHANGE	(CHI_NEEDS_STORE | CHI_NEEDS_WRITABLE | CHI_STAYS)
#define ARCHIVE (CHI_NEEDS_STORE | CHI_NEEDS_ARCHIVE | CHI_NEEDS_DIRECTORY)
#define STAYS	CHI_STAYS
#define FEEDING (CHI_WHEN_FULL | CHI_IS_SILENT | CHI_FEEDS)

static bool has_text(const char *text)
{
	return text != NULL && text[0] != '\0';
}

static bool scan_is_of_games(const struct chi_request *request)
{
	return has_text(((const struct chi_scan_request *)request->body)->spec.games);
}

/* A page without rows need not say of which kind. */
static bool scan_fits(const void *request, const void *result)
{
	const struct chi_scan_page *page = result;
	return page->n == 0 || page->want == ((const struct chi_scan_request *)request)->spec.want;
}

static bool explore_is_of_games(const struct chi_request *request)
{
	return has_text(((const struct chi_explore_request *)request->body)->filter);
}

/* The later kinds count positions. */
static bool stats_are_of_games(const struct chi_request *request)
{
	return ((const struct chi_stats_spec *)request->body)->by < CHI_STATS_PIECES;
}

/* A mix-up on either side shows here and not in a wrong evaluation. The keys of FENs are not known.
 */
static bool get_fits(const void *request, const void *result)
{
	const struct chi_positions *asked = request;
	const struct chi_got *got = result;
	size_t i = 0;
	while (i < got->n && i < asked->n &&
	       (asked->keys[i].len == 0 ||
		memcmp(&got->entries[i].key, &asked->keys[i], sizeof(asked->keys[i])) == 0)) {
		i++;
	}
	return i == got->n && i == asked->n;
}

/* A server may send more than it was asked for. */
static bool game_ids_fit(const void *request, const void *result)
{
	uint32_t limit = ((const struct chi_game_ids_request *)request)->limit;
	return limit == 0 || ((const struct chi_game_id_list *)result)->n <= limit;
}

/* A server may leave the key of what is not stored out. */
static bool explore_fits(const void *request, const void *result)
{
	const struct chi_explore_request *asked = request;
	const struct chi_key *told = &((const struct chi_explored *)result)->position.key;
	return told->len == 0 || asked->fen != NULL ||
	       memcmp(told, &asked->key, sizeof(*told)) == 0;
}

static bool game_fits(const void *request, const void *result)
{
	const struct chi_game_request *asked = request;
	const struct chi_game_found *found = result;
	return !found->found ||
	       (found->row.head.number == asked->number && found->whole == asked->whole);
}

/* Those that are not there are left out. */
static bool heads_fit(const void *request, const void *result)
{
	const struct chi_heads_request *asked = request;
	const struct chi_heads *found = result;
	size_t at = 0;
	for (size_t i = 0; i < asked->n && at < found->n; i++) {
		at += found->rows[at].head.number == asked->numbers[i];
	}
	return at == found->n;
}

static bool names_fit(const void *request, const void *result)
{
	const struct chi_names_spec *asked = request;
	const struct chi_names *found = result;
	uint32_t last = asked->after;
	size_t i = 0;
	while (i < found->n && found->rows[i].id > last) {
		last = found->rows[i++].id;
	}
	return i == found->n;
}

static bool gamesets_fit(const void *request, const void *result)
{
	const struct chi_gamesets_spec *asked = request;
	const struct chi_gamesets *found = result;
	return !has_text(asked->name) || found->n == 0 ||
	       (found->n == 1 && strcmp(found->rows[0].name, asked->name) == 0);
}

/* In the order of their first games. */
static bool twins_fit(const void *request, const void *result)
{
	const struct chi_twin_groups *found = result;
	size_t i = 1;
	(void)request;
	while (i < found->n && found->groups[i - 1].games[0] < found->groups[i].games[0]) {
		i++;
	}
	return i >= found->n;
}

static bool refusals_fit(const void *request, const void *result)
{
	const struct chi_change_names_request *asked = request;
	const struct chi_names_done *done = result;
	bool good = true;
	for (size_t i = 0; good && i < done->n_refused; i++) {
		good = done->refused[i].entry < asked->n;
	}
	return good;
}

static const struct chi_op_row rows[CHI_OP_COUNT_OF_OPS] = {
	[CHI_OP_UNKNOWN] = {CHI_ROLE_NONE, CHI_KIND_OTHER, CHI_CLASS_SESSION, .flags = 0},
	[CHI_OP_HELLO] = {READ, CHI_KIND_OTHER, CHI_CLASS_SESSION, .flags = CHI_WHEN_FULL},
	[CHI_OP_PING] = {READ, CHI_KIND_OTHER, CHI_CLASS_SESSION, .flags = 0},
	[CHI_OP_INFO] = {READ, CHI_KIND_ANSWER, CHI_CLASS_SESSION, .flags = STORE,
			 .answer = chi_answer_info},
	/* A server reads the disk beside its workers, which this would hold up. */
	[CHI_OP_CHECK_DISK] = {READ, CHI_KIND_OTHER, CHI_CLASS_STORE, .flags = STORE | STAYS,
			       .answer = chi_answer_check_disk},
	[CHI_OP_PROBE] = {READ, CHI_KIND_ANSWER, CHI_CLASS_PROBE, .flags = STORE,
			  .answer = chi_answer_probe},
	[CHI_OP_GET] = {READ, CHI_KIND_ANSWER, CHI_CLASS_GET, .flags = STORE,
			.answer = chi_answer_get, .fits = get_fits},
	[CHI_OP_PUT] = {WRITE, CHI_KIND_WRITE, CHI_CLASS_WRITE, .flags = CHANGE,
			.change = &chi_put_ops},
	[CHI_OP_DELETE] = {WRITE, CHI_KIND_WRITE, CHI_CLASS_WRITE, .flags = CHANGE | CHI_IS_LOGGED,
			   .change = &chi_delete_ops},
	[CHI_OP_SCAN] = {READ, CHI_KIND_QUERY, CHI_CLASS_SCAN,
			 .flags = STORE | STAYS | CHI_NEEDS_ARCHIVE, &chi_scan_ops,
			 .fits = scan_fits, .of_games = scan_is_of_games},
	[CHI_OP_COUNT] = {READ, CHI_KIND_QUERY, CHI_CLASS_SCAN,
			  .flags = STORE | STAYS | CHI_NEEDS_ARCHIVE | CHI_IS_LONG, &chi_count_ops,
			  .of_games = scan_is_of_games},
	[CHI_OP_CREDIT] = {READ, CHI_KIND_OTHER, CHI_CLASS_SESSION,
			   .flags = CHI_WHEN_FULL | CHI_IS_SILENT},
	[CHI_OP_CANCEL] = {READ, CHI_KIND_OTHER, CHI_CLASS_SESSION,
			   .flags = CHI_WHEN_FULL | CHI_IS_SILENT},
	[CHI_OP_BACKUP] = {ADMIN, CHI_KIND_BYTES, CHI_CLASS_STORE,
			   .flags = STORE | STAYS | CHI_IS_LOGGED | CHI_NEEDS_DIRECTORY,
			   .whole = chi_whole_backup,
			   .instead = "take a snapshot of the pool, or a dump"},
	[CHI_OP_VERIFY] = {ADMIN, CHI_KIND_BYTES, CHI_CLASS_STORE,
			   .flags = STORE | STAYS | CHI_IS_LOGGED, .whole = chi_whole_verify},
	[CHI_OP_COMPACT] = {ADMIN, CHI_KIND_OTHER, CHI_CLASS_STORE,
			    .flags = CHANGE | CHI_IS_LOGGED | CHI_IS_LONG | CHI_NEEDS_DIRECTORY,
			    .whole = chi_whole_compact, .instead = "the cluster does it by itself"},
	[CHI_OP_RESCORE] = {ADMIN, CHI_KIND_WRITE, CHI_CLASS_STORE,
			    .flags = CHANGE | CHI_IS_LOGGED | CHI_IS_LONG,
			    .change = &chi_rescore_ops},
	[CHI_OP_EXPLORE] = {READ, CHI_KIND_QUERY, CHI_CLASS_GET, .flags = STORE | CHI_NEEDS_ARCHIVE,
			    &chi_explore_ops, chi_answer_explore, .fits = explore_fits,
			    .of_games = explore_is_of_games},
	[CHI_OP_IMPORT] = {WRITE, CHI_KIND_OTHER, CHI_CLASS_IMPORT, .flags = CHANGE},
	[CHI_OP_IMPORT_DATA] = {WRITE, CHI_KIND_OTHER, CHI_CLASS_IMPORT, .flags = FEEDING},
	[CHI_OP_IMPORT_END] = {WRITE, CHI_KIND_OTHER, CHI_CLASS_IMPORT, .flags = FEEDING},
	[CHI_OP_GAME_IDS] = {READ, CHI_KIND_ANSWER, CHI_CLASS_SESSION, .flags = STORE,
			     .answer = chi_answer_game_ids, .fits = game_ids_fit},
	[CHI_OP_OUTCOME] = {WRITE, CHI_KIND_OTHER, CHI_CLASS_SESSION, .flags = CHANGE},
	[CHI_OP_GAME_QUERY] = {READ, CHI_KIND_QUERY, CHI_CLASS_SCAN, .flags = ARCHIVE | STAYS,
			       &chi_games_query},
	[CHI_OP_GET_GAME] = {READ, CHI_KIND_ANSWER, CHI_CLASS_GET, .flags = ARCHIVE,
			     .answer = chi_answer_game, .fits = game_fits},
	[CHI_OP_GET_HEADS] = {READ, CHI_KIND_ANSWER, CHI_CLASS_GET, .flags = ARCHIVE,
			      .answer = chi_answer_heads, .fits = heads_fit},
	[CHI_OP_STATS] = {READ, CHI_KIND_QUERY, CHI_CLASS_SCAN, .flags = ARCHIVE | STAYS,
			  &chi_stats_query, .of_games = stats_are_of_games},
	[CHI_OP_NAMES] = {READ, CHI_KIND_QUERY, CHI_CLASS_SCAN, .flags = ARCHIVE | STAYS,
			  &chi_names_ops, .fits = names_fit},
	[CHI_OP_SUSPECTS] = {READ, CHI_KIND_QUERY, CHI_CLASS_SCAN, .flags = ARCHIVE | STAYS,
			     &chi_suspects_ops},
	[CHI_OP_CHANGE_NAMES] = {WRITE, CHI_KIND_WRITE, CHI_CLASS_WRITE,
				 .flags = ARCHIVE | CHANGE | CHI_IS_LONG,
				 .change = &chi_change_names_ops, .fits = refusals_fit},
	[CHI_OP_GAMESETS] = {READ, CHI_KIND_QUERY, CHI_CLASS_GET, .flags = ARCHIVE | STAYS,
			     &chi_gamesets_ops, .fits = gamesets_fit},
	[CHI_OP_MAKE_GAMESET] = {WRITE, CHI_KIND_WRITE, CHI_CLASS_WRITE, .flags = ARCHIVE | CHANGE,
				 .change = &chi_make_gameset_ops},
	[CHI_OP_DROP_GAMESET] = {WRITE, CHI_KIND_WRITE, CHI_CLASS_WRITE, .flags = ARCHIVE | CHANGE,
				 .change = &chi_drop_gameset_ops},
	[CHI_OP_QUEUE_ADD] = {WRITE, CHI_KIND_WRITE, CHI_CLASS_WRITE,
			      .flags = CHANGE | CHI_NEEDS_DIRECTORY, .change = &chi_queue_add_ops},
	[CHI_OP_QUEUE_TAKE] = {WRITE, CHI_KIND_WRITE, CHI_CLASS_WRITE,
			       .flags = CHANGE | CHI_NEEDS_DIRECTORY,
			       .change = &chi_queue_take_ops},
	[CHI_OP_QUEUE_SETTLE] = {WRITE, CHI_KIND_WRITE, CHI_CLASS_WRITE,
				 .flags = CHANGE | CHI_NEEDS_DIRECTORY,
				 .change = &chi_queue_settle_ops},
	[CHI_OP_QUEUE_LIST] = {READ, CHI_KIND_ANSWER, CHI_CLASS_GET,
			       .flags = STORE | CHI_NEEDS_DIRECTORY,
			       .answer = chi_answer_queue_list},
	[CHI_OP_TWINS] = {READ, CHI_KIND_QUERY, CHI_CLASS_SCAN, .flags = ARCHIVE | STAYS,
			  &chi_twins_query, .fits = twins_fit},
	[CHI_OP_INSIGHT] = {READ, CHI_KIND_QUERY, CHI_CLASS_SCAN, .flags = ARCHIVE | STAYS,
			    &chi_insight_query},
};

const struct chi_op_row *chi_op_row_of(enum chi_op op)
{
	unsigned index = (unsigned)op;
	return &rows[index < CHI_COUNT(rows) ? index : CHI_OP_UNKNOWN];
}

/* Of those whose names in the protocol are not words of the command line or the library. */
static const char *const labels[CHI_OP_COUNT_OF_OPS] = {
	[CHI_OP_CHECK_DISK] = "reading the disk",
	[CHI_OP_IMPORT] = "import",
	[CHI_OP_IMPORT_DATA] = "import",
	[CHI_OP_IMPORT_END] = "import",
	[CHI_OP_GAME_IDS] = "identities of games",
	[CHI_OP_GAME_QUERY] = "lists of games",
	[CHI_OP_GET_GAME] = "games by number",
	[CHI_OP_GET_HEADS] = "heads of games",
	[CHI_OP_CHANGE_NAMES] = "joining names",
	[CHI_OP_MAKE_GAMESET] = "making gamesets",
	[CHI_OP_DROP_GAMESET] = "dropping gamesets",
	[CHI_OP_QUEUE_ADD] = "adding to the queue",
	[CHI_OP_QUEUE_TAKE] = "taking from the queue",
	[CHI_OP_QUEUE_SETTLE] = "changing the queue",
	[CHI_OP_QUEUE_LIST] = "listing the queue",
};

const char *chi_op_label(enum chi_op op)
{
	const char *label = (unsigned)op < CHI_COUNT(labels) ? labels[op] : NULL;
	return label != NULL ? label : chi_op_name(op);
}

bool chi_op_is_query(const struct chi_request *request)
{
	const struct chi_op_row *row = chi_op_row_of(request->op);
	return row->query != NULL && (row->answer == NULL || row->of_games(request));
}

const struct chi_query_ops *chi_query_ops_of(enum chi_op op)
{
	return chi_op_row_of(op)->query;
}

int chi_op_check(const struct chi_request *request, enum chi_holding holding,
		 struct chi_fault *fault)
{
	const struct chi_op_row *row = chi_op_row_of(request->op);
	bool of_games = (row->flags & CHI_NEEDS_ARCHIVE) != 0 &&
			(row->of_games == NULL || row->of_games(request));
	bool of_directory = (row->flags & CHI_NEEDS_DIRECTORY) != 0;
	const char *name = chi_op_label(request->op);
	if (holding == CHI_HOLDS_ON_RADOS && (of_games || of_directory)) {
		return chi_fail(fault, -CHI_EUNSUPPORTED, "not on RADOS: %s%s%s%s", name,
				of_games && !of_directory ? " by games" : "",
				row->instead != NULL ? "; " : "",
				row->instead != NULL ? row->instead : "");
	}
	if (holding == CHI_HOLDS_COUNTS && of_games) {
		return chi_fail(fault, -CHI_EUNSUPPORTED,
				"the store keeps no games, only their counts (init --games none): "
				"no %s%s",
				name, row->of_games != NULL ? " by games" : "");
	}
	return CHI_OK;
}
