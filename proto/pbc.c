/* SPDX-License-Identifier: MIT */
/* Memory and frames for protobuf-c: the glue that needs to know how it allocates and packs. */
#include "proto/pbc.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/fault.h"
#include "proto/frame.h"

int chi_flaw(struct chi_flaw *flaw, int status, const char *reason, const char *path, ...)
{
	va_list args;
	va_start(args, path);
	/* A path that were too long would be cut; none is. */
	(void)vsnprintf(flaw->path, sizeof(flaw->path), path, args);
	va_end(args);
	flaw->reason = reason;
	return status;
}

void chi_flaw_under(struct chi_flaw *flaw, const char *prefix, ...)
{
	char inner[CHI_PATH_SIZE];
	memcpy(inner, flaw->path, sizeof(inner));
	va_list args;
	va_start(args, prefix);
	int n = vsnprintf(flaw->path, sizeof(flaw->path), prefix, args);
	va_end(args);
	size_t len = n > 0 && n < CHI_PATH_SIZE ? (size_t)n : 0;
	if (inner[0] != '\0') {
		(void)snprintf(flaw->path + len, sizeof(flaw->path) - len, ".%s", inner);
	}
}

int chi_flaw_fault(const struct chi_flaw *flaw, int status, struct chi_fault *fault)
{
	if (flaw->path[0] == '\0') {
		return chi_fault(fault, status, "%s", flaw->reason);
	}
	return chi_fault(fault, status, "%s: %s", flaw->path, flaw->reason);
}

int chi_arena_status(const struct chi_arena *arena, size_t size)
{
	/* The arena rounds sizes up; what would not fit with the largest rounding is its budget's
	 * doing, whatever malloc would have said. */
	const size_t rounding = 64;
	size_t left = arena->used < arena->budget ? arena->budget - arena->used : 0;
	return size > left || left - size < rounding ? -CHI_ETOOBIG : -CHI_ENOMEM;
}

int chi_flaw_memory(struct chi_flaw *flaw, const struct chi_arena *arena, size_t size)
{
	int status = chi_arena_status(arena, size);
	flaw->path[0] = '\0';
	flaw->reason = status == -CHI_ETOOBIG ? "unpacks to more memory than a message may take"
					      : "out of memory";
	return status;
}

/* protobuf-c knows no reason for a failure: it is kept here. */
struct pb_memory {
	struct chi_unpacker *u;
	int status;
};

static void *take(void *data, size_t size)
{
	struct pb_memory *memory = data;
	void *pointer = chi_arena_alloc(memory->u->arena, size);
	if (pointer == NULL) {
		memory->status = chi_flaw_memory(memory->u->flaw, memory->u->arena, size);
	}
	return pointer;
}

/* The arena frees all at once. */
static void leave(void *data, void *pointer)
{
	(void)data;
	(void)pointer;
}

int chi_pb_unpack(const ProtobufCMessageDescriptor *type, const uint8_t *bytes, size_t len,
		  struct chi_unpacker *u, ProtobufCMessage **out)
{
	struct pb_memory memory = {.u = u};
	ProtobufCAllocator allocator = {.alloc = take, .free = leave, .allocator_data = &memory};
	*out = protobuf_c_message_unpack(type, &allocator, len, bytes);
	if (*out != NULL || memory.status != CHI_OK) {
		return memory.status;
	}
	return chi_flaw(u->flaw, -CHI_EPROTO, "not a protobuf message", "%s", "");
}

/* The buffer's own answer does not tell its limit from a lack of memory. */
int chi_pb_reserve(struct chi_buffer *out, size_t len, uint8_t **at)
{
	if (out->len > out->limit || len > out->limit - out->len) {
		return -CHI_ETOOBIG;
	}
	*at = chi_buffer_reserve(out, len);
	return *at != NULL ? CHI_OK : -CHI_ENOMEM;
}

int chi_pb_pack(const ProtobufCMessage *message, size_t max, struct chi_buffer *out)
{
	uint8_t head[CHI_FRAME_HEAD_MAX];
	size_t len = protobuf_c_message_get_packed_size(message);
	if (len > max) {
		return -CHI_ETOOBIG;
	}
	/* All defaults: it would be an empty frame, which there is not. */
	if (len == 0) {
		return -CHI_EINVAL;
	}
	size_t head_len = chi_frame_head(len, head);
	uint8_t *at = NULL;
	int rc = chi_pb_reserve(out, head_len + len, &at);
	if (rc != CHI_OK) {
		return rc;
	}
	memcpy(at, head, head_len);
	protobuf_c_message_pack(message, at + head_len);
	chi_buffer_added(out, head_len + len);
	return CHI_OK;
}

char *chi_pb_text(struct chi_arena *arena, struct chi_text text)
{
	return chi_arena_text(arena, text.bytes, text.len);
}
