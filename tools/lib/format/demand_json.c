// SPDX-License-Identifier: GPL-2.0-or-later
#include "format/demand_json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/quantity.h"
#include "base/set.h"
#include "data/allreduce_steps.h"
#include "format/names.h"

/**
 * struct reading - a demand that is being read
 * @most: servers that it may have
 * @members: of all groups so far
 * @sum, @steps: bytes of all transfers so far, and what it took to add them up
 */
struct reading {
	struct to_demand *d;
	unsigned int most;
	uint64_t members, sum, steps;
};

static struct reading *demand_reading(const struct to_json *at)
{
	return at->doc->context;
}

static int demand_read_names(const struct to_json *at, struct to_demand *d)
{
	json_t *seen;
	int ret;

	ret = to_json_array(at, sizeof(*d->names), &d->names, &d->n);
	if (ret)
		return ret;
	seen = json_object();
	for (unsigned int i = 0; i < d->n && !ret; i++) {
		struct to_json child = to_json_element(at, i);
		json_t *before;

		ret = to_names_read(&child, d->names[i]);
		if (ret)
			break;
		before = json_object_get(seen, d->names[i]);
		if (before)
			ret = to_json_error(&child, -EEXIST,
					    "servers[%lld] is also called \"%s\"",
					    (long long)json_integer_value(before),
					    d->names[i]);
		else
			json_object_set_new(seen, d->names[i], json_integer(i));
	}
	json_decref(seen);
	return ret;
}

static int demand_read_servers(const struct to_json *at, void *to)
{
	struct to_demand *d = to;
	int ret;

	if (json_is_array(at->value))
		ret = demand_read_names(at, d);
	else if (json_is_integer(at->value))
		ret = to_json_u32(at, &d->n);
	else
		return to_json_error(at, -EINVAL,
				     "expected a number of servers or an array of their names");
	if (ret)
		return ret;
	if (d->n < 2 || d->n > TO_SERVERS_MAX)
		return to_json_error(at, -ERANGE, "expected 2 to %d servers",
				     TO_SERVERS_MAX);
	if (d->n > demand_reading(at)->most)
		return to_json_error(at, -ERANGE,
				     "%u servers are more than %u: a matrix of them takes %llu MiB, and what is done with it as much time; --large allows that",
				     d->n, demand_reading(at)->most,
				     (unsigned long long)d->n * d->n * sizeof(*d->mp) >> 20);
	d->mp = calloc((size_t)d->n * d->n, sizeof(*d->mp));
	if (!d->mp)
		return to_json_error(at, -ENOMEM, "out of memory");
	return 0;
}

/* One element of a group that is an array: an index or a name. */
static int demand_read_member(const struct to_json *at, const struct to_demand *d,
			      uint32_t *member)
{
	if (json_is_integer(at->value)) {
		if (json_integer_value(at->value) < 0 ||
		    json_integer_value(at->value) >= d->n)
			return to_json_error(at, -ERANGE,
					     "the job's servers are 0 to %u",
					     d->n - 1);
		*member = json_integer_value(at->value);
		return 0;
	}
	if (!d->names || !json_is_string(at->value))
		return to_json_error(at, -EINVAL, d->names ?
				     "expected the index or name of a server" :
				     "expected the index of a server");
	for (*member = 0; *member < d->n; ++*member)
		if (!strcmp(d->names[*member], json_string_value(at->value)))
			return 0;
	return to_json_error(at, -ENOENT, "no server is called \"%s\"",
			     json_string_value(at->value));
}

struct servers {
	uint32_t *list;
	unsigned int n;
};

static int demand_read_members(const struct to_json *at, const struct to_demand *d,
			       struct servers *servers)
{
	bool *seen;
	int ret;

	ret = to_json_array(at, sizeof(*servers->list), &servers->list, &servers->n);
	if (ret)
		return ret;
	seen = calloc(d->n, sizeof(*seen));
	if (!seen)
		return to_json_error(at, -ENOMEM, "out of memory");
	for (unsigned int i = 0; i < servers->n && !ret; i++) {
		struct to_json child = to_json_element(at, i);

		ret = demand_read_member(&child, d, &servers->list[i]);
		if (!ret && seen[servers->list[i]])
			ret = to_json_error(&child, -EEXIST,
					    "server %u is there twice",
					    servers->list[i]);
		if (!ret)
			seen[servers->list[i]] = true;
	}
	free(seen);
	return ret;
}

