// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/peers.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

const char *const to_peer_reasons[] = {
	[TOPOOPT_CHECK_REASON_HEARD] = "heard",
	[TOPOOPT_CHECK_REASON_UNPROVEN] = "unproven",
	[TOPOOPT_CHECK_REASON_NO_TABLE] = "no-table",
	[TOPOOPT_CHECK_REASON_DOWN] = "down",
	[TOPOOPT_CHECK_REASON_SILENT] = "silent",
	[TOPOOPT_CHECK_REASON_STRANGER] = "stranger",
	[TOPOOPT_CHECK_REASON_UNHEARD] = "unheard",
	[TOPOOPT_CHECK_REASON_FABRIC] = "fabric",
	[TOPOOPT_CHECK_REASON_RECOVERING] = "recovering",
	NULL
};

#define N_REASONS (sizeof(to_peer_reasons) / sizeof(*to_peer_reasons) - 1)

void to_peer_name_port(struct to_peer *peer)
{
	if (!if_indextoname(peer->ifindex, peer->port))
		snprintf(peer->port, sizeof(peer->port), "if%" PRIu32, peer->ifindex);
}

int to_peers_get(struct to_genl *genl, uint32_t device, struct to_peer **peers, unsigned int *n,
		 struct to_error *err)
{
	int ret = to_genl_peers(genl, device, peers, n, err);

	for (unsigned int i = 0; !ret && i < *n; i++)
		to_peer_name_port(&(*peers)[i]);
	return ret;
}

/* The word of a reason that a newer module may have. */
static const char *peer_reason(const struct to_peer *peer)
{
	return peer->reason < N_REASONS ? to_peer_reasons[peer->reason] : "unknown";
}

json_t *to_peer_json(const struct to_peer *p)
{
	json_t *object = json_pack("{s:s, s:s, s:s, s:i, s:o, s:s, s:b, s:b, s:I, s:I}",
		"port", p->port, "server", p->server, "server_port", p->server_port,
		"index", p->index,
		"mac", json_sprintf("%02x:%02x:%02x:%02x:%02x:%02x", p->mac[0], p->mac[1],
				    p->mac[2], p->mac[3], p->mac[4], p->mac[5]),
		"reason", peer_reason(p), "transit", p->transit, "local", p->local,
		"received", (json_int_t)p->received, "missing", (json_int_t)p->missing);

	if (object && p->heard)
		json_object_set_new(object, "silence_ms", json_integer(p->silence_ms));
	if (object && p->generation)
		json_object_set_new(object, "generation", json_integer((json_int_t)p->generation));
	if (object && p->largest)
		json_object_set_new(object, "largest", json_integer(p->largest));
	if (object && p->stranger[0])
		json_object_update_new(object, json_pack("{s:s, s:s}", "stranger", p->stranger,
							 "stranger_port", p->stranger_port));
	return object;
}

json_t *to_peers_json(const struct to_peer *peers, unsigned int n)
{
	json_t *array = json_array();

	for (unsigned int i = 0; i < n; i++)
		json_array_append_new(array, to_peer_json(&peers[i]));
	return array;
}

/* A text that fits, and that may be printed. */
static bool peer_read_text(const json_t *object, const char *key, char *text, size_t size)
{
	const char *value = json_string_value(json_object_get(object, key));

	if (!value || strlen(value) >= size || !to_text_is_clean(value))
		return false;
	strcpy(text, value);
	return true;
}

static uint64_t peer_read_number(const json_t *object, const char *key)
{
	const json_int_t n = json_integer_value(json_object_get(object, key));

	return n > 0 ? n : 0;
}

static bool peer_read_mac(const json_t *object, uint8_t *mac)
{
	const char *text = json_string_value(json_object_get(object, "mac"));

	return text && strlen(text) == 17 &&
	       sscanf(text, "%2hhx:%2hhx:%2hhx:%2hhx:%2hhx:%2hhx", &mac[0], &mac[1], &mac[2],
		      &mac[3], &mac[4], &mac[5]) == 6;
}

