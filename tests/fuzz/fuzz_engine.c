/* SPDX-License-Identifier: MIT */
/* Reaches uci/info.h: what an engine says of its search. The first line of the input is the
 * position. What is believed must be legal and pass the checks a store makes of an evaluation. */
#include <string.h>

#include "chess/fen.h"
#include "chess/key.h"
#include "chess/notation.h"
#include "store/store.h"
#include "tests/fuzz/fuzz.h"
#include "uci/info.h"

#define LINE_SIZE 4096

static void check(const struct chi_position *from, const struct chi_uci_info *info)
{
	const struct chi_eval eval = {.engine = "e",
				      .engine_len = 1,
				      .depth = info->depth,
				      .rank = (uint8_t)info->rank,
				      .is_mate = info->is_mate,
				      .score = info->score,
				      .nodes = info->nodes,
				      .pv = info->pv,
				      .n_pv = info->n_pv};
	struct chi_put_entry put = {.parts = CHI_PUT_EVALS,
				    .record = {.evals = &eval, .n_evals = 1}};
	REQUIRE(info->rank <= CHI_RANK_MAX && info->depth > 0 && info->n_pv > 0);
	chi_key_encode(from, &put.key);
	REQUIRE(chi_line_check(from, info->pv, info->n_pv, NULL) == CHI_OK);
	REQUIRE(chi_put_check(&put, CHI_STATISTIC_CONTROL, NULL) == CHI_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct chi_position from = chi_position_initial;
	struct chi_uci_info info;
	char line[LINE_SIZE];
	for (size_t number = 0; size > 0; number++) {
		const uint8_t *end = memchr(data, '\n', size);
		size_t n = end == NULL ? size : (size_t)(end - data);
		size_t len = n < LINE_SIZE - 1 ? n : LINE_SIZE - 1;
		memcpy(line, data, len);
		line[len] = '\0';
		if (number == 0) {
			struct chi_position other;
			from = chi_fen_parse(line, strlen(line), &other, NULL) == CHI_OK ? other
											 : from;
		} else if (chi_uci_info_read(&from, line, &info)) {
			check(&from, &info);
		}
		n += end != NULL;
		data += n;
		size -= n;
	}
	return 0;
}
