/* SPDX-License-Identifier: MIT */
/*
 * The store's own lock file, `chistore.lock`: who may write, and who has the store open. Open file
 * description locks (F_OFD_SETLK), which unlike the older record locks are not lost when
 * some other part of the process opens and closes the file, and vanish with a dead process.
 *
 *    byte 0: exclusive by the one writer      byte 1: shared by all who have the store open
 *    byte 2: exclusive by the writer that is next in turn
 *    byte 3: exclusive by a daemon, while it serves the store
 *
 * The file's text names the last writer, for the error message of the next.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/file.h"
#include "chistore/types.h"

struct chi_lock {
	int fd;	       /* -1: not open, or read-only media without the file */
	bool writable; /* fd is open for writing */
	bool writer;   /* byte 0 is ours */
};

/* Makes the file in a new store, so that readers without write permission in the directory find
 * it. Returns an errno. */
CHI_MUSTUSE int chi_lock_make(const char *dir);

/* Opens (for a writer or where it is missing: makes) the file in `dir`, and takes the users' lock,
 * waiting up to `wait_ms` for a compaction to end. A reader goes without on read-only media. */
CHI_MUSTUSE int chi_lock_open(struct chi_lock *lock, const char *dir, bool write, uint32_t wait_ms,
			      struct chi_fault *fault);

/* Gives back everything. Harmless on a lock that is not open. */
void chi_lock_close(struct chi_lock *lock);

/* In a forked child: closes the descriptor, which leaves the parent's locks alone. Async-signal
 * safe. */
void chi_lock_forget(struct chi_lock *lock);

/* Takes the writer's lock, waiting up to `wait_ms`; `role` goes into the file's text. -CHI_EBUSY
 * names the holder. */
CHI_MUSTUSE int chi_lock_writer(struct chi_lock *lock, uint32_t wait_ms, const char *role,
				struct chi_fault *fault);
void chi_lock_writer_release(struct chi_lock *lock);

/* Says until the file is closed that the writer whose lock is held is a daemon that will not let go
 * of it, and where its clients find it (NULL: not known). */
CHI_MUSTUSE int chi_lock_serve(struct chi_lock *lock, const char *address, struct chi_fault *fault);

/* -CHI_EBUSY names the other process that serves the store. */
CHI_MUSTUSE int chi_lock_served(const struct chi_lock *lock, struct chi_fault *fault);

/* No one else may have the store open: -CHI_EBUSY if someone has. Asked, and until it is shared
 * again held. */
CHI_MUSTUSE int chi_lock_company(const struct chi_lock *lock, struct chi_fault *fault);
CHI_MUSTUSE int chi_lock_alone(struct chi_lock *lock, struct chi_fault *fault);
void chi_lock_share(struct chi_lock *lock);
