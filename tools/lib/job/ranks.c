// SPDX-License-Identifier: GPL-2.0-or-later
#include <arpa/inet.h>
#include <errno.h>

#include "base/json.h"
#include "job/ranks.h"

const char *const to_ranks_formats[] = {
	[TO_RANKS_OPENMPI] = "openmpi", [TO_RANKS_MPICH] = "mpich", [TO_RANKS_SLURM] = "slurm",
	[TO_RANKS_TORCHRUN] = "torchrun", [TO_RANKS_JSON] = "json", NULL
};

static unsigned int ranks_trees(const struct to_plan *plan, uint32_t group)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < plan->n_trees; i++)
		n += plan->trees[i].group == group;
	return n;
}

int to_ranks_find(struct to_ranks *ranks, const struct to_plan *plan, uint32_t group,
		  uint32_t ring, struct to_error *err)
{
	const struct to_demand *demand = plan->demand;

	*ranks = (struct to_ranks){ plan, group, ring, plan->cluster->n_servers, NULL };
	if (group != TO_RANKS_NONE && group >= demand->n_groups)
		return to_error_set(err, -ENOENT, "no AllReduce group %u in this plan (it has %u)",
				    group, demand->n_groups);
	if (ring != TO_RANKS_NONE && group != TO_RANKS_NONE && ranks_trees(plan, group))
		return to_error_set(err, -ENOENT, "AllReduce group %u has trees, not rings", group);
	if (ring != TO_RANKS_NONE && ring >= plan->n_rings && plan->n_trees && !plan->n_rings)
		return to_error_set(err, -ENOENT, "no ring %u in this plan: it has trees", ring);
	if (ring != TO_RANKS_NONE && ring >= plan->n_rings)
		return to_error_set(err, -ENOENT, "no ring %u in this plan (it has %u)", ring,
				    plan->n_rings);
	if (ring != TO_RANKS_NONE && group != TO_RANKS_NONE && plan->rings[ring].group != group)
		return to_error_set(err, -ENOENT, "ring %u is of AllReduce group %u, not %u", ring,
				    plan->rings[ring].group, group);
	if (!demand->n_groups)
		return 0;
	if (group == TO_RANKS_NONE)
		group = ring == TO_RANKS_NONE ? 0 : plan->rings[ring].group;
	for (unsigned int i = 0; ring == TO_RANKS_NONE && i < plan->n_rings; i++)
		if (plan->rings[i].group == group)
			ring = i;
	ranks->group = group;
	ranks->ring = ring;
	ranks->n = demand->groups[group].n_members;
	ranks->order = ring == TO_RANKS_NONE ? demand->groups[group].members :
					       plan->rings[ring].order;
	return 0;
}

uint32_t to_ranks_server(const struct to_ranks *ranks, unsigned int i)
{
	return ranks->order ? ranks->order[i] : i;
}

int to_ranks_place(const struct to_ranks *ranks, uint32_t server)
{
	for (unsigned int i = 0; i < ranks->n; i++)
		if (to_ranks_server(ranks, i) == server)
			return i;
	return -1;
}

const char *to_ranks_node(const struct to_plan *plan, uint32_t server,
			  char text[INET6_ADDRSTRLEN])
{
	const struct to_address *address = &plan->cluster->servers[server].address;

	return address->has_v4 ? inet_ntop(AF_INET, &address->v4, text, INET6_ADDRSTRLEN) :
				 inet_ntop(AF_INET6, &address->v6, text, INET6_ADDRSTRLEN);
}

void to_ranks_print(FILE *out, const struct to_ranks *ranks, enum to_ranks_format format,
		    unsigned int slots)
{
	char node[INET6_ADDRSTRLEN];

	to_ranks_node(ranks->plan, to_ranks_server(ranks, 0), node);
	for (unsigned int i = 0; i < ranks->n; i++) {
		const char *name =
			ranks->plan->cluster->servers[to_ranks_server(ranks, i)].name;

		if (format == TO_RANKS_OPENMPI)
			fprintf(out, "%s slots=%u\n", name, slots);
		else if (format == TO_RANKS_MPICH)
			fprintf(out, "%s:%u\n", name, slots);
		else if (format == TO_RANKS_TORCHRUN)
			fprintf(out, "%s --nnodes=%u --node-rank=%u --nproc-per-node=%u "
				"--master-addr=%s --master-port=%u\n", name, ranks->n, i, slots,
				node, TO_RANKS_PORT);
		else
			for (unsigned int k = 0; k < slots; k++)
				fprintf(out, "%s\n", name);
	}
}

