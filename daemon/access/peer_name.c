/* SPDX-License-Identifier: MIT */
/* Asked of the kernel when a line is written: nothing is kept for it. */
#include "daemon/access/peer_name.h"

#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/num.h"
#include "daemon/access/certificate.h"

static void print_address(int fd, struct chi_peer_name *out)
{
	struct sockaddr_storage name = {.ss_family = AF_UNSPEC};
	socklen_t len = sizeof(name);
	struct ucred user;
	socklen_t user_len = sizeof(user);
	char host[64] = "?";
	char port[8] = "?";
	(void)getpeername(fd, (struct sockaddr *)&name, &len);
	if (name.ss_family == AF_UNIX &&
	    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &user, &user_len) == 0) {
		snprintf(out->text, sizeof(out->text), "uid %u pid %d", (unsigned)user.uid,
			 (int)user.pid);
		return;
	}
	(void)getnameinfo((struct sockaddr *)&name, len, host, sizeof(host), port, sizeof(port),
			  NI_NUMERICHOST | NI_NUMERICSERV);
	snprintf(out->text, sizeof(out->text), "%s%s%s:%s", strchr(host, ':') != NULL ? "[" : "",
		 host, strchr(host, ':') != NULL ? "]" : "", port);
}

struct chi_peer_name chi_peer_name_of(int fd, const struct chi_tls *tls)
{
	struct chi_peer_name out;
	struct chi_certificate certificate = {.shown = false};
	char digits[2 * CHI_DIGEST_SIZE + 1];
	print_address(fd, &out);
	if (tls != NULL && tls->up && chi_certificate_of(tls, &certificate) == CHI_OK &&
	    certificate.shown) {
		size_t n = strlen(out.text);
		chi_hex_print(certificate.fingerprint, CHI_DIGEST_SIZE, digits);
		bool named = certificate.name[0] != '\0';
		snprintf(out.text + n, sizeof(out.text) - n, " certificate %s%s",
			 named ? "" : "sha256:", named ? certificate.name : digits);
	}
	return out;
}
