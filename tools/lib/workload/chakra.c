// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "format/names.h"
#include "workload/chakra.h"

/* Ranks that do collectives together. @index: in chakra.groups */
struct chakra_group {
	const char *name;
	uint32_t index;
	uint32_t n, *ranks;	/* ascending */
};

/* A rank uses the name of a process group. @group: of the first use of a name, if known */
struct chakra_use {
	const char *name;
	uint32_t rank;
	int group;
};

/* AllReduce over these servers; @place: which was met first */
struct chakra_reduce {
	struct to_allreduce sum;
	uint32_t place;
};

/* One communication of one rank. @group: of a collective; @place: in its trace. */
struct chakra_item {
	uint32_t group, rank, place;
	const struct to_trace_comm *comm;
};

struct chakra {
	uint32_t n;
	struct to_trace *traces;
	const struct to_chakra_options *options;
	uint32_t n_groups, max_groups;
	struct chakra_group **groups;
	uint32_t n_uses;
	struct chakra_use *uses;	/* by name, then rank */
	uint32_t n_reduces;
	void *group_tree, *reduce_tree;	/* of tsearch() */
	uint32_t n_items;
	struct chakra_item *items;
	struct to_demand *demand;
	struct to_replay *replay;
	struct to_chakra_totals *totals;
	struct to_error *err;
};

static int chakra_no_memory(const struct chakra *c)
{
	return to_error_set(c->err, -ENOMEM, "out of memory");
}

static int chakra_error(const struct chakra *c, uint32_t rank, const struct to_trace_comm *comm,
			const char *what)
{
	return to_error_set(c->err, -EINVAL, "%s: node %llu (%s): %s", c->traces[rank].path,
			    (unsigned long long)comm->id, comm->name, what);
}

/* NAME.RANK.et: the rank, and NAME without its folder. */
static int chakra_rank(const struct chakra *c, const char *path, uint32_t *rank,
		       char name[TO_NAME_MAX])
{
	const char *base = strrchr(path, '/');
	const char *end, *digits;
	size_t len;

	base = base ? base + 1 : path;
	end = strrchr(base, '.');
	for (digits = end; digits && digits > base && digits[-1] >= '0' && digits[-1] <= '9';)
		digits--;
	if (!end || strcmp(end, ".et") || digits == end || end - digits > 9 || digits < base + 2 ||
	    digits[-1] != '.')
		return to_error_set(c->err, -EINVAL, "%s: expected a name like NAME.RANK.et", path);
	*rank = strtoul(digits, NULL, 10);
	len = digits - 1 - base;
	if (len >= TO_NAME_MAX) {
		len = TO_NAME_MAX - 1;
		/* not in the middle of a character */
		while (len && ((unsigned char)base[len] & 0xc0) == 0x80)
			len--;
	}
	memcpy(name, base, len);
	name[len] = 0;
	if (!to_names_is_label(name))
		return to_error_set(c->err, -EINVAL, "%s: expected " TO_NAMES_LABEL_EXPECTED " before the rank", path);
	if (*rank < c->n)
		return 0;
	return to_error_set(c->err, -ERANGE, "%s: the ranks of %u traces are 0 to %u", path, c->n,
			    c->n - 1);
}

static int chakra_load_traces(struct chakra *c, char *const *paths)
{
	uint32_t rank = 0, i;
	int ret;

	for (i = 0; i < c->n; i++) {
		struct to_trace *trace;

		ret = chakra_rank(c, paths[i], &rank, c->demand->name);
		if (ret)
			return ret;
		trace = &c->traces[rank];
		if (trace->path)
			return to_error_set(c->err, -EEXIST, "%s and %s are both of rank %u",
					    trace->path, paths[i], rank);
		ret = to_trace_load(trace, paths[i], c->err);
		if (ret)
			return ret;
		c->n_items += trace->n_comms;
		c->totals->n_nodes += trace->n_nodes;
		if (trace->compute_seconds > c->totals->compute_seconds)
			c->totals->compute_seconds = trace->compute_seconds;
	}
	return 0;
}

