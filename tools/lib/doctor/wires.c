// SPDX-License-Identifier: GPL-2.0-or-later
#include "doctor/wires.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LEAVE_OUT "leave it out by --ports, if it is not to be cabled otherwise"

void to_wires_name(const struct to_wires *w, uint32_t i, char text[TO_WIRE_NAME])
{
	snprintf(text, TO_WIRE_NAME, "%s:%s", w->servers[w->items[i].server].name,
		 w->items[i].nic->name);
}

uint32_t to_wires_of_mac(const struct to_wires *w, const uint8_t *mac)
{
	for (uint32_t i = 0; i < w->n; i++)
		if (!memcmp(w->items[i].nic->mac, mac, 6))
			return i;
	return TO_WIRE_NONE;
}

/* Whether @i heard @other: answer when @answer, else ask. */
static bool wire_heard(const struct to_wires *w, uint32_t i, uint32_t other, bool answer)
{
	const struct to_inventory_nic *nic = w->items[i].nic;

	for (unsigned int k = 0; k < nic->n_answers; k++)
		if (!nic->answers[k].address.s_addr != answer &&
		    !memcmp(nic->answers[k].mac, w->items[other].nic->mac, 6))
			return true;
	return false;
}

/* An answer shows both directions, a question one. */
static bool wire_is_joined(const struct to_wires *w, uint32_t i, uint32_t other)
{
	return wire_heard(w, i, other, true) || wire_heard(w, other, i, true) ||
	       (wire_heard(w, i, other, false) && wire_heard(w, other, i, false));
}

