/* SPDX-License-Identifier: MIT */
#include "service/moves.h"

#include <string.h>

#include "service/log.h"

void chi_moves_log(const char *path, const struct chi_moves_copy *was,
		   const struct chi_moves_copy *is)
{
	bool other = memcmp(was->store, is->store, sizeof(was->store)) != 0;
	bool newer = !other && is->sequence >= was->sequence;
	CHI_LOG_AT(chi_log, newer ? CHI_LOG_INFO : CHI_LOG_WARNING, "store.move",
		   "the store is read from {what} at '{path}': its sequence is {sequence}, that of "
		   "the one before {before}",
		   log_text("what", other   ? "another store"
				    : newer ? "the newer copy"
					    : "an older copy"),
		   log_text("path", path), log_number("sequence", is->sequence),
		   log_number("before", was->sequence));
}

void chi_moves_refuse(struct chi_moves *moves, const char *path, const struct chi_fault *cause,
		      bool again)
{
	if (again || strcmp(moves->refused.text, cause->text) != 0) {
		log_warning("store.stay",
			    "the store is read from the files that are open: what '{path}' leads "
			    "to now cannot be opened ({cause})",
			    log_text("path", path), log_text("cause", cause->text));
	}
	moves->refused = *cause;
}
