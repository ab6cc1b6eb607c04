// SPDX-License-Identifier: GPL-2.0-or-later
#include "format/plan_diff.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/plan_json.h"

/**
 * struct plan_side - one plan as seen from the other
 * @server: index of each server in the other plan, -1 where it is not
 * @port: index of each port on the same server there, by [server * TO_PORTS_MAX + port]
 */
struct plan_side {
	const struct to_plan *plan;
	int *server, *port;
};

static int plan_side_init(struct plan_side *side, const struct to_plan *plan,
			  const struct to_plan *other)
{
	const struct to_cluster *c = plan->cluster;

	side->plan = plan;
	side->server = calloc(c->n_servers, sizeof(*side->server));
	side->port = calloc((size_t)c->n_servers * TO_PORTS_MAX, sizeof(*side->port));
	if (!side->server || !side->port)
		return -ENOMEM;
	for (unsigned int s = 0; s < c->n_servers; s++) {
		int there = to_cluster_find_server(other->cluster, c->servers[s].name);

		side->server[s] = there;
		for (unsigned int p = 0; p < c->servers[s].n_ports; p++)
			side->port[s * TO_PORTS_MAX + p] = there < 0 ? -1 :
				to_cluster_find_port(&other->cluster->servers[there],
						     c->servers[s].ports[p].name);
	}
	return 0;
}

static void plan_side_free(struct plan_side *side)
{
	free(side->server);
	free(side->port);
}

/* @ref in the other plan, false where it has no such port. */
static bool plan_side_port(const struct plan_side *side, struct to_port_ref ref,
			   struct to_port_ref *there)
{
	int server = side->server[ref.server];
	int port = side->port[ref.server * TO_PORTS_MAX + ref.port];

	if (port < 0)
		return false;
	*there = (struct to_port_ref){ server, port };
	return true;
}

static bool same_ref(struct to_port_ref a, struct to_port_ref b)
{
	return a.server == b.server && a.port == b.port;
}

/* By a cable, or a packet switch. */
static bool plan_joins(const struct to_plan *plan, struct to_port_ref a, struct to_port_ref b)
{
	const struct to_server *servers = plan->cluster->servers;
	const unsigned int on = servers[a.server].ports[a.port].packet_switch;
	struct to_port_ref peer;

	if (on)
		return servers[b.server].ports[b.port].packet_switch == on;
	return !to_plan_peer(plan, a, &peer) && same_ref(peer, b);
}

/* Whether the other plan joins the same ports. */
static bool plan_side_has_link(const struct plan_side *side, const struct plan_side *other,
			       const struct to_link *link)
{
	struct to_port_ref a, b;

	if (side->plan->cluster->link_mode != other->plan->cluster->link_mode)
		return false;
	return plan_side_port(side, link->a, &a) && plan_side_port(side, link->b, &b) &&
	       plan_joins(other->plan, a, b);
}

/* The links of @side that @other lacks. */
static int plan_side_links(const struct plan_side *side, const struct plan_side *other,
			   struct to_link **links, unsigned int *n)
{
	const struct to_cluster *c = side->plan->cluster;

	*links = calloc(c->n_links + 1, sizeof(**links));
	if (!*links)
		return -ENOMEM;
	for (unsigned int i = 0; i < c->n_links; i++)
		if (!plan_side_has_link(side, other, &c->links[i]))
			(*links)[(*n)++] = c->links[i];
	return 0;
}

/* Next hop @a of server @s is @b in the other plan, and leads to the same port. */
static bool plan_side_same_hop(const struct plan_side *side, const struct plan_side *other,
			       unsigned int s, const struct to_nexthop *a, const struct to_nexthop *b)
{
	struct to_port_ref at = { s, a->port }, there, in, peer, end;
	bool dark, dark_there;

	if (a->weight != b->weight || a->backup != b->backup || !a->ingress != !b->ingress ||
	    !plan_side_port(side, at, &there) || there.port != b->port)
		return false;
	if (a->ingress && (!plan_side_port(side, (struct to_port_ref){ s, a->ingress - 1 }, &in) ||
			   in.port + 1 != b->ingress))
		return false;
	dark = to_plan_hop_end(side->plan, s, a, &peer);
	dark_there = to_plan_hop_end(other->plan, there.server, b, &end);
	if (dark || dark_there)
		return dark && dark_there;
	return plan_side_port(side, peer, &peer) && same_ref(peer, end);
}

static bool plan_side_same_group(const struct plan_side *side, const struct plan_side *other,
				 unsigned int s, unsigned int group, unsigned int group_there)
{
	const struct to_group *a = &side->plan->tables[s].groups[group];
	const struct to_group *b = &other->plan->tables[side->server[s]].groups[group_there];

	if (a->n != b->n)
		return false;
	for (unsigned int i = 0; i < a->n; i++) {
		unsigned int k = 0;

		while (k < b->n && !plan_side_same_hop(side, other, s, &a->nexthops[i],
						       &b->nexthops[k]))
			k++;
		if (k == b->n)
			return false;
	}
	return true;
}

