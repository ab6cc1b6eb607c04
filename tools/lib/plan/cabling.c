// SPDX-License-Identifier: GPL-2.0-or-later
#include "plan/cabling.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "plan/planner.h"

#define CABLING_BYTES 1000000000	/* of the AllReduce; any number gives the same links */

static struct to_link cabling_link(uint32_t s, uint32_t p, uint32_t t, uint32_t q)
{
	return (struct to_link){ .a = { s, p }, .b = { t, q }, .use = TO_LINK_FIXED,
				 .ring = -1, .tree = -1 };
}

static int cabling_ring(struct to_cluster *c, unsigned int cables, struct to_error *err)
{
	c->links = calloc((size_t)c->n_servers * cables / 2, sizeof(*c->links));
	for (uint32_t s = 0; c->links && s < c->n_servers; s++)
		for (unsigned int p = 0; p < cables; p += 2)
			c->links[c->n_links++] = cabling_link(s, p, (s + 1) % c->n_servers, p + 1);
	return c->links ? 0 : to_error_set(err, -ENOMEM, "out of memory");
}

/* Connectors of the same number by turns; one more cable closes an even ring. */
static int cabling_straight_ring(struct to_cluster *c, unsigned int cables, struct to_error *err)
{
	c->links = calloc((size_t)c->n_servers * cables / 2, sizeof(*c->links));
	for (uint32_t s = 0; c->links && s < c->n_servers; s++)
		for (unsigned int p = s % 2; p < cables; p += 2)
			c->links[c->n_links++] = cabling_link(s, p, (s + 1) % c->n_servers, p);
	return c->links ? 0 : to_error_set(err, -ENOMEM, "out of memory");
}

static int cabling_full_mesh(struct to_cluster *c, struct to_error *err)
{
	const unsigned int n = c->n_servers;

	c->links = calloc((size_t)n * (n - 1) / 2, sizeof(*c->links));
	for (uint32_t s = 0; c->links && s < n; s++)
		for (uint32_t t = s + 1; t < n; t++)
			c->links[c->n_links++] = cabling_link(s, t - 1, t, s);
	return c->links ? 0 : to_error_set(err, -ENOMEM, "out of memory");
}

/* An AllReduce over @n servers and nothing else. */
static struct to_demand *cabling_demand(unsigned int n)
{
	struct to_demand *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	snprintf(d->name, sizeof(d->name), "allreduce");
	d->n = n;
	d->mp = calloc((size_t)n * n, sizeof(*d->mp));
	d->groups = calloc(1, sizeof(*d->groups));
	if (d->groups) {
		d->n_groups = 1;
		d->groups->members = calloc(n, sizeof(*d->groups->members));
	}
	if (!d->mp || !d->n_groups || !d->groups->members) {
		to_demand_free(d);
		return NULL;
	}
	d->groups->n_members = n;
	d->groups->bytes = CABLING_BYTES;
	for (unsigned int i = 0; i < n; i++)
		d->groups->members[i] = i;
	return d;
}

/* The planner's links for the same number of servers and cables on one panel. */
static int cabling_family(struct to_cluster *c, unsigned int cables,
			  const struct to_family *family, struct to_error *err)
{
	const struct to_planner_knobs options = { .family = family, .seed = 1 };
	struct to_cluster *panel = to_cluster_synthetic(c->n_servers, cables, 0, TO_LINKS_DUPLEX,
							err);
	struct to_demand *demand = panel ? cabling_demand(c->n_servers) : NULL;
	struct to_plan *plan;
	int ret = 0;

	if (!demand) {
		ret = panel ? to_error_set(err, -ENOMEM, "out of memory") : -EINVAL;
		to_cluster_free(panel);
		return ret;
	}
	plan = to_planner_make(panel, demand, &options, err);
	if (!plan)
		return -EINVAL;
	c->links = calloc(plan->cluster->n_links, sizeof(*c->links));
	if (!c->links)
		ret = to_error_set(err, -ENOMEM, "out of memory");
	for (unsigned int i = 0; !ret && i < plan->cluster->n_links; i++) {
		const struct to_link *link = &plan->cluster->links[i];

		c->links[c->n_links++] = cabling_link(link->a.server, link->a.port, link->b.server,
						      link->b.port);
	}
	to_plan_free(plan);
	return ret;
}

