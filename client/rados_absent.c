/* SPDX-License-Identifier: MIT */
/* The backend of a library that was built without RADOS. */
#include "base/fault.h"
#include "client/core/client.h"
#include "rados/rados.h"

static int refuse_rados(struct chi_client *client)
{
	return chi_fail(&client->error, -CHI_EUNSUPPORTED,
			"this library was built without RADOS (meson -Drados)");
}

static int refuse_create(struct chi_client *client, enum chi_statistic statistic,
			 enum chi_keep keep)
{
	(void)statistic;
	(void)keep;
	return refuse_rados(client);
}

static void close_nothing(struct chi_client *client)
{
	(void)client;
}

/* No client is opened, so that nothing else is ever called. */
const struct chi_backend chi_backend_rados = {
	.create = refuse_create,
	.open = refuse_rados,
	.close = close_nothing,
};

int chi_rados_import_open(struct chi_rados *rados, const struct chi_import_options *options,
			  struct chi_rados_import **out, struct chi_importer **importer)
{
	(void)rados;
	(void)options;
	(void)out;
	(void)importer;
	return -CHI_EUNSUPPORTED;
}

int chi_rados_import_commit(struct chi_rados_import *import, struct chi_import_result *result)
{
	(void)import;
	(void)result;
	return -CHI_EUNSUPPORTED;
}

void chi_rados_import_close(struct chi_rados_import *import)
{
	(void)import;
}
