/* SPDX-License-Identifier: MIT */
/*
 * Which stores this process has open. LMDB must not open a directory twice in one process: closing
 * either would drop the record locks of both, and the snapshots of live readers with them. And no
 * handle survives a fork, which the child must learn.
 */
#include "store/env/env.h"

#include <stddef.h>
#include <unistd.h>

#include "store/env/lock.h"

static pthread_mutex_t registry_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct chi_env *registry;
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;
static int fork_rc;

/* The parent's threads do not exist in the child: what they were doing with an environment
 * stays half done. So its list is emptied and the child may open stores of its own; the
 * parent's environments are left mapped, as closing them would touch their lock tables. */
static void poison(void)
{
	for (struct chi_env *env = registry; env != NULL; env = env->next) {
		env->poisoned = true;
		chi_lock_forget(&env->lock);
		(void)close(env->pin);
		env->pin = -1;
	}
	registry = NULL;
	(void)pthread_mutex_unlock(&registry_mutex);
}

static void watch_fork(void)
{
	fork_rc = pthread_atfork(chi_registry_lock, chi_registry_unlock, poison);
}

void chi_registry_lock(void)
{
	(void)pthread_mutex_lock(&registry_mutex);
}

void chi_registry_unlock(void)
{
	(void)pthread_mutex_unlock(&registry_mutex);
}

struct chi_env *chi_registry_find(dev_t dev, ino_t ino)
{
	struct chi_env *env = registry;
	while (env != NULL && (env->dev != dev || env->ino != ino)) {
		env = env->next;
	}
	return env;
}

int chi_registry_add(struct chi_env *env)
{
	(void)pthread_once(&fork_once, watch_fork);
	if (fork_rc != 0) {
		return -CHI_ENOMEM;
	}
	env->next = registry;
	registry = env;
	return CHI_OK;
}

void chi_registry_remove(struct chi_env *env)
{
	struct chi_env **at = &registry;
	while (*at != NULL && *at != env) {
		at = &(*at)->next;
	}
	if (*at == env) {
		*at = env->next;
	}
}
