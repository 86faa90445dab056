/* SPDX-License-Identifier: MIT */
/* A loop of poll over the server's requests, children that end, and those that are given up. */
#include "daemon/verifier.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fault.h"
#include "daemon/limits.h"
#include "daemon/status/log.h"
#include "daemon/jail/sandbox.h"
#include "daemon/ops/verify.h"

enum {
	REQUESTS,
	SIGNALS,
	CONTROLS
};

struct child {
	pid_t pid; /* 0: none */
	int control;
};

struct loop {
	const struct chi_config *config;
	int requests;
	int signals;
	struct child children[CHI_TASKS_MAX];
};

/* Room for the two descriptors of a request. */
union passed {
	struct cmsghdr head;
	char bytes[CMSG_SPACE(2 * sizeof(int))];
};

/* ---- In the process itself --------------------------------------------------------------- */

static void close_all(int from, int to)
{
	if (from > to || close_range((unsigned)from, (unsigned)to, 0) == 0) {
		return;
	}
	/* A kernel that cannot do it at once. */
	int end = (int)sysconf(_SC_OPEN_MAX);
	for (int fd = from; fd <= to && fd < end; fd++) {
		close(fd);
	}
}

/* Never returns. A stop of the whole service is no damage: the server has it killed if need be, by
 * `verifier`, without which nobody could: the server's own end would wait for the child's. */
static void be_child(const struct chi_config *config, size_t store, int output, pid_t verifier)
{
	struct chi_config own = *config;
	sigset_t none;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != verifier) {
		_exit(3);
	}
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (dup2(output, STDOUT_FILENO) < 0) {
		_exit(3);
	}
	close_all(STDERR_FILENO + 1, INT_MAX);
	prctl(PR_SET_NAME, "chistore-verify");
	own.verify_path = config->stores[store].path;
	struct chi_fault fault = {0};
	if (chi_sandbox_enter_verify(config, own.verify_path, &fault) < 0) {
		fprintf(stderr, "chistored: %s\n", fault.text);
		exit(3);
	}
	exit(chi_verify_main(&own));
}

static void begin(struct loop *loop, size_t store, int output, int control)
{
	struct child *child = NULL;
	for (size_t i = 0; i < CHI_TASKS_MAX; i++) {
		child = loop->children[i].pid == 0 ? &loop->children[i] : child;
	}
	if (child == NULL || store >= loop->config->n_stores) {
		return;
	}
	int fd = dup(control);
	pid_t verifier = getpid();
	pid_t pid = fd >= 0 ? fork() : -1;
	if (pid == 0) {
		be_child(loop->config, store, output, verifier);
	}
	if (pid < 0) {
		close(fd);
		return;
	}
	*child = (struct child){pid, fd};
}

