/* SPDX-License-Identifier: MIT */
/*
 * librados, loaded when the first address needs it: a program that opens a directory or a socket
 * neither links it nor waits for the 30 libraries behind it.
 */
#pragma once

#include <rados/librados.h>

#include "base/library.h"

/* Every function that is used, without its prefix. */
#define CHI_LIBRADOS(CALL)                                                                         \
	CALL(create2)                                                                              \
	CALL(conf_read_file)                                                                       \
	CALL(conf_set)                                                                             \
	CALL(connect)                                                                              \
	CALL(shutdown)                                                                             \
	CALL(ioctx_create)                                                                         \
	CALL(ioctx_destroy)                                                                        \
	CALL(ioctx_get_id)                                                                         \
	CALL(pool_reverse_lookup)                                                                  \
	CALL(aio_create_completion2)                                                               \
	CALL(aio_get_return_value)                                                                 \
	CALL(aio_get_version)                                                                      \
	CALL(aio_release)                                                                          \
	CALL(aio_cancel)                                                                           \
	CALL(create_read_op)                                                                       \
	CALL(release_read_op)                                                                      \
	CALL(read_op_read)                                                                         \
	CALL(read_op_stat)                                                                         \
	CALL(read_op_omap_get_vals2)                                                               \
	CALL(read_op_omap_get_vals_by_keys2)                                                       \
	CALL(aio_read_op_operate)                                                                  \
	CALL(create_write_op)                                                                      \
	CALL(release_write_op)                                                                     \
	CALL(write_op_assert_version)                                                              \
	CALL(write_op_assert_exists)                                                               \
	CALL(write_op_create)                                                                      \
	CALL(write_op_remove)                                                                      \
	CALL(write_op_write_full)                                                                  \
	CALL(write_op_truncate)                                                                    \
	CALL(write_op_omap_cmp2)                                                                   \
	CALL(write_op_omap_set2)                                                                   \
	CALL(write_op_omap_rm_keys2)                                                               \
	CALL(write_op_omap_clear)                                                                  \
	CALL(aio_write_op_operate)                                                                 \
	CALL(omap_get_next2)                                                                       \
	CALL(omap_get_end)

#define CHI_LIBRADOS_MEMBER(name) __typeof__(&rados_##name) name;
struct chi_librados {
	CHI_LIBRADOS(CHI_LIBRADOS_MEMBER)
};

/* Filled by the first successful chi_librados_load. */
extern struct chi_librados chi_librados;

/* As chi_library_load. */
CHI_MUSTUSE int chi_librados_load(struct chi_fault *fault);
