/* SPDX-License-Identifier: MIT */
/*
 * Opening and closing: handles on environments, each directory once per process. What can be
 * known to be wrong is found out before LMDB sees the directory, because LMDB would answer with
 * one errno for many causes, or with a signal.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/fault.h"
#include "store/env/env.h"
#include "store/env/lock.h"
#include "store/env/published.h"
#include "store/lmdb_err.h"
#include "store/names.h"
#include "store/store.h"

static void free_env(struct chi_env *env)
{
	if (env == NULL) {
		return;
	}
	if (env->mdb != NULL) {
		(void)chi_env_drain(env);
		mdb_env_close(env->mdb);
	}
	chi_lock_close(&env->lock);
	if (env->pin >= 0) {
		(void)close(env->pin);
	}
	chi_guides_deinit(&env->guides);
	chi_briefs_deinit(&env->briefs);
	(void)pthread_cond_destroy(&env->idle);
	(void)pthread_mutex_destroy(&env->mutex);
	free(env->path);
	free(env);
}

static void free_envp(struct chi_env **env)
{
	free_env(*env);
}

/* A missing path, a path that is no directory, a file system that cannot hold the promises. */
static int check_directory(const char *path, bool force_netfs, struct stat *st,
			   struct chi_fault *fault)
{
	if (stat(path, st) < 0) {
		if (errno == ENOENT || errno == ENOTDIR) {
			return chi_fail(fault, -CHI_ENOSTORE, "'%s' does not exist", path);
		}
		return chi_lmdb_fault(fault, errno, "look at", path);
	}
	if (!S_ISDIR(st->st_mode)) {
		return chi_fail(fault, -CHI_ENOSTORE, "'%s' is not a directory", path);
	}
	return force_netfs ? CHI_OK : chi_file_system_check(path, fault);
}

static struct chi_env *new_env(const struct chi_dir_options *options)
{
	/* The pool's slots are aligned to cache lines, which malloc does not promise. */
	struct chi_env *env = aligned_alloc(_Alignof(struct chi_env), sizeof(*env));
	if (env == NULL) {
		return NULL;
	}
	memset(env, 0, sizeof(*env));
	for (size_t i = 0; i < POOL_SLOTS; i++) {
		atomic_init(&env->pool[i].read, NULL);
	}
	env->mode = options->mode;
	env->lock.fd = -1;
	env->pin = -1;
	(void)pthread_mutex_init(&env->mutex, NULL);
	(void)pthread_cond_init(&env->idle, NULL);
	chi_guides_init(&env->guides);
	return env;
}

/* A published copy may be replaced by a newer one at any moment, but not that often. */
#define LOCATE_TRIES 100

/* A directory that is open here and has no name that could be trusted (path.c). */
#define PROC "/proc/self/fd/"

/* Fixes which directory this is, even if its name changes later. CHI_NONE: it has another
 * name since it was looked at. */
