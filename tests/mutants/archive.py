# SPDX-License-Identifier: MIT
"""Verification of the archive."""

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
        "if (id > v->archive.last_name[kind]) {",
        "if (id > UINT32_MAX - v->archive.last_name[kind]) {",
        "import verify", "columns_that_say_something_else_are_found"),
)

SECTIONS = (
    ("Verification of the archive", VERIFIED),
)