bool to_peer_read(const json_t *object, struct to_peer *p)
{
	char reason[16];

	*p = (struct to_peer){ 0 };
	if (!peer_read_text(object, "port", p->port, sizeof(p->port)) ||
	    !peer_read_text(object, "server", p->server, sizeof(p->server)) ||
	    !peer_read_text(object, "server_port", p->server_port, sizeof(p->server_port)) ||
	    !peer_read_text(object, "reason", reason, sizeof(reason)) ||
	    !peer_read_mac(object, p->mac))
		return false;
	while (p->reason < N_REASONS && strcmp(reason, to_peer_reasons[p->reason]))
		p->reason++;
	if (json_object_get(object, "stranger") &&
	    (!peer_read_text(object, "stranger", p->stranger, sizeof(p->stranger)) ||
	     !peer_read_text(object, "stranger_port", p->stranger_port, sizeof(p->stranger_port))))
		return false;
	p->index = peer_read_number(object, "index");
	p->transit = json_is_true(json_object_get(object, "transit"));
	p->local = json_is_true(json_object_get(object, "local"));
	p->heard = json_is_integer(json_object_get(object, "silence_ms"));
	p->silence_ms = peer_read_number(object, "silence_ms");
	p->received = peer_read_number(object, "received");
	p->missing = peer_read_number(object, "missing");
	p->generation = peer_read_number(object, "generation");
	p->largest = peer_read_number(object, "largest");
	return true;
}

int to_peers_read(const json_t *array, struct to_peer **peers, unsigned int *n)
{
	const json_t *object;
	size_t i;

	*n = 0;
	*peers = NULL;
	if (!json_is_array(array))
		return -ENOENT;
	*peers = calloc(json_array_size(array) + 1, sizeof(**peers));
	if (!*peers)
		return -ENOMEM;
	json_array_foreach(array, i, object)
		*n += to_peer_read(object, &(*peers)[*n]);
	return 0;
}

const struct to_peer *to_peers_find(const struct to_peer *peers, unsigned int n,
				    const char *port, const char *server)
{
	for (unsigned int i = 0; i < n; i++)
		if (!strcmp(peers[i].port, port) && (!server || !strcmp(peers[i].server, server)))
			return &peers[i];
	return NULL;
}

/* How long a neighbour is silent: "", or " for 1.2 s". */
static const char *peer_silence(const struct to_peer *p, char text[32])
{
	char seconds[16];

	text[0] = '\0';
	if (p->heard)
		snprintf(text, 32, " for %s", to_seconds_text(p->silence_ms * 1e-3, seconds));
	return text;
}

const char *to_peer_reason_words(const struct to_peer *p, const char *self,
				 char text[TO_PEER_WORDS])
{
	char end[TO_KERNEL_NAME + IFNAMSIZ], own[TO_KERNEL_NAME + IFNAMSIZ], silence[32];

	snprintf(own, sizeof(own), "%s:%s", self, p->port);
	snprintf(end, sizeof(end), "%s:%s", p->server, p->server_port);
	switch (p->reason) {
	case TOPOOPT_CHECK_REASON_HEARD:
		snprintf(text, TO_PEER_WORDS, "%s and %s hear each other", own, end);
		break;
	case TOPOOPT_CHECK_REASON_UNPROVEN:
		snprintf(text, TO_PEER_WORDS, "%s has not heard %s yet, and trusts the light", own,
			 end);
		break;
	case TOPOOPT_CHECK_REASON_NO_TABLE:
		snprintf(text, TO_PEER_WORDS, "%s has no table: it relays nothing for %s",
			 p->server, own);
		break;
	case TOPOOPT_CHECK_REASON_DOWN:
		snprintf(text, TO_PEER_WORDS, "the topoopt device of %s is down, says its check to %s",
			 p->server, own);
		break;
	case TOPOOPT_CHECK_REASON_SILENT:
		if (p->received)
			snprintf(text, TO_PEER_WORDS, "%s has light, but does not hear %s%s", own,
				 end, peer_silence(p, silence));
		else
			snprintf(text, TO_PEER_WORDS,
				 "%s never heard %s: is a module without checks there?", own, end);
		break;
	case TOPOOPT_CHECK_REASON_STRANGER:
		snprintf(text, TO_PEER_WORDS, "%s hears %s:%s; the plan says %s", own, p->stranger,
			 p->stranger_port, end);
		break;
	case TOPOOPT_CHECK_REASON_UNHEARD:
		snprintf(text, TO_PEER_WORDS, "%s hears %s, which does not hear %s: one way is dead",
			 own, end, own);
		break;
	case TOPOOPT_CHECK_REASON_FABRIC:
		snprintf(text, TO_PEER_WORDS, "%s hears %s of another fabric", own, end);
		break;
	case TOPOOPT_CHECK_REASON_RECOVERING:
		snprintf(text, TO_PEER_WORDS, "%s hears %s again, and does not trust it yet", own,
			 end);
		break;
	default:
		snprintf(text, TO_PEER_WORDS, "the module says what this toctl does not know of %s at %s",
			 end, own);
	}
	return text;
}
