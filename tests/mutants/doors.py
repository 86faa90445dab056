# SPDX-License-Identifier: MIT
"""Who gets in, let in too far."""

from mutant import Mutant

DOORS = (
    Mutant(
        "plain-tcp-for-everyone",
        "Unencrypted TCP is for loopback alone",
        "daemon/net/socket.c",
        "if (address->kind == CHI_LISTEN_TCP && !is_loopback(info->ai_addr)) {",
        "if (false && !is_loopback(info->ai_addr)) {",
        "system daemon", "Refusals.test_address_that_is_not_loopback"),
    Mutant(
        "passed-socket-for-everyone",
        "So is a socket that was passed",
        "daemon/net/socket.c",
        "if (name.ss_family != AF_UNIX && !is_loopback((struct sockaddr *)&name)) {",
        "if (false) {",
        "system service", "TestActivation.test_what_others_can_reach"),
    Mutant(
        "socket-for-everyone",
        "A unix socket has mode 0660",
        "daemon/settings/config.c",
        "socket_mode = 0660",
        "socket_mode = 0666",
        "system daemon", "StartAndStop.test_default_mode_of_the_socket"),
    Mutant(
        "hello-is-optional",
        "The first request is hello, or the last",
        "daemon/ops/dispatch.c",
        "status = first && request.op != CHI_OP_HELLO",
        "status = false",
        "system daemon", "Conversation.test_hello_must_be_first"),
    Mutant(
        "roles-are-not-looked-at",
        "A client does what its role allows",
        "daemon/ops/dispatch.c",
        "if (conn->state == CHI_CONN_HELLO || conn->role >= chi_op_row_of(op)->role) {",
        "if (true) {",
        "system access", "Matrix.test_roles_by_token"),
    Mutant(
        "readers-may-back-up",
        "Each operation has its role",
        "ops/table.c",
        "[CHI_OP_BACKUP] = {ADMIN,",
        "[CHI_OP_BACKUP] = {READ,",
        "system access", "Matrix.test_roles_by_token"),
    Mutant(
        "socket-gives-its-role-away",
        "No client may do more than its socket allows",
        "daemon/access/guard.c",
        "*out = role < most ? role : most;",
        "*out = most > role ? role : role;",
        "system access", "Matrix.test_without_rules_the_socket_decides"),
    Mutant(
        "who-is-shut-out-gets-in",
        "Who is shut out stays out, whatever else he shows",
        "service/access.c",
        "return barred ? CHI_ROLE_NONE : best;",
        "return best;",
        "daemon access", "test_users_and_groups"),
    Mutant(
        "want-of-memory-opens-the-door",
        "Who cannot be looked at for want of memory stays out",
        "daemon/access/guard.c",
        "&certificate);\n\t}\n\tif (status < 0) {",
        "&certificate);\n\t}\n\tif (false) {",
        "system scarce", "ShutOut.test_by_group"),
    Mutant(
        "unknown-token-gets-in",
        "An unknown token is refused, not ignored",
        "service/access.c",
        "if (shown->token != NULL && !known) {",
        "if (false) {",
        "daemon access", "test_tokens"),
    Mutant(
        "rules-of-everyone",
        "Rules that everyone may write are refused",
        "service/access.c",
        "if ((file->st_mode & (S_IWGRP | S_IWOTH)) != 0) {",
        "if (false) {",
        "daemon access", "test_files"),
    Mutant(
        "token-of-everyone",
        "A token that everyone may read is not sent",
        "client/remote/token.c",
        "if ((file.st_mode & (S_IROTH | S_IWOTH)) != 0) {",
        "if (false) {",
        "system access", "CommandLine.test_token_file"),
    Mutant(
        "revoked-client-stays",
        "Who may do less after a reload is closed",
        "daemon/net/conn.c",
        "if (status == CHI_OK && role >= conn->role) {",
        "if (status == CHI_OK) {",
        "system access", "Reload.test_revoked_token_is_closed"),
    Mutant(
        "older-tls",
        "TLS is 1.3",
        "base/tls.c",
        "SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION)",
        "SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION)",
        "system tls", "NoTls.test_older_versions"),
    Mutant(
        "any-certificate",
        "A certificate is that of a known authority",
        "base/tls.c",
        "SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);",
        "SSL_CTX_set_verify(context, SSL_VERIFY_NONE, NULL);",
        "system tls", "CommandLine.test_whom_the_client_believes"),
    Mutant(
        "certificate-of-another-host",
        "A server's certificate is for its host",
        "client/remote/tls.c",
        "status = expect_host(tls->ssl, address, text, fault);",
        "status = false ? expect_host(tls->ssl, address, text, fault) : CHI_OK;",
        "system tls", "CommandLine.test_other_hosts_and_expired_servers"),
    Mutant(
        "key-of-everyone",
        "A key that everyone may read is refused",
        "base/tls.c",
        "if ((file.st_mode & (S_IROTH | S_IWOTH)) != 0) {",
        "if (false) {",
        "system tls", "WhoIsWho.test_start_is_refused"),
    Mutant(
        "half-handshakes-fill-the-house",
        "Handshakes that do not end keep no one out",
        "daemon/net/worker.c",
        "if (worker->n_unauthenticated <= most) {",
        "if (true) {",
        "system tls", "NoTls.test_half_handshakes_keep_nobody_out"),
    Mutant(
        "handshake-has-all-day",
        "A handshake ends in time",
        "daemon/net/conn_io.c",
        "} else if (chi_transport_is_shaking(conn) && now >= conn->frame_by) {",
        "} else if (false) {",
        "system tls", "NoTls.test_silent_clients_are_closed_in_time",
        (("daemon/net/conn_io.c",
          "} else if (takes_requests(conn) && conn->frame_by != 0 && now >= conn->frame_by) {",
          "} else if (!chi_transport_is_shaking(conn) && takes_requests(conn) && "
          "conn->frame_by != 0 && now >= conn->frame_by) {"),)),
    Mutant(
        "read-only-store-is-written",
        "What is served read-only is not written",
        "daemon/ops/dispatch.c",
        "if ((flags & CHI_NEEDS_WRITABLE) != 0 && !task->served->writable) {",
        "if (false) {",
        "system daemon", "StartAndStop.test_read_only"),
    Mutant(
        "counters-for-everyone",
        "The page of counters is on loopback alone",
        "daemon/net/socket.c",
        "return ntohl(v4->sin_addr.s_addr) >> 24 == 127;",
        "return true;",
        "system metrics", "TestOption.test_loopback_only"),
)

SECTIONS = (
    ("Who gets in", DOORS),
)
