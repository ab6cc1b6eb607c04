// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/tm_links.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int links_compare_end(const struct to_tm_end *a, const struct to_tm_end *b)
{
	if (a->server != b->server)
		return a->server < b->server ? -1 : 1;
	return strcmp(a->port, b->port);
}

static int links_compare(const void *a, const void *b)
{
	const struct to_tm_link *x = a, *y = b;
	int order = links_compare_end(&x->from, &y->from);

	return order ? order : links_compare_end(&x->to, &y->to);
}

static int links_compare_to(const void *a, const void *b)
{
	const struct to_tm_link *x = a, *y = b;

	return links_compare_end(&x->to, &y->to);
}

static struct to_tm_end links_own_end(const struct to_tm *record, unsigned int port)
{
	struct to_tm_end end = { .server = record->server };

	strcpy(end.port, record->ports[port].name);
	return end;
}

/* Refuse two links, sorted, with the same @side end. */
static int links_check(const struct to_tm *tm, size_t side, struct to_error *err)
{
	for (unsigned int i = 1; i < tm->n_links; i++) {
		const struct to_tm_end *a =
			(const void *)((const char *)&tm->links[i - 1] + side);
		const struct to_tm_end *b = (const void *)((const char *)&tm->links[i] + side);

		if (!links_compare_end(a, b))
			return to_error_set(err, -EINVAL,
					    "the recordings disagree about the link of %s:%s",
					    tm->servers[a->server], a->port);
	}
	return 0;
}

int to_tm_links_find(struct to_tm *tm, const struct to_tm *const *records,
		     struct to_error *err)
{
	unsigned int room = 0, n = 0;

	for (unsigned int s = 0; s < tm->n_servers; s++)
		room += records[s] ? 2 * records[s]->n_ports : 0;
	tm->links = calloc(room + 1, sizeof(*tm->links));
	if (!tm->links)
		return -ENOMEM;
	for (unsigned int s = 0; s < tm->n_servers; s++) {
		const struct to_tm *r = records[s];

		for (unsigned int p = 0; r && p < r->n_ports; p++) {
			if (r->ports[p].to.server != TO_TM_NONE)
				tm->links[n++] = (struct to_tm_link){ links_own_end(r, p),
								      r->ports[p].to };
			if (r->ports[p].from.server != TO_TM_NONE)
				tm->links[n++] = (struct to_tm_link){ r->ports[p].from,
								      links_own_end(r, p) };
		}
	}
	qsort(tm->links, n, sizeof(*tm->links), links_compare);
	for (unsigned int i = 0; i < n; i++)
		if (!i || links_compare(&tm->links[i], &tm->links[tm->n_links - 1]))
			tm->links[tm->n_links++] = tm->links[i];
	qsort(tm->links, tm->n_links, sizeof(*tm->links), links_compare_to);
	if (links_check(tm, offsetof(struct to_tm_link, to), err))
		return -EINVAL;
	qsort(tm->links, tm->n_links, sizeof(*tm->links), links_compare);
	return links_check(tm, offsetof(struct to_tm_link, from), err);
}

static uint32_t links_index(const struct to_tm *tm, const struct to_tm_end *from,
			    const struct to_tm_end *to)
{
	const struct to_tm_link key = { *from, *to };
	const struct to_tm_link *link;

	if (from->server == TO_TM_NONE || to->server == TO_TM_NONE)
		return TO_TM_NONE;
	link = bsearch(&key, tm->links, tm->n_links, sizeof(key), links_compare);
	return link ? link - tm->links : TO_TM_NONE;
}

uint32_t to_tm_links_out(const struct to_tm *tm, const struct to_tm *record, unsigned int port)
{
	const struct to_tm_end self = links_own_end(record, port);

	return links_index(tm, &self, &record->ports[port].to);
}

uint32_t to_tm_links_in(const struct to_tm *tm, const struct to_tm *record, unsigned int port)
{
	const struct to_tm_end self = links_own_end(record, port);

	return links_index(tm, &record->ports[port].from, &self);
}

int to_tm_links_refuse_missing(const struct to_tm *tm, const struct to_tm *const *records,
			       struct to_error *err)
{
	unsigned int missing = 0, first = 0;
	char *peers = NULL;
	size_t len;
	FILE *out;

	for (unsigned int s = tm->n_servers; s-- > 0;)
		if (!records[s]) {
			missing++;
			first = s;
		}
	if (!missing)
		return 0;
	out = open_memstream(&peers, &len);
	if (!out)
		return -ENOMEM;
	for (unsigned int i = 0; i < tm->n_links; i++)
		if (tm->links[i].from.server == first)
			fprintf(out, "%s%s", ftell(out) ? ", " : "",
				tm->servers[tm->links[i].to.server]);
	fclose(out);
	to_error_set(err, -ENOENT,
		     "%u of %u servers missing, first %s: unknown are what %s and its peers (%s) send each other, and what a peer's RDMA sends through %s",
		     missing, tm->n_servers, tm->servers[first], tm->servers[first], peers,
		     tm->servers[first]);
	free(peers);
	return -ENOENT;
}