static int cabling_refuse(const char *shape, struct to_error *err)
{
	char names[256] = "";
	size_t len = 0;

	for (unsigned int i = 0; to_families[i] && len < sizeof(names); i++)
		if (!strstr(names, to_families[i]->name))	/* some share a name */
			len += snprintf(names + len, sizeof(names) - len, ", %s",
					to_families[i]->name);
	return to_error_set(err, -ENOENT, "no topology is called \"%.60s\": ring, straight-ring, full-mesh%s",
			    shape, names);
}

static const struct to_family *cabling_find(const char *shape)
{
	for (unsigned int i = 0; to_families[i]; i++)
		if (!strcmp(to_families[i]->name, shape))
			return to_families[i];
	return NULL;
}

int to_cabling_check(const char *shape, unsigned int servers, unsigned int cables,
		     struct to_error *err)
{
	const bool straight = !strcmp(shape, "straight-ring");

	if (straight && servers % 2)
		return to_error_set(err, -EINVAL, "a straight ring has an even number of servers, not %u",
				    servers);
	if (straight || !strcmp(shape, "ring"))
		return !(cables % 2) ? 0 : to_error_set(err, -EINVAL,
			"a ring takes two ports of each server, or twice as many, not %u", cables);
	if (!strcmp(shape, "full-mesh"))
		return cables == servers - 1 ? 0 : to_error_set(err, -EINVAL,
			"a full mesh of %u servers takes %u port%s of each, not %u", servers,
			servers - 1, servers == 2 ? "" : "s", cables);
	return cabling_find(shape) ? 0 : cabling_refuse(shape, err);
}

/* The @rank-th port on the connector number @cable of @server, TO_PORTS_MAX for none. */
static uint32_t cabling_function(const struct to_server *server, unsigned int cable,
				 unsigned int rank)
{
	for (unsigned int p = 0; p < server->n_ports; p++) {
		unsigned int q = 0;

		while (q < p && !to_port_shares_cable(server, q, p))
			q++;
		if (q < p || cable--)
			continue;
		for (q = p; q < server->n_ports; q++)
			if ((q == p || to_port_shares_cable(server, p, q)) && !rank--)
				return q;
		break;
	}
	return TO_PORTS_MAX;
}

/* Links were laid between connectors: give each function that shares one its own. */
static int cabling_spread(struct to_cluster *c, struct to_error *err)
{
	struct to_link *cables = c->links;
	const unsigned int n = c->n_links;

	c->links = calloc((size_t)n * c->servers[0].n_ports, sizeof(*c->links));
	c->n_links = 0;
	for (unsigned int i = 0; c->links && i < n; i++) {
		const struct to_port_ref a = cables[i].a, b = cables[i].b;

		for (unsigned int rank = 0; rank < c->servers[0].n_ports; rank++) {
			const uint32_t p = cabling_function(&c->servers[a.server], a.port, rank);
			const uint32_t q = cabling_function(&c->servers[b.server], b.port, rank);

			if (p == TO_PORTS_MAX || q == TO_PORTS_MAX)
				break;
			c->links[c->n_links++] = cabling_link(a.server, p, b.server, q);
		}
	}
	free(cables);
	return c->links ? 0 : to_error_set(err, -ENOMEM, "out of memory");
}

static int cabling_lay(struct to_cluster *c, const char *shape, unsigned int cables,
		       struct to_error *err)
{
	if (!strcmp(shape, "ring"))
		return cabling_ring(c, cables, err);
	if (!strcmp(shape, "straight-ring"))
		return cabling_straight_ring(c, cables, err);
	if (!strcmp(shape, "full-mesh"))
		return cabling_full_mesh(c, err);
	return cabling_family(c, cables, cabling_find(shape), err);
}

int to_cabling_make(struct to_cluster *c, const char *shape, struct to_error *err)
{
	const unsigned int cables = to_server_cables(&c->servers[0]);
	int ret = to_cabling_check(shape, c->n_servers, cables, err);

	ret = ret ? ret : cabling_lay(c, shape, cables, err);
	return ret || cables == c->servers[0].n_ports ? ret : cabling_spread(c, err);
}
