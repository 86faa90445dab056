/* SPDX-License-Identifier: MIT */
/*
 * Tags as bytes, and the numbers that their texts say. What a column says is left out of a game's
 * body where printing the column gives the very same text. Pure functions.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chistore/games.h"

/* The usual tags. The numbers are those of the format, below 128. */
enum chi_tag_code {
	CHI_TAG_OTHER, /* its name is written out */
	CHI_TAG_EVENT,
	CHI_TAG_SITE,
	CHI_TAG_DATE,
	CHI_TAG_ROUND,
	CHI_TAG_WHITE,
	CHI_TAG_BLACK,
	CHI_TAG_WHITE_ELO,
	CHI_TAG_BLACK_ELO,
	CHI_TAG_ECO,
	CHI_TAG_WHITE_TITLE,
	CHI_TAG_BLACK_TITLE,
	CHI_TAG_PLY_COUNT,
	CHI_TAG_TIME_CONTROL,
	CHI_TAG_UTC_DATE,
	CHI_TAG_WHITE_FIDE_ID,
	CHI_TAG_BLACK_FIDE_ID,
	CHI_TAG_EVENT_DATE,
	CHI_TAG_UTC_TIME,
	CHI_TAG_TERMINATION,
	CHI_TAG_ANNOTATOR,
	CHI_TAG_OPENING,
	CHI_TAG_VARIATION,
	CHI_TAG_VARIANT,
	CHI_TAG_WHITE_TEAM,
	CHI_TAG_BLACK_TEAM,
	CHI_TAG_WHITE_RATING_DIFF,
	CHI_TAG_BLACK_RATING_DIFF,
	CHI_TAG_EVENT_TYPE,
	CHI_TAG_EVENT_ROUNDS,
	CHI_TAG_EVENT_COUNTRY,
	CHI_TAG_EVENT_CATEGORY,
	CHI_TAG_EVENT_SPONSOR,
	CHI_TAG_SECTION,
	CHI_TAG_STAGE,
	CHI_TAG_BOARD,
	CHI_TAG_TIME,
	CHI_TAG_SUB_VARIATION,
	CHI_TAG_NIC,
	CHI_TAG_MODE,
	CHI_TAG_WHITE_TYPE,
	CHI_TAG_BLACK_TYPE,
	CHI_TAG_WHITE_NA,
	CHI_TAG_BLACK_NA,
	CHI_TAG_WHITE_USCF,
	CHI_TAG_BLACK_USCF,
	CHI_TAG_WHITE_CLOCK,
	CHI_TAG_BLACK_CLOCK,
	CHI_TAG_CLOCK,
	CHI_TAG_WHITE_RD,
	CHI_TAG_BLACK_RD,
	CHI_TAG_WHITE_COUNTRY,
	CHI_TAG_BLACK_COUNTRY,
	CHI_TAG_SOURCE,
	CHI_TAG_SOURCE_DATE,
	CHI_TAG_SOURCE_TITLE,
	CHI_TAG_SOURCE_QUALITY,
	CHI_TAG_SOURCE_VERSION,
	CHI_TAG_SOURCE_VERSION_DATE,
	CHI_TAG_REMARK,
	CHI_TAG_GAME_ID,
	CHI_TAG_GAME_URL,
	CHI_TAG_LINK,
	CHI_TAG_CURRENT_POSITION,
	CHI_TAG_TIMEZONE,
	CHI_TAG_ECO_URL,
	CHI_TAG_START_TIME,
	CHI_TAG_END_DATE,
	CHI_TAG_END_TIME,
	CHI_TAG_BROADCAST_NAME,
	CHI_TAG_BROADCAST_URL,
	CHI_TAG_STUDY_NAME,
	CHI_TAG_CHAPTER_NAME,
	CHI_TAG_CHAPTER_URL,
	CHI_TAG_FICS_NUMBER,
	CHI_TAG_GAME_DURATION,
	CHI_TAG_GAME_START_TIME,
	CHI_TAG_GAME_END_TIME,
	CHI_TAGS
};

/* The code of a name, compared byte by byte; CHI_TAG_OTHER. */
enum chi_tag_code chi_tag_code_of(const char *name, size_t len);

/* The name of a code, 1..CHI_TAGS - 1. */
const char *chi_tag_name(enum chi_tag_code code);

/* Fills in what the tags say of date, ratings, titles and time control: zeros for what they do not
 * say. The other members stay: the opening is that of the moves, whatever a tag says. */
void chi_head_read(const struct chi_tag *tags, size_t n_tags, struct chi_game_head *head);

/* "1999.12.31", a title, a number */
#define CHI_HEAD_TEXT_SIZE 16

/* The text that the head's numbers say for a tag, without a NUL; *len is 0 where they are 0. False
 * for tags that no number stands for. */
bool chi_head_print(const struct chi_game_head *head, enum chi_tag_code code,
		    char out[CHI_HEAD_TEXT_SIZE], size_t *len);

#define CHI_HEAD_NAME_MAX 1023

/* What the name of an Event, Site, White or Black tag is: the text, "" if it is "?", the host if it
 * is the address of a page, at most CHI_HEAD_NAME_MAX bytes of whole characters. Part of the text.
 */
void chi_head_name(enum chi_tag_code code, const char *text, size_t len, const char **name,
		   size_t *name_len);
