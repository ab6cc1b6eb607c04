// SPDX-License-Identifier: GPL-2.0-or-later
#include "control/carrier.h"

#include <errno.h>
#include <stdlib.h>

#define CARRIER_HOLDS 64	/* the longest hold-down, times the least */
#define CARRIER_CALM 8		/* hold-downs that it takes to be trusted again */

const struct to_carrier_port *to_carrier_port(const struct to_carrier *c, struct to_port_ref at)
{
	return &c->ports[(size_t)at.server * TO_PORTS_MAX + at.port];
}

static struct to_carrier_port *carrier_port(const struct to_carrier *c, struct to_port_ref at)
{
	return &c->ports[(size_t)at.server * TO_PORTS_MAX + at.port];
}

static struct to_carrier_port carrier_port_new(const struct to_carrier_config *config,
					       uint64_t now_ns)
{
	return (struct to_carrier_port){
		.lit = true, .since_ns = now_ns, .hold_ns = config->hold_ns,
	};
}

int to_carrier_init(struct to_carrier *c, const struct to_carrier_config *config,
		    unsigned int n_servers, uint64_t now_ns)
{
	const size_t n = (size_t)n_servers * TO_PORTS_MAX;

	*c = (struct to_carrier){
		.config = *config, .n_servers = n_servers, .ports = calloc(n, sizeof(*c->ports)),
	};
	if (!c->ports)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		c->ports[i] = carrier_port_new(config, now_ns);
	return 0;
}

void to_carrier_free(struct to_carrier *c)
{
	free(c->ports);
	*c = (struct to_carrier){ 0 };
}

void to_carrier_begin_down(struct to_carrier *c, struct to_port_ref at, uint64_t now_ns)
{
	struct to_carrier_port *p = carrier_port(c, at);

	p->down = true;
	p->lit = false;
	p->since_ns = now_ns;
}

void to_carrier_begin_swapped(struct to_carrier *c, struct to_port_ref at,
			      struct to_port_ref hears, uint64_t now_ns)
{
	struct to_carrier_port *p = carrier_port(c, at);

	to_carrier_begin_down(c, at, now_ns);
	p->reason = TO_HELD_SWAPPED;
	p->stranger = true;
	p->hears = hears;
	p->hears_ns = now_ns > c->config.after_ns ? now_ns - c->config.after_ns : 0;
	p->heard_ns = now_ns;
}

void to_carrier_forgive(struct to_carrier *c, const struct to_cluster *cluster, uint64_t since_ns,
			uint64_t now_ns)
{
	for (uint32_t s = 0; s < cluster->n_servers; s++) {
		for (uint32_t q = 0; q < cluster->servers[s].n_ports; q++) {
			struct to_carrier_port *p = carrier_port(c, (struct to_port_ref){ s, q });

			if (cluster->servers[s].ports[q].optical_switch < 0 ||
			    !(p->down || p->troubled) || p->trouble_ns < since_ns)
				continue;
			p->down = p->troubled = false;
			p->lit = true;
			p->since_ns = now_ns;
		}
	}
}

static bool carrier_same(struct to_port_ref a, struct to_port_ref b)
{
	return a.server == b.server && a.port == b.port;
}

/* Note whether a port is lit, and why not. */
static void carrier_see(struct to_carrier *c, struct to_port_ref at, const struct to_held_end *end,
			uint64_t now_ns)
{
	struct to_carrier_port *p = carrier_port(c, at);
	const bool lit = end->reason == TO_HELD_NOT;

	/* one that was heard may miss as much as the plan's own neighbour */
	if (!end->stranger && !lit && p->stranger && !p->lit &&
	    now_ns - p->heard_ns < c->config.after_ns)
		return;
	if (end->stranger)
		p->heard_ns = now_ns;
	if (end->stranger && (!p->stranger || !carrier_same(p->hears, end->hears))) {
		p->hears = end->hears;
		p->hears_ns = now_ns;
	}
	p->stranger = end->stranger;
	/* without light nothing is heard a moment later */
	if (p->reason != TO_HELD_CUT || end->reason != TO_HELD_SILENT)
		p->reason = end->reason;
	if (!lit && !p->troubled && !p->down) {
		p->troubled = true;
		p->trouble_ns = now_ns;
		/* since the other end was heard last, but not before it was seen to be lit */
		if (end->silence_ns < now_ns - p->since_ns)
			p->trouble_ns -= end->silence_ns;
	}
	if (lit != p->lit) {
		p->lit = lit;
		p->since_ns = now_ns;
	}
	if (lit && p->troubled && now_ns - p->since_ns >= c->config.after_ns)
		p->troubled = false;
}

