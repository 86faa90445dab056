/* SPDX-License-Identifier: MIT */
#include "rados/library.h"

#include "base/attr.h"

struct chi_librados chi_librados;

#define RADOS_NAME(name) "rados_" #name,
static const char *const names[] = {CHI_LIBRADOS(RADOS_NAME)};

/* Ceph 16 has all of them. */
static struct chi_library library = {
	.file = "librados.so.2",
	.need = "rados: addresses need librados (package librados2)",
	.names = names,
	.n = CHI_COUNT(names),
	.functions = &chi_librados,
};

int chi_librados_load(struct chi_fault *fault)
{
	return chi_library_load(&library, fault);
}