/* The slot of destination @d, by what it has in the other plan; -1: nothing. */
static int plan_side_slot(const struct plan_side *side, unsigned int d, unsigned int slot)
{
	if (side->server[d] < 0)
		return -1;
	if (!slot)
		return 0;
	if (slot > side->plan->cluster->servers[d].n_ports)
		return -1;
	return side->port[d * TO_PORTS_MAX + slot - 1] + 1 ?: -1;
}

static uint16_t plan_route(const struct to_plan *plan, unsigned int s, unsigned int d,
			   unsigned int slot)
{
	return plan->tables[s].route[(size_t)d * plan->slots + slot];
}

static void plan_diff_routes(const struct plan_side *side, const struct plan_side *other,
			     unsigned int s, struct to_plan_diff_server *diff)
{
	const struct to_plan *a = side->plan, *b = other->plan;
	unsigned int there = side->server[s];

	for (unsigned int d = 0; d < a->cluster->n_servers; d++)
		for (unsigned int slot = 0; slot < a->slots; slot++) {
			int slot_there = plan_side_slot(side, d, slot);
			uint16_t has = plan_route(a, s, d, slot), gets = TO_GROUP_NONE;

			if (slot_there >= 0)
				gets = plan_route(b, there, side->server[d], slot_there);
			diff->removed += has != TO_GROUP_NONE && gets == TO_GROUP_NONE;
			diff->added += has == TO_GROUP_NONE && gets != TO_GROUP_NONE;
			diff->changed += has != TO_GROUP_NONE && gets != TO_GROUP_NONE &&
					 !plan_side_same_group(side, other, s, has, gets);
		}
	/* addresses that only the other plan has */
	for (unsigned int d = 0; d < b->cluster->n_servers; d++)
		for (unsigned int slot = 0; slot < b->slots; slot++)
			diff->added += plan_side_slot(other, d, slot) < 0 &&
				       plan_route(b, there, d, slot) != TO_GROUP_NONE;
}

static int plan_pair_compare(const void *a, const void *b)
{
	const struct to_source_route *x = a, *y = b;

	if (x->dst != y->dst)
		return x->dst < y->dst ? -1 : 1;
	if (x->slot != y->slot)
		return x->slot < y->slot ? -1 : 1;
	return (x->src > y->src) - (x->src < y->src);
}

/* Routes of single sources of @s that the other plan has not; @changed: or has otherwise. */
static unsigned int plan_diff_pairs(const struct plan_side *side, const struct plan_side *other,
				    unsigned int s, bool changed)
{
	const struct to_table *a = &side->plan->tables[s];
	const struct to_table *b = &other->plan->tables[side->server[s]];
	unsigned int n = 0;

	for (unsigned int i = 0; i < a->n_pairs; i++) {
		const struct to_source_route *pair = &a->pairs[i], *found = NULL;
		int slot = plan_side_slot(side, pair->dst, pair->slot);
		struct to_source_route there = { .slot = slot };

		if (slot >= 0 && side->server[pair->src] >= 0 && b->n_pairs) {
			there.src = side->server[pair->src];
			there.dst = side->server[pair->dst];
			found = bsearch(&there, b->pairs, b->n_pairs, sizeof(*b->pairs),
					plan_pair_compare);
		}
		n += !found || (changed && !plan_side_same_group(side, other, s, pair->group,
								  found->group));
	}
	return n;
}

static bool same_address(const struct to_address *a, const struct to_address *b)
{
	return a->has_v4 == b->has_v4 && a->has_v6 == b->has_v6 &&
	       (!a->has_v4 || a->v4.s_addr == b->v4.s_addr) &&
	       (!a->has_v6 || IN6_ARE_ADDR_EQUAL(&a->v6, &b->v6));
}

static bool same_port(const struct to_port *a, const struct to_port *b)
{
	return !strcmp(a->name, b->name) && !strcmp(a->transmit, b->transmit) &&
	       !memcmp(a->mac, b->mac, sizeof(a->mac)) &&
	       !memcmp(a->relay_mac, b->relay_mac, sizeof(a->relay_mac)) &&
	       same_address(&a->address, &b->address) && a->bandwidth == b->bandwidth &&
	       !strcmp(a->cable, b->cable) && !strcmp(a->card, b->card) && a->pcie == b->pcie &&
	       a->transit == b->transit;
}

static bool same_pcie(const struct to_pcie_link *a, const struct to_pcie_link *b)
{
	return !strcmp(a->name, b->name) && a->within == b->within && a->rate == b->rate &&
	       a->to_host == b->to_host && a->from_host == b->from_host;
}

bool to_plan_diff_settings(const struct to_server *a, const struct to_server *b)
{
	bool same = a->n_ports == b->n_ports && a->n_pcie == b->n_pcie &&
		    same_address(&a->address, &b->address);

	for (unsigned int p = 0; same && p < a->n_ports; p++)
		same = same_port(&a->ports[p], &b->ports[p]);
	for (unsigned int i = 0; same && i < a->n_pcie; i++)
		same = same_pcie(&a->pcie[i], &b->pcie[i]);
	return !same;
}

