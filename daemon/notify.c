/* SPDX-License-Identifier: MIT */
/* Telling systemd, where it was found at build time; elsewhere nothing. */
#include "daemon/notify.h"

#ifdef CHI_HAVE_SYSTEMD
#include <systemd/sd-daemon.h>

void chi_notify(const char *state)
{
	sd_notify(0, state);
}
#else
void chi_notify(const char *state)
{
	(void)state;
}
#endif
