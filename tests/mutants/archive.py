# SPDX-License-Identifier: MIT
"""The archive of games, and its verification."""

from mutant import Mutant

VERIFIED = (
    Mutant(
        "games-are-not-replayed",
        "Verification replays all games: lists say what their moves say",
        "store/admin/verify_lists.c",
        "if (a->games[i].sum != 0 && n++ < LOCATED) {",
        "if (a->games[i].sum != 0 && n > LOCATED) {",
        "import verify", "wrong_lists_in_records_are_located"),
    Mutant(
        "long-lists-are-not-compared",
        "Long lists too, which are as long as their records say",
        "store/admin/verify_lists.c",
        "(!ascends || list->entries != rest->listed || list",
        "(!ascends || list->entries > rest->listed || list",
        "import verify", "a_record_that_counts_less_is_found"),
    Mutant(
        "stray-list-is-passed-over",
        "and of no position without such a record",
        "store/admin/verify_lists.c",
        "\t\tif (!a->locating) {\n\t\t\tdisagree_at(v, a->list_key",
        "\t\tif (a->n == 0) {\n\t\t\tdisagree_at(v, a->list_key",
        "import verify", "a_record_that_counts_less_is_found"),
    Mutant(
        "record-counts-less",
        "A record counts no less than the games in its list",
        "store/admin/verify_lists.c",
        "if (list->unknown || !fits) {",
        "if (list->unknown) {",
        "import verify", "a_record_that_counts_less_is_found"),
    Mutant(
        "bound-is-not-replayed",
        "A game that was counted up to a ply is replayed up to it",
        "store/admin/verify_replay.c",
        "size_t n = known->max_ply != 0 && known->max_ply < game->n_plies ? known->max_ply",
        "size_t n = known->max_ply != 0 && known->max_ply > game->n_plies ? known->max_ply",
        "import verify", "bounded_and_pruned_games_are_compared"),
    Mutant(
        "pruned-game-played-all",
        "What is left of a pruned game is of its moves",
        "store/admin/verify_lists.c",
        "} else if (!chi_verify_may_be(a, hash)) {",
        "} else if (!chi_verify_may_be(a, hash) && a->n == 0) {",
        "import verify", "bounded_and_pruned_games_are_compared"),
    Mutant(
        "game-without-a-body",
        "A game has an identity, columns and a body, or none of them",
        "store/admin/verify_games.c",
        "if ((flags & CHI_VERIFY_IDENTITY) != 0 && (flags & CHI_VERIFY_BODY) == 0) {",
        "if ((flags & CHI_VERIFY_IDENTITY) != 0 && (flags & CHI_VERIFY_HEAD) == 0) {",
        "import verify", "games_without_a_part_are_found"),
    Mutant(
        "name-that-there-is-not",
        "Columns name names that there are",
        "store/admin/verify_games.c",
        "if (id > v->archive.last_name[kind] ||",
        "if (id > UINT32_MAX - v->archive.last_name[kind] ||",
        "import verify", "columns_that_say_something_else_are_found"),
    Mutant(
        "name-that-was-removed",
        "Columns name names that there are",
        "store/admin/verify_games.c",
        "chi_names_checker_removed(v->archive.names, kind, id)) {",
        "chi_names_checker_removed(v->archive.names, kind, 0)) {",
        "import verify", "columns_that_say_something_else_are_found"),
)

