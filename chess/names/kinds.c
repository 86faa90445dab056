/* SPDX-License-Identifier: MIT */
/* What the kinds of names are called. */
#include "chistore/names.h"

const char *chi_name_kind_name(int kind)
{
	static const char *const names[CHI_NAME_KINDS] = {
		[CHI_NAME_PLAYER] = "player",
		[CHI_NAME_EVENT] = "event",
		[CHI_NAME_SITE] = "site",
		[CHI_NAME_SOURCE] = "source",
	};
	return kind > 0 && kind < CHI_NAME_KINDS ? names[kind] : NULL;
}
