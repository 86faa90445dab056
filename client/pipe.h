/* SPDX-License-Identifier: MIT */
/* What closing a client frees of its pipeline. */
#pragma once

struct chi_client;

void chi_pipe_free(struct chi_client *client);
