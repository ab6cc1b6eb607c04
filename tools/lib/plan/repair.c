// SPDX-License-Identifier: GPL-2.0-or-later
#include "plan/repair.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "data/allreduce.h"
#include "data/graph.h"
#include "plan/packed_trees.h"
#include "plan/plan_completion.h"
#include "topology/topology.h"

#define REPAIR_EQUAL 1.02	/* times the best, that is as good: rings rather stay as they are */
#define REPAIR_NONE UINT_MAX

const char *const to_repair_rings_names[] = {
	[TO_REPAIR_KEPT] = "kept",
	[TO_REPAIR_REFORMED] = "reformed",
	[TO_REPAIR_ANEW] = "anew",
	NULL
};

/**
 * struct repair - a repair under way
 * @links: that are left, moved ones included; the first of them are as in the plan
 * @dark: whose ports wait for light
 * @hurt_rings, @hurt_trees: per ring and tree of the plan: it lost a hop or a member
 * @linked: per ring of the plan: it had links
 * @part: per server, where it is; parts count from 0, REPAIR_NONE before it is known
 * @demand: without what has no path
 * @group: per group of the plan, the same one in @demand, REPAIR_NONE for none
 * @shrunk: per group of the plan: it lost members
 */
struct repair {
	const struct to_plan *plan;
	const struct to_down *down;
	struct to_link *links, *dark;
	unsigned int n_links, n_dark, n_parts;
	bool *hurt_rings, *hurt_trees, *linked, *shrunk;
	unsigned int *part, *group;
	struct to_demand *demand;
};

/* ---- links ---- */

/* Bits of ports that are in use, per server; with duplex links both are the same. */
struct repair_ports {
	uint64_t *out, *in;
	bool duplex;
};

static void repair_ports_use(struct repair_ports *p, const struct to_link *link)
{
	p->out[link->a.server] |= 1ull << link->a.port;
	p->in[link->b.server] |= 1ull << link->b.port;
	if (p->duplex) {
		p->in[link->a.server] |= 1ull << link->a.port;
		p->out[link->b.server] |= 1ull << link->b.port;
	}
}

static bool repair_ports_used(const struct repair_ports *p, const struct to_link *link)
{
	return p->out[link->a.server] >> link->a.port & 1 ||
	       p->in[link->b.server] >> link->b.port & 1;
}

/*
 * Whether an end of @link, which is dark, goes on listening. The cable may lead elsewhere now,
 * so that one end has another link; a port on an optical switch would have been given one, too.
 */
static bool repair_listens(const struct to_cluster *c, const struct repair_ports *p,
			   const struct to_link *link)
{
	const struct to_port *a = &c->servers[link->a.server].ports[link->a.port];
	const struct to_port *b = &c->servers[link->b.server].ports[link->b.port];

	if (to_link_is_shared(c, link))
		return false;
	if (!repair_ports_used(p, link))
		return true;
	return p->duplex && a->optical_switch < 0 && b->optical_switch < 0 &&
	       !(p->out[link->a.server] >> link->a.port & 1 &&
		 p->out[link->b.server] >> link->b.port & 1);
}

/* Other ports for @link, which is dark. Return: whether there are any. */
static bool repair_move(const struct repair *r, struct repair_ports *used, struct to_link *link)
{
	const struct to_server *a = &r->plan->cluster->servers[link->a.server];
	const struct to_server *b = &r->plan->cluster->servers[link->b.server];

	for (uint32_t p = 0; p < a->n_ports; p++) {
		for (uint32_t q = 0; a->ports[p].optical_switch >= 0 && q < b->n_ports; q++) {
			struct to_link moved = *link;

			moved.a.port = p;
			moved.b.port = q;
			if (a->ports[p].optical_switch != b->ports[q].optical_switch ||
			    to_down_has(r->down, moved.a) || to_down_has(r->down, moved.b) ||
			    repair_ports_used(used, &moved))
				continue;
			repair_ports_use(used, &moved);
			*link = moved;
			return true;
		}
	}
	return false;
}

