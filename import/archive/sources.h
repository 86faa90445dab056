/* SPDX-License-Identifier: MIT */
/* Which file each stream of an import came from: the source of its games. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Zeroed at first, but for `room`. When memory is short streams have no source: nothing else
 * depends on it. */
struct chi_sources {
	char **names; /* of files, without directories; owned */
	size_t n_names;
	uint32_t *of; /* by stream: the place of its name, from 1; 0: it has none */
	size_t n;
	size_t room; /* bytes that may still be used */
};

/* Streams come in their order; `path` is that of its file, or NULL. */
void chi_sources_note(struct chi_sources *sources, uint32_t stream, const char *path);

/* The name, or NULL. */
const char *chi_sources_of(const struct chi_sources *sources, uint32_t stream);

void chi_sources_deinit(struct chi_sources *sources);
