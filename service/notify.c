/* SPDX-License-Identifier: MIT */
/* The protocols are a few lines each, so no library is needed, and every build has them. */
#include "service/notify.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/num.h"
#include "service/log.h"

/* The first descriptor that is passed; the others follow. */
#define FIRST_FD 3

/* A path, or after '@' a name without a file. False if it is neither. */
static bool manager_name(struct sockaddr_un *name, socklen_t *len)
{
	const char *path = getenv("NOTIFY_SOCKET");
	size_t n = path != NULL ? strlen(path) : 0;
	if (n < 2 || n > sizeof(name->sun_path) - 1 || (path[0] != '/' && path[0] != '@')) {
		return false;
	}
	*name = (struct sockaddr_un){.sun_family = AF_UNIX};
	memcpy(name->sun_path, path, n);
	/* Of a name without a file every byte counts, of a path also the NUL. */
	*len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n + (path[0] == '@' ? 0 : 1));
	if (path[0] == '@') {
		name->sun_path[0] = '\0';
	}
	return true;
}

void chi_notify(const char *state)
{
	struct sockaddr_un name;
	socklen_t len = 0;
	if (!manager_name(&name, &len)) {
		return;
	}
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 ||
	    sendto(fd, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&name, len) < 0) {
		log_warning("notify.fail", "failed to tell the service manager '{state}'",
			    log_text("state", state));
	}
	if (fd >= 0) {
		close(fd);
	}
}

/* A variable that is a number; 0 if it is not there or none. */
static uint64_t number_in(const char *variable)
{
	const char *text = getenv(variable);
	uint64_t number = 0;
	return text != NULL && chi_num_u64(text, strlen(text), UINT64_MAX, &number) == CHI_OK
		       ? number
		       : 0;
}

uint64_t chi_notify_watchdog(void)
{
	/* Without the number it is meant for any process that has it. */
	bool ours =
		getenv("WATCHDOG_PID") == NULL || number_in("WATCHDOG_PID") == (uint64_t)getpid();
	return ours ? number_in("WATCHDOG_USEC") : 0;
}

/* The next of the names between colons; "unknown" as far as they go not. */
static int take_name(const char **names, struct chi_passed *passed, struct chi_fault *fault)
{
	const char *name = *names != NULL ? *names : "unknown";
	size_t len = strcspn(name, ":");
	if (len > CHI_ACTIVATION_NAME_MAX) {
		return chi_fail(fault, -CHI_EINVAL, "LISTEN_FDNAMES: a name has %zu bytes", len);
	}
	memcpy(passed->name, name, len);
	passed->name[len] = '\0';
	if (*names != NULL) {
		*names = name[len] == ':' ? name + len + 1 : NULL;
	}
	return CHI_OK;
}

static int take_all(uint64_t n, const char *names, struct chi_passed_list *out,
		    struct chi_fault *fault)
{
	if (n > CHI_LISTENS_MAX) {
		return chi_fail(fault, -CHI_EINVAL, "LISTEN_FDS: more than %d sockets",
				CHI_LISTENS_MAX);
	}
	for (size_t i = 0; i < n; i++) {
		int fd = FIRST_FD + (int)i;
		int status = take_name(&names, &out->sockets[i], fault);
		if (status < 0) {
			return status;
		}
		if (fcntl(fd, F_SETFD, FD_CLOEXEC) < 0) {
			return chi_fail(fault, -CHI_EINVAL, "LISTEN_FDS: descriptor %d is not open",
					fd);
		}
		out->sockets[i].fd = fd;
		out->n++;
	}
	return CHI_OK;
}

int chi_notify_passed(struct chi_passed_list *out, struct chi_fault *fault)
{
	int status = CHI_OK;
	out->n = 0;
	/* The variables are inherited by children, the descriptors are not theirs. */
	if (number_in("LISTEN_PID") == (uint64_t)getpid()) {
		status = take_all(number_in("LISTEN_FDS"), getenv("LISTEN_FDNAMES"), out, fault);
	}
	unsetenv("LISTEN_PID");
	unsetenv("LISTEN_FDS");
	unsetenv("LISTEN_FDNAMES");
	return status;
}