/* Which links are left, and which wait for light. Return: 0 or -ENOMEM. */
static int repair_links(struct repair *r, struct to_repair *repair)
{
	const struct to_cluster *c = r->plan->cluster;
	const size_t n = c->n_servers;
	struct repair_ports used = {
		.out = calloc(n, sizeof(*used.out)), .in = calloc(n, sizeof(*used.in)),
		.duplex = c->link_mode == TO_LINKS_DUPLEX,
	};
	struct to_link *dark = calloc(c->n_links + r->plan->n_dark + 1, sizeof(*dark));
	unsigned int n_dark = 0;

	r->links = calloc(c->n_links + 1, sizeof(*r->links));
	r->dark = dark;
	if (!used.out || !used.in || !r->links || !dark) {
		free(used.out);
		free(used.in);
		return -ENOMEM;
	}
	for (unsigned int l = 0; l < c->n_links; l++) {
		if (r->down->links[l]) {
			dark[n_dark++] = c->links[l];
		} else {
			r->links[r->n_links++] = c->links[l];
			repair_ports_use(&used, &c->links[l]);
		}
	}
	for (unsigned int i = 0; i < r->plan->n_dark; i++)
		repair_ports_use(&used, &r->plan->dark[i]);
	for (unsigned int i = 0; i < n_dark; i++) {
		struct to_link link = dark[i];

		if (repair_move(r, &used, &link)) {
			r->links[r->n_links++] = link;
			repair->moved++;
		} else {
			if (link.ring >= 0)
				r->hurt_rings[link.ring] = true;
			if (link.tree >= 0)
				r->hurt_trees[link.tree] = true;
		}
	}
	repair->dark = n_dark;
	for (unsigned int i = 0; i < n_dark; i++)
		if (repair_listens(c, &used, &dark[i]))
			dark[r->n_dark++] = dark[i];
	for (unsigned int i = 0; i < r->plan->n_dark; i++)
		dark[r->n_dark++] = r->plan->dark[i];
	free(used.out);
	free(used.in);
	return 0;
}

/* ---- what has a path ---- */

/* Servers that @start reaches over @graph, forwards or backwards. */
static void repair_reach(const struct to_graph *g, bool back, uint32_t start, bool *seen,
			 uint32_t *queue)
{
	const uint32_t *first = back ? g->in : g->out, *to = back ? g->in_from : g->to;
	unsigned int n = 0;

	memset(seen, 0, g->n * sizeof(*seen));
	seen[start] = true;
	queue[n++] = start;
	for (unsigned int i = 0; i < n; i++) {
		for (uint32_t a = first[queue[i]]; a < first[queue[i] + 1]; a++) {
			if (!seen[to[a]])
				queue[n++] = to[a];
			seen[to[a]] = true;
		}
	}
}

/* Parts within which all servers reach each other. Return: 0 or -ENOMEM. */
static int repair_parts(struct repair *r, struct to_repair *repair)
{
	const struct to_cluster *c = r->plan->cluster;
	const unsigned int n = c->n_servers;
	struct to_graph *g = to_graph_new(n, r->links, r->n_links, c->link_mode);
	unsigned int *sizes = calloc(n, sizeof(*sizes)), largest = 0;
	bool *ahead = calloc(n, sizeof(*ahead)), *behind = calloc(n, sizeof(*behind));
	uint32_t *queue = calloc(n, sizeof(*queue));
	int ret = -ENOMEM;

	if (!g || !sizes || !ahead || !behind || !queue)
		goto out;
	for (uint32_t s = 0; s < n; s++)
		r->part[s] = REPAIR_NONE;
	for (uint32_t s = 0; s < n; s++) {
		if (r->part[s] != REPAIR_NONE)
			continue;
		repair_reach(g, false, s, ahead, queue);
		repair_reach(g, true, s, behind, queue);
		for (uint32_t x = 0; x < n; x++) {
			if (!ahead[x] || !behind[x])
				continue;
			r->part[x] = r->n_parts;
			sizes[r->n_parts]++;
		}
		if (sizes[r->n_parts] > sizes[largest])
			largest = r->n_parts;
		r->n_parts++;
	}
	for (uint32_t s = 0; s < n; s++) {
		repair->cut_off[s] = r->part[s] != largest;
		repair->n_cut_off += repair->cut_off[s];
	}
	repair->parts = r->n_parts;
	ret = 0;
out:
	to_graph_free(g);
	free(sizes);
	free(ahead);
	free(behind);
	free(queue);
	return ret;
}

