/* SPDX-License-Identifier: MIT */
/* Lines of lichess.org's evaluations: what is taken of them, and what is refused with which words.
 */
#include "tests/cli/evals_line.h"

#include "chess/key.h"
#include "formats/evals/lichess.h"

#define START	   "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -"
#define BLACK	   "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq -"
#define EVALS(x)   "{\"fen\":\"" START "\",\"evals\":[" x "]}"
#define ONE(pvs)   EVALS("{\"pvs\":[" pvs "],\"knodes\":1,\"depth\":2}")
#define CASTLES	   "r3k2r/8/8/8/8/8/8/R3K2R w KQkq -"
#define MOVE(f, t) ((chi_move)((f) << 6 | (t)))

static int read_bytes(const char *line, size_t len, struct chi_put_entry *put,
		      struct chi_fault *fault)
{
	return evals_read(chi_lichess_read, "sf", line, len, put, fault);
}

static void accept(const char *line, struct chi_put_entry *put)
{
	struct chi_fault fault;
	int status = read_bytes(line, strlen(line), put, &fault);
	if (status != CHI_OK) {
		fail_msg("'%s': %d, %s", line, status, fault.text);
	}
}

static void refuse(const char *line, int expected, const char *words)
{
	evals_refuse(chi_lichess_read, &(struct evals_refused){line, expected, words});
}

static void check(const struct chi_eval *eval, uint8_t rank, bool is_mate, int32_t score,
		  size_t n_pv)
{
	assert_int_equal(eval->rank, rank);
	assert_int_equal(eval->is_mate, is_mate);
	assert_int_equal(eval->score, score);
	assert_int_equal(eval->n_pv, n_pv);
	assert_int_equal(eval->engine_len, 2);
	assert_memory_equal(eval->engine, "sf", 2);
}

/* The deepest; of equal depth that with more lines, then that with more nodes. */
CASE(best_search)
{
	static const char deep[] =
		"{\"pvs\":[{\"cp\":1,\"line\":\"e2e4 e7e5\"}],\"knodes\":7,\"depth\":40}";
	static const char wide[] =
		"{\"pvs\":[{\"cp\":30,\"line\":\"d2d4\"},{\"mate\":-2,\"line\":\"f2f3\"}],"
		"\"knodes\":5,\"depth\":40}";
	static const char more[] =
		"{\"pvs\":[{\"cp\":2,\"line\":\"c2c4\"}],\"knodes\":9,\"depth\":40}";
	static const char less[] =
		"{\"pvs\":[{\"cp\":3,\"line\":\"\"},{\"cp\":4},{\"cp\":5}],\"knodes\":9,"
		"\"depth\":39}";
	static const struct {
		const char *list[3];
		size_t n;
		int32_t score;
		uint64_t nodes;
	} cases[] = {
		{{deep, less, NULL}, 1, 1, 7000},  {{less, deep, NULL}, 1, 1, 7000},
		{{deep, wide, more}, 2, 30, 5000}, {{wide, more, deep}, 2, 30, 5000},
		{{deep, more, less}, 1, 2, 9000},  {{less, NULL, NULL}, 3, 3, 9000},
	};
	for (size_t i = 0; i < CHI_COUNT(cases); i++) {
		char line[1024] = "{\"fen\":\"" START "\",\"evals\":[";
		struct chi_put_entry put;
		for (size_t k = 0; k < 3 && cases[i].list[k] != NULL; k++) {
			strcat(line, k > 0 ? "," : "");
			strcat(line, cases[i].list[k]);
		}
		accept(strcat(line, "]}"), &put);
		assert_int_equal(put.parts, CHI_PUT_EVALS);
		assert_int_equal(put.record.n_evals, cases[i].n);
		assert_int_equal(put.record.evals[0].score, cases[i].score);
		assert_int_equal(put.record.evals[0].nodes, cases[i].nodes);
	}
}

/* Scores are White's there, the side to move's here; mates, too. Castling in both forms. */
CASE(views)
{
	struct chi_put_entry put;
	accept("{\"fen\":\"" BLACK "\",\"evals\":[{\"pvs\":[{\"cp\":35,\"line\":\"e7e5 g1f3\"},"
	       "{\"mate\":3,\"cp\":9,\"line\":\"f7f6\"},{\"cp\":null,\"mate\":-1,\"line\":\"g7g5\"}"
	       "],"
	       "\"knodes\":1,\"depth\":2}]}",
	       &put);
	check(&put.record.evals[0], 0, false, -35, 2);
	check(&put.record.evals[1], 1, true, -3, 1);
	check(&put.record.evals[2], 2, true, 1, 1);
	accept("{\"fen\":\"" CASTLES "\",\"evals\":[{\"pvs\":[{\"cp\":1,\"line\":\"e1h1 e8a8\"},"
	       "{\"cp\":1,\"line\":\"e1g1 e8c8\"}],\"depth\":2}]}",
	       &put);
	for (size_t i = 0; i < 2; i++) {
		check(&put.record.evals[i], (uint8_t)i, false, 1, 2);
		assert_int_equal(put.record.evals[i].pv[0], MOVE(4, 7));
		assert_int_equal(put.record.evals[i].pv[1], MOVE(60, 56));
	}
}

/* Order of members, white space, unknown members with anything in them, counters in the FEN. */
CASE(other_shapes)
{
	struct chi_put_entry put;
	accept(" { \"evals\" : [ { \"depth\" : 7 , \"x\" : [ {\"pvs\":[1]} , \"a\\\"]}\" , null, "
	       "-1.5e3 ] ,"
	       " \"pvs\" : [ { \"line\" : \"e2e4\" , \"cp\" : -1 } ] } , {\"pvs\":[],\"depth\":99} "
	       "] ,"
	       "\t\"note\":{}, \"fen\" : \"" START " 0 1\" } ",
	       &put);
	check(&put.record.evals[0], 0, false, -1, 1);
	assert_int_equal(put.record.n_evals, 1);
	assert_int_equal(put.record.evals[0].depth, 7);
	assert_int_equal(put.record.evals[0].nodes, 0);
}

