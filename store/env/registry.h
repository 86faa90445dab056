/* SPDX-License-Identifier: MIT */
/* Which stores this process has open. */
#pragma once

#include <sys/types.h>

#include "chistore/types.h"

struct chi_env;

void chi_registry_lock(void);

void chi_registry_unlock(void);

/* With the registry locked. */
struct chi_env *chi_registry_find(dev_t dev, ino_t ino);

CHI_MUSTUSE int chi_registry_add(struct chi_env *env);

void chi_registry_remove(struct chi_env *env);
