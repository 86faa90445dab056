/* SPDX-License-Identifier: MIT */
/* Kinds of imports and the formats of their text. */
#pragma once

enum chi_import_kind {
	CHI_IMPORT_ADD = 1,	 /* count the games of PGN text that are not counted yet */
	CHI_IMPORT_SUBTRACT = 2, /* remove games of PGN text */
	CHI_IMPORT_MERGE = 3,	 /* add another store, read as the text of its dump */
	CHI_IMPORT_LOAD = 4,	 /* replace positions by those of a dump; its base rates and games
				    are copied */
	CHI_IMPORT_PUT = 5,	 /* put lines of a format of positions; bad ones are left out */
};

enum chi_format {
	CHI_FORMAT_AUTO = 0, /* by the file's name, else by its first line */
	CHI_FORMAT_EPD = 1,
	CHI_FORMAT_CSV = 2,
	CHI_FORMAT_TSV = 3,
	CHI_FORMAT_JSONL = 4,
	CHI_FORMAT_PGN = 5,	 /* games, which are no positions to put */
	CHI_FORMAT_POLYGLOT = 6, /* nor is this */
	CHI_FORMAT_LICHESS = 7,	 /* lichess.org's evaluations */
	CHI_FORMAT_CDB = 8,	 /* EPD with chessdb.cn's scores */
	CHI_FORMAT_EXP = 9,	 /* engines' experience, entries by hash: nor is this */
};
#define CHI_FORMAT_MAX CHI_FORMAT_EXP
