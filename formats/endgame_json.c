/* SPDX-License-Identifier: MIT */
/* The texts are those of chess/endgame, plain ASCII without quotation marks. */
#include "formats/endgame_json.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/attr.h"
#include "chess/bitboard.h"
#include "chess/endgame/endgame.h"

struct json_text {
	char *out;
	size_t len;
};

CHI_PRINTF(2, 3) static void put_json(struct json_text *text, const char *format, ...)
{
	size_t room = CHI_ENDGAME_JSON_SIZE - text->len;
	va_list args;
	va_start(args, format);
	int n = vsnprintf(text->out + text->len, room, format, args);
	va_end(args);
	text->len += (size_t)n < room ? (size_t)n : room - 1;
}

static void put_known(struct json_text *text, const struct chi_endgame *endgame)
{
	static const char *const results[] = {"null", "\"white\"", "\"black\"", "\"draw\"",
					      "\"draw\""};
	bool has_note = endgame->note != NULL;
	put_json(text, ",\"result\":%s,\"certain\":%s,\"note\":%s%s%s", results[endgame->result],
		 endgame->certain ? "true" : "false", has_note ? "\"" : "",
		 has_note ? endgame->note : "null", has_note ? "\"" : "");
	if (!endgame->has_figures) {
		put_json(text, ",\"figures\":null}");
		return;
	}
	put_json(text,
		 ",\"figures\":{\"won\":%d.%d,\"drawn\":%d.%d,\"lost\":%d.%d,\"longest\":%d}}",
		 endgame->won / 10, endgame->won % 10, endgame->drawn / 10, endgame->drawn % 10,
		 endgame->lost / 10, endgame->lost % 10, (int)endgame->longest);
}

size_t chi_endgame_json(const struct chi_key *key, char out[CHI_ENDGAME_JSON_SIZE])
{
	struct chi_endgame endgame;
	struct json_text text = {out, 0};
	chi_endgame_classify(key, &endgame);
	if (endgame.family == CHI_ENDGAME_NONE) {
		put_json(&text, "null");
		return text.len;
	}
	put_json(&text, "{\"family\":\"%s\",\"signature\":\"%s\",\"name\":\"%s\",\"first\":\"%s\"",
		 chi_endgame_family_name(endgame.family), endgame.signature, endgame.name,
		 endgame.first == CHI_WHITE ? "white" : "black");
	put_known(&text, &endgame);
	return text.len;
}