static bool carrier_goes(const struct to_carrier_port *p, uint64_t now_ns, uint64_t after_ns)
{
	return p->troubled && !p->lit && now_ns - p->trouble_ns >= after_ns;
}

static bool carrier_returns(const struct to_carrier_port *p, uint64_t now_ns, uint64_t hold_ns)
{
	return p->down && p->lit && now_ns - p->since_ns >= hold_ns;
}

static void carrier_go(const struct to_carrier *c, struct to_carrier_port *p, uint64_t now_ns)
{
	const bool again = p->returned && now_ns - p->return_ns < CARRIER_CALM * p->hold_ns;

	if (!again)
		p->hold_ns = c->config.hold_ns;
	else if (p->hold_ns < CARRIER_HOLDS * c->config.hold_ns)
		p->hold_ns *= 2;
	p->troubled = false;
	p->down = true;
}

bool to_carrier_settle(struct to_carrier *c, uint64_t now_ns, uint64_t *since_ns)
{
	const size_t n = (size_t)c->n_servers * TO_PORTS_MAX;
	const uint64_t after = c->config.after_ns;
	bool go = false, come = false;

	for (size_t i = 0; i < n; i++) {
		go |= carrier_goes(&c->ports[i], now_ns, after);
		come |= carrier_returns(&c->ports[i], now_ns, c->ports[i].hold_ns);
	}
	if (go || come)
		*since_ns = now_ns;
	for (size_t i = 0; (go || come) && i < n; i++) {
		struct to_carrier_port *p = &c->ports[i];
		uint64_t since = now_ns;

		if (go && carrier_goes(p, now_ns, after / 2)) {
			since = p->trouble_ns;
			carrier_go(c, p, now_ns);
		} else if (come && carrier_returns(p, now_ns, p->hold_ns / 4 * 3)) {
			since = p->since_ns;
			p->down = false;
			p->returned = true;
			p->return_ns = now_ns;
		}
		if (since < *since_ns)
			*since_ns = since;
	}
	return go || come;
}

uint64_t to_carrier_left(const struct to_carrier *c, uint64_t now_ns)
{
	const size_t n = (size_t)c->n_servers * TO_PORTS_MAX;
	uint64_t left = UINT64_MAX;

	for (size_t i = 0; i < n; i++) {
		const struct to_carrier_port *p = &c->ports[i];
		const uint64_t dark = now_ns - p->trouble_ns, after = c->config.after_ns;

		if (p->troubled && !p->lit && (dark >= after || after - dark < left))
			left = dark < after ? after - dark : 0;
	}
	return left;
}

static bool carrier_is_down(const struct to_carrier *c, struct to_port_ref at)
{
	return carrier_port(c, at)->down;
}

/* Whether port @at is down, and not only held down. */
static bool carrier_is_dark(const struct to_carrier *c, struct to_port_ref at)
{
	return carrier_is_down(c, at) && !carrier_port(c, at)->lit;
}

/* One end of @link; on a packet switch, any neighbour that is heard will do. */
static void carrier_look_end(struct to_carrier *c, const struct to_fabric_server *servers,
			     const struct to_cluster *cluster, const struct to_link *link,
			     struct to_port_ref at, uint64_t now_ns)
{
	const struct to_port_ref to = carrier_same(at, link->a) ? link->b : link->a;
	const struct to_fabric_server *server = &servers[at.server];
	struct to_held_end end;