CASE(refused)
{
	static const struct evals_refused cases[] = {
		{"x", -CHI_ESYNTAX, "byte 1: no JSON object"},
		{"{}", -CHI_ESYNTAX, "fen: missing"},
		{"{\"fen\":\"" START "\"}", -CHI_ESYNTAX, "evals: missing"},
		{EVALS(""), -CHI_ESYNTAX, "evals: missing, or empty"},
		{EVALS("{\"pvs\":[]}"), -CHI_ESYNTAX, "evals: missing, or empty"},
		{"{\"fen\":\"8/8 w\",\"evals\":[{\"pvs\":[{\"cp\":1}]}]}", -CHI_EFEN, ""},
		{"{\"fen\":5}", -CHI_ESYNTAX, "no text"},
		{EVALS("{\"pvs\":[{\"cp\":1}]}") "{", -CHI_ESYNTAX, "more than one value"},
		{ONE("{\"line\":\"e2e4\"}"), -CHI_ESYNTAX, "neither 'cp' nor 'mate'"},
		{ONE("{\"cp\":null}"), -CHI_ESYNTAX, "neither 'cp' nor 'mate'"},
		{ONE("{\"cp\":1.5}"), -CHI_ESYNTAX, "no whole number"},
		{ONE("{\"cp\":1e3}"), -CHI_ESYNTAX, "no whole number"},
		{ONE("{\"cp\":99999999999999999999}"), -CHI_ESYNTAX, "no whole number"},
		{ONE("{\"cp\":1000001}"), -CHI_ESYNTAX, "cp: 1000001 is not"},
		{ONE("{\"mate\":-10001}"), -CHI_ESYNTAX, "mate: -10001 is not"},
		{ONE("{\"cp\":1,\"line\":\"e2e5\"}"), -CHI_EMOVE, "move 1: 'e2e5' is not"},
		{ONE("{\"cp\":1,\"line\":\"e2e4 e2e4\"}"), -CHI_EMOVE, "move 2: 'e2e4'"},
		{ONE("{\"cp\":1,\"line\":\"e2e4  e7e5\"}"), -CHI_EMOVE, "move 2: ''"},
		{ONE("{\"cp\":1,\"line\":\"e4\"}"), -CHI_EMOVE, "'e4' is not"},
		{EVALS("{\"pvs\":[{\"cp\":1}],\"depth\":65536}"), -CHI_ESYNTAX, "depth: too large"},
		{EVALS("{\"pvs\":[{\"cp\":1}],\"depth\":-1}"), -CHI_ESYNTAX, "no whole number"},
		{EVALS("{\"pvs\":[{\"cp\":1}],\"knodes\":9223372036854775807}"), -CHI_ESYNTAX,
		 "knodes: too large"},
		{EVALS("{\"pvs\":[{\"cp\":1} {\"cp\":2}]}"), -CHI_ESYNTAX, "']' is missing"},
		{EVALS("{\"pvs\":[{\"cp\":1}] \"depth\":2}"), -CHI_ESYNTAX, "'}' is missing"},
		{"{\"a\" 5}", -CHI_ESYNTAX, "':' is missing"},
		{"{\"a\":]}", -CHI_ESYNTAX, "no value"},
		{"{\"a\":[[[[[[", -CHI_ESYNTAX, "no value"},
		{"{\"a\\\":5}", -CHI_ESYNTAX, "does not end"},
	};
	for (size_t i = 0; i < CHI_COUNT(cases); i++) {
		evals_refuse(chi_lichess_read, &cases[i]);
	}
}

/* More lines, and longer ones, than are kept. */
CASE(too_many)
{
	char line[8192] = "{\"fen\":\"" START "\",\"evals\":[{\"pvs\":[{\"cp\":1}";
	for (int i = 0; i < 64; i++) {
		strcat(line, ",{\"cp\":1}");
	}
	refuse(strcat(line, "]}]}"), -CHI_ETOOBIG, "pvs: more than 64");
	strcpy(line, "{\"fen\":\"" START "\",\"evals\":[{\"pvs\":[{\"cp\":1,\"line\":\"");
	for (int i = 0; i < 64; i++) {
		strcat(line, "g1f3 g8f6 f3g1 f6g8 ");
	}
	char *longer = line + strlen(line);
	strcpy(longer, "\"}]}]}");
	struct chi_put_entry put;
	accept(line, &put);
	check(&put.record.evals[0], 0, false, 1, CHI_PV_MAX);
	strcpy(longer, "g1f3\"}]}]}");
	refuse(line, -CHI_ETOOBIG, "more than 256 moves");
}

/* Cut anywhere it is refused, and nothing beyond the cut is read. */
CASE(cut)
{
	static const char line[] =
		ONE("{\"cp\":-5,\"line\":\"e2e4 e7e5\"},{\"mate\":1,\"x\":[{}]}");
	for (size_t len = 1; len < sizeof(line) - 1; len++) {
		struct chi_put_entry put;
		struct chi_fault fault;
		assert_int_equal(read_bytes(line, len, &put, &fault), -CHI_ESYNTAX);
		assert_true(fault.text[0] != '\0');
	}
}

CASE(nothing_there)
{
	evals_nothing_there(chi_lichess_read);
}

CASES_MAIN(arena_setup, arena_teardown)
