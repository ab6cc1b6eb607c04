// SPDX-License-Identifier: GPL-2.0-or-later
/* Check what the neighbours of a server are heard to say. */

#include "doctor/check.h"

static const char *check_peer_fix(const struct to_peer *peer)
{
	switch (peer->reason) {
	case TOPOOPT_CHECK_REASON_NO_TABLE:
		return "toctl apply --all PLAN";
	case TOPOOPT_CHECK_REASON_DOWN:
		return "ip link set topo0 up on that server";
	case TOPOOPT_CHECK_REASON_SILENT:
		return "see that the server is up; else replace the cable or its transceivers";
	case TOPOOPT_CHECK_REASON_UNHEARD:
		return "replace the cable or its transceivers";
	case TOPOOPT_CHECK_REASON_STRANGER:
		return "plug the cable where the plan says; toctl discover prints the cabling that is there";
	case TOPOOPT_CHECK_REASON_FABRIC:
		return "give both servers one plan: toctl apply --all PLAN";
	default:
		return NULL;
	}
}

static void check_peer(struct to_checks *checks, const char *self, const struct to_peer *peer)
{
	enum to_verdict verdict = TO_CHECK_FAIL;
	char text[TO_PEER_WORDS];

	if (peer->reason == TOPOOPT_CHECK_REASON_HEARD)
		verdict = TO_CHECK_OK;
	else if (peer->transit || peer->reason == TOPOOPT_CHECK_REASON_RECOVERING)
		verdict = TO_CHECK_WARN;
	to_check_add(checks, verdict, "peer", peer->port, check_peer_fix(peer), "%.190s",
		     to_peer_reason_words(peer, self, text));
}

void to_check_peers(struct to_checks *checks, const struct to_check_peers *view)
{
	for (unsigned int i = 0; i < view->n; i++)
		check_peer(checks, view->self, &view->peers[i]);
}
