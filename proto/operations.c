/* SPDX-License-Identifier: MIT */
/* The table of operations. */
#include "proto/operations.h"

#include "base/attr.h"

#define OUTCOME_AT offsetof(struct chi_response, u.outcome)

static const struct chi_operation operations[CHI_OP_COUNT_OF_OPS] = {
	[CHI_OP_UNKNOWN] = {"unknown", &chi_empty_message, NULL, true, 0, 0, 0},
	[CHI_OP_HELLO] = {"hello", &chi_hello_request, &chi_hello_result, false, 0, 0, 0},
	[CHI_OP_PING] = {"ping", &chi_empty_message, NULL, false, 0, 0, 0},
	[CHI_OP_INFO] = {"info", &chi_empty_message, &chi_info_result, false, 0, 0,
			 sizeof(struct chi_info)},
	[CHI_OP_PROBE] = {"probe", &chi_positions_request, &chi_probe_result, false, 0, 0, 0},
	[CHI_OP_GET] = {"get", &chi_positions_request, &chi_get_result, false, 0, 0, 0},
	[CHI_OP_PUT] = {"put", &chi_put_request, &chi_put_counts_message, true,
			offsetof(struct chi_response, u.outcome.put), 0, 0},
	[CHI_OP_DELETE] = {"delete", &chi_delete_request, &chi_delete_result, true, OUTCOME_AT, 0,
			   0},
	[CHI_OP_SCAN] = {"scan", &chi_scan_request, &chi_scan_result, false, 0,
			 sizeof(struct chi_scan_request), sizeof(struct chi_scan_page)},
	[CHI_OP_COUNT] = {"count", &chi_count_request, &chi_count_result, false, 0,
			  sizeof(struct chi_scan_request), sizeof(struct chi_counted)},
	[CHI_OP_CREDIT] = {"credit", &chi_credit_request, NULL, false, 0, 0, 0},
	[CHI_OP_CANCEL] = {"cancel", &chi_empty_message, NULL, false, 0, 0, 0},
	[CHI_OP_BACKUP] = {"backup", &chi_backup_request, &chi_backup_result, false, 0, 0, 0},
	[CHI_OP_VERIFY] = {"verify", &chi_empty_message, &chi_verify_result, false, 0, 0, 0},
	[CHI_OP_COMPACT] = {"compact", &chi_empty_message, &chi_compact_result, false, OUTCOME_AT,
			    0, 0},
	[CHI_OP_RESCORE] = {"rescore", &chi_rescore_request, &chi_rescore_result, false, OUTCOME_AT,
			    0, 0},
	[CHI_OP_EXPLORE] = {"explore", &chi_explore_request, &chi_explore_result, false, 0,
			    sizeof(struct chi_explore_request), sizeof(struct chi_explore)},
	[CHI_OP_IMPORT] = {"import_games", &chi_import_request, &chi_import_result, false, 0, 0, 0},
	[CHI_OP_IMPORT_DATA] = {"import_data", &chi_import_data_request, NULL, false, 0, 0, 0},
	[CHI_OP_IMPORT_END] = {"import_end", &chi_empty_message, NULL, true, 0, 0, 0},
	[CHI_OP_GAME_IDS] = {"games", &chi_game_ids_request, &chi_game_ids_result, false, 0,
			     sizeof(struct chi_game_ids_request), sizeof(struct chi_game_ids)},
	[CHI_OP_OUTCOME] = {"outcome", &chi_empty_message, &chi_outcome_result, true, OUTCOME_AT, 0,
			    0},
	[CHI_OP_GAME_QUERY] = {"game_query", &chi_game_query_request, &chi_game_query_result, false,
			       0, sizeof(struct chi_game_spec), sizeof(struct chi_games_page)},
	[CHI_OP_GET_GAME] = {"get_game", &chi_get_game_request, &chi_get_game_result, false, 0,
			     sizeof(struct chi_game_request), sizeof(struct chi_game_found)},
	[CHI_OP_STATS] = {"stats", &chi_stats_request, &chi_stats_result_message, false, 0,
			  sizeof(struct chi_stats_spec), sizeof(struct chi_stats_result)},
	[CHI_OP_NAMES] = {"names", &chi_names_request, &chi_names_result, false, 0,
			  sizeof(struct chi_names_spec), sizeof(struct chi_names)},
	[CHI_OP_SUSPECTS] = {"suspects", &chi_suspects_request, &chi_suspects_result, false, 0,
			     sizeof(struct chi_suspects_spec), sizeof(struct chi_suspect_groups)},
	[CHI_OP_CHANGE_NAMES] = {"change_names", &chi_change_names_request,
				 &chi_change_names_result, true,
				 offsetof(struct chi_response, u.change_names), 0, 0},
	[CHI_OP_GAMESETS] = {"gamesets", &chi_gamesets_request, &chi_gamesets_result, false, 0,
			     sizeof(struct chi_gamesets_spec), sizeof(struct chi_gamesets)},
	[CHI_OP_MAKE_GAMESET] = {"make_gameset", &chi_make_gameset_request,
				 &chi_make_gameset_result, true, OUTCOME_AT, 0, 0},
	[CHI_OP_DROP_GAMESET] = {"drop_gameset", &chi_drop_gameset_request,
				 &chi_drop_gameset_result, true, OUTCOME_AT, 0, 0},
	[CHI_OP_FIND] = {"find", &chi_find_request, &chi_find_result, false, 0, 0, 0},
	[CHI_OP_QUEUE_ADD] = {"queue_add", &chi_queue_add_request, &chi_queue_add_result, true,
			      OUTCOME_AT, 0, 0},
	[CHI_OP_QUEUE_TAKE] = {"queue_take", &chi_queue_take_request, &chi_queue_take_result, true,
			       offsetof(struct chi_response, u.queue_take), 0, 0},
	[CHI_OP_QUEUE_SETTLE] = {"queue_settle", &chi_queue_settle_request,
				 &chi_queue_settle_result, true, OUTCOME_AT, 0, 0},
	[CHI_OP_QUEUE_LIST] = {"queue_list", &chi_queue_list_request, &chi_queue_list_result, false,
			       0, sizeof(struct chi_queue_list_request),
			       sizeof(struct chi_queue_list)},
	[CHI_OP_GET_HEADS] = {"get_heads", &chi_get_heads_request, &chi_get_heads_result, false, 0,
			      sizeof(struct chi_heads_request), sizeof(struct chi_heads)},
	[CHI_OP_TWINS] = {"twins", &chi_twins_request, &chi_twins_result, false, 0,
			  sizeof(struct chi_twin_spec), sizeof(struct chi_twin_groups)},
};

const struct chi_operation *chi_operation_of(enum chi_op op)
{
	unsigned index = (unsigned)op;
	return &operations[index < CHI_COUNT(operations) ? index : CHI_OP_UNKNOWN];
}