/* The part that has most of @group's members. */
static unsigned int repair_part_of(const struct repair *r, const struct to_allreduce *group,
				   unsigned int *sizes)
{
	unsigned int best = r->part[group->members[0]];

	memset(sizes, 0, r->n_parts * sizeof(*sizes));
	for (unsigned int i = 0; i < group->n_members; i++)
		sizes[r->part[group->members[i]]]++;
	for (unsigned int i = 0; i < group->n_members; i++)
		if (sizes[r->part[group->members[i]]] > sizes[best])
			best = r->part[group->members[i]];
	return best;
}

/* Keep the members of @list that are in @part. Return: how many. */
static unsigned int repair_members(const struct repair *r, unsigned int part, uint32_t *list,
				   unsigned int n)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < n; i++)
		if (r->part[list[i]] == part)
			list[kept++] = list[i];
	return kept;
}

/* The demand without what has no path. Return: 0 or -ENOMEM. */
static int repair_demand(struct repair *r)
{
	struct to_demand *d = to_demand_copy(r->plan->demand);
	unsigned int *sizes = calloc(r->n_parts, sizeof(*sizes)), kept = 0;

	r->demand = d;
	if (!d || !sizes) {
		free(sizes);
		return -ENOMEM;
	}
	for (size_t x = 0; x < d->n; x++)
		for (size_t y = 0; y < d->n; y++)
			if (r->part[x] != r->part[y])
				d->mp[x * d->n + y] = 0;
	for (unsigned int g = 0; g < d->n_groups; g++) {
		struct to_allreduce group = d->groups[g];
		unsigned int n = group.n_members;

		if (n)
			n = repair_members(r, repair_part_of(r, &group, sizes), group.members, n);
		r->shrunk[g] = n != group.n_members;
		r->group[g] = REPAIR_NONE;
		if (r->shrunk[g] && n < 2) {
			free(group.members);
			continue;
		}
		group.n_members = n;
		r->group[g] = kept;
		d->groups[kept++] = group;
	}
	d->n_groups = kept;
	free(sizes);
	return 0;
}

/* ---- rings and trees ---- */

/* @ring without the members that its group lost. */
static int repair_copy_ring(const struct repair *r, const struct to_ring *ring,
			    struct to_ring *copy)
{
	const bool shrunk = r->shrunk[ring->group];
	const unsigned int group = r->group[ring->group];

	*copy = *ring;
	copy->group = group;
	copy->order = malloc(ring->n * sizeof(*copy->order));
	if (!copy->order)
		return -ENOMEM;
	memcpy(copy->order, ring->order, ring->n * sizeof(*copy->order));
	if (shrunk) {
		copy->n = repair_members(r, r->part[r->demand->groups[group].members[0]],
					 copy->order, ring->n);
		copy->jump = 0;
		copy->reverse &= copy->n > 2;
	}
	return 0;
}

static int repair_copy_tree(const struct repair *r, const struct to_allreduce_tree *tree,
			    struct to_allreduce_tree *copy)
{
	*copy = (struct to_allreduce_tree){
		.group = r->group[tree->group], .n = tree->n, .share = tree->share };
	copy->parents = malloc(tree->n * sizeof(*copy->parents));
	if (!copy->parents)
		return -ENOMEM;
	memcpy(copy->parents, tree->parents, tree->n * sizeof(*copy->parents));
	return 0;
}

/*
 * The plan's layout on the links that are left. What lost a hop owns none any more;
 * rings that did so are left out when they are to be formed again.
 * @rings, @trees: per ring and tree of the plan, which it is now, -1 for none that
 *	owns links
 */