	if (!server->reached || !server->generation)
		return;
	if (to_link_is_shared(cluster, link))
		end = (struct to_held_end){
			.reason = server->live >> at.port & 1 ? TO_HELD_NOT : TO_HELD_CUT };
	else
		to_held_look(server, cluster, at, to, &end);
	if (end.reason != TO_HELD_NO_TABLE || !c->brings || !servers[to.server].reached)
		carrier_see(c, at, &end, now_ns);
}

/* Whether a link of @plan, which may be NULL, has port @at. */
static bool carrier_has(const struct to_plan *plan, struct to_port_ref at)
{
	for (unsigned int l = 0; plan && l < plan->cluster->n_links; l++)
		if (carrier_same(plan->cluster->links[l].a, at) ||
		    carrier_same(plan->cluster->links[l].b, at))
			return true;
	return false;
}

void to_carrier_look(struct to_carrier *c, const struct to_fabric_server *servers,
		     const struct to_plan *plan, const struct to_plan *but, uint64_t now_ns)
{
	for (unsigned int l = 0; l < plan->cluster->n_links; l++) {
		const struct to_link *link = &plan->cluster->links[l];

		if (!carrier_has(but, link->a))
			carrier_look_end(c, servers, plan->cluster, link, link->a, now_ns);
		if (!carrier_has(but, link->b))
			carrier_look_end(c, servers, plan->cluster, link, link->b, now_ns);
	}
}

/* Add the ports that links of @plan have to @used: a bit for each, per server. */
static void carrier_use(const struct to_plan *plan, uint64_t *used)
{
	for (unsigned int l = 0; plan && l < plan->cluster->n_links; l++) {
		const struct to_link *link = &plan->cluster->links[l];

		used[link->a.server] |= 1ull << link->a.port;
		used[link->b.server] |= 1ull << link->b.port;
	}
}

int to_carrier_forget(struct to_carrier *c, const struct to_plan *plan,
		      const struct to_plan *also, uint64_t now_ns)
{
	uint64_t *used = calloc(c->n_servers, sizeof(*used));

	if (!used)
		return -ENOMEM;
	carrier_use(plan, used);
	carrier_use(also, used);
	for (uint32_t s = 0; s < c->n_servers; s++)
		for (uint32_t q = 0; q < TO_PORTS_MAX; q++)
			if (!(used[s] >> q & 1))
				*carrier_port(c, (struct to_port_ref){ s, q }) =
					carrier_port_new(&c->config, now_ns);
	free(used);
	return 0;
}

/* Whether a cable could lead from @at to any port: it is on no switch. */
static bool carrier_is_free(const struct to_cluster *c, struct to_port_ref at)
{
	const struct to_port *port = &c->servers[at.server].ports[at.port];

	return port->optical_switch < 0 && !port->packet_switch;
}

/* Port that @at has a link with in @plan, or @at itself when it has none. */
static struct to_port_ref carrier_planned(const struct to_plan *plan, struct to_port_ref at)
{
	const struct to_cluster *c = plan->cluster;

	for (unsigned int l = 0; l < c->n_links; l++) {
		if (carrier_same(c->links[l].a, at))
			return c->links[l].b;
		if (carrier_same(c->links[l].b, at))
			return c->links[l].a;
	}
	return at;
}

/* Whether @at hears another port than that of the plan. */
static bool carrier_hears_other(const struct to_carrier *c, struct to_port_ref at)
{
	const struct to_carrier_port *p = to_carrier_port(c, at);

	return p->down && p->stranger && p->reason == TO_HELD_SWAPPED;
}

/*
 * Whether @at is silent, and may hear @other, of the server that its neighbour in @plan is of:
 * ports of one server may share a cable, so that no other of them passes for a stranger.
 */
static bool carrier_may_hear(const struct to_carrier *c, const struct to_plan *plan,
			     struct to_port_ref at, struct to_port_ref other)
{
	const struct to_carrier_port *p = to_carrier_port(c, at);

