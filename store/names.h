/* SPDX-License-Identifier: MIT */
/* The names of a store's files and of its trees, and the modes of its files. */
#pragma once

#include "base/file.h"
#include "chistore/types.h"

#define POSITION_TREE "position"
#define STRENGTH_TREE "strength"
#define META_TREE     "meta"
#define GAME_IDS_TREE "ids"
#define CLIENTS_TREE  "clients"
#define GAMES_TREE    "games"
#define COLUMNS_TREE  "columns"
#define NAMES_TREE    "names"
#define POSTINGS_TREE "postings"
#define GAMESETS_TREE "gamesets"
#define TRAITS_TREE   "traits"
#define QUEUE_TREE    "queue"
#define DIR_MODE      0750
#define FILE_MODE     0600
#define CHI_PATH_SIZE 4096
#define CHI_PROC_SIZE 32 /* "/proc/self/fd/N" */

/* "dir/name"; -CHI_EINVAL if it is too long. */
CHI_MUSTUSE int chi_path_join(char out[CHI_PATH_SIZE], const char *dir, const char *name);
