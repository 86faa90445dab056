/* SPDX-License-Identifier: MIT */
/* Paths of a store's files. */
#include "store/names.h"

#include <stdio.h>

int chi_path_join(char out[CHI_PATH_SIZE], const char *dir, const char *name)
{
	int n = snprintf(out, CHI_PATH_SIZE, "%s/%s", dir, name);
	return n < 0 || n >= CHI_PATH_SIZE ? -CHI_EINVAL : CHI_OK;
}
