# SPDX-License-Identifier: MIT
"""Names of the archive."""

from mutant import Mutant

NAMES = (
    Mutant(
        "last-word-is-the-surname",
        "Without a comma the order of a player's words does not matter",
        "chess/names/fits.c",
        "if (!wanted->comma && longer && !surname) {",
        "if (!wanted->comma && longer) {",
        "chess pgn_filter", "finds_players_however_written"),
    Mutant(
        "damaged-name-is-read",
        "A damaged chunk of names is not believed",
        "store/names/chunk.c",
        "if (chi_read_le(&sum, CHI_CHUNK_SUM) != sum_of(key_bytes, key->mv_size, bytes, len) ||",
        "if (chi_read_le(&sum, CHI_CHUNK_SUM) == UINT64_MAX ||",
        "store names_damage", "test_returns_no_damaged_name"),
    Mutant(
        "damaged-index-is-read",
        "Nor is a damaged index of names",
        "store/names/list.c",
        "if (chi_read_le(&sum, CHI_LIST_SUM) != sum_of(key_bytes, bytes, len)) {",
        "if (chi_read_le(&sum, CHI_LIST_SUM) == UINT64_MAX) {",
        "store names_damage", "test_finds_damage"),
    Mutant(
        "index-lacks-a-name",
        "Verification tells of a name that an index has not, or has too much",
        "store/names/check.c",
        "if (check->wanted[entry][kind] != check->found[entry][kind]) {",
        "if (false && check->wanted[entry][kind] != check->found[entry][kind]) {",
        "store names_damage", "test_finds_damage"),
    Mutant(
        "alias-leads-in-a-circle",
        "An alias leads to a name that is no alias itself",
        "store/names/check.c",
        "for (size_t i = 0; i < check->n_joined; i++) {",
        "for (size_t i = 0; i < check->n_joined && check->bad; i++) {",
        "store names_damage", "test_finds_chains"),
    Mutant(
        "alias-joins-two-players",
        "Names with different FIDE ids are never joined",
        "store/names/alias.c",
        "if (rc != CHI_OK || x == 0 || y == 0 || x == y) {",
        "if (rc != CHI_OK || x == 0 || y == 0 || x != 0) {",
        "store names", "test_fide_conflicts"),
    Mutant(
        "name-in-use-is-removed",
        "Subtracting games takes out only names that no game has",
        "store/load/forget.c",
        "clear_bit(touched->bits, id);",
        "clear_bit(touched->bits, id & 1);",
        "system names", "Subtracted.test_names_of_removed_games_go"),
    Mutant(
        "fide-id-given-is-removed",
        "A FIDE id that was given stays when games go",
        "store/load/forget.c",
        "name.fide != 0 && !name.given",
        "name.fide != 0",
        "system names", "Subtracted.test_names_of_removed_games_go"),
    Mutant(
        "fide-id-of-removed-games",
        "A FIDE id that only removed games told goes with them",
        "store/load/forget.c",
        "if (rc == CHI_OK && name.fide == fides[side]) {",
        "if (rc == CHI_OK && name.fide + fides[side] != 0) {",
        "system names", "Subtracted.test_names_of_removed_games_go"),
    Mutant(
        "list-leads-to-a-removed-name",
        "Nothing leads to a name that was removed",
        "store/names/alias.c",
        "for (size_t i = 0; rc == CHI_OK && i < n; i++) {\n\t\trc = chi_list_remove",
        "for (size_t i = 1; rc == CHI_OK && i < n; i++) {\n\t\trc = chi_list_remove",
        "store names_removed", "test_removed_names"),
    Mutant(
        "chunk-of-33-names",
        "A value has one reading: nothing after its last name is passed over",
        "store/names/chunk.c",
        "bool more = out->n == CHI_CHUNK_NAMES && r.at < r.end;",
        "bool more = false;",
        "fuzz names", "chunk_of_33"),
    Mutant(
        "text-of-another-name",
        "A hash never decides that two texts are the same",
        "store/names/find.c",
        "if (rc != CHI_OK || name.len != len || memcmp(name.text, text, len) != 0) {",
        "if (rc != CHI_OK) {",
        "store names", "test_texts_with_the_same_hash"),
    Mutant(
        "changes-of-names-are-half-taken-back",
        "A batch of changes of names is never half taken back",
        "store/txn/savepoint.c",
        "if (write->is_final && write->broken == CHI_OK) {",
        "if (false && write->is_final && write->broken == CHI_OK) {",
        "store savepoint", "test_names"),
    Mutant(
        "dry-run-shares-a-commit",
        "A dry run of changes of names writes nothing",
        "daemon/write/writer.c",
        "return !job->is_trial;",
        "return true;",
        "daemon queue", "test_dry_run_stands_alone"),
)

SECTIONS = (
    ("Names of the archive", NAMES),
)
