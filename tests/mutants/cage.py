# SPDX-License-Identifier: MIT
"""What is kept from the daemon, and what is remembered of its crashes."""

from mutant import Mutant

CAGE = (
    Mutant(
        "files-are-not-kept-away",
        "The daemon reaches no files but its own",
        "service/sandbox.c",
        "int error = chi_landlock_enter(rules->list, rules->n, notify != NULL && "
        "notify[0] == '@');",
        "int error = notify == notify && rules->n > 0 ? 0 : 1;",
        "system sandbox", "TestSandbox.test_what_is_kept_from_it"),
    Mutant(
        "data-becomes-code",
        "Memory that was written is never run",
        "service/syscalls.c",
        'allow_if(context, "mprotect", no_code)',
        'add_list(context, SCMP_ACT_ALLOW, "mprotect")',
        "system sandbox", "TestSandbox.test_what_is_kept_from_it"),
    Mutant(
        "processes-are-started",
        "No process is started",
        "service/syscalls.c",
        'allow_if(context, "clone", has_bits(flags, CLONE_THREAD, CLONE_THREAD))',
        'add_list(context, SCMP_ACT_ALLOW, "clone")',
        "system sandbox", "TestSandbox.test_what_is_kept_from_it"),
    Mutant(
        "require-is-a-wish",
        "--sandbox=require starts no server without",
        "service/sandbox.c",
        "if (how == CHI_SANDBOX_REQUIRE) {",
        "if (false) {",
        "system sandbox", "TestSandbox.test_a_kernel_that_has_nothing"),
    Mutant(
        "replaced-files-are-not-found",
        "Files that are read again are found when they were replaced",
        "service/sandbox.c",
        "\t\tchi_sandbox_add_parent(rules, path, rights);\n\t\tif (realpath(",
        "\t\tchi_sandbox_add(rules, path, rights);\n\t\tif (realpath(",
        "system sandbox", "TestSandbox.test_files_that_are_replaced",
        (("service/sandbox.c",
          "\t\t\tchi_sandbox_add_parent(rules, real, rights);",
          "\t\t\tchi_sandbox_add(rules, path, rights);"),)),
    Mutant(
        "groups-of-root-stay",
        "As --user the daemon has the groups of that user",
        "service/user.c",
        "int rc = user->has_name ? initgroups(user->name, gid) : setgroups(1, &gid);",
        "int rc = 0;",
        "system sandbox", "TestUser.test_it_works_as_the_user"),
    Mutant(
        "root-stays",
        "and is that user permanently",
        "service/user.c",
        "return rc == 0 ? setresuid(user->uid, user->uid, user->uid) : rc;",
        "return rc == 0 ? setresuid(-1, user->uid, 0) : rc;",
        "system sandbox", "TestUser.test_it_works_as_the_user",
        (("service/user.c",
          "if (!drop_capabilities() || !is_for_good(user)) {",
          "if (false && (!drop_capabilities() || !is_for_good(user))) {"),)),
)

CRASHES = (
    Mutant(
        "record-of-another-name",
        "A record that has a second name is not written",
        "daemon/settings/crashes.c",
        " || st->st_nlink != 1)) {",
        ")) {",
        "system crashes", "TestCrashes.test_what_is_no_file"),
    Mutant(
        "record-where-no-store-is",
        "No record is left where there is no store",
        "daemon/settings/crashes.c",
        "access(path, F_OK) < 0 ||",
        "false ||",
        "system crashes", "TestCrashes.test_nothing_is_left_where_no_store_is"),
    Mutant(
        "one-crash-more",
        "Three crashes, and not four",
        "daemon/serve.c",
        "if (count >= limits->crashes) {",
        "if (count > limits->crashes) {",
        "system crashes", "TestCrashes.test_the_third_crash_ends_writing"),
    Mutant(
        "one-crash-less",
        "nor two",
        "daemon/serve.c",
        "if (count >= limits->crashes) {",
        "if (count + 1 >= limits->crashes) {",
        "system crashes", "TestCrashes.test_the_third_crash_ends_writing"),
    Mutant(
        "other-crash-limit",
        "The same as the default",
        "daemon/settings/config.c",
        "0, 1000, 3,",
        "0, 1000, 4,",
        "system crashes", "TestCrashes.test_the_third_crash_ends_writing"),
    Mutant(
        "crashes-never-count",
        "--crash-limit=0 counts none, any other does",
        "daemon/serve.c",
        "if (config->read_only || limits->crashes == 0) {",
        "if (config->read_only) {",
        "system crashes", "TestCrashes.test_one_that_never_counts"),
    Mutant(
        "clean-stop-is-a-crash",
        "A clean stop ends the counting",
        "daemon/settings/crashes.c",
        "\tif (clean && crashes->ours && ",
        "\tif (false && ",
        "system crashes", "TestCrashes.test_a_clean_stop_in_between"),
)

SECTIONS = (
    ("The sandbox", CAGE),
    ("Crashes", CRASHES),
)