static int locate(struct chi_env *env, const char *path, const struct stat *st,
		  struct chi_fault *fault)
{
	/* Absolute, so that a compaction finds it after a change of directory. */
	env->path = strncmp(path, PROC, strlen(PROC)) == 0 ? strdup(path) : realpath(path, NULL);
	env->pin = env->path != NULL ? open(path, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	struct stat now;
	if (env->pin < 0 || fstat(env->pin, &now) < 0) {
		return chi_lmdb_fault(fault, errno, "open", path);
	}
	if (now.st_dev != st->st_dev || now.st_ino != st->st_ino) {
		return CHI_NONE;
	}
	env->dev = st->st_dev;
	env->ino = st->st_ino;
	return CHI_OK;
}

/* A mount that is read-only may show a store that another mount writes: the file system must be. */
static void note_media(struct chi_env *env)
{
	struct statvfs fs;
	if (env->mode == CHI_STORE_READ && fstatvfs(env->pin, &fs) == 0 &&
	    (fs.f_flag & ST_RDONLY) != 0 && chi_file_system_is_still(env->path)) {
		env->read_only = CHI_READ_ONLY_MEDIA;
	}
}

/* Our own locks come first, so that LMDB never waits for someone whom we could name. */
static int open_locked(struct chi_env *env, const struct chi_dir_options *options,
		       struct chi_fault *fault)
{
	bool write = options->mode != CHI_STORE_READ;
	int rc = chi_lock_open(&env->lock, env->path, write, options->lock_wait_ms, fault);
	if (rc < 0) {
		return rc;
	}
	if (options->mode == CHI_STORE_DAEMON) {
		rc = chi_lock_writer(&env->lock, options->lock_wait_ms, "chistored", fault);
		if (rc == CHI_OK) {
			rc = chi_lock_serve(&env->lock, options->address, fault);
		}
		if (rc < 0) {
			return rc;
		}
		chi_compact_sweep(env);
	}
	/* Under the users' lock: a compaction cannot exchange the file after this check. */
	rc = chi_file_check(env->path, fault);
	if (rc == CHI_OK) {
		rc = chi_links_check(env, fault);
	}
	rc = rc == CHI_OK ? chi_env_restart(env, fault) : rc;
	/* After LMDB, which needs its own. */
	if (rc == CHI_OK) {
		chi_guides_reserve(&env->guides);
	}
	return rc;
}

/* CHI_NONE as above. */
static int open_env(const char *path, const struct chi_dir_options *options, const struct stat *st,
		    struct chi_env **out, struct chi_fault *fault)
{
	_cleanup_(free_envp) struct chi_env *env = new_env(options);
	if (env == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	int rc = locate(env, path, st, fault);
	if (rc == CHI_OK) {
		rc = chi_map_bytes(options->map_bytes, &env->map_bytes, fault);
	}
	if (rc != CHI_OK) {
		return rc;
	}
	rc = chi_published_open(env, fault);
	if (rc == CHI_NONE) {
		note_media(env);
		rc = open_locked(env, options, fault);
	}
	if (rc == CHI_OK) {
		rc = chi_registry_add(env);
	}
	if (rc < 0) {
		return rc;
	}
	*out = env;
	env = NULL;
	return CHI_OK;
}

/* The environment of the directory, opened or shared; with the registry locked. CHI_NONE as above.
 */
static int try_find(const char *path, const struct chi_dir_options *options, struct chi_env **out,
		    struct chi_fault *fault)
{
	struct stat st;
	int rc = check_directory(path, options->force_netfs, &st, fault);
	if (rc < 0) {
		return rc;
	}
	struct chi_env *env = chi_registry_find(st.st_dev, st.st_ino);
	if (env == NULL) {
		/* Before the lock file is made: no trace is left in a directory that holds
		 * something else. */
		rc = chi_file_check(path, fault);
		if (rc == CHI_OK) {
			rc = open_env(path, options, &st, &env, fault);
		}
		if (rc != CHI_OK) {
			return rc;
		}
	} else if (env->read_only == CHI_READ_ONLY_PUBLISHED && options->mode != CHI_STORE_READ) {
		return chi_published_refuse(path, fault);
	} else if (env->mode < options->mode) {
		return chi_fail(fault, -CHI_EBUSY,
				"this process has '%s' open already, with fewer rights", path);
	}
	env->refs++;
	*out = env;
	return CHI_OK;
}

static int find_env(const char *path, const struct chi_dir_options *options, struct chi_env **out,
		    struct chi_fault *fault)
{
	int rc = CHI_NONE;
	for (int i = 0; rc == CHI_NONE && i < LOCATE_TRIES; i++) {
		rc = try_find(path, options, out, fault);
	}
	return rc == CHI_NONE ? chi_fail(fault, -CHI_EBUSY, "'%s' keeps being replaced", path) : rc;
}

bool chi_env_is_shared(struct chi_env *env)
{
	chi_registry_lock();
	bool is_shared = env->refs > 1;
	chi_registry_unlock();
	return is_shared;
}

/* Gives back a handle's share. */
static void put_env(struct chi_env *env)
{
	chi_registry_lock();
	/* A child's environments are its parent's: they are left alone, mapped. */
	if (!chi_env_forked(env) && --env->refs == 0) {
		chi_registry_remove(env);
		free_env(env);
	}
	chi_registry_unlock();
}

int chi_dir_open(const char *path, const struct chi_dir_options *options, struct chi_dir **out,
		 struct chi_fault *fault)
{
	_cleanup_(chi_freep) char *copy = strdup(path);
	_cleanup_(chi_freep) struct chi_dir *store = calloc(1, sizeof(*store));
	if (copy == NULL || store == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	chi_registry_lock();
	int rc = find_env(path, options, &store->env, fault);
	chi_registry_unlock();
	if (rc < 0) {
		return rc;
	}
	store->mode = options->mode;
	store->lock_wait_ms = options->lock_wait_ms;
	store->path = copy;
	copy = NULL;
	*out = store;
	store = NULL;
	return CHI_OK;
}

/* Not in the registry: no path leads to it. */
static int open_file_env(int file, struct chi_env **out, struct chi_fault *fault)
{
	const struct chi_dir_options options = {.mode = CHI_STORE_READ};
	_cleanup_(free_envp) struct chi_env *env = new_env(&options);
	if (env == NULL) {
		(void)close(file);
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	env->pin = file;
	env->read_only = CHI_READ_ONLY_PUBLISHED;
	env->unnamed = true;
	env->refs = 1;
	if (asprintf(&env->path, PROC "%d", file) < 0) {
		env->path = NULL;
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	int rc = chi_map_bytes(0, &env->map_bytes, fault);
	rc = rc == CHI_OK ? chi_env_restart(env, fault) : rc;
	if (rc == CHI_OK) {
		chi_guides_reserve(&env->guides);
	}
	if (rc == CHI_OK) {
		*out = env;
		env = NULL;
	}
	return rc;
}

/* A handle with the environment, which is freed if there is no memory for one. */
static int new_dir(struct chi_env *env, const char *path, struct chi_dir **out)
{
	struct chi_dir *store = malloc(sizeof(*store));
	char *copy = strdup(path);
	if (store == NULL || copy == NULL) {
		free(store);
		free(copy);
		free_env(env);
		return -CHI_ENOMEM;
	}
	*store = (struct chi_dir){.env = env, .mode = CHI_STORE_READ, .path = copy};
	*out = store;
	return CHI_OK;
}

int chi_dir_open_file(int file, const char *dir, struct chi_dir **out, struct chi_fault *fault)
{
	struct chi_env *env = NULL;
	int rc = open_file_env(file, &env, fault);
	if (rc == CHI_OK && new_dir(env, dir, out) < 0) {
		rc = chi_fault_plain(fault, -CHI_ENOMEM);
	}
	return rc;
}

/* ---- Following --------------------------------------------------------------------------- */

bool chi_dir_is_still(const struct chi_dir *store)
{
	return store->env->read_only != CHI_READ_ONLY_NOT;
}

/* Fixes the directory that the path leads to now, by whose descriptor all its files are opened:
 * whatever has the path a moment later, none of its files is met. */
static int pin_directory(struct chi_env *env, const char *path, struct chi_fault *fault)
{
	struct stat st;
	env->pin = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (env->pin < 0 && (errno == ENOENT || errno == ENOTDIR)) {
		return chi_fail(fault, -CHI_ENOSTORE, "'%s' is not there any more", path);
	}
	if (env->pin < 0 || fstat(env->pin, &st) < 0) {
		return chi_lmdb_fault(fault, errno, "open", path);
	}
	env->dev = st.st_dev;
	env->ino = st.st_ino;
	if (asprintf(&env->path, PROC "%d", env->pin) < 0) {
		env->path = NULL;
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	return CHI_OK;
}

/* Without locks, or not at all. */
static int open_copy(struct chi_env *env, bool force_netfs, struct chi_fault *fault)
{
	int rc = force_netfs ? CHI_OK : chi_file_system_check(env->path, fault);
	rc = rc == CHI_OK ? chi_file_check(env->path, fault) : rc;
	rc = rc == CHI_OK ? chi_published_open(env, fault) : rc;
	if (rc != CHI_NONE) {
		return rc;
	}
	note_media(env);
	return env->read_only == CHI_READ_ONLY_MEDIA
		       ? chi_env_restart(env, fault)
		       : chi_fail(fault, -CHI_ESTALE,
				  "it is no published copy, nor mounted read-only: close the store "
				  "and open it again");
}

/* Whether the path leads to another directory by now than to the one that is pinned. */
static bool is_exchanged(const struct chi_env *env, const char *path)
{
	struct stat pinned;
	struct stat named;
	return env->pin >= 0 && fstat(env->pin, &pinned) == 0 &&
	       (stat(path, &named) < 0 || pinned.st_dev != named.st_dev ||
		pinned.st_ino != named.st_ino);
}

static int open_named(const char *path, const struct chi_dir_options *options, struct chi_env **out,
		      bool *exchanged, struct chi_fault *fault)
{
	*exchanged = false;
	_cleanup_(free_envp) struct chi_env *env = new_env(options);
	if (env == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	int rc = pin_directory(env, path, fault);
	rc = rc == CHI_OK ? chi_map_bytes(options->map_bytes, &env->map_bytes, fault) : rc;
	rc = rc == CHI_OK ? open_copy(env, options->force_netfs, fault) : rc;
	if (rc == CHI_OK) {
		chi_guides_reserve(&env->guides);
		env->refs = 1;
		*out = env;
		env = NULL;
	}
	*exchanged = rc < 0 && is_exchanged(env, path);
	return rc;
}

/* A copy that is replaced while it is opened may be removed too: then it is the next one's turn. */
static int open_newest(const char *path, const struct chi_dir_options *options,
		       struct chi_env **out, struct chi_fault *fault)
{
	bool exchanged = false;
	int rc;
	int tries = 0;
	do {
		rc = open_named(path, options, out, &exchanged, fault);
	} while (exchanged && ++tries < LOCATE_TRIES);
	return rc;
}

static bool stat_data(struct chi_env *env, struct stat *out)
{
	mdb_filehandle_t fd;
	(void)pthread_mutex_lock(&env->mutex);
	bool known = env->mdb != NULL && mdb_env_get_fd(env->mdb, &fd) == 0 && fstat(fd, out) == 0;
	(void)pthread_mutex_unlock(&env->mutex);
	return known;
}

static bool has_same_file(struct chi_env *a, struct chi_env *b)
{
	struct stat first;
	struct stat second;
	return stat_data(a, &first) && stat_data(b, &second) && first.st_dev == second.st_dev &&
	       first.st_ino == second.st_ino;
}

/* For the check of forks. Others may share it, or open the directory again: without locks there are
 * none that the second opening could drop. */
static int enter_registry(struct chi_env *env)
{
	chi_registry_lock();
	int rc = chi_registry_add(env);
	chi_registry_unlock();
	return rc;
}

/* The registry is not locked meanwhile: what the path leads to may hang. */
int chi_dir_follow(struct chi_dir *store, const struct chi_dir_options *options,
		   struct chi_dir **out, struct chi_fault *fault)
{
	bool changed = false;
	struct chi_env *found = NULL;
	*out = NULL;
	int rc = chi_dir_changed(store, &changed, fault);
	if (rc != CHI_OK || !changed) {
		return rc;
	}
	if (!chi_dir_is_still(store)) {
		return chi_fail(
			fault, -CHI_ESTALE,
			"the one that is open is no published copy, nor mounted read-only: close "
			"it and open it again");
	}
	rc = open_newest(store->path, options, &found, fault);
	if (rc < 0) {
		return rc;
	}
	/* The path may lead to the open files again. */
	if (has_same_file(found, store->env)) {
		free_env(found);
		return CHI_OK;
	}
	rc = new_dir(found, store->path, out);
	rc = rc == CHI_OK ? enter_registry(found) : rc;
	if (rc < 0) {
		chi_dir_close(*out);
		*out = NULL;
		return chi_fault_plain(fault, rc);
	}
	return CHI_OK;
}

int chi_dir_share(const struct chi_dir *store, struct chi_dir **out)
{
	_cleanup_(chi_freep) char *path = strdup(store->path);
	struct chi_dir *copy = malloc(sizeof(*copy));
	if (path == NULL || copy == NULL) {
		free(copy);
		return -CHI_ENOMEM;
	}
	*copy = (struct chi_dir){.env = store->env, .mode = CHI_STORE_READ, .path = path};
	path = NULL;
	chi_registry_lock();
	copy->env->refs++;
	chi_registry_unlock();
	*out = copy;
	return CHI_OK;
}

void chi_dir_close(struct chi_dir *store)
{
	if (store == NULL) {
		return;
	}
	put_env(store->env);
	free(store->path);
	free(store);
}

enum chi_statistic chi_dir_statistic(const struct chi_dir *store)
{
	return store->env->stamp.statistic;
}

enum chi_keep chi_dir_keep(const struct chi_dir *store)
{
	return store->env->stamp.keep;
}

const uint8_t *chi_dir_uuid(const struct chi_dir *store)
{
	return store->env->stamp.uuid;
}

int chi_dir_served(const struct chi_dir *store, struct chi_fault *fault)
{
	return chi_lock_served(&store->env->lock, fault);
}

const char *chi_dir_path(const struct chi_dir *store)
{
	return store->path;
}