TREES = (
    Mutant(
        "opening-is-the-first-move",
        "A game's opening is that of the last of its positions that has a name",
        "store/games/body.c",
        "lengths.head.eco = eco_of(positions, game->n_plies + 1);",
        "lengths.head.eco = eco_of(positions, 2);",
        "system query", "Lists.test_rows_are_the_files"),
    Mutant(
        "reached-by-all-games",
        "Of a filter all counts are, also of the positions after the moves",
        "search/explore.c",
        "if (moves[n].child.found) {",
        "if (moves[n].child.found && n == SIZE_MAX) {",
        "search explore", "test_random"),
    Mutant(
        "loss-is-counted-as-won",
        "By player results are the player's own",
        "search/stats.c",
        "add_game(stats, black, turned(result))",
        "add_game(stats, black, result)",
        "search stats", "test_games"),
    Mutant(
        "damaged-body-is-read",
        "A damaged chunk of games is not believed",
        "store/games/bodies_code.c",
        "checksum != checksum_of(key, from.at, chi_reader_left(&from)) ||",
        "checksum_of(key, from.at, chi_reader_left(&from)) == checksum + 1 ||",
        "store bodies", "test_damage"),
    Mutant(
        "damaged-columns-are-read",
        "Nor are damaged columns",
        "store/games/columns.c",
        "if (load32(bytes + end) != chi_columns_checksum(key, bytes, end) ||",
        "if (load32(bytes + end) == chi_columns_checksum(key, bytes, end) + 1 ||",
        "store columns", "test_damage"),
    Mutant(
        "damaged-list-is-read",
        "Nor is a damaged list of a position's games",
        "store/postings/chunk.c",
        "bool ok = le32toh(sum) ==\n",
        "bool ok = le32toh(sum) + UINT64_C(1) !=\n",
        "import verify", "a_flipped_bit_in_each_tree_is_found"),
    Mutant(
        "game-begins-two-chunks",
        "All entries of a game are in one chunk of a list",
        "store/postings/chunk.c",
        "while (most > 1 && most < n && entries[most].game == entries[most - 1].game) {",
        "while (most > n && entries[most].game == entries[most - 1].game) {",
        "store postings", "test_chunks_come_back"),
    Mutant(
        "removed-game-still-fits",
        "A game that was removed fits no filter",
        "search/filter/tester.c",
        "in_range(chunk, CHI_COLUMN_RESULT, 0, CHI_ROW_REMOVED - 1, hits);",
        "in_range(chunk, CHI_COLUMN_RESULT, 0, CHI_ROW_REMOVED, hits);",
        "search games", "test_random"),
)

GAMESETS = (
    Mutant(
        "bitmap-out-of-date-is-used",
        "A gameset means what its names mean now, whatever aliases were changed",
        "search/filter/matcher.c",
        "if (stamp != entry->mark.stamp) {",
        "if (stamp + 1 == entry->mark.stamp) {",
        "search gamesets", "test_kept"),
    Mutant(
        "gameset-without-later-games",
        "A gameset has the games that came after it was made",
        "search/filter/matcher.c",
        "*from = entry->mark.last + 1;",
        "*from = UINT32_MAX;",
        "search gamesets", "test_kept"),
    Mutant(
        "gameset-lacks-games",
        "Verification tells of a gameset that lacks games of its filter",
        "search/verify.c",
        "if (!chi_numbers_has(check->stored, number)) {",
        "if (check->stored == check->found) {",
        "search gamesets", "test_verify_compares_bitmaps"),
    Mutant(
        "gameset-has-other-games",
        "and of one that has games which do not fit",
        "search/verify.c",
        "if (!chi_numbers_has(check->found, number)) {",
        "if (check->stored == check->found) {",
        "search gamesets", "test_verify_compares_bitmaps"),
    Mutant(
        "bitmap-of-any-order",
        "A bitmap has one reading: numbers ascend, each once",
        "search/filter/numbers_code.c",
        "if (source->from.bad || lower < least) {",
        "if (source->from.bad) {",
        "search numbers", "test_each_rule_of_the_format_is_asked"),
    Mutant(
        "bitmap-of-games-to-come",
        "A bitmap has no game after the last that there was",
        "search/filter/numbers_code.c",
        "if (rc == CHI_OK && last < UINT32_MAX &&",
        "if (rc == CHI_NONE && last < UINT32_MAX &&",
        "search numbers", "test_each_rule_of_the_format_is_asked"),
)

SECTIONS = (
    ("The archive's trees", TREES),
    ("Gamesets", GAMESETS),
    ("Verification of the archive", VERIFIED),
)