static int plan_diff_servers(const struct plan_side *from, const struct plan_side *to,
			     struct to_plan_diff *diff)
{
	const struct to_cluster *a = from->plan->cluster, *b = to->plan->cluster;

	diff->servers = calloc(a->n_servers + b->n_servers, sizeof(*diff->servers));
	if (!diff->servers)
		return -ENOMEM;
	for (unsigned int s = 0; s < a->n_servers; s++) {
		struct to_plan_diff_server *d = &diff->servers[diff->n_servers];

		*d = (struct to_plan_diff_server){ .from = s, .to = from->server[s] };
		if (d->to >= 0) {
			d->settings = to_plan_diff_settings(&a->servers[s], &b->servers[d->to]);
			plan_diff_routes(from, to, s, d);
			d->pairs = plan_diff_pairs(from, to, s, true) +
				   plan_diff_pairs(to, from, d->to, false);
		}
		diff->n_servers += d->to < 0 || d->settings || d->added || d->removed ||
				   d->changed || d->pairs;
	}
	for (unsigned int s = 0; s < b->n_servers; s++)
		if (to->server[s] < 0)
			diff->servers[diff->n_servers++] =
				(struct to_plan_diff_server){ .from = -1, .to = s };
	return 0;
}

/* plan.json as text, of which each member begins a line with its name. */
static int plan_text(const struct to_plan *plan, char **text, struct to_error *err)
{
	size_t len = 0;
	FILE *out = open_memstream(text, &len);
	int ret = out ? to_plan_print(plan, out, err) : -ENOMEM;

	if (out && fclose(out))
		ret = ret ? ret : -ENOMEM;
	return ret == -ENOMEM ? to_error_set(err, ret, "out of memory") : ret;
}

/* The member at @at, up to the next; gets how long it and its name are. */
static const char *plan_text_member(const char *at, size_t *len, size_t *name)
{
	const char *end = strstr(at, "\n\"");

	*len = end ? (size_t)(end - at) : strlen(at);
	*name = strcspn(at + 1, "\"");
	return end ? end + 1 : NULL;
}

static const char *plan_text_find(const char *text, const char *name, size_t len, size_t *found)
{
	size_t length;

	for (const char *at = text + 1, *next; at; at = next) {
		next = plan_text_member(at, found, &length);
		if (length == len && !memcmp(at + 1, name, len))
			return at;
	}
	return NULL;
}

/* Members of @a that @b lacks; @changed: or has otherwise. Predictions follow from the others. */
static void plan_diff_members(const char *a, const char *b, bool changed,
			      struct to_plan_diff *diff)
{
	size_t len, name, other_len;

	for (const char *at = a + 1, *next, *other; at; at = next) {
		next = plan_text_member(at, &len, &name);
		other = plan_text_find(b, at + 1, name, &other_len);
		if (other && (!changed || (len == other_len && !memcmp(at, other, len))))
			continue;
		if (!strncmp(at + 1, "predictions\"", strlen("predictions\"")))
			continue;
		if (diff->n_members < TO_PLAN_MEMBERS)
			snprintf(diff->members[diff->n_members++], sizeof(diff->members[0]), "%.*s",
				 (int)name, at + 1);
	}
}

static int plan_diff_texts(const struct to_plan *from, const struct to_plan *to,
			   struct to_plan_diff *diff, struct to_error *err)
{
	char *a = NULL, *b = NULL;
	int ret = plan_text(from, &a, err);

	ret = ret ? ret : plan_text(to, &b, err);
	if (!ret) {
		plan_diff_members(a, b, true, diff);
		plan_diff_members(b, a, false, diff);
		diff->same = !diff->n_members;
	}
	free(a);
	free(b);
	return ret;
}

int to_plan_diff(const struct to_plan *from, const struct to_plan *to, struct to_plan_diff *diff,
		 struct to_error *err)
{
	struct plan_side a = {}, b = {};
	int ret;

	*diff = (struct to_plan_diff){};
	ret = plan_side_init(&a, from, to);
	ret = ret ? ret : plan_side_init(&b, to, from);
	ret = ret ? ret : plan_side_links(&a, &b, &diff->cut, &diff->n_cut);
	ret = ret ? ret : plan_side_links(&b, &a, &diff->made, &diff->n_made);
	ret = ret ? ret : plan_diff_servers(&a, &b, diff);
	if (ret)
		to_error_set(err, ret, "out of memory");
	ret = ret ? ret : plan_diff_texts(from, to, diff, err);
	plan_side_free(&a);
	plan_side_free(&b);
	if (ret)
		to_plan_diff_free(diff);
	return ret;
}

void to_plan_diff_free(struct to_plan_diff *diff)
{
	free(diff->cut);
	free(diff->made);
	free(diff->servers);
	*diff = (struct to_plan_diff){};
}

bool to_plan_diff_switches(const struct to_plan *from, const struct to_plan *to)
{
	const struct to_cluster *a = from->cluster, *b = to->cluster;
	bool same = a->n_switches == b->n_switches && a->link_mode == b->link_mode;

	for (unsigned int i = 0; same && i < a->n_switches; i++)
		same = !strcmp(a->switches[i].name, b->switches[i].name);
	return same;
}