/* @rings, @trees: printed so far */
struct ranks_json {
	FILE *out;
	const struct to_plan *plan;
	unsigned int rings, trees;
};

static void ranks_print_ring(struct ranks_json *json, unsigned int index, bool reverse, double share)
{
	const struct to_ring *ring = &json->plan->rings[index];

	fprintf(json->out, "%s\n{ \"ring\": %u, \"reverse\": %s, \"share\": %.17g, \"order\": [",
		json->rings++ ? "," : "", index, reverse ? "true" : "false", share);
	for (unsigned int i = 0; i < ring->n; i++) {
		/* both directions begin at the same server */
		unsigned int at = reverse ? (ring->n - i) % ring->n : i;

		fprintf(json->out, "%s\"%s\"", i ? ", " : "",
			json->plan->cluster->servers[ring->order[at]].name);
	}
	fprintf(json->out, "] }");
}

static void ranks_print_tree(struct ranks_json *json, unsigned int index)
{
	const struct to_allreduce_tree *tree = &json->plan->trees[index];
	const uint32_t *members = json->plan->demand->groups[tree->group].members;
	const struct to_server *servers = json->plan->cluster->servers;

	fprintf(json->out, "%s\n{ \"tree\": %u, \"share\": %.17g, \"parents\": {",
		json->trees++ ? "," : "", index, tree->share);
	for (unsigned int i = 0; i < tree->n; i++) {
		fprintf(json->out, "%s\"%s\": ", i ? ", " : "", servers[members[i]].name);
		if (tree->parents[i] == TO_SERVER_NONE)
			fprintf(json->out, "null");
		else
			fprintf(json->out, "\"%s\"", servers[tree->parents[i]].name);
	}
	fprintf(json->out, "} }");
}

void to_ranks_print_json(FILE *out, const struct to_ranks *ranks, unsigned int slots,
			 const char *fingerprint)
{
	const struct to_plan *plan = ranks->plan;
	struct ranks_json json = { out, plan, 0, 0 };
	unsigned int directions = 0;
	char node[INET6_ADDRSTRLEN];

	fprintf(out, "{\n\"format\": \"topoopt-ranks\", \"version\": 1,\n\"job\": ");
	to_json_print_string(out, plan->demand->name);
	fprintf(out, ",\n\"plan\": \"%s\",\n\"slots\": %u", fingerprint, slots);
	if (ranks->group != TO_RANKS_NONE)
		fprintf(out, ",\n\"group\": %u", ranks->group);
	if (ranks->ring != TO_RANKS_NONE)
		fprintf(out, ",\n\"ring\": %u", ranks->ring);
	fprintf(out, ",\n\"servers\": [");
	for (unsigned int i = 0; i < ranks->n; i++) {
		const uint32_t server = to_ranks_server(ranks, i);

		fprintf(out, "%s\n{ \"name\": \"%s\", \"address\": \"%s\" }", i ? "," : "",
			plan->cluster->servers[server].name, to_ranks_node(plan, server, node));
	}
	fprintf(out, "\n],\n\"rings\": [");
	for (unsigned int i = 0; i < plan->n_rings; i++)
		if (plan->rings[i].group == ranks->group)
			directions += plan->rings[i].reverse ? 2 : 1;
	for (unsigned int i = 0; i < plan->n_rings; i++) {
		if (plan->rings[i].group != ranks->group)
			continue;
		ranks_print_ring(&json, i, false, 1.0 / directions);
		if (plan->rings[i].reverse)
			ranks_print_ring(&json, i, true, 1.0 / directions);
	}
	fprintf(out, "%s],\n\"trees\": [", json.rings ? "\n" : "");
	for (unsigned int i = 0; i < plan->n_trees; i++)
		if (plan->trees[i].group == ranks->group)
			ranks_print_tree(&json, i);
	fprintf(out, "%s]\n}\n", json.trees ? "\n" : "");
}