static int repair_layout(const struct repair *r, bool keep, struct to_layout *layout, int *rings,
			 int *trees)
{
	const struct to_plan *plan = r->plan;

	*layout = (struct to_layout){
		.links = calloc(r->n_links + 1, sizeof(*layout->links)),
		.rings = calloc(plan->n_rings + 1, sizeof(*layout->rings)),
		.trees = calloc(plan->n_trees + 1, sizeof(*layout->trees)),
	};
	if (!layout->links || !layout->rings || !layout->trees)
		return -ENOMEM;
	for (unsigned int i = 0; i < plan->n_rings; i++) {
		const struct to_ring *ring = &plan->rings[i];
		const bool hurt = r->hurt_rings[i] || r->shrunk[ring->group];

		rings[i] = -1;
		if (r->group[ring->group] == REPAIR_NONE || (hurt && r->linked[i] && !keep))
			continue;
		if (repair_copy_ring(r, ring, &layout->rings[layout->n_rings]))
			return -ENOMEM;
		if (!hurt)
			rings[i] = layout->n_rings;
		layout->n_rings++;
	}
	for (unsigned int i = 0; i < plan->n_trees; i++) {
		const struct to_allreduce_tree *tree = &plan->trees[i];

		trees[i] = -1;
		/* a tree cannot do without a member */
		if (r->shrunk[tree->group])
			continue;
		if (repair_copy_tree(r, tree, &layout->trees[layout->n_trees]))
			return -ENOMEM;
		if (!r->hurt_trees[i])
			trees[i] = layout->n_trees;
		layout->n_trees++;
	}
	for (unsigned int l = 0; l < r->n_links; l++) {
		struct to_link link = r->links[l];
		const bool owned = link.ring >= 0 || link.tree >= 0;

		link.ring = link.ring >= 0 ? rings[link.ring] : -1;
		link.tree = link.tree >= 0 ? trees[link.tree] : -1;
		if (owned && link.ring < 0 && link.tree < 0)
			link.use = TO_LINK_MP;
		layout->links[layout->n_links++] = link;
	}
	return 0;
}

static int repair_bare_layout(const struct repair *r, struct to_layout *layout)
{
	const struct to_layout bare = { .n_links = r->n_links, .links = r->links };
	int ret = to_layout_copy(layout, &bare);

	for (unsigned int l = 0; !ret && l < layout->n_links; l++) {
		layout->links[l].use = TO_LINK_FIXED;
		layout->links[l].ring = layout->links[l].tree = -1;
	}
	return ret;
}

/* Rings anew on a bare layout. */
static int repair_add_rings(const struct repair *r, const struct to_cluster *cluster,
			    struct to_layout *layout)
{
	struct to_graph *graph;
	int ret;

	if (!cluster->n_packet_switches)
		return to_topology_add_rings(cluster, r->demand, layout, NULL);
	graph = to_graph_new(cluster->n_servers, r->links, r->n_links, cluster->link_mode);
	ret = graph ? to_topology_share_ports(cluster, r->demand, layout, graph) : -ENOMEM;
	to_graph_free(graph);
	return ret;
}

static int repair_rings(const struct repair *r, const struct to_cluster *cluster,
			enum to_repair_rings how, struct to_layout *layout)
{
	const struct to_plan *plan = r->plan;
	/* links that share ports would take ever more of them */
	const bool as_many = how == TO_REPAIR_REFORMED || cluster->n_packet_switches;
	unsigned int *most = calloc(plan->demand->n_groups + 1, sizeof(*most));
	int *rings = calloc(plan->n_rings + 1, sizeof(*rings));
	int *trees = calloc(plan->n_trees + 1, sizeof(*trees));
	int ret = -ENOMEM;

	*layout = (struct to_layout){ 0 };
	if (!most || !rings || !trees)
		goto out;
	/* as many as there were */
	for (unsigned int i = 0; as_many && i < plan->n_rings; i++)
		if (r->group[plan->rings[i].group] != REPAIR_NONE)
			most[r->group[plan->rings[i].group]]++;
	ret = how == TO_REPAIR_ANEW ? repair_bare_layout(r, layout) :
				      repair_layout(r, how == TO_REPAIR_KEPT, layout, rings, trees);
	if (!ret)
		ret = how == TO_REPAIR_ANEW ? repair_add_rings(r, cluster, layout) :
					      to_topology_add_rings(cluster, r->demand, layout, most);
out:
	free(most);
	free(rings);
	free(trees);
	return ret;
}

/* ---- the plan ---- */

