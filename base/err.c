/* SPDX-License-Identifier: MIT */
/*
 * The sentence for each status code. A table and no switch, so that a test can walk it and find
 * the code that was added without a text.
 */
#include "chistore/types.h"

static const char *const texts[CHI_ERROR_COUNT] = {
	[CHI_OK] = "done",
	[CHI_EINVAL] = "an argument is out of range",
	[CHI_EFEN] = "not a FEN, or a position that cannot be stored",
	[CHI_EKEY] = "not a position key",
	[CHI_EMOVE] = "not a legal move in this position",
	[CHI_ESYNTAX] = "text that cannot be parsed",
	[CHI_ETOOBIG] = "over a limit",
	[CHI_ENOMEM] = "out of memory",
	[CHI_EIO] = "reading or writing failed",
	[CHI_EFULL] = "no space left",
	[CHI_ENOSTORE] = "no such store",
	[CHI_EEXIST] = "exists already",
	[CHI_EVERSION] = "a version this program cannot use",
	[CHI_ECORRUPT] = "stored data is damaged",
	[CHI_EACCES] = "permission denied",
	[CHI_EREADONLY] = "read-only",
	[CHI_EBUSY] = "busy, try again later",
	[CHI_ENETFS] = "the path is on a network file system",
	[CHI_EFORK] = "handle used in a child of the process that opened it",
	[CHI_ECONNECT] = "no connection to the store",
	[CHI_ETIMEOUT] = "timed out",
	[CHI_EPROTO] = "the peer broke the protocol",
	[CHI_EUNSUPPORTED] = "operation not supported",
	[CHI_ECANCELED] = "canceled",
	[CHI_EINTERNAL] = "internal error, please report it",
	[CHI_ESTALE] = "the store's files were replaced while it was open",
	[CHI_EFORGOTTEN] = "not done: whether it was done before is no longer known",
};

const char *chi_strerror(int status)
{
	/* CHI_NONE shares its number with CHI_EINVAL, which functions only ever return negated:
	 * of the two readings of +1, the one a caller can have seen is CHI_NONE. */
	if (status == CHI_NONE) {
		return "no such thing";
	}
	/* In int64_t INT_MIN has a positive counterpart. */
	int64_t code = status < 0 ? -(int64_t)status : status;
	if (code >= CHI_ERROR_COUNT || texts[code] == NULL) {
		return "unknown status";
	}
	return texts[code];
}
