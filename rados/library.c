/* SPDX-License-Identifier: MIT */
/* Loading librados. It stays loaded: its threads do not survive being unloaded. */
#include "rados/library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "base/fault.h"

#define LIBRARY "librados.so.2"

struct chi_librados chi_librados;

static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;
static bool loaded;

/* ISO C has no conversion from what dlsym returns to a function; POSIX has. */
static bool find_symbol(void *library, const char *name, void *function)
{
	void *symbol = dlsym(library, name);
	memcpy(function, &symbol, sizeof(symbol));
	return symbol != NULL;
}

static int load_library(struct chi_fault *fault)
{
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	bool good = library != NULL;
	if (!good) {
		const char *why = dlerror();
		return chi_fail(fault, -CHI_EUNSUPPORTED,
				"rados: addresses need librados (package librados2): %.120s",
				why != NULL ? why : LIBRARY);
	}
#define FIND(name) good = good && find_symbol(library, "rados_" #name, &chi_librados.name);
	CHI_LIBRADOS(FIND)
#undef FIND
	loaded = good;
	return good ? CHI_OK
		    : chi_fail(fault, -CHI_EUNSUPPORTED,
			       "the installed librados is too old: Ceph 16 or later is needed");
}

int chi_librados_load(struct chi_fault *fault)
{
	(void)pthread_mutex_lock(&loading);
	int status = loaded ? CHI_OK : load_library(fault);
	(void)pthread_mutex_unlock(&loading);
	return status;
}
