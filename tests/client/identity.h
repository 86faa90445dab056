/* SPDX-License-Identifier: MIT */
/* A certificate for tests of TLS, made when it is needed: none can be too old. */
#pragma once

/* Writes a certificate for 127.0.0.1, signed by itself, so that it is its own authority, and its
 * key, as PEM files. Fails the test. */
void identity_make(const char *certificate, const char *key);
