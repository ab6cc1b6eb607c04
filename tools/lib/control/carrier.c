// SPDX-License-Identifier: GPL-2.0-or-later
#include "control/carrier.h"

#include <errno.h>
#include <stdlib.h>

#define CARRIER_HOLDS 64	/* the longest hold-down, times the least */
#define CARRIER_CALM 8		/* hold-downs that it takes to be trusted again */

static struct to_carrier_port *carrier_port(const struct to_carrier *c, struct to_port_ref at)
{
	return &c->ports[(size_t)at.server * TO_PORTS_MAX + at.port];
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
		c->ports[i] = (struct to_carrier_port){
			.lit = true, .since_ns = now_ns, .hold_ns = config->hold_ns,
		};
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

/* Note whether a port is lit. */
static void carrier_see(struct to_carrier *c, struct to_port_ref at, bool lit, uint64_t now_ns)
{
	struct to_carrier_port *p = carrier_port(c, at);

	if (lit != p->lit) {
		p->lit = lit;
		p->since_ns = now_ns;
	}
	if (!lit && !p->troubled && !p->down) {
		p->troubled = true;
		p->trouble_ns = now_ns;
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

static bool carrier_is_down(const struct to_carrier *c, struct to_port_ref at)
{
	return carrier_port(c, at)->down;
}

void to_carrier_look(struct to_carrier *c, const struct to_fabric_server *servers,
		     const struct to_plan *plan, uint64_t now_ns)
{
	for (unsigned int l = 0; l < plan->cluster->n_links; l++) {
		const struct to_link *link = &plan->cluster->links[l];
		const struct to_port_ref ends[] = { link->a, link->b };

		for (unsigned int i = 0; i < 2; i++) {
			const struct to_fabric_server *server = &servers[ends[i].server];

			if (server->reached && server->generation)
				carrier_see(c, ends[i], server->live >> ends[i].port & 1,
					    now_ns);
		}
	}
}

static bool carrier_gone(const struct to_carrier *c, const struct to_cluster *cluster,
			 uint32_t server)
{
	unsigned int links = 0;

	for (unsigned int l = 0; l < cluster->n_links; l++) {
		const struct to_link *link = &cluster->links[l];

		/* a packet switch keeps the light of its other ports */
		if ((link->a.server != server && link->b.server != server) ||
		    to_link_is_shared(cluster, link))
			continue;
		links++;
		if (!carrier_is_down(c, link->a.server == server ? link->b : link->a))
			return false;
	}
	return links;
}

int to_carrier_find_down(const struct to_carrier *c, const struct to_fabric_server *servers,
			 const struct to_plan *plan, struct to_down *down)
{
	const struct to_cluster *cluster = plan->cluster;
	int ret = to_down_init(down, cluster);

	for (uint32_t s = 0; !ret && s < cluster->n_servers; s++)
		if (!servers[s].reached && carrier_gone(c, cluster, s))
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
