// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/tm_stale.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int stale_compare(const void *a, const void *b)
{
	const struct to_tm_end *x = a, *y = b;

	if (x->server != y->server)
		return x->server < y->server ? -1 : 1;
	return strcmp(x->port, y->port);
}

int to_tm_note_stale(struct to_tm *tm, const struct to_tm_account *accounts,
		     const struct to_tm_segments *segments)
{
	unsigned int n = 0, i = 0;

	for (unsigned int l = 0; l < tm->n_links; l++)
		n += accounts[l].nics[TO_TM_SENT].stale + accounts[l].nics[TO_TM_RECEIVED].stale;
	for (unsigned int s = 0; s < segments->n_ports; s++)
		n += segments->ports[s].account.nics[TO_TM_SENT].stale;
	if (!n)
		return 0;
	tm->stale = calloc(n, sizeof(*tm->stale));
	if (!tm->stale)
		return -ENOMEM;
	for (unsigned int l = 0; l < tm->n_links; l++) {
		if (accounts[l].nics[TO_TM_SENT].stale)
			tm->stale[i++] = tm->links[l].from;
		if (accounts[l].nics[TO_TM_RECEIVED].stale)
			tm->stale[i++] = tm->links[l].to;
	}
	for (unsigned int s = 0; s < segments->n_ports; s++) {
		const struct to_tm_segment_port *port = &segments->ports[s];

		if (!port->account.nics[TO_TM_SENT].stale)
			continue;
		tm->stale[i].server = port->server;
		strcpy(tm->stale[i++].port, port->name);
	}
	/* a duplex link has two directions */
	qsort(tm->stale, n, sizeof(*tm->stale), stale_compare);
	for (unsigned int i = 0; i < n; i++)
		if (!i || stale_compare(&tm->stale[i], &tm->stale[tm->n_stale - 1]))
			tm->stale[tm->n_stale++] = tm->stale[i];
	return 0;
}
