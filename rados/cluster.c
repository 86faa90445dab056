/* SPDX-License-Identifier: MIT */
/*
 * A connection has a dozen threads and takes a monitor's time: so clients share one if they have
 * the same configuration, user and patience. It says nothing on stderr; a log is written where the
 * configuration file says.
 */
#include "rados/cluster.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fault.h"
#include "rados/library.h"
#include "rados/rados.h"

struct chi_cluster {
	struct chi_cluster *next;
	unsigned users;
	pid_t pid;
	char conf[CHI_RADOS_CONF_MAX + 1];
	char user[CHI_RADOS_NAME_MAX + 1];
	uint32_t connect_ms;
	rados_t handle;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct chi_cluster *clusters;

static const char *user_of(const struct chi_rados_place *place)
{
	return place->user[0] != '\0' ? place->user : "admin";
}

/* In a child of fork the parent's are left alone. */
static struct chi_cluster *find_cluster(const struct chi_rados_place *place)
{
	for (struct chi_cluster *one = clusters; one != NULL; one = one->next) {
		if (one->pid == getpid() && one->connect_ms == place->connect_ms &&
		    strcmp(one->conf, place->conf) == 0 && strcmp(one->user, user_of(place)) == 0) {
			return one;
		}
	}
	return NULL;
}

/* Whole seconds, as Ceph counts. */
static int set_time(rados_t handle, const char *option, uint32_t ms)
{
	char text[16];
	(void)snprintf(text, sizeof(text), "%u", ms / 1000 + (ms % 1000 != 0));
	return chi_librados.conf_set(handle, option, text);
}

static int configure(struct chi_cluster *cluster, struct chi_fault *fault)
{
	rados_t handle = cluster->handle;
	const char *conf = cluster->conf[0] != '\0' ? cluster->conf : NULL;
	int rc = chi_librados.conf_read_file(handle, conf);
	if (rc < 0) {
		return chi_fail(fault, rc == -EACCES ? -CHI_EACCES : -CHI_ENOSTORE,
				"cannot read Ceph's configuration %s%.120s%s (%s)",
				conf != NULL ? "'" : "", conf != NULL ? conf : "ceph.conf",
				conf != NULL ? "'" : "; name it by conf=FILE", strerror(-rc));
	}
	rc = chi_librados.conf_set(handle, "log_to_stderr", "false");
	rc = rc < 0 ? rc : chi_librados.conf_set(handle, "err_to_stderr", "false");
	rc = rc < 0 ? rc : set_time(handle, "client_mount_timeout", cluster->connect_ms);
	rc = rc < 0 ? rc : set_time(handle, "rados_mon_op_timeout", cluster->connect_ms);
	/* Bounds on what is on its way, beyond which sending would wait without an end. ops.c has
	 * its own. */
	rc = rc < 0 ? rc : chi_librados.conf_set(handle, "objecter_inflight_ops", "0");
	rc = rc < 0 ? rc : chi_librados.conf_set(handle, "objecter_inflight_op_bytes", "0");
	return rc < 0 ? chi_fail(fault, -CHI_EINTERNAL, "cannot configure librados (%s)",
				 strerror(-rc))
		      : CHI_OK;
}

static int connect_fault(const struct chi_cluster *cluster, int rc, struct chi_fault *fault)
{
	switch (-rc) {
	case ETIMEDOUT:
		return chi_fail(fault, -CHI_ETIMEOUT,
				"no monitor of the cluster answered within %u ms",
				cluster->connect_ms);
	case EACCES:
	case EPERM:
	case EOPNOTSUPP:
		return chi_fail(fault, -CHI_EACCES,
				"the cluster refuses user '%.80s': its key is not the right one",
				cluster->user);
	case ENOENT:
		return chi_fail(fault, -CHI_EACCES,
				"no key of user '%.80s' is found where the configuration says",
				cluster->user);
	default:
		return chi_fail(fault, -CHI_ECONNECT, "cannot connect to the cluster (%s)",
				strerror(-rc));
	}
}

static int make_handle(struct chi_cluster *cluster, struct chi_fault *fault)
{
	char name[CHI_RADOS_NAME_MAX + 8];
	(void)snprintf(name, sizeof(name), "client.%s", cluster->user);
	int rc = chi_librados.create2(&cluster->handle, "ceph", name, 0);
	if (rc < 0) {
		return chi_fail(fault, -CHI_ECONNECT, "cannot use librados (%s)", strerror(-rc));
	}
	int status = configure(cluster, fault);
	if (status == CHI_OK) {
		rc = chi_librados.connect(cluster->handle);
		status = rc < 0 ? connect_fault(cluster, rc, fault) : CHI_OK;
	}
	if (status != CHI_OK) {
		chi_librados.shutdown(cluster->handle);
	}
	return status;
}

/* Other clients that open meanwhile wait: they are likely to want the same. */
int chi_cluster_open(const struct chi_rados_place *place, struct chi_cluster **out,
		     struct chi_fault *fault)
{
	int status = chi_librados_load(fault);
	if (status != CHI_OK) {
		return status;
	}
	(void)pthread_mutex_lock(&lock);
	struct chi_cluster *cluster = find_cluster(place);
	if (cluster == NULL) {
		cluster = calloc(1, sizeof(*cluster));
		status = cluster != NULL ? CHI_OK : chi_fault_plain(fault, -CHI_ENOMEM);
		if (status == CHI_OK) {
			cluster->pid = getpid();
			cluster->connect_ms = place->connect_ms;
			strcpy(cluster->conf, place->conf);
			strcpy(cluster->user, user_of(place));
			status = make_handle(cluster, fault);
		}
		if (status == CHI_OK) {
			cluster->next = clusters;
			clusters = cluster;
		} else {
			free(cluster);
			cluster = NULL;
		}
	}
	if (cluster != NULL) {
		cluster->users++;
	}
	(void)pthread_mutex_unlock(&lock);
	*out = cluster;
	return status;
}

void chi_cluster_close(struct chi_cluster *cluster)
{
	if (cluster == NULL || chi_cluster_forked(cluster)) {
		return;
	}
	(void)pthread_mutex_lock(&lock);
	bool last = --cluster->users == 0;
	struct chi_cluster **at = &clusters;
	while (last && *at != cluster) {
		at = &(*at)->next;
	}
	if (last) {
		*at = cluster->next;
	}
	(void)pthread_mutex_unlock(&lock);
	if (last) {
		chi_librados.shutdown(cluster->handle);
		free(cluster);
	}
}

rados_t chi_cluster_handle(const struct chi_cluster *cluster)
{
	return cluster->handle;
}

bool chi_cluster_forked(const struct chi_cluster *cluster)
{
	return cluster->pid != getpid();
}