/* What the plan did without already, and what is down now. */
static int repair_note(const struct repair *r, struct to_plan *plan)
{
	const struct to_plan *old = r->plan;
	const struct to_down *down = r->down;

	plan->down = calloc(old->n_down + down->n + 1, sizeof(*plan->down));
	plan->dark = calloc(r->n_dark + 1, sizeof(*plan->dark));
	if (!plan->down || !plan->dark)
		return -ENOMEM;
	for (unsigned int i = 0; i < r->n_dark; i++) {
		plan->dark[i] = r->dark[i];
		plan->dark[i].use = TO_LINK_FIXED;
		plan->dark[i].ring = plan->dark[i].tree = -1;
	}
	plan->n_dark = r->n_dark;
	for (unsigned int i = 0; i < old->n_down; i++)
		plan->down[plan->n_down++] = old->down[i];
	for (unsigned int i = 0; i < down->n; i++) {
		bool known = false;

		for (unsigned int k = 0; k < old->n_down; k++)
			known |= old->down[k].server == down->list[i].server &&
				 old->down[k].port == down->list[i].port;
		if (!known)
			plan->down[plan->n_down++] = down->list[i];
	}
	return 0;
}

/* Do clients know trees that share links? They run on such trees already. */
static bool repair_packed(const struct to_plan *plan)
{
	const struct to_rings rings = to_allreduce_of(plan);

	return plan->n_trees && !plan->n_rings && !to_allreduce_tree_linked(&rings, 0);
}

static int repair_try(const struct repair *r, enum to_repair_rings how, unsigned int effort,
		      struct to_plan **made, struct to_figures *figures, struct to_error *err)
{
	struct to_plan *plan = calloc(1, sizeof(*plan));
	struct to_layout layout = { 0 };
	int ret = -ENOMEM;

	if (!plan)
		return ret;
	plan->cluster = to_cluster_copy(r->plan->cluster);
	plan->demand = to_demand_copy(r->demand);
	plan->seed = r->plan->seed;
	plan->max_stretch = r->plan->max_stretch;
	plan->no_buffer_cycles = r->plan->no_buffer_cycles;
	plan->latency = r->plan->latency;
	plan->collective = r->plan->collective;
	if (plan->cluster && plan->demand)
		ret = repair_note(r, plan);
	if (!ret)
		ret = repair_rings(r, plan->cluster, how, &layout);
	if (!ret)
		ret = to_plan_completion_primaries(plan, &layout, effort, err);
	if (!ret && how == TO_REPAIR_ANEW && repair_packed(r->plan)) {
		ret = to_predict_plan(plan, figures);
		if (!ret)
			ret = to_packed_trees_try(plan, false, effort, figures, err);
	}
	if (!ret)
		ret = to_plan_completion_backups(plan, figures, err);
	to_layout_free(&layout);
	if (ret)
		to_plan_free(plan);
	else
		*made = plan;
	return ret;
}

static bool repair_any(const bool *list, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		if (list[i])
			return true;
	return false;
}

/* The first that is nearly as good as the best. */
static int repair_choose(const struct repair *r, unsigned int effort, struct to_repair *repair,
			 struct to_error *err)
{
	/* without rings that lost a hop, to form them again is to keep them */
	const bool reform = repair_any(r->hurt_rings, r->plan->n_rings) ||
			    repair_any(r->shrunk, r->plan->demand->n_groups);
	struct to_plan *plans[TO_REPAIR_RINGS] = { NULL };
	struct to_figures figures[TO_REPAIR_RINGS], *least = NULL;
	double load = 0;
	int ret = 0;

	for (unsigned int i = 0; !ret && i < TO_REPAIR_RINGS; i++) {
		if (i == TO_REPAIR_REFORMED && !reform)
			continue;
		ret = repair_try(r, i, effort, &plans[i], &figures[i], err);
		if (ret)
			break;
		if (!least || figures[i].comm_time < least->comm_time)
			least = &figures[i];
	}
	load = ret ? 0 : least->max_link_load;
	for (unsigned int i = 0; i < TO_REPAIR_RINGS; i++) {
		if (!ret && plans[i] && !repair->plan &&
		    figures[i].comm_time <= least->comm_time * REPAIR_EQUAL &&
		    figures[i].max_link_load <= load * REPAIR_EQUAL) {
			repair->rings = i;
			repair->plan = plans[i];
			repair->after = figures[i];
		} else {
			to_plan_free(plans[i]);
		}
	}
	return ret;
}

