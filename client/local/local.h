/* SPDX-License-Identifier: MIT */
/* The backend that opens a directory in this process. */
#pragma once

struct chi_backend;

extern const struct chi_backend chi_backend_inproc;
