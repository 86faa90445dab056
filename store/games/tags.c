/* SPDX-License-Identifier: MIT */
/* The table of tags, and what their texts say. */
#include "store/games/tags.h"

#include <string.h>

#include "base/attr.h"
#include "base/num.h"
#include "chess/pgn/speed.h"

static const char *const names[CHI_TAGS] = {
	[CHI_TAG_OTHER] = "",
	[CHI_TAG_EVENT] = "Event",
	[CHI_TAG_SITE] = "Site",
	[CHI_TAG_DATE] = "Date",
	[CHI_TAG_ROUND] = "Round",
	[CHI_TAG_WHITE] = "White",
	[CHI_TAG_BLACK] = "Black",
	[CHI_TAG_WHITE_ELO] = "WhiteElo",
	[CHI_TAG_BLACK_ELO] = "BlackElo",
	[CHI_TAG_ECO] = "ECO",
	[CHI_TAG_WHITE_TITLE] = "WhiteTitle",
	[CHI_TAG_BLACK_TITLE] = "BlackTitle",
	[CHI_TAG_PLY_COUNT] = "PlyCount",
	[CHI_TAG_TIME_CONTROL] = "TimeControl",
	[CHI_TAG_UTC_DATE] = "UTCDate",
	[CHI_TAG_WHITE_FIDE_ID] = "WhiteFideId",
	[CHI_TAG_BLACK_FIDE_ID] = "BlackFideId",
	[CHI_TAG_EVENT_DATE] = "EventDate",
	[CHI_TAG_UTC_TIME] = "UTCTime",
	[CHI_TAG_TERMINATION] = "Termination",
	[CHI_TAG_ANNOTATOR] = "Annotator",
	[CHI_TAG_OPENING] = "Opening",
	[CHI_TAG_VARIATION] = "Variation",
	[CHI_TAG_VARIANT] = "Variant",
	[CHI_TAG_WHITE_TEAM] = "WhiteTeam",
	[CHI_TAG_BLACK_TEAM] = "BlackTeam",
	[CHI_TAG_WHITE_RATING_DIFF] = "WhiteRatingDiff",
	[CHI_TAG_BLACK_RATING_DIFF] = "BlackRatingDiff",
	[CHI_TAG_EVENT_TYPE] = "EventType",
	[CHI_TAG_EVENT_ROUNDS] = "EventRounds",
	[CHI_TAG_EVENT_COUNTRY] = "EventCountry",
	[CHI_TAG_EVENT_CATEGORY] = "EventCategory",
	[CHI_TAG_EVENT_SPONSOR] = "EventSponsor",
	[CHI_TAG_SECTION] = "Section",
	[CHI_TAG_STAGE] = "Stage",
	[CHI_TAG_BOARD] = "Board",
	[CHI_TAG_TIME] = "Time",
	[CHI_TAG_SUB_VARIATION] = "SubVariation",
	[CHI_TAG_NIC] = "NIC",
	[CHI_TAG_MODE] = "Mode",
	[CHI_TAG_WHITE_TYPE] = "WhiteType",
	[CHI_TAG_BLACK_TYPE] = "BlackType",
	[CHI_TAG_WHITE_NA] = "WhiteNA",
	[CHI_TAG_BLACK_NA] = "BlackNA",
	[CHI_TAG_WHITE_USCF] = "WhiteUSCF",
	[CHI_TAG_BLACK_USCF] = "BlackUSCF",
	[CHI_TAG_WHITE_CLOCK] = "WhiteClock",
	[CHI_TAG_BLACK_CLOCK] = "BlackClock",
	[CHI_TAG_CLOCK] = "Clock",
	[CHI_TAG_WHITE_RD] = "WhiteRD",
	[CHI_TAG_BLACK_RD] = "BlackRD",
	[CHI_TAG_WHITE_COUNTRY] = "WhiteCountry",
	[CHI_TAG_BLACK_COUNTRY] = "BlackCountry",
	[CHI_TAG_SOURCE] = "Source",
	[CHI_TAG_SOURCE_DATE] = "SourceDate",
	[CHI_TAG_SOURCE_TITLE] = "SourceTitle",
	[CHI_TAG_SOURCE_QUALITY] = "SourceQuality",
	[CHI_TAG_SOURCE_VERSION] = "SourceVersion",
	[CHI_TAG_SOURCE_VERSION_DATE] = "SourceVersionDate",
	[CHI_TAG_REMARK] = "Remark",
	[CHI_TAG_GAME_ID] = "GameId",
	[CHI_TAG_GAME_URL] = "GameURL",
	[CHI_TAG_LINK] = "Link",
	[CHI_TAG_CURRENT_POSITION] = "CurrentPosition",
	[CHI_TAG_TIMEZONE] = "Timezone",
	[CHI_TAG_ECO_URL] = "ECOUrl",
	[CHI_TAG_START_TIME] = "StartTime",
	[CHI_TAG_END_DATE] = "EndDate",
	[CHI_TAG_END_TIME] = "EndTime",
	[CHI_TAG_BROADCAST_NAME] = "BroadcastName",
	[CHI_TAG_BROADCAST_URL] = "BroadcastURL",
	[CHI_TAG_STUDY_NAME] = "StudyName",
	[CHI_TAG_CHAPTER_NAME] = "ChapterName",
	[CHI_TAG_CHAPTER_URL] = "ChapterURL",
	[CHI_TAG_FICS_NUMBER] = "FICSGamesDBGameNo",
	[CHI_TAG_GAME_DURATION] = "GameDuration",
	[CHI_TAG_GAME_START_TIME] = "GameStartTime",
	[CHI_TAG_GAME_END_TIME] = "GameEndTime",
};

