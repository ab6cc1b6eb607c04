// SPDX-License-Identifier: GPL-2.0-or-later
#include "peers_print.h"

#include <inttypes.h>

#include "base/text.h"

/* What packets a neighbour takes. */
static const char *peers_takes(const struct to_peer *p)
{
	return p->transit ? "all" : p->local ? "its own" : "none";
}

static void peers_print_peer(FILE *out, const struct to_peer *p)
{
	char end[TO_KERNEL_NAME + IFNAMSIZ], heard[16] = "never";

	snprintf(end, sizeof(end), "%s:%s", p->server, p->server_port);
	if (p->heard)
		to_seconds_text(p->silence_ms * 1e-3, heard);
	fprintf(out, "%-15s %-23s %-10s %-8s %10s %11" PRIu64 " %9" PRIu64 "\n", p->port, end,
		p->reason <= TOPOOPT_CHECK_REASON_RECOVERING ? to_peer_reasons[p->reason] : "unknown",
		peers_takes(p), heard, p->received, p->missing);
}

void to_peers_print(FILE *out, const struct to_device_view *view)
{
	const char *self = view->device.check.server;
	char text[TO_PEER_WORDS];

	if (!to_module_has(&view->genl.module, TOPOOPT_FEATURE_CHECKS))
		fprintf(out, "the module has no continuity checks: links follow light\n");
	else if (!view->n_peers)
		fprintf(out, "no neighbours are checked: links follow light\n");
	if (!view->n_peers)
		return;
	fprintf(out, "%-15s %-23s %-10s %-8s %10s %11s %9s\n", "PORT", "NEIGHBOUR", "STATE", "TAKES",
		"LAST HEARD", "RECEIVED", "MISSING");
	for (unsigned int i = 0; i < view->n_peers; i++)
		peers_print_peer(out, &view->peers[i]);
	for (unsigned int i = 0; i < view->n_peers; i++)
		if (view->peers[i].reason != TOPOOPT_CHECK_REASON_HEARD)
			fprintf(out, "%s: %s\n", view->peers[i].port,
				to_peer_reason_words(&view->peers[i], self, text));
}
