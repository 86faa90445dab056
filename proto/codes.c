/* SPDX-License-Identifier: MIT */
/*
 * Status codes of the program to codes on the wire and back. The wire has fewer: what can only
 * happen inside a process (a fork, a network file system) arrives as the class it belongs to, and
 * a code of a later version is taken for the plainest code of its class.
 */
#include "proto/msg.h"

#include "base/attr.h"
#include "proto/pbc.h"

/* Codes that have the same meaning on both sides; translated both ways. */
static const struct {
	int status;
	int code;
} pairs[] = {
	{CHI_OK, CHISTORE__V1__CODE__OK},
	{CHI_NONE, CHISTORE__V1__CODE__NOT_FOUND},
	{-CHI_EINVAL, CHISTORE__V1__CODE__INVALID},
	{-CHI_EFEN, CHISTORE__V1__CODE__BAD_FEN},
	{-CHI_EKEY, CHISTORE__V1__CODE__BAD_KEY},
	{-CHI_EMOVE, CHISTORE__V1__CODE__BAD_MOVE},
	{-CHI_ESYNTAX, CHISTORE__V1__CODE__BAD_SYNTAX},
	{-CHI_ETOOBIG, CHISTORE__V1__CODE__TOO_LARGE},
	{-CHI_ENOSTORE, CHISTORE__V1__CODE__NO_SUCH_STORE},
	{-CHI_EVERSION, CHISTORE__V1__CODE__WRONG_VERSION},
	{-CHI_EUNSUPPORTED, CHISTORE__V1__CODE__UNSUPPORTED},
	{-CHI_EPROTO, CHISTORE__V1__CODE__MALFORMED},
	{-CHI_EEXIST, CHISTORE__V1__CODE__EXISTS},
	{-CHI_EBUSY, CHISTORE__V1__CODE__BUSY},
	{-CHI_ECANCELED, CHISTORE__V1__CODE__CANCELED},
	{-CHI_ETIMEOUT, CHISTORE__V1__CODE__TIMED_OUT},
	{-CHI_EACCES, CHISTORE__V1__CODE__DENIED},
	{-CHI_EREADONLY, CHISTORE__V1__CODE__READ_ONLY},
	{-CHI_EFORGOTTEN, CHISTORE__V1__CODE__FORGOTTEN},
	{-CHI_EINTERNAL, CHISTORE__V1__CODE__INTERNAL},
	{-CHI_EFULL, CHISTORE__V1__CODE__DISK_FULL},
	{-CHI_ECORRUPT, CHISTORE__V1__CODE__CORRUPT},
	{-CHI_EIO, CHISTORE__V1__CODE__IO},
	{-CHI_ESTALE, CHISTORE__V1__CODE__STALE},
	{-CHI_ENOMEM, CHISTORE__V1__CODE__NO_MEMORY},
};

int chi_status_to_code(int status)
{
	for (size_t i = 0; i < CHI_COUNT(pairs); i++) {
		if (pairs[i].status == status) {
			return pairs[i].code;
		}
	}
	/* Lossy: ENETFS, EFORK, ECONNECT and numbers unheard of are not the client's doing. */
	return CHISTORE__V1__CODE__INTERNAL;
}

int chi_status_from_code(int code)
{
	if (code == CHISTORE__V1__CODE__UNKNOWN_OPERATION) {
		return -CHI_EUNSUPPORTED;
	}
	for (size_t i = 0; i < CHI_COUNT(pairs); i++) {
		if (pairs[i].code == code) {
			return pairs[i].status;
		}
	}
	switch (code / 10) {
	case 1:
	case 2:
		return -CHI_EINVAL;
	case 3:
		return -CHI_EBUSY;
	case 4:
		return -CHI_EACCES;
	case 5:
		return -CHI_EINTERNAL;
	default:
		return -CHI_EPROTO;
	}
}