static int wire_compare(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static int wire_join(struct to_wire *wire, uint32_t other)
{
	uint32_t *joined;

	for (unsigned int k = 0; k < wire->n_joined; k++)
		if (wire->joined[k] == other)
			return 0;
	joined = reallocarray(wire->joined, wire->n_joined + 1, sizeof(*joined));
	if (!joined)
		return -ENOMEM;
	joined[wire->n_joined++] = other;
	wire->joined = joined;
	return 0;
}

/* Join wire @i to those it heard; those that heard it and were not heard join it themselves. */
static int wire_read(struct to_wires *w, uint32_t i)
{
	struct to_wire *wire = &w->items[i];
	int ret = 0;

	for (unsigned int k = 0; !ret && k < wire->nic->n_answers; k++) {
		const uint32_t other = to_wires_of_mac(w, wire->nic->answers[k].mac);

		if (other == TO_WIRE_NONE) {
			wire->strangers++;
		} else if (w->items[other].server != wire->server) {
			wire->overheard = other;
			if (!wire_is_joined(w, i, other))
				continue;
			ret = wire_join(wire, other);
			ret = ret ? ret : wire_join(&w->items[other], i);
		}
	}
	return ret;
}

/* When all are read: sort, and find out who answers. */
static void wire_finish(struct to_wires *w, uint32_t i)
{
	struct to_wire *wire = &w->items[i];

	qsort(wire->joined, wire->n_joined, sizeof(*wire->joined), wire_compare);
	wire->silent = wire->n_joined;
	for (unsigned int k = 0; k < wire->n_joined; k++)
		wire->silent &= !wire_heard(w, wire->joined[k], i, true);
}

void to_wires_close(struct to_wires *w)
{
	for (unsigned int i = 0; w->items && i < w->n; i++)
		free(w->items[i].joined);
	free(w->items);
}

int to_wires_open(struct to_wires *w, const struct to_discovery_server *servers, unsigned int n,
		  struct to_checks *checks)
{
	unsigned int room = 0;
	int ret = 0;

	*w = (struct to_wires){ servers, n, 0, NULL, checks };
	for (unsigned int s = 0; s < n; s++)
		room += servers[s].inventory.n_nics;
	w->items = calloc(room + 1, sizeof(*w->items));
	if (!w->items)
		return -ENOMEM;
	for (unsigned int s = 0; s < n; s++)
		for (unsigned int i = 0; i < servers[s].inventory.n_nics; i++)
			if (!servers[s].inventory.nics[i].not_a_port[0])
				w->items[w->n++] = (struct to_wire){
					.server = s, .nic = &servers[s].inventory.nics[i],
					.overheard = TO_WIRE_NONE };
	for (uint32_t i = 0; !ret && i < w->n; i++)
		ret = wire_read(w, i);
	for (uint32_t i = 0; !ret && i < w->n; i++)
		wire_finish(w, i);
	if (ret)
		to_wires_close(w);
	return ret;
}

/* The only server that @wire is joined to, TO_WIRE_NONE when there are more or none. */
static uint32_t wire_peer_server(const struct to_wires *w, const struct to_wire *wire)
{
	uint32_t server = wire->n_joined ? w->items[wire->joined[0]].server : TO_WIRE_NONE;

	for (unsigned int i = 1; i < wire->n_joined; i++)
		if (w->items[wire->joined[i]].server != server)
			return TO_WIRE_NONE;
	return server;
}

/* Whether sysfs has the two on one connector (1), on two (0), or says nothing (-1). */
static int wire_one_connector(const struct to_wires *w, uint32_t i, uint32_t k)
{
	const struct to_hardware *a = &w->items[i].nic->hardware, *b = &w->items[k].nic->hardware;

	if (!a->connector[0] || !b->connector[0] || !a->card[0] || !b->card[0])
		return -1;
	return to_hardware_share_connector(a, b);
}

static int wire_compare_pci(const void *a, const void *b, void *wires)
{
	const struct to_wires *w = wires;
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const int order = strcmp(w->items[x].nic->hardware.pci, w->items[y].nic->hardware.pci);

	return order ? order : (x > y) - (x < y);
}

unsigned int to_wires_siblings(const struct to_wires *w, uint32_t i, uint32_t *list)
{
	const struct to_wire *a = &w->items[i];
	unsigned int n = 0;

	for (uint32_t k = 0; k < w->n && n < TO_PORTS_MAX; k++) {
		const struct to_wire *b = &w->items[k];

		if (k == i || (b->server == a->server && b->n_joined && b->n_joined == a->n_joined &&
			       !memcmp(a->joined, b->joined, a->n_joined * sizeof(*a->joined))))
			list[n++] = k;
	}
	qsort_r(list, n, sizeof(*list), wire_compare_pci, (void *)w);
	return n;
}

/* Whether @n wires of one server can be the functions at one end of a cable. */
static bool wires_are_one_end(const struct to_wires *w, const uint32_t *list, unsigned int n)
{
	bool known = true;

	for (unsigned int i = 1; i < n; i++) {
		const int one = wire_one_connector(w, list[0], list[i]);

		if (!one)
			return false;
		known &= one > 0;
	}
	return n <= 2 || known;
}

/* Who is not joined to anything, and why that may be. */
static void wire_check_lonely(const struct to_wires *w, uint32_t i, const char *name)
{
	const struct to_wire *wire = &w->items[i];
	char other[TO_WIRE_NAME];

	if (wire->overheard != TO_WIRE_NONE) {
		to_wires_name(w, wire->overheard, other);
		to_check_add(w->checks, TO_CHECK_FAIL, "cabling", name,
			     "check the fibre that goes there, and the transceivers at its ends",
			     "hears %s, which does not hear it", other);
	} else if (wire->nic->lldp[0]) {
		to_check_add(w->checks, TO_CHECK_WARN, "cabling", name, LEAVE_OUT,
			     "light, but no server answers; %s says to be there (LLDP)", wire->nic->lldp);
	} else {
		to_check_add(w->checks, TO_CHECK_WARN, "cabling", name,
			     "is the server at the other end listed, its interface up, and arp_ignore 0 there?",
			     wire->strangers ?
			     "light, and answers from interfaces that are not listed as ports" :
			     "light, but no server answers");
	}
}

/* The cable is good, and yet the server does not answer by it: doctor asks in vain, too. */
static void wire_check_silent(const struct to_wires *w, uint32_t i, const char *name)
{
	const struct to_inventory_nic *nic = w->items[i].nic;
	char fix[200];

	to_wires_arp_fix(nic, fix, sizeof(fix));
	to_check_add(w->checks, TO_CHECK_WARN, "arp", name, fix,
		     nic->arp_ignore ? "does not answer ARP, as arp_ignore is %u; the cable is good" :
				       "does not answer ARP, and others hear it; the cable is good",
		     nic->arp_ignore);
}

void to_wires_arp_fix(const struct to_inventory_nic *nic, char *fix, size_t size)
{
	if (nic->arp_ignore)
		snprintf(fix, size, "sysctl -w net.ipv4.conf.all.arp_ignore=0 net.ipv4.conf.%s.arp_ignore=0",
			 nic->name);
	else
		snprintf(fix, size, "look for a filter of ARP there: nft list ruleset, arptables -L");
}

void to_wires_check_mtu(struct to_checks *checks, const char *server,
			const struct to_inventory_nic *nic, const char *other,
			const struct to_inventory_nic *there)
{
	const bool here = nic->mtu < there->mtu;
	char name[TO_WIRE_NAME], fix[160];

	if (nic->mtu == there->mtu)
		return;
	snprintf(name, sizeof(name), "%s:%s", server, nic->name);
	snprintf(fix, sizeof(fix), "on %.63s: ip link set %s mtu %u", here ? server : other,
		 here ? nic->name : there->name, here ? there->mtu : nic->mtu);
	to_check_add(checks, TO_CHECK_WARN, "mtu", name, fix, "%u, and %u at %s:%s", nic->mtu, there->mtu,
		     other, there->name);
}

bool to_wires_is_cabled(const struct to_wires *w, uint32_t i)
{
	const struct to_wire *wire = &w->items[i];
	const struct to_inventory_nic *nic = wire->nic;
	char name[TO_WIRE_NAME], other[TO_WIRE_NAME], fix[200];
	uint32_t siblings[TO_PORTS_MAX];

	to_wires_name(w, i, name);
	if (!nic->up || !nic->carrier) {
		snprintf(fix, sizeof(fix), nic->up ? "check cable, transceiver and the other end" :
			 "ip link set %s up, or toctl discover --up", nic->name);
		to_check_add(w->checks, TO_CHECK_WARN, "carrier", name, fix, "%s",
			     nic->up ? "no light" : "down");
		return false;
	}
	if (!wire->n_joined) {
		wire_check_lonely(w, i, name);
		return false;
	}
	to_wires_name(w, wire->joined[0], other);
	if (wire_peer_server(w, wire) == TO_WIRE_NONE ||
	    !wires_are_one_end(w, siblings, to_wires_siblings(w, i, siblings)) ||
	    !wires_are_one_end(w, wire->joined, wire->n_joined)) {
		to_check_add(w->checks, TO_CHECK_WARN, "cabling", name, LEAVE_OUT,
			     "%u interfaces answer, %s first: a network, no cable", wire->n_joined, other);
		return false;
	}
	/* some switches keep ports from each other, not from this one */
	for (unsigned int k = 0; k < wire->n_joined; k++) {
		if (wire_peer_server(w, &w->items[wire->joined[k]]) != TO_WIRE_NONE)
			continue;
		to_wires_name(w, wire->joined[k], other);
		to_check_add(w->checks, TO_CHECK_WARN, "cabling", name, LEAVE_OUT,
			     "leads to %s, as others do: a network, no cable", other);
		return false;
	}
	if (wire->silent)
		wire_check_silent(w, i, name);
	return true;
}
