/* SPDX-License-Identifier: MIT */
/* Scan, Count and Games: the request is checked here; scan.c does the work. */
#include "chess/material.h"
#include "daemon/ops/handler.h"
#include "daemon/ops/scan.h"
#include "store/store.h"

/* The filter's material comes as text, because the room of the protocol knows no chess. */
static int start(struct chi_task *task, const char *name)
{
	struct chi_request *request = task->request;
	struct chi_scan_spec spec = request->u.scan.spec;
	const struct chi_text *material = &request->u.scan.material;
	int status = CHI_OK;
	if (material->len > 0) {
		status = chi_material_parse(material->bytes, material->len, &spec.filter.material,
					    &task->fault);
		spec.filter.has_material = true;
	}
	if (status < 0) {
		return chi_task_field(task, status, "%s.filter.material", name);
	}
	status = chi_scan_check(&spec, &task->fault);
	if (status < 0) {
		return chi_task_field(task, status, "%s", name);
	}
	return chi_scan_start(task->conn, task->served, request, &spec);
}

int chi_handle_scan(struct chi_task *task)
{
	return start(task, "scan");
}

int chi_handle_count(struct chi_task *task)
{
	/* A count walks the band forwards and delivers nothing but a number. */
	task->request->u.scan.spec.limit = 0;
	task->request->u.scan.spec.want = CHI_WANT_KEYS;
	task->request->u.scan.window = 1;
	return start(task, "count");
}

int chi_handle_game_ids(struct chi_task *task)
{
	uint32_t limit = task->request->u.games.limit;
	struct chi_scan_spec spec = {
		.limit = limit == 0 || limit > CHI_GAME_IDS_MAX ? CHI_GAME_IDS_MAX : limit,
	};
	return chi_scan_start(task->conn, task->served, task->request, &spec);
}