static int demand_read_set(const struct to_json *at, void *to)
{
	const struct to_demand *d = demand_reading(at)->d;
	struct servers *servers = to;
	char all[32];
	struct to_error err;
	const char *text;
	int ret;

	if (json_is_array(at->value)) {
		ret = demand_read_members(at, d, servers);
		if (ret)
			return ret;
	} else if (json_is_string(at->value)) {
		text = json_string_value(at->value);
		if (!strcmp(text, "all")) {
			snprintf(all, sizeof(all), "0-%u", d->n - 1);
			text = all;
		}
		ret = to_set_parse(text, d->n, &servers->list, &servers->n, &err);
		if (ret)
			return to_json_error(at, ret, "%s", err.text);
	}
	if (!servers->n)
		return to_json_error(at, -EINVAL,
				     "expected servers like \"0-5,9\", \"all\" or [0, 1]");
	return 0;
}

struct group_in {
	struct servers members;
	uint64_t bytes;
	unsigned int calls;
};

static int demand_read_calls(const struct to_json *at, void *to)
{
	unsigned int *calls = to;
	int ret = to_json_u32(at, calls);

	if (!ret && (!*calls || *calls > TO_CALLS_MAX))
		return to_json_error(at, -ERANGE, "expected 1 to %u", TO_CALLS_MAX);
	return ret;
}

static const struct to_json_field group_fields[] = {
	{ "group", demand_read_set, offsetof(struct group_in, members), false },
	{ "bytes", to_json_some_bytes, offsetof(struct group_in, bytes), false },
	{ "calls", demand_read_calls, offsetof(struct group_in, calls), true },
	{}
};

static int demand_read_allreduce(const struct to_json *at, void *to)
{
	struct to_demand *d = to;
	unsigned int n;
	int ret;

	ret = to_json_array(at, sizeof(*d->groups), &d->groups, &n);
	if (!ret && n > TO_GROUPS_MAX)
		return to_json_error(at, -ERANGE, "there are %u, more than %u", n, TO_GROUPS_MAX);
	for (unsigned int i = 0; i < n && !ret; i++) {
		struct to_json child = to_json_element(at, i);
		struct group_in in = {};

		ret = to_json_object(&child, group_fields, &in);
		d->groups[d->n_groups++] = (struct to_allreduce){
			in.members.n, in.members.list, in.bytes, in.calls };
		demand_reading(at)->members += in.members.n;
		if (!ret && in.members.n < 2)
			ret = to_json_error_at(&child, "group", -ERANGE,
					       "expected 2 servers or more");
		else if (!ret && demand_reading(at)->members > TO_MEMBERS_MAX)
			ret = to_json_error_at(&child, "group", -ERANGE,
					       "with it the groups have more than %u members in all",
					       TO_MEMBERS_MAX);
	}
	return ret;
}

/* Add @bytes to the transfers from @i to @j; the sum must stay a JSON integer. */
static bool demand_add_bytes(struct to_demand *d, uint32_t i, uint32_t j, uint64_t bytes)
{
	uint64_t *cell = &d->mp[(size_t)i * d->n + j];

	if (i == j)
		return true;
	*cell += bytes;		/* both are below 2^63 */
	return *cell <= INT64_MAX;
}

struct transfer_in {
	struct servers from, to;
	uint64_t bytes;
	bool both;
};

static const struct to_json_field transfer_fields[] = {
	{ "from", demand_read_set, offsetof(struct transfer_in, from), false },
	{ "to", demand_read_set, offsetof(struct transfer_in, to), false },
	{ "bytes", to_json_bytes, offsetof(struct transfer_in, bytes), false },
	{ "both", to_json_bool, offsetof(struct transfer_in, both), true },
	{}
};

/*
 * One entry is @from x @to, and with @both also @to x @from. Both directions and
 * all entries add up: if two servers are in both sets, each sends to the other
 * for its own part of the model and answers for the other's.
 *
 * Until all entries are there, a row of the matrix holds the differences of its cells,
 * so that servers in a row are one step, however many there are.
 */
static void demand_add_rows(struct to_demand *d, const struct servers *from,
			    const struct servers *to, uint64_t bytes)
{
	for (unsigned int j = 0, next; j < to->n; j = next) {
		uint32_t first = to->list[j];

		for (next = j + 1; next < to->n && to->list[next] == first + (next - j); next++)
			;
		for (unsigned int i = 0; i < from->n; i++) {
			uint64_t *row = &d->mp[(size_t)from->list[i] * d->n];

			row[first] += bytes;
			if (first + (next - j) < d->n)
				row[first + (next - j)] -= bytes;
		}
	}
}