static int chakra_ascending(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static int chakra_compare_ranks(uint32_t n, const uint32_t *ranks, uint32_t m,
				const uint32_t *others)
{
	return n != m ? (n > m) - (n < m) : memcmp(ranks, others, n * sizeof(*ranks));
}

static int chakra_compare_groups(const void *a, const void *b)
{
	const struct chakra_group *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order ? order : chakra_compare_ranks(x->n, x->ranks, y->n, y->ranks);
}

static void chakra_free_group(void *data)
{
	struct chakra_group *group = data;

	free(group->ranks);
	free(group);
}

static int chakra_grow_groups(struct chakra *c)
{
	const uint32_t max = 2 * c->max_groups + 16;
	struct chakra_group **groups;

	if (c->n_groups < c->max_groups)
		return 0;
	groups = realloc(c->groups, max * sizeof(*groups));
	if (!groups)
		return -ENOMEM;
	c->groups = groups;
	c->max_groups = max;
	return 0;
}

/* Find or add the group, and return its index; takes ownership of @ranks. */
static int chakra_add_group(struct chakra *c, const char *name, uint32_t *ranks, uint32_t n)
{
	struct chakra_group *group = ranks ? malloc(sizeof(*group)) : NULL, **found;

	if (!group || chakra_grow_groups(c)) {
		free(group);
		free(ranks);
		return chakra_no_memory(c);
	}
	*group = (struct chakra_group){ name, c->n_groups, n, ranks };
	found = tsearch(group, &c->group_tree, chakra_compare_groups);
	if (!found || *found != group) {
		chakra_free_group(group);
		return found ? (int)(*found)->index : chakra_no_memory(c);
	}
	c->groups[c->n_groups++] = group;
	return group->index;
}

/* A process group that the trace of @rank defines. */
static int chakra_defined_group(struct chakra *c, uint32_t rank, const struct to_trace_comm *comm,
				const struct to_trace_group *defined)
{
	uint32_t n = defined->n ? defined->n : c->n, i, *ranks;
	bool member = false, twice = false;
	char what[160];

	ranks = calloc(n, sizeof(*ranks));
	for (i = 0; ranks && i < n; i++) {
		ranks[i] = defined->n ? defined->ranks[i] : i;
		member |= ranks[i] == rank;
	}
	if (ranks)
		qsort(ranks, n, sizeof(*ranks), chakra_ascending);
	for (i = 1; ranks && i < n; i++)
		twice |= ranks[i] == ranks[i - 1];
	if (ranks && ranks[n - 1] >= c->n)
		snprintf(what, sizeof(what), "process group %s has rank %u, which has no trace",
			 comm->group, ranks[n - 1]);
	else if (twice)
		snprintf(what, sizeof(what), "process group %s has a rank twice", comm->group);
	else if (!member)
		snprintf(what, sizeof(what), "rank %u is not in process group %s", rank,
			 comm->group);
	else
		return chakra_add_group(c, comm->group, ranks, n);
	free(ranks);
	return ranks ? chakra_error(c, rank, comm, what) : chakra_no_memory(c);
}

static int chakra_compare_uses(const void *a, const void *b)
{
	const struct chakra_use *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order ? order : (x->rank > y->rank) - (x->rank < y->rank);
}

/* Which ranks use the names of process groups, whoever defines them. */
static int chakra_find_uses(struct chakra *c)
{
	uint32_t rank, i;

	c->uses = calloc(c->n_items + 1, sizeof(*c->uses));
	if (!c->uses)
		return chakra_no_memory(c);
	for (rank = 0; rank < c->n; rank++) {
		const struct to_trace *trace = &c->traces[rank];

		for (i = 0; i < trace->n_comms; i++)
			if (trace->comms[i].kind == TO_TRACE_COLLECTIVE)
				c->uses[c->n_uses++] = (struct chakra_use){
					trace->comms[i].group, rank, -1 };
	}
	qsort(c->uses, c->n_uses, sizeof(*c->uses), chakra_compare_uses);
	return 0;
}

/* A process group that no trace defines: the ranks that use its name, which is used. */
static int chakra_used_group(struct chakra *c, const char *name)
{
	uint32_t low = 0, high = c->n_uses, n = 0, i, *ranks;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (strcmp(c->uses[middle].name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (c->uses[low].group >= 0)
		return c->uses[low].group;
	for (i = low; i < c->n_uses && !strcmp(c->uses[i].name, name); i++)
		n += i == low || c->uses[i].rank != c->uses[i - 1].rank;
	ranks = calloc(n, sizeof(*ranks));
	for (n = 0, i = low; ranks && i < c->n_uses && !strcmp(c->uses[i].name, name); i++)
		if (i == low || c->uses[i].rank != c->uses[i - 1].rank)
			ranks[n++] = c->uses[i].rank;
	c->uses[low].group = chakra_add_group(c, name, ranks, n);
	return c->uses[low].group;
}

/* The ranks that differ from @rank only in dimensions that @comm involves. */
static int chakra_dims_group(struct chakra *c, uint32_t rank, const struct to_trace_comm *comm)
{
	const struct to_chakra_options *o = c->options;
	uint32_t *ranks, n = 0, other, k;

	if (comm->dims != UINT64_MAX && !o->n_dims)
		return chakra_error(c, rank, comm,
				    "involved_dim leaves dimensions out: say their sizes with --dims");
	ranks = calloc(c->n, sizeof(*ranks));
	for (other = 0; ranks && other < c->n; other++) {
		uint32_t x = rank, y = other;

		for (k = 0; k < o->n_dims; k++) {
			if (x % o->dims[k] != y % o->dims[k] && !(comm->dims >> k & 1))
				break;
			x /= o->dims[k];
			y /= o->dims[k];
		}
		if (k == o->n_dims)
			ranks[n++] = other;
	}
	return chakra_add_group(c, "", ranks, n);
}

/* A process group that a trace defines. @group: once it is known */
struct chakra_definition {
	const struct to_trace_group *defined;
	int group;
};

static int chakra_compare_definitions(const void *a, const void *b)
{
	const struct chakra_definition *x = a, *y = b;
	int order = strcmp(x->defined->name, y->defined->name);

	return order ? order : (x->defined > y->defined) - (x->defined < y->defined);
}

/* Of the @n definitions of a trace the first of that name, or NULL. */
static struct chakra_definition *chakra_find_definition(struct chakra_definition *definitions,
							uint32_t n, const char *name)
{
	uint32_t low = 0, high = n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (strcmp(definitions[middle].defined->name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low < n && !strcmp(definitions[low].defined->name, name) ? &definitions[low] : NULL;
}

static int chakra_find_group(struct chakra *c, uint32_t rank, const struct to_trace_comm *comm,
			     struct chakra_definition *definitions)
{
	struct chakra_definition *found;

	if (!comm->group[0])
		return chakra_dims_group(c, rank, comm);
	found = chakra_find_definition(definitions, c->traces[rank].n_groups, comm->group);
	if (!found)
		return chakra_used_group(c, comm->group);
	if (found->group < 0)
		found->group = chakra_defined_group(c, rank, comm, found->defined);
	return found->group;
}

/* Collectives of a rank; most are of the same group as the one before. */
static int chakra_collect(struct chakra *c, uint32_t rank)
{
	const struct to_trace *trace = &c->traces[rank];
	const struct to_trace_comm *previous = NULL;
	struct chakra_definition *definitions;
	int group = 0;
	uint32_t i;

	definitions = calloc(trace->n_groups + 1, sizeof(*definitions));
	if (!definitions)
		return chakra_no_memory(c);
	for (i = 0; i < trace->n_groups; i++)
		definitions[i] = (struct chakra_definition){ &trace->groups[i], -1 };
	qsort(definitions, trace->n_groups, sizeof(*definitions), chakra_compare_definitions);
	for (i = 0; i < trace->n_comms; i++) {
		const struct to_trace_comm *comm = &trace->comms[i];

		if (comm->kind != TO_TRACE_COLLECTIVE)
			continue;
		if (!previous || previous->dims != comm->dims ||
		    strcmp(previous->group, comm->group))
			group = chakra_find_group(c, rank, comm, definitions);
		if (group < 0)
			break;
		c->items[c->n_items++] = (struct chakra_item){ group, rank, i, comm };
		previous = comm;
	}
	free(definitions);
	return group < 0 ? group : 0;
}

static int chakra_by_group(const void *a, const void *b)
{
	const struct chakra_item *x = a, *y = b;

	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return (x->place > y->place) - (x->place < y->place);
}

static uint32_t chakra_server(const struct chakra *c, uint32_t rank)
{
	return rank / c->options->ranks_per_server;
}

/* Add @bytes to @sum, which must stay a JSON integer. */
static int chakra_count(const struct chakra *c, uint64_t *sum, uint64_t bytes)
{
	if (bytes > INT64_MAX - *sum)
		return to_error_set(c->err, -EOVERFLOW,
				    "what is sent adds up to more than 2^63 - 1 bytes");
	*sum += bytes;
	return 0;
}

static int chakra_add_mp(struct chakra *c, uint32_t src, uint32_t dst, uint64_t bytes)
{
	uint32_t x = chakra_server(c, src), y = chakra_server(c, dst);

	return x == y ? 0 : chakra_count(c, &c->demand->mp[(size_t)x * c->demand->n + y], bytes);
}

static int chakra_compare_reduces(const void *a, const void *b)
{
	const struct chakra_reduce *x = a, *y = b;

	return chakra_compare_ranks(x->sum.n_members, x->sum.members, y->sum.n_members,
				    y->sum.members);
}

static void chakra_free_reduce(void *data)
{
	struct chakra_reduce *reduce = data;

	free(reduce->sum.members);
	free(reduce);
}

/* AllReduce over the servers of @group, one for all groups with the same servers. */
static int chakra_add_allreduce(struct chakra *c, const struct chakra_group *group, uint64_t bytes,
				uint32_t *task)
{
	struct chakra_reduce *reduce, **found;
	uint32_t *servers, n = 0, i;

	servers = calloc(group->n, sizeof(*servers));
	if (!servers)
		return chakra_no_memory(c);
	for (i = 0; i < group->n; i++)
		if (!n || servers[n - 1] != chakra_server(c, group->ranks[i]))
			servers[n++] = chakra_server(c, group->ranks[i]);
	if (c->replay)
		*task = to_taskgraph_allreduce(&c->replay->tasks, servers, n, bytes);
	if (n < 2 || !bytes) {
		free(servers);
		return 0;
	}
	reduce = malloc(sizeof(*reduce));
	if (!reduce) {
		free(servers);
		return chakra_no_memory(c);
	}
	*reduce = (struct chakra_reduce){ { n, servers, 0, 1 }, c->n_reduces };
	found = tsearch(reduce, &c->reduce_tree, chakra_compare_reduces);
	if (!found || *found != reduce)
		chakra_free_reduce(reduce);
	else
		c->n_reduces++;
	return found ? chakra_count(c, &(*found)->sum.bytes, bytes) : chakra_no_memory(c);
}

static void chakra_take_reduce(const void *node, VISIT visit, void *data)
{
	struct chakra_reduce *reduce = *(struct chakra_reduce *const *)node;
	struct to_demand *d = data;

	if (visit != postorder && visit != leaf)
		return;
	d->groups[reduce->place] = reduce->sum;
	reduce->sum.members = NULL;
}

/* The groups of the demand, in the order in which they were met. */
static int chakra_take_reduces(struct chakra *c)
{
	struct to_demand *d = c->demand;

	if (!c->n_reduces)
		return 0;
	d->groups = calloc(c->n_reduces, sizeof(*d->groups));
	if (!d->groups)
		return chakra_no_memory(c);
	d->n_groups = c->n_reduces;
	twalk_r(c->reduce_tree, chakra_take_reduce, d);
	return 0;
}

/* The same as a task. */
static int chakra_replay_all_to_all(struct chakra *c, const struct chakra_group *group,
				    const struct chakra_item *items, uint32_t n, uint32_t k,
				    uint32_t *task)
{
	struct to_transfer *transfers;
	uint32_t i, j, at = 0;

	if (!c->replay)
		return 0;
	transfers = calloc((size_t)group->n * group->n, sizeof(*transfers));
	if (!transfers)
		return chakra_no_memory(c);
	for (i = 0; i < group->n; i++) {
		const uint64_t bytes = items[(size_t)i * n + k].comm->bytes;

		for (j = 0; j < group->n; j++)
			transfers[at++] = (struct to_transfer){
				chakra_server(c, group->ranks[i]), chakra_server(c, group->ranks[j]),
				bytes / group->n + !!(bytes % group->n) };
	}
	*task = to_taskgraph_transfers(&c->replay->tasks, transfers, at);
	free(transfers);
	return 0;
}

/* The @k-th collective of a group; a row of @items for each rank, @n long. */
static int chakra_add_collective(struct chakra *c, const struct chakra_group *group,
				 const struct chakra_item *items, uint32_t n, uint32_t k,
				 uint32_t *task)
{
	const struct to_trace_comm *comm = items[k].comm;
	uint64_t *total = &c->totals->collective_bytes[comm->collective], bytes = comm->bytes;
	uint32_t i, j;
	int ret = 0;

	c->totals->collectives[comm->collective]++;
	switch (comm->collective) {
	case TO_ALL_TO_ALL:
		for (i = 0; i < group->n && !ret; i++) {
			bytes = items[(size_t)i * n + k].comm->bytes;
			ret = chakra_count(c, total, bytes);
			bytes = bytes / group->n + !!(bytes % group->n);
			for (j = 0; j < group->n && !ret; j++)
				ret = chakra_add_mp(c, group->ranks[i], group->ranks[j], bytes);
		}
		return ret ? ret : chakra_replay_all_to_all(c, group, items, n, k, task);
	case TO_ALL_GATHER:
		if (bytes > INT64_MAX / group->n)
			return chakra_count(c, total, UINT64_MAX);
		bytes *= group->n;
		/* fall through */
	case TO_REDUCE_SCATTER:
	case TO_REDUCE_SCATTER_BLOCK:
	case TO_BROADCAST:
	case TO_REDUCE:
		bytes = bytes / 2 + bytes % 2;
		break;
	case TO_GATHER:
	case TO_SCATTER:
		return chakra_error(c, items[k].rank, comm,
				    "a gather or scatter does not say its root");
	default:
		break;
	}
	ret = chakra_count(c, total, comm->bytes);
	return ret ? ret : chakra_add_allreduce(c, group, bytes, task);
}

/* Check that rank @other of a group does the same as its first rank. */
static int chakra_compare(const struct chakra *c, const struct chakra_item *first,
			  const struct chakra_item *other)
{
	const struct to_trace_comm *a = first->comm, *b = other->comm;
	char what[256];

	if (a->collective == b->collective &&
	    (a->bytes == b->bytes || a->collective == TO_ALL_TO_ALL))
		return 0;
	snprintf(what, sizeof(what), "%s of %llu bytes, where rank %u has %s of %llu (node %llu)",
		 to_collective_name(b->collective), (unsigned long long)b->bytes, first->rank,
		 to_collective_name(a->collective), (unsigned long long)a->bytes,
		 (unsigned long long)a->id);
	return chakra_error(c, other->rank, b, what);
}

/* All collectives of one group: @items, by rank. */
static int chakra_add_collectives(struct chakra *c, const struct chakra_group *group,
				  const struct chakra_item *items, uint32_t n_items)
{
	uint32_t n = 0, i, k, at = 0;
	int ret = 0;

	while (n < n_items && items[n].rank == items[0].rank)
		n++;
	for (i = 0; i < group->n; i++) {
		uint32_t first = at;

		while (at < n_items && items[at].rank == group->ranks[i])
			at++;
		if (at - first != n || !n)
			return to_error_set(c->err, -EINVAL,
					    "%s: %u collectives of process group \"%s\", where rank %u has %u",
					    c->traces[group->ranks[i]].path, at - first, group->name,
					    items[0].rank, n);
		for (k = 0; k < n && !ret; k++)
			ret = chakra_compare(c, &items[k], &items[first + k]);
		if (ret)
			return ret;
	}
	for (k = 0; k < n && !ret; k++) {
		uint32_t task = TO_TASK_NONE;

		ret = chakra_add_collective(c, group, items, n, k, &task);
		for (i = 0; !ret && c->replay && i < group->n; i++)
			to_replay_comm(c->replay, group->ranks[i], items[(size_t)i * n + k].place, task);
	}
	return ret;
}

static int chakra_all_collectives(struct chakra *c)
{
	uint32_t rank, first, last;
	int ret = chakra_find_uses(c);

	c->n_items = 0;
	for (rank = 0; rank < c->n && !ret; rank++)
		ret = chakra_collect(c, rank);
	if (ret)
		return ret;
	if (c->n_items)
		qsort(c->items, c->n_items, sizeof(*c->items), chakra_by_group);
	for (first = 0; first < c->n_items && !ret; first = last) {
		last = first;
		while (last < c->n_items && c->items[last].group == c->items[first].group)
			last++;
		ret = chakra_add_collectives(c, c->groups[c->items[first].group], &c->items[first],
					     last - first);
	}
	return ret;
}

static uint32_t chakra_source(const struct chakra_item *item)
{
	return item->comm->kind == TO_TRACE_SEND ? item->rank : item->comm->peer;
}

static uint32_t chakra_destination(const struct chakra_item *item)
{
	return item->comm->kind == TO_TRACE_SEND ? item->comm->peer : item->rank;
}

/* Messages that may match: by source, destination and tag. */
static int chakra_by_ends(const struct chakra_item *x, const struct chakra_item *y)
{
	if (chakra_source(x) != chakra_source(y))
		return chakra_source(x) < chakra_source(y) ? -1 : 1;
	if (chakra_destination(x) != chakra_destination(y))
		return chakra_destination(x) < chakra_destination(y) ? -1 : 1;
	return (x->comm->tag > y->comm->tag) - (x->comm->tag < y->comm->tag);
}

/* All sends of a source, destination and tag, then its receives, in the order of the trace. */
static int chakra_by_message(const void *a, const void *b)
{
	const struct chakra_item *x = a, *y = b;
	int ends = chakra_by_ends(x, y);

	if (ends)
		return ends;
	if (x->comm->kind != y->comm->kind)
		return x->comm->kind == TO_TRACE_SEND ? -1 : 1;
	return (x->place > y->place) - (x->place < y->place);
}

/* All messages of one source, destination and tag. */
static int chakra_match(struct chakra *c, const struct chakra_item *items, uint32_t n)
{
	uint32_t sends = 0, i;
	char what[128];
	int ret = 0;

	while (sends < n && items[sends].comm->kind == TO_TRACE_SEND)
		sends++;
	for (i = 0; i < sends || i < n - sends; i++) {
		const struct chakra_item *send = i < sends ? &items[i] : NULL;
		const struct chakra_item *receive = i < n - sends ? &items[sends + i] : NULL;

		if (!receive) {
			snprintf(what, sizeof(what), "rank %u has no receive for it",
				 send->comm->peer);
			return chakra_error(c, send->rank, send->comm, what);
		}
		if (!send) {
			snprintf(what, sizeof(what), "rank %u has no send for it",
				 receive->comm->peer);
			return chakra_error(c, receive->rank, receive->comm, what);
		}
		if (send->comm->bytes != receive->comm->bytes) {
			snprintf(what, sizeof(what), "receives %llu bytes where rank %u sends %llu",
				 (unsigned long long)receive->comm->bytes, send->rank,
				 (unsigned long long)send->comm->bytes);
			return chakra_error(c, receive->rank, receive->comm, what);
		}
		c->totals->sends++;
		ret = chakra_count(c, &c->totals->send_bytes, send->comm->bytes);
		if (!ret)
			ret = chakra_add_mp(c, send->rank, receive->rank, send->comm->bytes);
		if (ret)
			return ret;
		if (c->replay)
			to_replay_message(c->replay, send->rank, send->place, receive->rank,
					  receive->place, send->comm->bytes);
	}
	return 0;
}

static int chakra_all_messages(struct chakra *c)
{
	uint32_t rank, i, first, last;
	int ret = 0;

	c->n_items = 0;
	for (rank = 0; rank < c->n; rank++) {
		for (i = 0; i < c->traces[rank].n_comms; i++) {
			const struct to_trace_comm *comm = &c->traces[rank].comms[i];

			if (comm->kind == TO_TRACE_COLLECTIVE)
				continue;
			if (comm->peer >= c->n)
				return chakra_error(c, rank, comm, "its other rank has no trace");
			c->items[c->n_items++] = (struct chakra_item){ 0, rank, i, comm };
		}
	}
	if (c->n_items)
		qsort(c->items, c->n_items, sizeof(*c->items), chakra_by_message);
	for (first = 0; first < c->n_items && !ret; first = last) {
		for (last = first; last < c->n_items &&
		     !chakra_by_ends(&c->items[first], &c->items[last]); last++)
			;
		ret = chakra_match(c, &c->items[first], last - first);
	}
	return ret;
}

static int chakra_check_options(const struct chakra *c)
{
	const struct to_chakra_options *o = c->options;
	uint64_t ranks = 1;
	unsigned int k;

	for (k = 0; k < o->n_dims && ranks <= c->n; k++)
		ranks *= o->dims[k];
	if (o->n_dims && ranks != c->n)
		return to_error_set(c->err, -EINVAL, "the dimensions do not make %u ranks", c->n);
	if (c->n % o->ranks_per_server)
		return to_error_set(c->err, -EINVAL, "%u ranks do not fill servers of %u", c->n,
				    o->ranks_per_server);
	if (c->n / o->ranks_per_server < 2 || c->n / o->ranks_per_server > TO_SERVERS_MAX)
		return to_error_set(c->err, -ERANGE,
				    "expected traces for 2 to %d servers, not for %u",
				    TO_SERVERS_MAX, c->n / o->ranks_per_server);
	return 0;
}

struct to_demand *to_chakra_load(char *const *paths, uint32_t n,
				 const struct to_chakra_options *options,
				 struct to_chakra_totals *totals, struct to_replay *replay,
				 struct to_error *err)
{
	struct chakra c = { .n = n, .options = options, .totals = totals, .replay = replay,
			    .err = err };
	size_t servers = n / options->ranks_per_server;
	uint32_t rank;
	int ret;

	memset(totals, 0, sizeof(*totals));
	totals->n_ranks = n;
	ret = chakra_check_options(&c);
	if (ret)
		return NULL;
	c.traces = calloc(n, sizeof(*c.traces));
	c.demand = calloc(1, sizeof(*c.demand));
	if (c.demand) {
		c.demand->n = servers;
		c.demand->mp = calloc(servers * servers, sizeof(*c.demand->mp));
	}
	if (!c.traces || !c.demand || !c.demand->mp)
		ret = chakra_no_memory(&c);
	if (!ret)
		ret = chakra_load_traces(&c, paths);
	if (!ret && replay && to_replay_begin(replay, c.traces))
		ret = chakra_no_memory(&c);
	if (!ret) {
		c.items = calloc(c.n_items + 1, sizeof(*c.items));
		ret = c.items ? chakra_all_collectives(&c) : chakra_no_memory(&c);
	}
	if (!ret)
		ret = chakra_all_messages(&c);
	if (!ret)
		ret = chakra_take_reduces(&c);
	if (!ret && replay)
		ret = to_replay_finish(replay, c.traces, err);
	for (rank = 0; c.traces && rank < n; rank++)
		to_trace_free(&c.traces[rank]);
	tdestroy(c.group_tree, chakra_free_group);
	tdestroy(c.reduce_tree, chakra_free_reduce);
	free(c.groups);
	free(c.uses);
	free(c.items);
	free(c.traces);
	if (ret) {
		to_demand_free(c.demand);
		return NULL;
	}
	return c.demand;
}
