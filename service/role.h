/* SPDX-License-Identifier: MIT */
/* Who may do what: what a client may ask for, and what an operation asks of it. */
#pragma once

/* Each may do what those before it may. */
enum chi_role {
	CHI_ROLE_NONE,	/* is denied access */
	CHI_ROLE_READ,	/* asks */
	CHI_ROLE_WRITE, /* puts, deletes, imports */
	CHI_ROLE_ADMIN, /* works on the store as a whole */
	CHI_ROLES,
};