/* Sets the cells by their differences; a server sends nothing to itself. */
static void demand_sum_rows(struct to_demand *d)
{
	for (uint32_t i = 0; i < d->n; i++) {
		uint64_t *row = &d->mp[(size_t)i * d->n];

		for (uint32_t j = 1; j < d->n; j++)
			row[j] += row[j - 1];
		row[i] = 0;
	}
}

static unsigned int demand_count_runs(const struct servers *servers)
{
	unsigned int runs = 0;

	for (unsigned int i = 0; i < servers->n; i++)
		runs += !i || servers->list[i] != servers->list[i - 1] + 1;
	return runs;
}

/* Pairs of different servers, one of each set. Return: 0 or -ENOMEM. */
static int demand_count_pairs(const struct to_demand *d, const struct transfer_in *in,
			      uint64_t *pairs)
{
	bool *seen = calloc(d->n, sizeof(*seen));

	if (!seen)
		return -ENOMEM;
	*pairs = (uint64_t)in->from.n * in->to.n;
	for (unsigned int i = 0; i < in->from.n; i++)
		seen[in->from.list[i]] = true;
	for (unsigned int j = 0; j < in->to.n; j++)
		*pairs -= seen[in->to.list[j]];
	free(seen);
	return 0;
}

/* The entry at @at makes the sum of all too large: does it make that of a pair? */
static int demand_refuse_transfer(const struct to_json *at, struct to_demand *d,
				  const struct transfer_in *in)
{
	bool fits = true;

	demand_sum_rows(d);
	for (unsigned int i = 0; i < in->from.n; i++) {
		for (unsigned int j = 0; j < in->to.n; j++) {
			uint32_t from = in->from.list[i], to = in->to.list[j];

			fits &= demand_add_bytes(d, from, to, in->bytes);
			if (in->both)
				fits &= demand_add_bytes(d, to, from, in->bytes);
		}
	}
	if (!fits)
		return to_json_error(at, -EOVERFLOW,
				     "the transfers of a pair add up to more than 2^63 - 1 bytes");
	return to_json_error(at->up, -EOVERFLOW, "expected less than 2^63 bytes in all");
}

static int demand_add_transfers(const struct to_json *at, struct to_demand *d,
				const struct transfer_in *in)
{
	struct reading *reading = demand_reading(at);
	uint64_t pairs, bytes;

	if (demand_count_pairs(d, in, &pairs))
		return to_json_error(at, -ENOMEM, "out of memory");
	if (__builtin_mul_overflow(in->both ? 2 * pairs : pairs, in->bytes, &bytes) ||
	    bytes > INT64_MAX - reading->sum)
		return demand_refuse_transfer(at, d, in);
	reading->sum += bytes;
	reading->steps += (uint64_t)in->from.n * demand_count_runs(&in->to);
	if (in->both)
		reading->steps += (uint64_t)in->to.n * demand_count_runs(&in->from);
	if (reading->steps > TO_TRANSFER_STEPS_MAX(d->n))
		return to_json_error(at, -E2BIG,
				     "with its sets, which are not of servers in a row, it takes more than %llu steps to add up the transfers",
				     TO_TRANSFER_STEPS_MAX(d->n));
	demand_add_rows(d, &in->from, &in->to, in->bytes);
	if (in->both)
		demand_add_rows(d, &in->to, &in->from, in->bytes);
	return 0;
}

static int demand_read_transfer(const struct to_json *at, struct to_demand *d)
{
	struct transfer_in in = {};
	int ret;

	ret = to_json_object(at, transfer_fields, &in);
	if (!ret)
		ret = demand_add_transfers(at, d, &in);
	free(in.from.list);
	free(in.to.list);
	return ret;
}

static int demand_read_matrix_row(const struct to_json *at, struct to_demand *d,
				  uint32_t i)
{
	unsigned int n;
	int ret;

	ret = to_json_array(at, 0, NULL, &n);
	if (ret)
		return ret;
	if (n != d->n)
		return to_json_error(at, -EINVAL,
				     "expected %u numbers, a row per source and a column per destination",
				     d->n);
	for (uint32_t j = 0; j < n; j++) {
		struct to_json child = to_json_element(at, j);
		uint64_t *cell = &d->mp[(size_t)i * n + j];

		ret = to_json_u64(&child, cell);
		if (ret)
			return ret;
		if (i == j && *cell)
			return to_json_error(&child, -EINVAL,
					     "expected 0: a server sends nothing to itself");
	}
	return 0;
}

