/* SPDX-License-Identifier: MIT */
/* A file of many streams is noted once; both lists double when they are full. */
#include "import/archive/sources.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool are_sources_full(size_t n)
{
	return (n & (n - 1)) == 0;
}

static const char *file_name_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

/* The place of the name, from 1; 0: there is no room for it. */
static uint32_t source_place(struct chi_sources *sources, const char *name)
{
	size_t n = sources->n_names;
	if (n > 0 && strcmp(sources->names[n - 1], name) == 0) {
		return (uint32_t)n;
	}
	size_t size = strlen(name) + 1 + 2 * sizeof(*sources->names);
	if (size > sources->room) {
		return 0;
	}
	if (are_sources_full(n)) {
		char **names = realloc(sources->names, (n == 0 ? 1 : 2 * n) * sizeof(*names));
		if (names == NULL) {
			return 0;
		}
		sources->names = names;
	}
	sources->names[n] = strdup(name);
	if (sources->names[n] == NULL) {
		return 0;
	}
	sources->room -= size;
	return (uint32_t)++sources->n_names;
}

void chi_sources_note(struct chi_sources *sources, uint32_t stream, const char *path)
{
	size_t n = sources->n;
	if (stream != n || sources->room < 2 * sizeof(*sources->of)) {
		return;
	}
	sources->room -= 2 * sizeof(*sources->of);
	if (are_sources_full(n)) {
		uint32_t *of = realloc(sources->of, (n == 0 ? 1 : 2 * n) * sizeof(*of));
		if (of == NULL) {
			return;
		}
		sources->of = of;
	}
	bool named = path != NULL && path[0] != '\0';
	sources->of[sources->n++] = named ? source_place(sources, file_name_of(path)) : 0;
}

const char *chi_sources_of(const struct chi_sources *sources, uint32_t stream)
{
	uint32_t place = stream < sources->n ? sources->of[stream] : 0;
	return place > 0 ? sources->names[place - 1] : NULL;
}

void chi_sources_deinit(struct chi_sources *sources)
{
	for (size_t i = 0; i < sources->n_names; i++) {
		free(sources->names[i]);
	}
	free(sources->names);
	free(sources->of);
}
