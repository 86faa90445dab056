/* SPDX-License-Identifier: MIT */
/*
 * What memcheck must find, so that a run of it that finds nothing means something. Argument: read,
 * a decision by memory that was never written; lose, a block that nothing points to; none,
 * neither.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
	/* Volatile, or the compiler would find it before valgrind does. */
	uint8_t *volatile block = malloc(64);
	const char *what = argc > 1 ? argv[1] : "";
	if (block == NULL) {
		return 3;
	}
	if (strcmp(what, "read") == 0 && block[7] == 0xa5) {
		puts("a rare value");
	}
	if (strcmp(what, "lose") != 0) {
		free(block);
	}
	block = NULL;
	return 0;
}
