/* SPDX-License-Identifier: MIT */
/* Results of other operations inside one. */
#include "proto/outcome.h"

#include "proto/game_ids.h"

/* Everything but an import's. */
struct results {
	PB(OutcomeResult) outcome;
	PB(PutResult) put;
	PB(DeleteResult) delete_;
	PB(RescoreResult) rescore;
	PB(CompactResult) compact;
};

static int import_to(struct chi_arena *arena, const struct chi_response *from,
		     PB(OutcomeResult) * out)
{
	struct chi_response import = {.last = true, .op = CHI_OP_IMPORT};
	import.u.import.result = from->u.outcome.import;
	out->done_case = CHISTORE__V1__OUTCOME_RESULT__DONE_IMPORT_GAMES;
	return chi_import_to(arena, &import, &out->import_games);
}

int chi_outcome_to(struct chi_arena *arena, const struct chi_response *from,
		   PB(OutcomeResult) * *out)
{
	struct results *results = chi_arena_alloc(arena, sizeof(*results));
	if (results == NULL) {
		return -CHI_ENOMEM;
	}
	PB(OutcomeResult) *outcome = *out = &results->outcome;
	chistore__v1__outcome_result__init(outcome);
	outcome->running = from->u.outcome.running;
	switch (from->u.outcome.op) {
	case CHI_OP_PUT:
		chi_put_result_to(&from->u.outcome.put, outcome->put = &results->put);
		outcome->done_case = CHISTORE__V1__OUTCOME_RESULT__DONE_PUT;
		return CHI_OK;
	case CHI_OP_DELETE:
		chistore__v1__delete_result__init(outcome->delete_ = &results->delete_);
		outcome->delete_->deleted = from->u.outcome.deleted;
		outcome->done_case = CHISTORE__V1__OUTCOME_RESULT__DONE_DELETE;
		return CHI_OK;
	case CHI_OP_RESCORE:
		chistore__v1__rescore_result__init(outcome->rescore = &results->rescore);
		outcome->rescore->changed = from->u.outcome.changed;
		outcome->done_case = CHISTORE__V1__OUTCOME_RESULT__DONE_RESCORE;
		return CHI_OK;
	case CHI_OP_COMPACT:
		chistore__v1__compact_result__init(outcome->compact = &results->compact);
		outcome->compact->bytes_before = from->u.outcome.before;
		outcome->compact->bytes_after = from->u.outcome.after;
		outcome->done_case = CHISTORE__V1__OUTCOME_RESULT__DONE_COMPACT;
		return CHI_OK;
	case CHI_OP_IMPORT:
		return import_to(arena, from, outcome);
	default:
		return CHI_OK;
	}
}

static int import_from(struct chi_unpacker *u, const PB(OutcomeResult) * from,
		       struct chi_response *out)
{
	struct chi_response import = {.op = CHI_OP_IMPORT};
	int rc = chi_import_from(u, from->import_games, &import);
	out->u.outcome.op = CHI_OP_IMPORT;
	out->u.outcome.import = import.u.import.result;
	return rc;
}

int chi_outcome_from(struct chi_unpacker *u, const PB(OutcomeResult) * from,
		     struct chi_response *out)
{
	out->u.outcome.running = from->running;
	switch (from->done_case) {
	case CHISTORE__V1__OUTCOME_RESULT__DONE_PUT:
		out->u.outcome.op = CHI_OP_PUT;
		chi_put_result_from(from->put, &out->u.outcome.put);
		return CHI_OK;
	case CHISTORE__V1__OUTCOME_RESULT__DONE_DELETE:
		out->u.outcome.op = CHI_OP_DELETE;
		out->u.outcome.deleted = from->delete_->deleted;
		return CHI_OK;
	case CHISTORE__V1__OUTCOME_RESULT__DONE_RESCORE:
		out->u.outcome.op = CHI_OP_RESCORE;
		out->u.outcome.changed = from->rescore->changed;
		return CHI_OK;
	case CHISTORE__V1__OUTCOME_RESULT__DONE_COMPACT:
		out->u.outcome.op = CHI_OP_COMPACT;
		out->u.outcome.before = from->compact->bytes_before;
		out->u.outcome.after = from->compact->bytes_after;
		return CHI_OK;
	case CHISTORE__V1__OUTCOME_RESULT__DONE_IMPORT_GAMES:
		return import_from(u, from, out);
	default:
		/* A kind of a later version was done, too, but cannot be told of. */
		return CHI_OK;
	}
}
