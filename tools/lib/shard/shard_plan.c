// SPDX-License-Identifier: GPL-2.0-or-later
#include "shard/shard_plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "data/cross_connects.h"
#include "plan/plan_completion.h"
#include "shard/shard_servers.h"
#include "topology/crossconnect.h"

/* ---- links in place ---- */

struct to_link *to_shard_cabling(const struct to_shards *s, const struct to_plan *plan,
				 unsigned int *n)
{
	const struct to_cluster *c = s->cluster, *own = plan->cluster;
	uint32_t *at = calloc(own->n_servers, sizeof(*at));
	bool *ours = calloc(c->n_servers, sizeof(*ours));
	struct to_link *links = calloc(c->n_links + own->n_links + 1, sizeof(*links));
	unsigned int i;

	*n = 0;
	for (i = 0; at && ours && links && i < own->n_servers; i++) {
		at[i] = to_cluster_find_server(c, own->servers[i].name);
		ours[at[i]] = true;
	}
	for (i = 0; at && ours && links && i < c->n_links; i++) {
		const struct to_link *l = &c->links[i];
		bool cable = c->servers[l->a.server].ports[l->a.port].optical_switch < 0;

		/* cables between its servers are links of the plan */
		if (cable ? !(ours[l->a.server] && ours[l->b.server]) :
			    !(ours[l->a.server] || ours[l->b.server]))
			links[(*n)++] = *l;
	}
	for (i = 0; at && ours && links && i < own->n_links; i++) {
		const struct to_link *l = &own->links[i];

		links[(*n)++] = (struct to_link){
			.a = { at[l->a.server], l->a.port }, .b = { at[l->b.server], l->b.port },
			.ring = -1, .tree = -1 };
	}
	if (!at || !ours) {
		free(links);
		links = NULL;
	}
	free(at);
	free(ours);
	return links;
}

int to_shard_moves(const struct to_shards *s, const struct to_plan *plan,
		   struct to_shard_moves *moves, struct to_error *err)
{
	struct to_cluster changed = *s->cluster;
	struct to_plan before = { .cluster = s->cluster }, after = { .cluster = &changed };
	int ret;

	*moves = (struct to_shard_moves){};
	changed.links = to_shard_cabling(s, plan, &changed.n_links);
	ret = changed.links ? to_cross_connects_fill(&before, err) : -ENOMEM;
	if (!ret)
		ret = to_cross_connects_fill(&after, err);
	if (!ret)
		ret = to_cross_connects_diff(&before, &after, &moves->cut, &moves->n_cut,
					     &moves->made, &moves->n_made);
	free(changed.links);
	free(before.cross_connects);
	free(after.cross_connects);
	return ret == -ENOMEM ? to_error_set(err, ret, "out of memory") : ret;
}

void to_shard_moves_free(struct to_shard_moves *moves)
{
	free(moves->cut);
	free(moves->made);
}

/* ---- a plan ---- */

struct to_cluster *to_shard_part(const struct to_cluster *c, const uint32_t *servers, unsigned int n)
{
	struct to_cluster *part = to_cluster_copy(c);
	uint32_t *place = calloc(c->n_servers, sizeof(*place));
	struct to_server *list = calloc(n, sizeof(*list));
	unsigned int i, kept = 0;

	if (!part || !place || !list) {
		to_cluster_free(part);
		free(place);
		free(list);
		return NULL;
	}
	for (i = 0; i < n; i++) {
		place[servers[i]] = i + 1;
		list[i] = part->servers[servers[i]];
		part->servers[servers[i]].ports = NULL;
		part->servers[servers[i]].pcie = NULL;
	}
	for (i = 0; i < c->n_servers; i++) {
		free(part->servers[i].ports);
		free(part->servers[i].pcie);
	}
	free(part->servers);
	part->servers = list;
	part->n_servers = n;
	for (i = 0; i < c->n_links; i++) {
		struct to_link l = c->links[i];

		if (!place[l.a.server] || !place[l.b.server])
			continue;
		l.a.server = place[l.a.server] - 1;
		l.b.server = place[l.b.server] - 1;
		part->links[kept++] = l;
	}
	part->n_links = kept;
	free(place);
	if (!to_cluster_sort(part))
		return part;
	to_cluster_free(part);
	return NULL;
}

static int shard_plan_demand(struct to_demand *demand, const char *name,
			     const struct to_cluster *part)
{
	snprintf(demand->name, sizeof(demand->name), "%s", name);
	free(demand->names);
	demand->names = calloc(demand->n, sizeof(*demand->names));
	for (unsigned int i = 0; demand->names && i < demand->n; i++)
		memcpy(demand->names[i], part->servers[i].name, sizeof(*demand->names));
	return demand->names ? 0 : -ENOMEM;
}

/* The same links on the cross-connects that are in place, @now, where that can be. */
static int shard_plan_keep(struct to_plan *plan, const struct to_link *now, unsigned int n_now,
			   unsigned int effort, struct to_error *err)
{
	const struct to_cluster *c = plan->cluster;
	struct to_figures figures;
	struct to_layout layout, of_plan = to_plan_layout(plan);
	int ret;

	for (unsigned int i = 0; i < c->n_links; i++) {
		const struct to_link *l = &c->links[i];

		if (c->servers[l->a.server].ports[l->a.port].optical_switch >= 0)
			continue;
		return to_error_set(err, -EINVAL,
				    "ports on no optical switch (%s:%s) have cables that nobody moves: plan with --fixed",
				    c->servers[l->a.server].name,
				    c->servers[l->a.server].ports[l->a.port].name);
	}
	if (!n_now)
		return 0;
	ret = to_layout_copy(&layout, &of_plan);
	if (ret)
		return ret;
	ret = to_crossconnect_reassign(c, now, n_now, layout.links, layout.n_links, err);
	if (!ret)
		return to_plan_completion_fill(plan, &layout, effort, &figures, err);
	to_layout_free(&layout);
	/* the ports that it has will do */
	return ret == -ENOSPC ? 0 : ret;
}

