# SPDX-License-Identifier: MIT
"""What fits into a message, off by one."""

from mutant import Mutant

FRAMES = (
    Mutant(
        "request-frame-below-its-limit",
        "A request of 1 MiB is taken, a byte more is not",
        "proto/wire/frame.c",
        "if (value > max) {",
        "if (value >= max) {",
        "proto frame", "limit_is_exact"),
    Mutant(
        "overlong-head",
        "A length has one form, the shortest",
        "proto/wire/frame.c",
        "if (bytes[i] == 0) {\n\t\t\treturn -CHI_EPROTO;",
        "if (false) {\n\t\t\treturn -CHI_EPROTO;",
        "proto frame", "wrong_heads"),
    Mutant(
        "two-fields-in-one-place",
        "Each field of a message has a place of its own",
        "proto/op_search.c",
        "CHI_M_NUMBER(2, struct chi_name_row, root),",
        "CHI_M_NUMBER(2, struct chi_name_row, fide),",
        "proto msg", "every_message_survives"),
    Mutant(
        "too-many-positions",
        "Get and Probe take 4,096 positions, Delete 10,000",
        "proto/op_read.c",
        "chi_positions_check(u, &request->u.positions, CHI_PROBE_MAX);",
        "chi_positions_check(u, &request->u.positions, CHI_PROBE_MAX + 1);",
        "proto limits", "numbers_of_positions"),
    Mutant(
        "too-many-entries",
        "Put takes 10,000 entries",
        "proto/op_write.c",
        "CHI_M_UNKEPT_MESSAGE(2, CHI_PUT_MAX, ",
        "CHI_M_UNKEPT_MESSAGE(2, CHI_PUT_MAX + 1, ",
        "proto every_limit", "every_limit"),
    Mutant(
        "too-long-a-note",
        "A note has 65,536 bytes",
        "proto/op_read.c",
        "CHI_M_UNKEPT(6, CHI_NOTE_MAX, ",
        "CHI_M_UNKEPT(6, CHI_NOTE_MAX + 1, ",
        "proto every_limit", "every_limit"),
    Mutant(
        "too-long-a-token",
        "An access token has 256 bytes",
        "proto/op_admin.c",
        "u.hello.access_token, CHI_ACCESS_TOKEN_MAX)",
        "u.hello.access_token, CHI_ACCESS_TOKEN_MAX + 1)",
        "proto every_limit", "every_limit"),
    Mutant(
        "one-of-everything-less",
        "Every text and every list may be as long as its limit",
        "proto/unpack.c",
        "elements : len) > at->member->most;",
        "elements : len) >= at->member->most;",
        "proto every_limit", "every_limit"),
    Mutant(
        "too-wide-a-window",
        "A window has 1,024 responses",
        "proto/msg.c",
        "struct chi_request, window, CHI_WINDOW_MAX,",
        "struct chi_request, window, CHI_WINDOW_MAX + 1,",
        "proto limits", "numbers_of_a_scan"),
    Mutant(
        "client-takes-larger-answers",
        "A client takes no answer over 4 MiB,",
        "client/remote/peer.c",
        "CHI_FRAME_RESPONSE_MAX, &body,",
        "CHI_FRAME_RESPONSE_MAX + 1, &body,",
        "client limits", "bytes_of_an_answer"),
    Mutant(
        "client-sends-larger-requests",
        "A client sends no request over what the server takes,",
        "client/remote/peer.c",
        "chi_frame_head(most, head) + most;",
        "CHI_FRAME_HEAD_MAX + most;",
        "client limits", "bytes_of_a_request",
        (("client/remote/peer.c",
          "\tuint8_t head[CHI_FRAME_HEAD_MAX];\n",
          ""),)),
    Mutant(
        "client-believes-any-limit",
        "nor over 1 MiB",
        "client/remote/peer.c",
        "at_most(theirs->request_bytes, CHI_FRAME_REQUEST_MAX)",
        "at_most(theirs->request_bytes, CHI_FRAME_REQUEST_MAX + 1)",
        "client limits", "bytes_of_a_request"),
    Mutant(
        "client-asks-for-more-positions",
        "A client asks for 4,096 positions at a time",
        "client/remote/peer.c",
        "at_most(theirs->probe_positions, CHI_PROBE_MAX)",
        "at_most(theirs->probe_positions, CHI_PROBE_MAX + 1)",
        "client limits", "positions_of_a_probe"),
    Mutant(
        "quick-probe-of-one-more",
        "The quick way takes 4,096 positions, too",
        "proto/probe.c",
        "if (*n == CHI_PROBE_MAX ||",
        "if (*n == CHI_PROBE_MAX + 1 ||",
        "proto probe", "too_many_are_left"),
    Mutant(
        "rows-of-one-more",
        "An answer has 4,096 rows",
        "proto/op_read.c",
        "len, CHI_PROBE_MAX, &out->u.probe.rows,",
        "len, CHI_PROBE_MAX + 1, &out->u.probe.rows,",
        "proto limits", "rows_of_a_response"),
    Mutant(
        "scanned-rows-of-one-more",
        "and to a scan 10,000",
        "proto/op_scan.c",
        "len, CHI_SCAN_ROWS_MAX, &rows,",
        "len, CHI_SCAN_ROWS_MAX + 1, &rows,",
        "proto limits", "rows_of_a_response"),
    Mutant(
        "entries-of-one-more",
        "or as many records",
        "proto/op_scan.c",
        "&chi_entry_message, CHI_SCAN_ROWS_MAX)",
        "&chi_entry_message, CHI_SCAN_ROWS_MAX + 1)",
        "proto every_limit", "every_limit"),
)

SECTIONS = (
    ("Messages", FRAMES),
)