static int demand_read_mp(const struct to_json *at, void *to)
{
	struct to_demand *d = to;
	bool matrix;
	unsigned int n;
	int ret;

	ret = to_json_array(at, 0, NULL, &n);
	if (ret)
		return ret;
	matrix = json_is_array(json_array_get(at->value, 0));
	if (matrix && n != d->n)
		return to_json_error(at, -EINVAL,
				     "expected %u rows, one per server", d->n);
	for (unsigned int i = 0; i < n && !ret; i++) {
		struct to_json child = to_json_element(at, i);

		ret = matrix ? demand_read_matrix_row(&child, d, i) :
			       demand_read_transfer(&child, d);
	}
	if (!ret && n && !matrix)
		demand_sum_rows(d);
	return ret;
}

/* In reading order: all later keys name servers. */
static const struct to_json_field demand_fields[] = {
	{ "servers", demand_read_servers, 0, false },
	{ "allreduce", demand_read_allreduce, 0, true },
	{ "mp", demand_read_mp, 0, true },
	{}
};

/* Every sum that is ever made fits into a JSON integer. */
static int demand_check_sum(const struct to_json *at, const struct to_demand *d)
{
	size_t cells = (size_t)d->n * d->n;
	uint64_t sum = 0;
	char path[48];

	for (size_t i = 0; i < cells; i++) {
		sum += d->mp[i];	/* both are below 2^63 */
		if (sum > INT64_MAX)
			return to_json_error_at(at, "mp", -EOVERFLOW,
						"expected less than 2^63 bytes in all");
	}
	for (unsigned int i = 0; i < d->n_groups; i++) {
		/* sent by all members together, TopoOpt section 2.1 */
		uint64_t times = to_allreduce_steps_ring(d->groups[i].n_members);

		if (d->groups[i].bytes > (INT64_MAX - sum) / times) {
			snprintf(path, sizeof(path), "allreduce[%u].bytes", i);
			return to_json_error_at(at, path, -EOVERFLOW,
						"with this group the job sends 2^63 bytes or more");
		}
		sum += times * d->groups[i].bytes;
	}
	return 0;
}

int to_demand_read(const struct to_json *at, struct to_demand *d, unsigned int most)
{
	struct reading reading = { .d = d, .most = most };
	void *context = at->doc->context;
	int ret;

	at->doc->context = &reading;
	ret = to_json_object(at, demand_fields, d);
	if (!ret)
		ret = demand_check_sum(at, d);
	at->doc->context = context;
	return ret;
}

static int demand_read_format(const struct to_json *at, void *to)
{
	(void)to;
	return to_json_format(at, "topoopt-job");
}

static const struct to_json_field job_fields[] = {
	{ "format", demand_read_format, 0, true },
	{ "version", to_json_version, 0, true },
	{ "comment", to_json_comment, 0, true },
	{ "name", to_names_read_label, offsetof(struct to_demand, name), false },
	{ "servers", demand_read_servers, 0, false },
	{ "allreduce", demand_read_allreduce, 0, true },
	{ "mp", demand_read_mp, 0, true },
	{}
};

struct to_demand *to_demand_parse(const char *data, size_t len,
				  const char *name, unsigned int most, struct to_error *err)
{
	struct to_demand *d = calloc(1, sizeof(*d));
	struct reading reading = { .d = d, .most = most };
	struct to_json_doc doc;
	struct to_json at;
	int ret;

	if (!d) {
		to_error_set(err, -ENOMEM, "%s: out of memory", name);
		return NULL;
	}
	ret = to_json_open(&doc, &at, data, len, name, &reading, err);
	if (!ret)
		ret = to_json_object(&at, job_fields, d);
	if (!ret)
		ret = demand_check_sum(&at, d);
	if (!ret && to_demand_join_groups(d))
		ret = to_json_error(&at, -ENOMEM, "out of memory");
	to_json_close(&doc);
	if (ret) {
		to_demand_free(d);
		return NULL;
	}
	return d;
}

struct to_demand *to_demand_load(const char *path, unsigned int most, struct to_error *err)
{
	struct to_demand *demand;
	char *data;
	size_t len;

	if (to_file_read(path, TO_FILE_MAX, &data, &len, err))
		return NULL;
	demand = to_demand_parse(data, len, path, most, err);
	free(data);
	return demand;
}

/* One row's destinations that get the same number of bytes. */
struct cell {
	uint64_t bytes;
	uint32_t to;
};

static int demand_cell_compare(const void *a, const void *b)
{
	const struct cell *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? 1 : -1;
	return (x->to > y->to) - (x->to < y->to);
}