static struct to_plan *shard_plan_on(const struct to_shards *s,
				     const struct to_shard_request *request,
				     const uint32_t *servers, struct to_error *err)
{
	struct to_cluster *part = to_shard_part(s->cluster, servers, request->demand->n);
	struct to_demand *demand = to_demand_copy(request->demand);
	unsigned int effort = request->planner.effort ? request->planner.effort : TO_EFFORT_DEFAULT;
	unsigned int n_now = part && !request->planner.fixed ? part->n_links : 0;
	struct to_link *now = calloc(n_now + 1, sizeof(*now));
	struct to_plan *plan = NULL;

	if (!part || !demand || !now || shard_plan_demand(demand, request->name, part)) {
		to_error_set(err, -ENOMEM, "out of memory");
		to_cluster_free(part);
		to_demand_free(demand);
		free(now);
		return NULL;
	}
	if (n_now)
		memcpy(now, part->links, n_now * sizeof(*now));
	if (!request->planner.fixed)
		part->n_links = 0;
	plan = to_planner_make(part, demand, &request->planner, err);
	if (plan && !request->planner.fixed && shard_plan_keep(plan, now, n_now, effort, err)) {
		if (err && !err->text[0])
			to_error_set(err, -ENOMEM, "out of memory");
		to_plan_free(plan);
		plan = NULL;
	}
	free(now);
	return plan;
}

/* Servers that were asked for by name. */
static int shard_plan_named(const struct to_shards *s, const struct to_shard_request *request,
			    const bool *available, uint32_t *servers, struct to_error *err)
{
	int *owners = to_shards_owners(s);
	bool *taken = calloc(s->cluster->n_servers, sizeof(*taken));
	int ret = taken && owners ? 0 : to_error_set(err, -ENOMEM, "out of memory");

	for (unsigned int i = 0; i < request->demand->n && !ret; i++) {
		const char *name = request->servers ? request->servers[i] :
				   request->demand->names[i];
		int at = to_cluster_find_server(s->cluster, name);

		if (at < 0)
			ret = to_error_set(err, -ENOENT, "server %s is not in the cluster", name);
		else if (s->drained[at])
			ret = to_error_set(err, -EBUSY, "server %s is drained", name);
		else if (!available[at])
			ret = to_error_set(err, -EBUSY, "server %s is taken by shard %s", name,
					   s->list[owners[at]].name);
		else if (taken[at])
			ret = to_error_set(err, -EINVAL, "server %s is named twice", name);
		else
			taken[servers[i] = at] = true;
	}
	free(taken);
	free(owners);
	return ret;
}

/* The plan of @one or @other that moves less; the other is freed. */
static struct to_plan *shard_plan_better(const struct to_shards *s, struct to_plan *one,
					 struct to_plan *other, struct to_error *err)
{
	struct to_shard_moves a = {}, b = {};
	struct to_plan *better = NULL;

	if (!to_shard_moves(s, one, &a, err) && !to_shard_moves(s, other, &b, err))
		better = b.n_cut + b.n_made < a.n_cut + a.n_made ? other : one;
	to_plan_free(better == one ? other : one);
	if (!better)
		to_plan_free(other);
	to_shard_moves_free(&a);
	to_shard_moves_free(&b);
	return better;
}

static struct to_plan *shard_plan_chosen(const struct to_shards *s,
					 const struct to_shard_request *request, const bool *available,
					 uint32_t *servers, struct to_error *err)
{
	const unsigned int n = request->demand->n;
	struct to_plan *plan, *other;
	struct to_error why;
	int ret;

	if (request->planner.fixed) {
		ret = to_shard_servers_linked(s->cluster, available, n, servers, err);
		return ret ? NULL : shard_plan_on(s, request, servers, err);
	}
	if (to_shard_servers_near(s->cluster, available, n, servers, err))
		return NULL;
	plan = shard_plan_on(s, request, servers, err);
	/* without links in place all servers are alike */
	ret = plan ? to_shard_servers_linked(s->cluster, available, n, servers, &why) : -EINVAL;
	if (ret)
		return plan;
	other = shard_plan_on(s, request, servers, &why);
	return other ? shard_plan_better(s, plan, other, err) : plan;
}

struct to_plan *to_shard_plan(const struct to_shards *s, const struct to_shard_request *request,
			      struct to_error *err)
{
	uint32_t *servers = calloc(request->demand->n, sizeof(*servers));
	bool *available = to_shards_free(s, request->of);
	struct to_plan *plan = NULL;

	for (unsigned int i = 0; available && request->allowed && i < s->cluster->n_servers; i++)
		available[i] &= request->allowed[i];
	if (!servers || !available)
		to_error_set(err, -ENOMEM, "out of memory");
	else if (!request->servers && !request->demand->names)
		plan = shard_plan_chosen(s, request, available, servers, err);
	else if (!shard_plan_named(s, request, available, servers, err))
		plan = shard_plan_on(s, request, servers, err);
	free(servers);
	free(available);
	return plan;
}
