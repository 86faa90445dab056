/* SPDX-License-Identifier: MIT */
/* Calls on the archive of games while an allocation fails: a part of test_nomem.c. */
#pragma once

#include "chistore.h"

/* Names that an import has brought are asked for, and changed. */
void lack_ask_names(struct chi_client *client);

/* Searches of the whole store, and filters with a name. */
void lack_use_queue(struct chi_client *client);
void lack_use_gamesets(struct chi_client *client);
