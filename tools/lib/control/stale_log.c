// SPDX-License-Identifier: GPL-2.0-or-later
#include "control/stale_log.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

void to_stale_log(const struct to_run_log *log, const struct to_tm *tm, unsigned int *n)
{
	json_t *ports;
	char text[256] = "";

	if (tm->n_stale == *n)
		return;
	*n = tm->n_stale;
	ports = json_array();
	for (unsigned int i = 0; i < tm->n_stale; i++) {
		const struct to_tm_end *end = &tm->stale[i];

		json_array_append_new(ports, json_sprintf("%s:%s", tm->servers[end->server],
							  end->port));
		snprintf(text + strlen(text), sizeof(text) - strlen(text), " %s:%s",
			 tm->servers[end->server], end->port);
	}
	to_run_log(log, "stale", json_pack("{s:o}", "ports", ports),
		   *n ? "NIC counters stand still while bytes pass:%s; intervals are joined where both ends of a link have such ones" :
			"no NIC counters are known to stand still%s",
		   text);
}