static const char *const titles[CHI_TITLES] = {
	[CHI_TITLE_NONE] = "",	 [CHI_TITLE_GM] = "GM",	  [CHI_TITLE_IM] = "IM",
	[CHI_TITLE_FM] = "FM",	 [CHI_TITLE_CM] = "CM",	  [CHI_TITLE_WGM] = "WGM",
	[CHI_TITLE_WIM] = "WIM", [CHI_TITLE_WFM] = "WFM", [CHI_TITLE_WCM] = "WCM",
	[CHI_TITLE_NM] = "NM",	 [CHI_TITLE_WNM] = "WNM", [CHI_TITLE_LM] = "LM",
	[CHI_TITLE_BOT] = "BOT", [CHI_TITLE_OTHER] = "",
};

static bool is(const char *text, size_t len, const char *word)
{
	return strlen(word) == len && memcmp(text, word, len) == 0;
}

enum chi_tag_code chi_tag_code_of(const char *name, size_t len)
{
	for (unsigned code = 1; len > 0 && code < CHI_TAGS; code++) {
		if (names[code][0] == name[0] && is(name, len, names[code])) {
			return (enum chi_tag_code)code;
		}
	}
	return CHI_TAG_OTHER;
}

const char *chi_tag_name(enum chi_tag_code code)
{
	return names[code];
}

/* ---- Reading ----------------------------------------------------------------------------- */

/* Digits, or only question marks for 0. */
static bool read_part(const char *text, size_t len, uint64_t max, uint64_t *out)
{
	*out = 0;
	return strspn(text, "?") >= len || chi_num_u64(text, len, max, out) == CHI_OK;
}

/* "1999.12.31" and less of it: what is known of the day. */
static void read_date(const struct chi_tag *tag, struct chi_game_head *head)
{
	char text[11] = "";
	uint64_t year = 0;
	uint64_t month = 0;
	uint64_t day = 0;
	size_t len = tag->value_len;
	head->year = 0;
	head->month = 0;
	head->day = 0;
	if (len != 4 && len != 7 && len != 10) {
		return;
	}
	memcpy(text, tag->value, len);
	if (!read_part(text, 4, 9999, &year) || (len > 4 && text[4] != text[len == 7 ? 4 : 7])) {
		return;
	}
	head->year = (uint16_t)year;
	if (len > 4 && read_part(text + 5, 2, 12, &month)) {
		head->month = (uint8_t)month;
		if (len > 7 && read_part(text + 8, 2, 31, &day)) {
			head->day = (uint8_t)day;
		}
	}
}

/* 0 for what is no rating. */
static uint16_t elo_of(const struct chi_tag *tag)
{
	uint64_t elo = 0;
	bool read = chi_num_u64(tag->value, tag->value_len, CHI_GAME_ELO_MAX, &elo) == CHI_OK;
	return read ? (uint16_t)elo : 0;
}

static uint8_t title_of(const struct chi_tag *tag)
{
	for (unsigned i = 1; i < CHI_TITLE_OTHER; i++) {
		if (is(tag->value, tag->value_len, titles[i])) {
			return (uint8_t)i;
		}
	}
	return tag->value_len == 0 || (tag->value_len == 1 && strchr("-?", tag->value[0]) != NULL)
		       ? CHI_TITLE_NONE
		       : CHI_TITLE_OTHER;
}

