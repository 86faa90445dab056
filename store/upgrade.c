/* SPDX-License-Identifier: MIT */
/*
 * Bringing a store that an earlier program made up to date, when it is first opened for writing:
 * one small transaction, synced, before anything else is written. From then on the stamp keeps out
 * programs that would take what this one writes for damage. Opened for reading only, a store stays
 * as it is; it holds nothing that a reader could not do without.
 */
#include "base/fault.h"
#include "store/lmdb_err.h"
#include "store/store_priv.h"

static bool is_current(const struct chi_env *env)
{
	return (env->stamp.incompatible & CHI_FEATURE_PLIES) != 0 && env->games != 0 &&
	       env->clients != 0;
}

/* Makes a tree unless it is there. The handle is not kept: the
 * environment is opened anew behind it. Returns LMDB's code. */
static int add_tree(struct chi_write *write, const char *name)
{
	MDB_dbi tree;
	int error = mdb_dbi_open(write->txn, name, 0, &tree);
	if (error == MDB_NOTFOUND) {
		write->changed = true;
		error = mdb_dbi_open(write->txn, name, MDB_CREATE, &tree);
	}
	return error;
}

/* What an old store lacks, in the write transaction. Two processes may have found it old: the
 * second in turn finds it done, changes nothing and so commits nothing. */
static int bring_up(struct chi_write *write, struct chi_fault *fault)
{
	MDB_dbi meta = write->env->meta;
	struct chi_stamp stamp;
	int rc = chi_stamp_get(write->txn, meta, false, &stamp, fault);
	if (rc < 0) {
		return rc;
	}
	int error = add_tree(write, GAMES_TREE);
	if (error == 0) {
		error = add_tree(write, CLIENTS_TREE);
	}
	if (error == 0 && (stamp.incompatible & CHI_FEATURE_PLIES) == 0) {
		stamp.incompatible |= CHI_FEATURE_PLIES;
		write->changed = true;
		error = chi_stamp_put(write->txn, meta, &stamp);
	}
	return chi_lmdb_write_fault(fault, error, "write to", write->env->path);
}

int chi_env_upgrade(struct chi_env *env, uint32_t lock_wait_ms, struct chi_fault *fault)
{
	if (env->mode == CHI_STORE_READ || is_current(env)) {
		return CHI_OK;
	}
	/* The environment has no handle yet; claiming the writer's place takes one. */
	struct chi_store handle = {.env = env, .mode = env->mode, .lock_wait_ms = lock_wait_ms};
	struct chi_write *write;
	int rc = chi_write_begin(&handle, &write, fault);
	if (rc < 0) {
		return rc;
	}
	rc = bring_up(write, fault);
	if (rc < 0) {
		chi_write_abort(write);
		return rc;
	}
	rc = chi_write_commit(write, fault);
	/* Opened anew, the stamp and the trees are those that are there now. */
	return rc < 0 ? rc : chi_env_restart(env, fault);
}
