/* SPDX-License-Identifier: MIT */
#include "base/library.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "base/fault.h"

static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;

static int load_library(struct chi_library *library, struct chi_fault *fault)
{
	errno = 0;
	void *handle = dlopen(library->file, RTLD_NOW | RTLD_LOCAL);
	if (handle == NULL) {
		const char *why = dlerror();
		return errno == ENOMEM ? chi_fault_plain(fault, -CHI_ENOMEM)
				       : chi_fail(fault, -CHI_EUNSUPPORTED, "%s: %.120s",
						  library->need, why != NULL ? why : library->file);
	}
	for (size_t i = 0; i < library->n; i++) {
		void *function = dlsym(handle, library->names[i]);
		if (function == NULL) {
			return chi_fail(fault, -CHI_EUNSUPPORTED, "%s: %s is too old, it has no %s",
					library->need, library->file, library->names[i]);
		}
		/* ISO C has no conversion from what dlsym returns to a function; POSIX has. */
		memcpy((char *)library->functions + i * sizeof(function), &function,
		       sizeof(function));
	}
	library->loaded = true;
	return CHI_OK;
}

int chi_library_load(struct chi_library *library, struct chi_fault *fault)
{
	(void)pthread_mutex_lock(&loading);
	int status = library->loaded ? CHI_OK : load_library(library, fault);
	(void)pthread_mutex_unlock(&loading);
	return status;
}