void chi_head_read(const struct chi_tag *tags, size_t n_tags, struct chi_game_head *head)
{
	const struct chi_tag *found[CHI_TAGS] = {NULL};
	static const char nothing[1] = "";
	const struct chi_tag none = {.value = nothing};
	for (size_t i = n_tags; i-- > 0;) {
		found[chi_tag_code_of(tags[i].name, tags[i].name_len)] = &tags[i];
	}
	for (size_t i = 0; i < CHI_TAGS; i++) {
		found[i] = found[i] == NULL ? &none : found[i];
	}
	read_date(found[CHI_TAG_DATE], head);
	if (head->year == 0 && head->month == 0 && head->day == 0) {
		read_date(found[CHI_TAG_UTC_DATE], head);
	}
	head->white_elo = elo_of(found[CHI_TAG_WHITE_ELO]);
	head->black_elo = elo_of(found[CHI_TAG_BLACK_ELO]);
	head->white_title = title_of(found[CHI_TAG_WHITE_TITLE]);
	head->black_title = title_of(found[CHI_TAG_BLACK_TITLE]);
	const struct chi_tag *control = found[CHI_TAG_TIME_CONTROL];
	const struct chi_tag *event = found[CHI_TAG_EVENT];
	head->speed = (uint8_t)chi_speed_of(control->value, control->value_len, event->value,
					    event->value_len);
}

/* ---- Printing ---------------------------------------------------------------------------- */

/* So many digits; zero as question marks. */
static void put_digits(unsigned number, size_t n, char *out)
{
	bool known = number != 0;
	while (n-- > 0) {
		out[n] = known ? (char)('0' + number % 10) : '?';
		number /= 10;
	}
}

static size_t print_date(const struct chi_game_head *head, char out[CHI_HEAD_TEXT_SIZE])
{
	put_digits(head->year, 4, out);
	out[4] = '.';
	put_digits(head->month, 2, out + 5);
	out[7] = '.';
	put_digits(head->day, 2, out + 8);
	return 10;
}

static size_t print_number(unsigned number, char out[CHI_HEAD_TEXT_SIZE])
{
	size_t n = 0;
	for (unsigned left = number; left != 0; left /= 10) {
		n++;
	}
	put_digits(number, n, out);
	return n;
}

static size_t print_eco(unsigned eco, char out[CHI_HEAD_TEXT_SIZE])
{
	if (eco == 0 || eco > CHI_ECO_CODES) {
		return 0;
	}
	out[0] = (char)('A' + (eco - 1) / 100);
	out[1] = (char)('0' + (eco - 1) / 10 % 10);
	out[2] = (char)('0' + (eco - 1) % 10);
	return 3;
}

static size_t print_title(unsigned title, char out[CHI_HEAD_TEXT_SIZE])
{
	const char *text = title < CHI_TITLES ? titles[title] : "";
	size_t len = strlen(text);
	memcpy(out, text, len);
	return len;
}

bool chi_head_print(const struct chi_game_head *head, enum chi_tag_code code,
		    char out[CHI_HEAD_TEXT_SIZE], size_t *len)
{
	switch (code) {
	case CHI_TAG_DATE:
		*len = print_date(head, out);
		return true;
	case CHI_TAG_WHITE_ELO:
		*len = print_number(head->white_elo, out);
		return true;
	case CHI_TAG_BLACK_ELO:
		*len = print_number(head->black_elo, out);
		return true;
	case CHI_TAG_ECO:
		*len = print_eco(head->eco, out);
		return true;
	case CHI_TAG_WHITE_TITLE:
		*len = print_title(head->white_title, out);
		return true;
	case CHI_TAG_BLACK_TITLE:
		*len = print_title(head->black_title, out);
		return true;
	case CHI_TAG_PLY_COUNT:
		*len = print_number(head->plies, out);
		return true;
	default:
		return false;
	}
}

/* The host of the address of a page, "https://lichess.org/abcd"; any other text stays. */
static void find_host(const char **text, size_t *len)
{
	const char *scheme = memmem(*text, *len, "://", 3);
	if (scheme == NULL || memchr(*text, ' ', *len) != NULL) {
		return;
	}
	const char *host = scheme + 3;
	size_t left = *len - (size_t)(host - *text);
	const char *path = memchr(host, '/', left);
	size_t n = path != NULL ? (size_t)(path - host) : 0;
	if (n > 0 && n + 1 < left) {
		*text = host;
		*len = n;
	}
}

void chi_head_name(enum chi_tag_code code, const char *text, size_t len, const char **name,
		   size_t *name_len)
{
	if (len == 1 && text[0] == '?') {
		len = 0;
	}
	if (code == CHI_TAG_SITE) {
		find_host(&text, &len);
	}
	if (len > CHI_HEAD_NAME_MAX) {
		len = CHI_HEAD_NAME_MAX;
		while (len > 0 && ((unsigned char)text[len] & 0xc0) == 0x80) {
			len--;
		}
	}
	*name = text;
	*name_len = len;
}
