// SPDX-License-Identifier: GPL-2.0-or-later
#include "shard/shards_check.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "format/plan_diff.h"

/* @shard: the one that is looked at, @plan: one of its plans; @owners: per server, -1 or a shard */
struct shards_check {
	const struct to_shards *s;
	const struct to_shard *shard;
	const struct to_plan *plan;
	to_shards_line *line;
	void *data;
	long n;
	int *owners;
};

static void __attribute__((format(printf, 2, 3)))
shards_check_say(struct shards_check *check, const char *fmt, ...)
{
	char text[256], line[384];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	snprintf(line, sizeof(line), "shard %s: %s", check->shard->name, text);
	check->n++;
	check->line(check->data, line);
}

static bool shards_check_leads_to(const struct to_port *port, int optical, unsigned int number)
{
	const struct to_look_ahead *ahead = &port->look_ahead;

	if (port->optical_switch == optical && port->optical_port == number)
		return true;
	if (!ahead->common)
		return false;
	return (ahead->optical_switch == optical && ahead->optical_port == number) ||
	       (ahead->selector == optical && (ahead->common == number ||
					       ahead->ends[0] == number || ahead->ends[1] == number));
}

int to_shards_optical_owner(const struct to_cluster *c, unsigned int optical, unsigned int number)
{
	for (unsigned int i = 0; i < c->n_servers; i++)
		for (unsigned int q = 0; q < c->servers[i].n_ports; q++)
			if (shards_check_leads_to(&c->servers[i].ports[q], optical, number))
				return i;
	return -1;
}

static bool shards_check_same_fibre(const struct to_port *a, const struct to_port *b)
{
	const struct to_look_ahead *x = &a->look_ahead, *y = &b->look_ahead;

	if (a->optical_switch != b->optical_switch || a->optical_port != b->optical_port ||
	    x->common != y->common)
		return false;
	return !x->common || (x->optical_switch == y->optical_switch &&
			      x->optical_port == y->optical_port && x->selector == y->selector &&
			      x->ends[0] == y->ends[0] && x->ends[1] == y->ends[1]);
}

static void shards_check_server(struct shards_check *check, const struct to_server *server)
{
	const struct to_cluster *c = check->s->cluster;
	int at = to_cluster_find_server(c, server->name);
	bool same;

	if (check->owners[at] >= 0 && check->owners[at] != check->shard - check->s->list)
		shards_check_say(check, "server %s is in shard %s, too", server->name,
				 check->s->list[check->owners[at]].name);
	check->owners[at] = check->shard - check->s->list;
	same = !to_plan_diff_settings(server, &c->servers[at]);
	for (unsigned int q = 0; same && q < server->n_ports; q++)
		same = shards_check_same_fibre(&server->ports[q], &c->servers[at].ports[q]);
	if (!same)
		shards_check_say(check, "server %s has other addresses, ports or PCIe links in the cluster",
				 server->name);
}

static void shards_check_cross_connects(struct shards_check *check)
{
	const struct to_plan *plan = check->plan;
	const struct to_cluster *c = check->s->cluster;
	const int own = check->shard - check->s->list;

	for (unsigned int i = 0; i < plan->n_cross_connects; i++) {
		const struct to_cross_connect *x = &plan->cross_connects[i];
		const unsigned int ends[] = { x->a, x->b };

		for (unsigned int e = 0; e < 2; e++) {
			int server = to_shards_optical_owner(c, x->optical_switch, ends[e]);
			int owner = server < 0 ? -1 : check->owners[server];

			if (owner != own)
				shards_check_say(check, "cross-connect %s %u-%u: port %u is of %s %s",
						 c->switches[x->optical_switch].name, x->a, x->b,
						 ends[e], owner < 0 ? "no" : "shard",
						 owner < 0 ? "shard" : check->s->list[owner].name);
		}
	}
}

static bool shards_check_has(const struct to_plan *plan, const struct to_cluster *c,
			     const struct to_link *link)
{
	for (unsigned int i = 0; i < plan->cluster->n_links; i++) {
		const struct to_link *own = &plan->cluster->links[i];
		const struct to_server *a = &plan->cluster->servers[own->a.server];
		const struct to_server *b = &plan->cluster->servers[own->b.server];
		const struct to_server *x = &c->servers[link->a.server], *y = &c->servers[link->b.server];

		if (own->a.port == link->a.port && own->b.port == link->b.port &&
		    !strcmp(a->name, x->name) && !strcmp(b->name, y->name))
			return true;
		if (c->link_mode == TO_LINKS_DUPLEX && own->a.port == link->b.port &&
		    own->b.port == link->a.port && !strcmp(a->name, y->name) &&
		    !strcmp(b->name, x->name))
			return true;
	}
	return false;
}

static void shards_check_links(struct shards_check *check)
{
	const struct to_cluster *c = check->s->cluster;
	const struct to_cluster *of = check->plan->cluster;
	unsigned int n = 0;

	for (unsigned int i = 0; i < c->n_links; i++) {
		const struct to_link *l = &c->links[i];

		if (to_cluster_find_server(of, c->servers[l->a.server].name) < 0 &&
		    to_cluster_find_server(of, c->servers[l->b.server].name) < 0)
			continue;
		if (shards_check_has(check->plan, c, l))
			n++;
		else if (c->servers[l->a.server].ports[l->a.port].optical_switch >= 0)
			shards_check_say(check, "link %s:%s - %s:%s is in place, but not in its plan",
					 c->servers[l->a.server].name,
					 c->servers[l->a.server].ports[l->a.port].name,
					 c->servers[l->b.server].name,
					 c->servers[l->b.server].ports[l->b.port].name);
	}
	if (n < of->n_links)
		shards_check_say(check, "%u of its %u links are not in place", of->n_links - n,
				 of->n_links);
}

static void shards_check_plan(struct shards_check *check, const struct to_plan *plan)
{
	const struct to_plan whole = { .cluster = check->s->cluster };

	if (!to_plan_diff_switches(&whole, plan)) {
		shards_check_say(check, "its plan is for other optical switches");
		return;
	}
	for (unsigned int k = 0; k < plan->cluster->n_servers; k++)
		shards_check_server(check, &plan->cluster->servers[k]);
}

long to_shards_check(const struct to_shards *s, to_shards_line *line, void *data)
{
	struct shards_check check = { .s = s, .line = line, .data = data };

	check.owners = calloc(s->cluster->n_servers, sizeof(*check.owners));
	if (!check.owners)
		return -ENOMEM;
	for (unsigned int i = 0; i < s->cluster->n_servers; i++)
		check.owners[i] = -1;
	for (check.shard = s->list; check.shard < s->list + s->n; check.shard++) {
		shards_check_plan(&check, check.shard->now.plan);
		if (check.shard->next.plan)
			shards_check_plan(&check, check.shard->next.plan);
	}
	for (check.shard = s->list; check.shard < s->list + s->n && !check.n; check.shard++) {
		check.plan = check.shard->now.plan;
		shards_check_cross_connects(&check);
		if (check.shard->state == TO_SHARD_ACTIVE)
			shards_check_links(&check);
		check.plan = check.shard->next.plan;
		if (check.plan)
			shards_check_cross_connects(&check);
	}
	free(check.owners);
	return check.n;
}