/* False when the server has gone. What makes no sense is dropped, and its sockets with it. */
static bool take_request(struct loop *loop)
{
	size_t store = 0;
	union passed passed;
	struct iovec bytes = {&store, sizeof(store)};
	struct msghdr message = {.msg_iov = &bytes,
				 .msg_iovlen = 1,
				 .msg_control = &passed,
				 .msg_controllen = sizeof(passed)};
	ssize_t n = recvmsg(loop->requests, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	if (n <= 0) {
		return n < 0 && (errno == EINTR || errno == EAGAIN);
	}
	int fds[2] = {-1, -1};
	size_t n_fds = 0;
	struct cmsghdr *head = CMSG_FIRSTHDR(&message);
	if (head != NULL && head->cmsg_type == SCM_RIGHTS) {
		n_fds = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		memcpy(fds, CMSG_DATA(head), n_fds * sizeof(int));
	}
	if (n == sizeof(store) && n_fds == 2) {
		begin(loop, store, fds[0], fds[1]);
	}
	for (size_t i = 0; i < n_fds; i++) {
		close(fds[i]);
	}
	return true;
}

static void bury(struct loop *loop)
{
	struct signalfd_siginfo info;
	ssize_t n = read(loop->signals, &info, sizeof(info));
	(void)n;
	int how;
	pid_t pid;
	while ((pid = waitpid(-1, &how, WNOHANG)) > 0) {
		for (size_t i = 0; i < CHI_TASKS_MAX; i++) {
			struct child *child = &loop->children[i];
			if (child->pid == pid) {
				/* The server may have gone; then nobody wants to know. */
				n = send(child->control, &how, sizeof(how), MSG_NOSIGNAL);
				close(child->control);
				*child = (struct child){.pid = 0};
			}
		}
	}
}

static bool turn(struct loop *loop)
{
	struct pollfd ready[CONTROLS + CHI_TASKS_MAX];
	ready[REQUESTS] = (struct pollfd){.fd = loop->requests, .events = POLLIN};
	ready[SIGNALS] = (struct pollfd){.fd = loop->signals, .events = POLLIN};
	for (size_t i = 0; i < CHI_TASKS_MAX; i++) {
		const struct child *child = &loop->children[i];
		/* Once it is shut down it is always readable. */
		ready[CONTROLS + i] = (struct pollfd){.fd = child->pid > 0 ? child->control : -1,
						      .events = POLLIN};
	}
	if (poll(ready, CHI_COUNT(ready), -1) < 0) {
		return errno == EINTR;
	}
	for (size_t i = 0; i < CHI_TASKS_MAX; i++) {
		if (ready[CONTROLS + i].revents != 0) {
			kill(loop->children[i].pid, SIGKILL);
			/* Its end tells. */
			waitid(P_PID, (id_t)loop->children[i].pid, NULL, WEXITED | WNOWAIT);
		}
	}
	if (ready[SIGNALS].revents != 0) {
		bury(loop);
	}
	return ready[REQUESTS].revents == 0 || take_request(loop);
}

/* Signals meant for the server may reach the whole group: it is the server that ends this one. */
static void serve(const struct chi_config *config, int requests)
{
	struct loop loop = {.config = config, .requests = requests};
	sigset_t ended;
	prctl(PR_SET_NAME, "chistored-check");
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	chi_log_close();
	close_all(STDERR_FILENO + 1, requests - 1);
	close_all(requests + 1, INT_MAX);
	signal(SIGTERM, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	sigemptyset(&ended);
	sigaddset(&ended, SIGCHLD);
	sigprocmask(SIG_BLOCK, &ended, NULL);
	loop.signals = signalfd(-1, &ended, SFD_CLOEXEC | SFD_NONBLOCK);
	while (loop.signals >= 0 && turn(&loop)) {
	}
	for (size_t i = 0; i < CHI_TASKS_MAX; i++) {
		if (loop.children[i].pid > 0) {
			kill(loop.children[i].pid, SIGKILL);
		}
	}
}

/* ---- In the server ----------------------------------------------------------------------- */

int chi_verifier_start(const struct chi_config *config, struct chi_verifier *out,
		       struct chi_fault *fault)
{
	int ends[2];
	*out = (struct chi_verifier){.fd = -1};
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0) {
		return chi_fault(fault, -CHI_EBUSY, "cannot make a socket (%s)", strerror(errno));
	}
	pid_t pid = fork();
	if (pid == 0) {
		struct chi_fault why = {0};
		/* The log has been given away by the server, or will be. */
		if (chi_user_become(&config->user, STDERR_FILENO, &why) == CHI_OK) {
			serve(config, ends[1]);
		}
		exit(0);
	}
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return chi_fault(fault, -CHI_EBUSY, "cannot start a process (%s)", strerror(errno));
	}
	*out = (struct chi_verifier){ends[0], pid};
	return CHI_OK;
}

int chi_verifier_begin(const struct chi_verifier *verifier, size_t store, int output, int control,
		       struct chi_fault *fault)
{
	const int fds[2] = {output, control};
	union passed passed = {.bytes = {0}};
	struct iovec bytes = {&store, sizeof(store)};
	struct msghdr message = {.msg_iov = &bytes,
				 .msg_iovlen = 1,
				 .msg_control = &passed,
				 .msg_controllen = sizeof(passed)};
	struct cmsghdr *head = CMSG_FIRSTHDR(&message);
	head->cmsg_level = SOL_SOCKET;
	head->cmsg_type = SCM_RIGHTS;
	head->cmsg_len = CMSG_LEN(sizeof(fds));
	memcpy(CMSG_DATA(head), fds, sizeof(fds));
	return sendmsg(verifier->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof(store)
		       ? CHI_OK
		       : chi_fault(fault, -CHI_EBUSY, "cannot start a verification (%s)",
				   strerror(errno));
}

void chi_verifier_stop(struct chi_verifier *verifier)
{
	if (verifier->pid > 0) {
		close(verifier->fd);
		while (waitpid(verifier->pid, NULL, 0) < 0 && errno == EINTR) {
		}
	}
	*verifier = (struct chi_verifier){.fd = -1};
}