	return p->down && !p->stranger && p->reason == TO_HELD_SILENT &&
	       carrier_planned(plan, at).server == other.server;
}

/* Whether a cable leads from @at, which hears another port than that of @plan, to that port. */
static bool carrier_is_recabled(const struct to_carrier *c, const struct to_plan *plan,
				struct to_port_ref at, uint64_t now_ns)
{
	const struct to_carrier_port *p = to_carrier_port(c, at);
	const struct to_port_ref other = p->hears;

	if (!carrier_hears_other(c, at) || other.server == at.server ||
	    !carrier_is_free(plan->cluster, at) || !carrier_is_free(plan->cluster, other))
		return false;
	if (!carrier_hears_other(c, other))
		return now_ns - p->hears_ns >= c->config.after_ns / 2 &&
		       carrier_may_hear(c, plan, other, at);
	/* found once, by the end that comes first */
	return other.server > at.server && carrier_same(to_carrier_port(c, other)->hears, at);
}

int to_carrier_find_recabled(const struct to_carrier *c, const struct to_plan *plan,
			     uint64_t now_ns, struct to_link **links)
{
	const struct to_cluster *cluster = plan->cluster;
	int n = 0;

	*links = NULL;
	if (cluster->link_mode != TO_LINKS_DUPLEX)
		return 0;
	for (uint32_t s = 0; s < cluster->n_servers; s++) {
		for (uint32_t q = 0; q < cluster->servers[s].n_ports; q++) {
			const struct to_port_ref at = { s, q };
			struct to_port_ref ends[2];
			struct to_link *more;

			if (!carrier_is_recabled(c, plan, at, now_ns))
				continue;
			ends[0] = at;
			ends[1] = to_carrier_port(c, at)->hears;
			more = realloc(*links, (n + 1) * sizeof(*more));
			if (!more) {
				free(*links);
				*links = NULL;
				return -ENOMEM;
			}
			*links = more;
			/* the first server's end comes first, whoever heard the other */
			more[n++] = (struct to_link){
				.a = ends[ends[0].server > ends[1].server],
				.b = ends[ends[0].server < ends[1].server], .ring = -1, .tree = -1,
			};
		}
	}
	return n;
}

/* Whether nothing is heard of @server; one that was gone stays so while its links are held down. */
static bool carrier_gone(const struct to_carrier *c, const struct to_cluster *cluster,
			 uint32_t server, bool was)
{
	unsigned int links = 0;

	for (unsigned int l = 0; l < cluster->n_links; l++) {
		const struct to_link *link = &cluster->links[l];
		struct to_port_ref end;

		/* a packet switch keeps the light of its other ports */
		if ((link->a.server != server && link->b.server != server) ||
		    to_link_is_shared(cluster, link))
			continue;
		links++;
		end = link->a.server == server ? link->b : link->a;
		if (!(was ? carrier_is_down(c, end) : carrier_is_dark(c, end)))
			return false;
	}
	return links;
}

int to_carrier_find_down(const struct to_carrier *c, const struct to_fabric_server *servers,
			 const struct to_plan *plan, const bool *gone, struct to_down *down)
{
	const struct to_cluster *cluster = plan->cluster;
	int ret = to_down_init(down, cluster);

	for (uint32_t s = 0; !ret && s < cluster->n_servers; s++)
		if ((gone[s] || !servers[s].reached) && carrier_gone(c, cluster, s, gone[s]))
			ret = to_down_add(down, cluster,
					  (struct to_port_ref){ s, TO_DOWN_SERVER });
	for (uint32_t s = 0; !ret && s < cluster->n_servers; s++) {
		for (uint32_t q = 0; !ret && q < cluster->servers[s].n_ports; q++) {
			const struct to_port_ref at = { s, q };

			if (carrier_is_down(c, at))
				ret = to_down_add(down, cluster, at);
		}
	}
	if (ret)
		to_down_free(down);
	return ret;
}
