# SPDX-License-Identifier: MIT
"""Published copies, and what they replace."""

from mutant import Mutant

COPIES = (
    Mutant(
        "leftovers-are-removed-by-name",
        "What is removed is reached by its open directory, not by a name that became a link",
        "store/env/path.c",
        "\t\t(void)unlinkat(fd, names[i], 0);",
        "\t\tchar path[CHI_PATH_SIZE];\n"
        "\t\tif (fd >= 0 && chi_path_join(path, dir, names[i]) == CHI_OK) {\n"
        "\t\t\t(void)unlink(path);\n"
        "\t\t}",
        "store replace", "test_links_in_place_of_leftovers"),
    Mutant(
        "leftovers-stay",
        "What killed processes left behind is removed by the next",
        "store/env/path.c",
        "\tsweep(out->parent, out->target);\n",
        "\tif (false) {\n\t\tsweep(out->parent, out->target);\n\t}\n",
        "store publish", "test_killed_publishers"),
    Mutant(
        "older-copy-is-a-leftover",
        "An older copy that lost its name is no one's leftover",
        "store/env/path.c",
        "\t(void)flock(*out, LOCK_EX | LOCK_NB);\n",
        "",
        "store replace", "test_two_publishers"),
    Mutant(
        "what-is-replaced-is-not-given-back",
        "A store that took the name at the last moment has it afterwards",
        "store/env/path.c",
        "int error = rc < 0 ? put_back(hidden) : 0;",
        "int error = 0;",
        "store replace", "test_a_store_made_at_the_last_moment"),
    Mutant(
        "freed-name-is-not-given-back",
        "also if the name has become free",
        "store/env/path.c",
        "return error == ENOENT ? exchange(hidden, RENAME_NOREPLACE) : error;",
        "return error;",
        "store replace", "test_a_store_made_at_the_last_moment"),
    Mutant(
        "unsynced-copy-is-removed",
        "What has the name stays, though its exchange could not be synced",
        "store/env/path.c",
        "\t\t\trelease(hidden);\n\t\t}\n\t}\n\treturn error == 0 ? remove_older",
        "\t\t}\n\t}\n\treturn error == 0 ? remove_older",
        "store replace", "test_an_exchange_that_is_not_synced"),
    Mutant(
        "exchange-is-not-known-everywhere",
        "A file system that cannot exchange two names is told so",
        "store/env/path.c",
        " || error == EXDEV) {",
        ") {",
        "store replace", "test_file_systems_without_exchange"),
    Mutant(
        "anything-is-replaced",
        "Only a published copy is replaced",
        "store/admin/copy.c",
        "int rc = S_ISDIR(st.st_mode) ? chi_published_check(path, fault) : -CHI_EEXIST;",
        "int rc = CHI_OK;",
        "store publish", "test_only_copies_are_replaced",
        (("store/env/path.c",
          "\treturn chi_published_check(dir, fault);",
          "\treturn CHI_OK;"),)),
    Mutant(
        "copy-is-published-unsynced",
        "A copy is synced before it takes another's name",
        "store/admin/publish.c",
        "(fchmod(fd, PUBLISHED_FILE_MODE) < 0 || fsync(fd) < 0)",
        "(fchmod(fd, PUBLISHED_FILE_MODE) < 0)",
        "faults powercut", "test_publish"),
    Mutant(
        "copy-is-compacted-unseen",
        "A copy is verified before it is compacted",
        "store/admin/publish.c",
        "rc = error == 0 ? verify(hidden->dir, fault) : CHI_OK;",
        "rc = CHI_OK;",
        "store publish", "test_damage_is_not_published"),
    Mutant(
        "output-goes-onto-a-store",
        "No output goes onto a file of a store, by its name or by a link",
        "base/file.c",
        "bool ours = fstatat(dir, name, &st, 0) == 0 && st.st_nlink > 1 && is_lmdb(dir, name);",
        "bool ours = false;",
        "system cli_trouble", "Trouble.test_output_onto_a_file_of_a_store"),
    Mutant(
        "store-inside-a-store",
        "No store is made inside the directory of another",
        "base/file.c",
        "if (is_store(here)) {",
        "if (false) {",
        "system cli_trouble", "Trouble.test_store_inside_another_store"),
    Mutant(
        "copy-may-be-written",
        "No one may write a published copy",
        "store/admin/publish.c",
        "#define PUBLISHED_FILE_MODE 0444",
        "#define PUBLISHED_FILE_MODE 0644",
        "store publish", "test_modes_and_files"),
)

SECTIONS = (
    ("What is replaced, and what is left behind", COPIES),
)