/* Sort the cells of row @i that are not 0; returns how many there are. */
static unsigned int demand_sort_row(const struct to_demand *d, uint32_t i,
				    struct cell *cells)
{
	unsigned int n = 0;

	for (uint32_t j = 0; j < d->n; j++)
		if (d->mp[(size_t)i * d->n + j])
			cells[n++] = (struct cell){ d->mp[(size_t)i * d->n + j], j };
	qsort(cells, n, sizeof(*cells), demand_cell_compare);
	return n;
}

static void demand_print_transfers(FILE *out, const struct to_demand *d,
				   struct cell *cells, uint32_t *members)
{
	bool first = true;

	for (uint32_t i = 0; i < d->n; i++) {
		unsigned int n = demand_sort_row(d, i, cells), k, m;

		for (k = 0; k < n; k += m) {
			for (m = 0; k + m < n && cells[k + m].bytes == cells[k].bytes; m++)
				members[m] = cells[k + m].to;
			fprintf(out, "%s\n  {\"from\":\"%u\",\"to\":\"",
				first ? "" : ",", i);
			to_set_print(out, members, m);
			fprintf(out, "\",\"bytes\":%llu}",
				(unsigned long long)cells[k].bytes);
			first = false;
		}
	}
}

static void demand_print_matrix(FILE *out, const struct to_demand *d)
{
	for (uint32_t i = 0; i < d->n; i++) {
		fprintf(out, "%s\n  [", i ? "," : "");
		for (uint32_t j = 0; j < d->n; j++)
			fprintf(out, "%s%llu", j ? "," : "",
				(unsigned long long)d->mp[(size_t)i * d->n + j]);
		fprintf(out, "]");
	}
}

/* Entries that the list form would take. */
static size_t demand_count_transfers(const struct to_demand *d, struct cell *cells)
{
	size_t entries = 0;

	for (uint32_t i = 0; i < d->n; i++) {
		unsigned int n = demand_sort_row(d, i, cells);

		for (unsigned int k = 0; k < n; k++)
			entries += !k || cells[k].bytes != cells[k - 1].bytes;
	}
	return entries;
}

/* Groups and transfers, as members of an object. */
static int demand_print_members(FILE *out, const struct to_demand *d)
{
	struct cell *cells = calloc(d->n, sizeof(*cells));
	uint32_t *members = calloc(d->n, sizeof(*members));

	if (!cells || !members) {
		free(cells);
		free(members);
		return -ENOMEM;
	}
	fprintf(out, "\"allreduce\":[");
	for (unsigned int g = 0; g < d->n_groups; g++) {
		fprintf(out, "%s\n  {\"group\":\"", g ? "," : "");
		to_set_print(out, d->groups[g].members, d->groups[g].n_members);
		fprintf(out, "\",\"bytes\":%llu",
			(unsigned long long)d->groups[g].bytes);
		if (d->groups[g].calls > 1)
			fprintf(out, ",\"calls\":%u", d->groups[g].calls);
		fputc('}', out);
	}
	fprintf(out, "],\n \"mp\":[");
	/* A matrix if that is shorter, as for measured ones, whose cells differ. */
	if (demand_count_transfers(d, cells) * 4 > (size_t)d->n * d->n)
		demand_print_matrix(out, d);
	else
		demand_print_transfers(out, d, cells, members);
	fprintf(out, "]");
	free(cells);
	free(members);
	return 0;
}

int to_demand_print(FILE *out, const struct to_demand *d)
{
	int ret;

	fprintf(out, "{\"servers\":%u,\n ", d->n);
	ret = demand_print_members(out, d);
	fprintf(out, "}");
	return ret;
}

static int demand_print_job(FILE *out, const void *data, struct to_error *err)
{
	const struct to_demand *d = data;

	fprintf(out, "{\"format\":\"topoopt-job\",\"version\":1,\n \"name\":");
	to_json_print_string(out, d->name);
	fprintf(out, ",\n \"servers\":");
	if (d->names) {
		for (unsigned int i = 0; i < d->n; i++)
			fprintf(out, "%s\"%s\"", i ? "," : "[", d->names[i]);
		fprintf(out, "]");
	} else {
		fprintf(out, "%u", d->n);
	}
	fprintf(out, ",\n ");
	if (demand_print_members(out, d))
		return to_error_set(err, -ENOMEM, "out of memory");
	fprintf(out, "}\n");
	return 0;
}

int to_demand_save(const struct to_demand *d, const char *path, struct to_error *err)
{
	return to_file_write(path, demand_print_job, d, err);
}