static int repair_alloc(struct repair *r, struct to_repair *repair)
{
	const struct to_plan *plan = r->plan;
	const unsigned int groups = plan->demand->n_groups, n = plan->cluster->n_servers;
	const struct to_rings rings = to_allreduce_of(plan);

	r->hurt_rings = calloc(plan->n_rings + 1, sizeof(bool));
	r->linked = calloc(plan->n_rings + 1, sizeof(bool));
	r->hurt_trees = calloc(plan->n_trees + 1, sizeof(bool));
	r->shrunk = calloc(groups + 1, sizeof(bool));
	r->group = calloc(groups + 1, sizeof(*r->group));
	r->part = calloc(n + 1, sizeof(*r->part));
	repair->cut_off = calloc(n + 1, sizeof(bool));
	if (!r->hurt_rings || !r->linked || !r->hurt_trees || !r->shrunk || !r->group ||
	    !r->part || !repair->cut_off)
		return -ENOMEM;
	for (unsigned int i = 0; i < plan->n_rings; i++)
		r->linked[i] = to_allreduce_ring_linked(&rings, i);
	return 0;
}

int to_repair_plan(const struct to_plan *plan, const struct to_down *down, unsigned int effort,
		   struct to_repair *repair, struct to_error *err)
{
	struct repair r = { .plan = plan, .down = down };
	int ret;

	*repair = (struct to_repair){ 0 };
	ret = repair_alloc(&r, repair);
	if (!ret)
		ret = repair_links(&r, repair);
	if (!ret && !r.n_links)
		ret = to_error_set(err, -ENOLINK, "no link is left");
	if (!ret)
		ret = repair_parts(&r, repair);
	if (!ret)
		ret = repair_demand(&r);
	if (!ret)
		ret = to_predict_plan(plan, &repair->before);
	if (!ret)
		ret = repair_choose(&r, effort, repair, err);
	if (ret == -ENOMEM)
		to_error_set(err, ret, "out of memory");
	if (ret)
		to_repair_free(repair);
	free(r.links);
	free(r.dark);
	free(r.hurt_rings);
	free(r.hurt_trees);
	free(r.linked);
	free(r.shrunk);
	free(r.part);
	free(r.group);
	to_demand_free(r.demand);
	return ret;
}

void to_repair_free(struct to_repair *repair)
{
	to_plan_free(repair->plan);
	free(repair->cut_off);
	*repair = (struct to_repair){ 0 };
}

json_t *to_repair_json(const struct to_repair *repair)
{
	const struct to_plan *plan = repair->plan;
	const struct to_cluster *c = plan->cluster;
	json_t *down = json_array(), *cut_off = json_array();
	char text[TO_DOWN_NAME_MAX];

	for (unsigned int i = 0; i < plan->n_down; i++)
		json_array_append_new(down, json_string(to_down_name(c, plan->down[i], text)));
	for (unsigned int s = 0; s < c->n_servers; s++)
		if (repair->cut_off && repair->cut_off[s])
			json_array_append_new(cut_off, json_string(c->servers[s].name));
	return json_pack("{s:o, s:i, s:i, s:i, s:o, s:s, s:{s:f, s:f}, s:{s:f, s:f}}",
			 "down", down, "dark", repair->dark, "moved", repair->moved,
			 "parts", repair->parts, "cut_off", cut_off,
			 "rings", to_repair_rings_names[repair->rings],
			 "before", "comm_time_s", repair->before.comm_time,
			 "max_link_load", repair->before.max_link_load,
			 "after", "comm_time_s", repair->after.comm_time,
			 "max_link_load", repair->after.max_link_load);
}

void to_repair_print(FILE *out, const struct to_repair *r)
{
	const struct to_cluster *c = r->plan->cluster;
	char was[16], is[16];

	fprintf(out, "repair: %u dark link%s, %u moved to other ports; rings: %s\n",
		r->dark, r->dark == 1 ? "" : "s", r->moved, to_repair_rings_names[r->rings]);
	if (r->n_cut_off) {
		fprintf(out, "cut off:");
		for (unsigned int s = 0; s < c->n_servers; s++)
			if (r->cut_off[s])
				fprintf(out, " %s", c->servers[s].name);
		fprintf(out, "\n");
	}
	fprintf(out, "communication %s before, %s after", to_seconds_text(r->before.comm_time, was),
		to_seconds_text(r->after.comm_time, is));
	fprintf(out, "; busiest link %s before, %s after\n",
		to_bytes_text(r->before.max_link_load, was), to_bytes_text(r->after.max_link_load, is));
}
