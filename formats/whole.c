/* SPDX-License-Identifier: MIT */
#include "formats/whole.h"

#include <inttypes.h>

#include "base/attr.h"
#include "base/buffer.h"
#include "base/fault.h"
#include "formats/source.h"

static void closep(struct chi_source **source)
{
	chi_source_close(*source);
}

static int read_all(struct chi_buffer *content, struct chi_source *source, const char *what,
		    struct chi_fault *fault)
{
	const char *bytes = NULL;
	size_t len = 0;
	int rc;
	while ((rc = chi_source_read(source, &bytes, &len, fault)) == CHI_OK) {
		if (len > CHI_WHOLE_MAX - content->len) {
			return chi_fault(fault, -CHI_ETOOBIG, "%s is at most %" PRIu64 " bytes",
					 what, CHI_WHOLE_MAX);
		}
		if (chi_buffer_append(content, bytes, len) < 0) {
			return chi_fault_plain(fault, -CHI_ENOMEM);
		}
	}
	return rc == CHI_NONE ? CHI_OK : rc;
}

int chi_whole_read(const char *path, const char *what, uint8_t **bytes, size_t *len,
		   struct chi_fault *fault)
{
	const struct chi_source_options options = {.binary = true};
	_cleanup_(closep) struct chi_source *source = NULL;
	struct chi_buffer content;
	int rc = chi_source_open(path, &options, &source, fault);
	if (rc < 0) {
		return rc;
	}
	chi_buffer_init(&content, (size_t)CHI_WHOLE_MAX + 1);
	rc = read_all(&content, source, what, fault);
	if (rc < 0) {
		chi_buffer_deinit(&content);
		return rc;
	}
	*bytes = content.data;
	*len = content.len;
	return CHI_OK;
}
