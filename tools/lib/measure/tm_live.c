// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/tm_live.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "measure/tm_account.h"
#include "measure/tm_links.h"
#include "measure/tm_renewal.h"
#include "measure/tm_segments.h"
#include "measure/tm_stale.h"

/**
 * struct live_server - how a server's ports are on the links
 * @ports: as it last told of them
 * @out, @in: link of each, or TO_TM_NONE
 * @shared: of each, its index among the ports of @segments, or TO_TM_NONE
 * @stale: a NIC of it is, and so, it is taken, are all
 * @gap: columns from one renewal of its counters to the next, 0: not known
 * @known: it recorded anything
 */
struct live_server {
	unsigned int n_ports;
	struct to_tm_port *ports;
	uint32_t *out, *in, *shared;
	unsigned int gap;
	bool stale, known;
};

/**
 * struct live_column - one interval
 * @present: servers that recorded it
 */
struct live_column {
	uint64_t start_ns, end_ns, elapsed_ns, spread_ns;
	struct { uint64_t packets, bytes; } lost;
	unsigned int present;
};

/**
 * struct to_tm_live - a merge under way
 * @tm: samples that were settled, the last of them perhaps still being joined
 * @servers: per server
 * @n_known: servers that recorded anything
 * @n, @room: columns that have not settled, and for how many there is room
 * @columns: @room
 * @recorded: servers x room
 * @cells: links x room
 * @accounts: per link
 * @segments: the ports that have no link, but share a packet switch
 * @portions: of the flows of samples that are not complete; by sample of @tm
 * @joined: columns in the last sample of @tm that is being joined, 0 for none
 * @began: columns have settled
 */
struct to_tm_live {
	struct to_tm *tm;
	struct live_server *servers;
	unsigned int n_known, n, room;
	struct live_column *columns;
	bool *recorded;
	struct to_tm_cell *cells;
	struct to_tm_account *accounts;
	struct to_tm_segments segments;
	struct to_tm_portions portions;
	unsigned int joined;
	bool began;
};

static void live_server_free(struct live_server *server)
{
	free(server->ports);
	free(server->out);
	free(server->in);
	free(server->shared);
	server->ports = NULL;
	server->out = server->in = server->shared = NULL;
}

void to_tm_live_free(struct to_tm_live *live)
{
	if (!live)
		return;
	for (unsigned int l = 0; live->accounts && l < live->tm->n_links; l++)
		to_tm_account_free(&live->accounts[l]);
	for (unsigned int s = 0; live->servers && s < live->tm->n_servers; s++)
		live_server_free(&live->servers[s]);
	free(live->accounts);
	free(live->servers);
	free(live->columns);
	free(live->recorded);
	free(live->cells);
	free(live->portions.list);
	to_tm_segments_free(&live->segments);
	to_tm_free(live->tm);
	free(live);
}

struct to_tm_live *to_tm_live_new(const struct to_tm *const *records, unsigned int n,
				  struct to_error *err)
{
	struct to_tm_live *live = calloc(1, sizeof(*live));
	const struct to_tm *first = NULL;
	int ret = -ENOMEM;

	for (unsigned int s = 0; s < n && !first; s++)
		first = records[s];
	if (!first) {
		to_error_set(err, -EINVAL, "no recordings to merge");
		free(live);
		return NULL;
	}
	if (live)
		live->tm = to_tm_new(n);
	if (!live || !live->tm)
		goto out;
	strcpy(live->tm->job, first->job);
	strcpy(live->tm->plan, first->plan);
	live->tm->interval_ns = first->interval_ns;
	memcpy(live->tm->servers, first->servers, n * sizeof(*first->servers));
	ret = to_tm_links_find(live->tm, records, err);
	if (ret)
		goto out;
	ret = -ENOMEM;
	live->servers = calloc(n, sizeof(*live->servers));
	live->accounts = calloc(live->tm->n_links + 1, sizeof(*live->accounts));
	if (!live->servers || !live->accounts || to_tm_segments_find(&live->segments, records, n))
		goto out;
	for (unsigned int l = 0; l < live->tm->n_links; l++)
		to_tm_account_init(&live->accounts[l]);
	return live;
out:
	if (ret == -ENOMEM)
		to_error_set(err, ret, "out of memory");
	if (live && live->tm)
		to_tm_live_free(live);
	else
		free(live);
	return NULL;
}

/* ---- add ---- */

static int live_index_ports(struct to_tm_live *live, const struct to_tm *record,
			    struct to_error *err)
{
	struct live_server *server = &live->servers[record->server];
	const unsigned int n = record->n_ports;
	const size_t size = n * sizeof(*record->ports);

	if (server->ports && server->n_ports == n && !memcmp(server->ports, record->ports, size))
		return 0;
	live_server_free(server);
	server->n_ports = n;
	server->ports = malloc(size + 1);
	server->out = calloc(n + 1, sizeof(*server->out));
	server->in = calloc(n + 1, sizeof(*server->in));
	server->shared = calloc(n + 1, sizeof(*server->shared));
	if (!server->ports || !server->out || !server->in || !server->shared)
		return -ENOMEM;
	memcpy(server->ports, record->ports, size);
	for (unsigned int p = 0; p < n; p++) {
		const struct to_tm_port *port = &record->ports[p];

		server->out[p] = to_tm_links_out(live->tm, record, p);
		server->in[p] = to_tm_links_in(live->tm, record, p);
		server->shared[p] = to_tm_segments_index(&live->segments, record, p);
		if ((server->shared[p] == TO_TM_NONE && port->packet_switch[0]) ||
		    (server->out[p] == TO_TM_NONE && port->to.server != TO_TM_NONE) ||
		    (server->in[p] == TO_TM_NONE && port->from.server != TO_TM_NONE)) {
			live_server_free(server);
			return to_error_set(err, -ESTALE, "the link of %s:%s is new",
					    record->servers[record->server], port->name);
		}
	}
	return 0;
}

/* Number of the interval that @sample is; it never starts before its time. */
static uint64_t live_slot(const struct to_tm *record, const struct to_tm_sample *sample)
{
	return sample->start_ns / record->interval_ns;
}

/*
 * The intervals from the earliest to the latest that any server recorded. They take
 * no more memory than the recordings do, times a constant.
 */
static int live_find_span(const struct to_tm_live *live, const struct to_tm *const *records,
			  uint64_t *first, uint64_t *n, struct to_error *err)
{
	uint64_t last = 0, rows = 0, count = 0, most;

	*first = UINT64_MAX;
	for (unsigned int s = 0; s < live->tm->n_servers; s++) {
		const struct to_tm *r = records[s];
		uint64_t slot;

		if (!r)
			continue;
		count++;
		rows += (uint64_t)r->n_samples * (r->n_ports + 1);
		slot = live_slot(r, &r->samples[0]);
		*first = slot < *first ? slot : *first;
		slot = live_slot(r, &r->samples[r->n_samples - 1]);
		last = slot > last ? slot : last;
	}
	most = (TO_MERGE_CELLS_MIN + TO_MERGE_CELLS_PER_ROW * rows) /
	       (live->tm->n_links + live->segments.n_ports + count + 1);
	if (last - *first >= most)
		return to_error_set(err, -E2BIG,
				    "the recordings span %" PRIu64 " intervals, and with as few samples as they have no more than %" PRIu64 " are merged",
				    last - *first + 1, most);
	*n = last - *first + 1;
	return 0;
}

/* @rows of @from elements each get room for @to; NULL when memory is short. */
static void *live_widen(void *old, size_t rows, size_t from, size_t to, size_t size)
{
	char *wide = calloc(rows * to + 1, size);

	for (size_t row = 0; wide && row < rows; row++)
		if (from)
			memcpy(wide + row * to * size, (char *)old + row * from * size,
			       from * size);
	free(old);
	return wide;
}

static int live_make_room(struct to_tm_live *live, unsigned int columns)
{
	const struct to_tm *tm = live->tm;

	if (columns <= live->room)
		return 0;
	live->columns = live_widen(live->columns, 1, live->room, columns,
				   sizeof(*live->columns));
	live->recorded = live_widen(live->recorded, tm->n_servers, live->room, columns,
				    sizeof(*live->recorded));
	live->cells = live_widen(live->cells, tm->n_links, live->room, columns,
				 sizeof(*live->cells));
	if (!to_tm_segments_make_room(&live->segments, columns))
		live->room = columns;
	if (live->room == columns && live->columns && live->recorded && live->cells)
		return 0;
	live->n = live->room = 0;
	return -ENOMEM;
}

static struct to_tm_cell *live_cell(const struct to_tm_live *live, uint32_t link, unsigned int column)
{
	return &live->cells[(size_t)link * live->room + column];
}

static bool *live_recorded(const struct to_tm_live *live, uint32_t server, unsigned int column)
{
	return &live->recorded[(size_t)server * live->room + column];
}

static int live_see(struct to_tm_live *live, uint32_t link, enum to_tm_side side,
		    unsigned int column, const struct to_tm_flow *flow)
{
	const struct to_tm_sighting sighting = {
		.src = flow->src, .dst = flow->dst, .column = column,
		.class = flow->class, .side = side,
		.relayed = side == TO_TM_SENT && flow->in != TO_TM_NO_PORT &&
			   live->tm->links[link].from.server == flow->src,
		.amount = { flow->packets, flow->bytes },
	};

	return to_tm_account_see(&live->accounts[link], &sighting);
}

/* Sent into a port that the plan has dark: by column until that is of a sample. */
static int live_see_dark(struct to_tm_live *live, unsigned int column,
			 const struct to_tm_flow *flow)
{
	const struct to_tm_portion portion = {
		.sample = live->tm->n_samples + column,
		.src = flow->src, .dst = flow->dst, .class = flow->class,
		.amount = { flow->packets, flow->bytes },
	};

	return to_tm_portions_add(&live->portions, &portion);
}

static int live_fill_flows(struct to_tm_live *live, uint32_t s,
			   const struct to_tm_sample *sample, unsigned int column)
{
	const struct live_server *server = &live->servers[s];
	int ret = 0;

	for (unsigned int i = 0; !ret && i < sample->n_flows; i++) {
		const struct to_tm_flow *flow = &sample->flows[i];
		uint32_t out = flow->out < 0 ? TO_TM_NONE : server->out[flow->out];
		uint32_t in = flow->in < 0 ? TO_TM_NONE : server->in[flow->in];
		uint32_t to = flow->out < 0 ? TO_TM_NONE : server->shared[flow->out];
		uint32_t from = flow->in < 0 ? TO_TM_NONE : server->shared[flow->in];

		if (out != TO_TM_NONE)
			ret = live_see(live, out, TO_TM_SENT, column, flow);
		else if (to != TO_TM_NONE)
			ret = to_tm_segments_send(&live->segments, to, column, flow);
		else if (flow->in == TO_TM_NO_PORT &&
			 (flow->src == s || flow->src == TO_TM_NONE))
			ret = live_see_dark(live, column, flow);
		if (!ret && in != TO_TM_NONE)
			ret = live_see(live, in, TO_TM_RECEIVED, column, flow);
		else if (!ret && from != TO_TM_NONE)
			ret = to_tm_segments_receive(&live->segments, from, column, flow);
	}
	return ret;
}

static void live_fill_counters(struct to_tm_live *live, uint32_t s,
			       const struct to_tm_sample *sample, unsigned int column)
{
	const struct live_server *server = &live->servers[s];
	for (unsigned int p = 0; p < server->n_ports; p++) {
		const struct to_tm_counters *c = &sample->ports[p];
		struct to_tm_amount *amount;

		if (server->shared[p] != TO_TM_NONE)
			to_tm_segments_count(&live->segments, server->shared[p], column, c);
		if (server->out[p] != TO_TM_NONE) {
			amount = &live_cell(live, server->out[p], column)->counted[TO_TM_SENT];
			amount->packets += c->tx_packets;
			amount->bytes += c->tx_bytes;
		}
		if (server->in[p] != TO_TM_NONE) {
			amount = &live_cell(live, server->in[p], column)->counted[TO_TM_RECEIVED];
			amount->packets += c->rx_packets;
			amount->bytes += c->rx_bytes;
		}
	}
}

/*
 * A server that was late to end a sample has it reach into later intervals. The next
 * sample may be there too.
 */
static void live_mark_present(struct to_tm_live *live, uint32_t s,
			      const struct to_tm_sample *sample, unsigned int column)
{
	const uint64_t end = sample->end_ns / live->tm->interval_ns;
	uint64_t slot = sample->start_ns / live->tm->interval_ns;
	bool *recorded = live_recorded(live, s, 0);

	do {
		live->columns[column].present += !recorded[column];
		recorded[column] = true;
	} while (++slot < end && ++column < live->n);
}

static uint64_t live_larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static int live_fill(struct to_tm_live *live, const struct to_tm *r, uint64_t first,
		     unsigned int begin)
{
	int ret = 0;

	for (unsigned int i = 0; !ret && i < r->n_samples; i++) {
		const struct to_tm_sample *from = &r->samples[i];
		const unsigned int column = begin + (live_slot(r, from) - first);
		struct live_column *to = &live->columns[column];

		to->end_ns = live_larger(to->end_ns, from->end_ns);
		to->elapsed_ns = live_larger(to->elapsed_ns, from->elapsed_ns);
		to->spread_ns = live_larger(to->spread_ns, from->spread_ns);
		to->lost.packets += from->lost.packets;
		to->lost.bytes += from->lost.bytes;
		live_mark_present(live, r->server, from, column);
		live_fill_counters(live, r->server, from, column);
		ret = live_fill_flows(live, r->server, from, column);
	}
	return ret;
}

static int live_note_missing(struct to_tm_live *live, const struct to_tm *const *records)
{
	struct to_tm *tm = live->tm;
	unsigned int missing = 0;

	for (unsigned int s = 0; s < tm->n_servers; s++) {
		if (!records[s]) {
			missing++;
		} else if (!live->servers[s].known) {
			live->servers[s].known = true;
			live->n_known++;
		}
	}
	if (!missing) {
		free(tm->missing);
		tm->missing = NULL;
		return 0;
	}
	if (!tm->missing)
		tm->missing = calloc(tm->n_servers, sizeof(*tm->missing));
	for (unsigned int s = 0; tm->missing && s < tm->n_servers; s++)
		tm->missing[s] = !records[s];
	return tm->missing ? 0 : -ENOMEM;
}

int to_tm_live_add(struct to_tm_live *live, const struct to_tm *const *records,
		   struct to_error *err)
{
	const unsigned int begin = live->n;
	struct to_tm *tm = live->tm;
	uint64_t first = 0, n = 0;
	int ret = 0;

	for (unsigned int s = 0; !ret && s < tm->n_servers; s++) {
		if (!records[s])
			continue;
		if (strcmp(records[s]->plan, tm->plan) ||
		    records[s]->interval_ns != tm->interval_ns)
			return to_error_set(err, -ESTALE, "%s recorded under another plan",
					    tm->servers[s]);
		ret = live_index_ports(live, records[s], err);
	}
	ret = ret ? ret : live_find_span(live, records, &first, &n, err);
	ret = ret ? ret : live_note_missing(live, records);
	ret = ret ? ret : live_make_room(live, begin + n);
	if (!ret) {
		live->n = begin + n;
		for (unsigned int k = begin; k < live->n; k++) {
			const uint64_t start = (first + k - begin) * tm->interval_ns;

			live->columns[k] = (struct live_column){ .start_ns = start, .end_ns = start };
		}
	}
	for (unsigned int s = 0; !ret && s < tm->n_servers; s++)
		if (records[s])
			ret = live_fill(live, records[s], first, begin);
	return ret == -ENOMEM ? to_error_set(err, ret, "out of memory") : ret;
}

/* ---- settle ---- */

/* Columns that settle go into samples; @sample gets, per column, in which one it is. */
static int live_join(struct to_tm_live *live, const struct to_tm_rows *rows, uint32_t *sample)
{
	struct to_tm *tm = live->tm;

	for (unsigned int k = 0; k < rows->settled; k++) {
		const struct live_column *column = &live->columns[k];
		const unsigned int absent = live->n_known - column->present;
		struct to_tm_sample *to;

		if (!live->joined) {
			to = to_tm_add_sample(tm);
			if (!to)
				return -ENOMEM;
			to->links = calloc(tm->n_links + 1, sizeof(*to->links));
			if (!to->links)
				return -ENOMEM;
			to->start_ns = column->start_ns;
		}
		to = &tm->samples[tm->n_samples - 1];
		sample[k] = tm->n_samples - 1;
		to->end_ns = live_larger(to->end_ns, column->end_ns);
		to->elapsed_ns += column->elapsed_ns;
		to->spread_ns = live_larger(to->spread_ns, column->spread_ns);
		to->lost.packets += column->lost.packets;
		to->lost.bytes += column->lost.bytes;
		to->absent = absent > to->absent ? absent : to->absent;
		for (unsigned int l = 0; l < tm->n_links; l++) {
			const struct to_tm_link_bytes *row = &live_cell(live, l, k)->row;

			to->links[l].carried += row->carried;
			to->links[l].seen += row->seen;
			to->links[l].bypass += row->bypass;
			to->links[l].lost += row->lost;
		}
		live->joined++;
		if (rows->oldest[k] > (int64_t)k - (int64_t)live->joined ||
		    live->joined >= TO_LIVE_JOIN_MAX || (rows->last && k + 1 == rows->settled))
			live->joined = 0;
	}
	return 0;
}

static int live_compare_portion(const void *a, const void *b)
{
	const struct to_tm_portion *x = a, *y = b;

	if (x->sample != y->sample)
		return x->sample < y->sample ? -1 : 1;
	if (x->src != y->src)
		return x->src < y->src ? -1 : 1;
	if (x->dst != y->dst)
		return x->dst < y->dst ? -1 : 1;
	return (int)x->class - (int)y->class;
}

/*
 * Portions, sorted, into flows of the samples that are complete, one of each pair and
 * class; the others are put together and wait.
 */
static int live_make_flows(struct to_tm_live *live)
{
	struct to_tm_portions *p = &live->portions;
	const unsigned int complete = live->tm->n_samples - !!live->joined;
	size_t n = 0, next;
	int ret = 0;

	if (p->n)
		qsort(p->list, p->n, sizeof(*p->list), live_compare_portion);
	if (live->segments.n) {
		ret = to_tm_segments_divide(&live->segments, p, complete, live->tm->n_servers);
		qsort(p->list, p->n, sizeof(*p->list), live_compare_portion);
	}
	for (size_t i = 0; !ret && i < p->n; i = next) {
		struct to_tm_portion sum = p->list[i];

		for (next = i + 1; next < p->n && !live_compare_portion(&sum, &p->list[next]);
		     next++) {
			sum.amount.packets += p->list[next].amount.packets;
			sum.amount.bytes += p->list[next].amount.bytes;
		}
		if (sum.sample < complete)
			ret = to_tm_add_flow(&live->tm->samples[sum.sample], &(struct to_tm_flow){
				.src = sum.src, .dst = sum.dst, .class = sum.class,
				.in = TO_TM_NO_PORT, .out = TO_TM_NO_PORT,
				.packets = sum.amount.packets, .bytes = sum.amount.bytes });
		else
			p->list[n++] = sum;
	}
	p->n = n;
	return ret;
}

/* From columns to samples; those of columns that have not settled are counted from there. */
static void live_renumber(struct to_tm_live *live, size_t first, const uint32_t *sample,
			  unsigned int samples, unsigned int settled)
{
	struct to_tm_portions *p = &live->portions;

	for (size_t i = 0; i < p->n; i++) {
		uint32_t column = p->list[i].sample;

		if (i < first && column < samples)
			continue;	/* of the one that is being joined */
		column -= i < first ? samples : 0;
		p->list[i].sample = column < settled ? sample[column] :
				    live->tm->n_samples + column - settled;
	}
}

/* Columns that have settled leave. */
static void live_advance(struct to_tm_live *live, unsigned int settled)
{
	const unsigned int left = live->n - settled;
	const struct to_tm *tm = live->tm;

	memmove(live->columns, live->columns + settled, left * sizeof(*live->columns));
	for (unsigned int s = 0; s < tm->n_servers; s++) {
		bool *row = live_recorded(live, s, 0);

		memmove(row, row + settled, left * sizeof(*row));
		memset(row + left, 0, settled * sizeof(*row));
	}
	for (unsigned int l = 0; l < tm->n_links; l++) {
		struct to_tm_cell *row = live_cell(live, l, 0);

		memmove(row, row + settled, left * sizeof(*row));
		memset(row + left, 0, settled * sizeof(*row));
	}
	to_tm_segments_advance(&live->segments, settled, left);
	live->n = left;
}

/* Of the ports that share packet switches; nobody counts what receives them. */
static void live_look_shared(struct to_tm_live *live, struct to_tm_rows *rows)
{
	struct to_tm_segments *s = &live->segments;

	for (unsigned int i = 0; i < s->n_ports; i++) {
		struct to_tm_cell *cells = &s->cells[(size_t)i * s->room];

		for (unsigned int k = 0; k < live->n; k++) {
			cells[k].both = true;
			for (unsigned int j = 0; j < s->n_ports; j++)
				cells[k].both &= s->ports[j].segment != s->ports[i].segment ||
						 *live_recorded(live, s->ports[j].server, k);
		}
		to_tm_account_look(&s->ports[i].account, cells, rows);
		live->servers[s->ports[i].server].stale |=
			s->ports[i].account.nics[TO_TM_SENT].stale;
	}
}

/* A server's counters are renewed as often as those of its NICs that move most often. */
static void live_find_gap(struct live_server *server, const struct to_tm_account *account)
{
	const unsigned int gap = to_tm_renewal_gap(&account->nics[TO_TM_SENT]);

	if (gap && (!server->gap || gap < server->gap))
		server->gap = gap;
}

static void live_find_gaps(struct to_tm_live *live)
{
	struct to_tm_segments *s = &live->segments;

	for (unsigned int i = 0; i < live->tm->n_servers; i++)
		live->servers[i].gap = 0;
	for (unsigned int l = 0; l < live->tm->n_links; l++)
		live_find_gap(&live->servers[live->tm->links[l].from.server], &live->accounts[l]);
	for (unsigned int i = 0; i < s->n_ports; i++)
		live_find_gap(&live->servers[s->ports[i].server], &s->ports[i].account);
}

/* Where columns end with a renewal, of ports that share packet switches. */
static void live_find_shared(struct to_tm_live *live, struct to_tm_rows *rows)
{
	struct to_tm_segments *s = &live->segments;

	for (unsigned int i = 0; i < s->n_ports; i++) {
		s->ports[i].account.stale[TO_TM_SENT] = live->servers[s->ports[i].server].stale;
		s->ports[i].account.stale[TO_TM_RECEIVED] = true;
		s->ports[i].account.gap = live->servers[s->ports[i].server].gap;
		if (to_tm_account_waits(&s->ports[i].account))
			to_tm_renewal_find(&s->ports[i].account, &s->cells[(size_t)i * s->room], rows);
	}
}

/* Which servers' counters are stale, and where these wait to move. */
static void live_look(struct to_tm_live *live, struct to_tm_rows *rows)
{
	const struct to_tm *tm = live->tm;

	for (unsigned int l = 0; l < tm->n_links; l++) {
		struct live_server *from = &live->servers[tm->links[l].from.server];
		struct live_server *to = &live->servers[tm->links[l].to.server];
		struct to_tm_account *account = &live->accounts[l];

		for (unsigned int k = 0; k < live->n; k++)
			live_cell(live, l, k)->both =
				*live_recorded(live, tm->links[l].from.server, k) &&
				*live_recorded(live, tm->links[l].to.server, k);
		to_tm_account_look(account, live_cell(live, l, 0), rows);
		from->stale |= account->nics[TO_TM_SENT].stale;
		to->stale |= account->nics[TO_TM_RECEIVED].stale;
	}
	live_look_shared(live, rows);
	live_find_gaps(live);
	live_find_shared(live, rows);
	for (unsigned int l = 0; l < tm->n_links; l++) {
		struct to_tm_account *account = &live->accounts[l];

		account->stale[TO_TM_SENT] = live->servers[tm->links[l].from.server].stale;
		account->stale[TO_TM_RECEIVED] = live->servers[tm->links[l].to.server].stale;
		account->gap = live->servers[tm->links[l].from.server].gap;
		if (to_tm_account_waits(account))
			to_tm_renewal_find(account, live_cell(live, l, 0), rows);
	}
}

static unsigned int live_delay(const struct to_tm_live *live)
{
	return live->tm->interval_ns < TO_TM_LIVE_LONG_NS ? TO_TM_LIVE_DELAY : 1;
}

/* How many columns can settle: others follow them, and counters have moved since. */
static unsigned int live_settled(const struct to_tm_live *live)
{
	const unsigned int most = live->n < TO_LIVE_JOIN_MAX ? 0 : live->n - TO_LIVE_JOIN_MAX;
	const struct to_tm *tm = live->tm;
	unsigned int settled, known;

	settled = live->n - live_delay(live);
	for (unsigned int l = 0; l < tm->n_links; l++) {
		if (!to_tm_account_waits(&live->accounts[l]))
			continue;
		known = to_tm_renewal_known(live_cell(live, l, 0), live->n);
		settled = known < settled ? known : settled;
	}
	for (unsigned int i = 0; i < live->segments.n_ports; i++) {
		const struct to_tm_segments *s = &live->segments;

		if (!to_tm_account_waits(&s->ports[i].account))
			continue;
		known = to_tm_renewal_known(&s->cells[(size_t)i * s->room], live->n);
		settled = known < settled ? known : settled;
	}
	return settled > most ? settled : most;
}

/* The columns that settle, into samples. */
static int live_settle_columns(struct to_tm_live *live, struct to_tm_rows *rows,
			       uint32_t *sample)
{
	struct to_tm *tm = live->tm;
	const unsigned int samples = tm->n_samples;
	const size_t first = live->portions.n;
	int ret = 0;

	for (unsigned int k = 0; k < rows->n; k++)
		rows->oldest[k] = INT64_MAX;
	for (unsigned int l = 0; !ret && l < tm->n_links; l++) {
		ret = to_tm_account_settle(&live->accounts[l], &tm->links[l],
					   live_cell(live, l, 0), rows);
	}
	ret = ret ? ret : to_tm_segments_settle(&live->segments, rows, tm->n_servers);
	ret = ret ? ret : live_join(live, rows, sample);
	if (!ret) {
		live_renumber(live, first, sample, samples, rows->settled);
		ret = live_make_flows(live);
	}
	if (!ret)
		live_advance(live, rows->settled);
	return ret;
}

int to_tm_live_settle(struct to_tm_live *live, bool all, struct to_error *err)
{
	struct to_tm_rows rows;
	uint32_t *sample;
	int ret;

	if (!all && (live->n <= live_delay(live) ||
		     (!live->began && live_delay(live) > 1 && live->n < TO_TM_LIVE_BEGIN)))
		return 0;
	live->began = true;
	ret = to_tm_rows_init(&rows, live->n);
	rows.last = all;
	rows.portions = &live->portions;
	rows.oldest = calloc(live->n + 1, sizeof(*rows.oldest));
	sample = calloc(live->n + 1, sizeof(*sample));
	if (ret || !rows.oldest || !sample) {
		ret = -ENOMEM;
	} else {
		live_look(live, &rows);
		rows.settled = all ? live->n : live_settled(live);
		if (rows.settled)
			ret = live_settle_columns(live, &rows, sample);
	}
	free(rows.oldest);
	free(sample);
	to_tm_rows_free(&rows);
	return ret ? to_error_set(err, ret, "out of memory") : 0;
}

/* ---- take ---- */

struct to_tm *to_tm_live_take(struct to_tm_live *live)
{
	const struct to_tm *own = live->tm;
	struct to_tm *tm = to_tm_new(own->n_servers);
	unsigned int complete = own->n_samples - !!live->joined;

	if (!tm)
		return NULL;
	strcpy(tm->job, own->job);
	strcpy(tm->plan, own->plan);
	tm->interval_ns = own->interval_ns;
	memcpy(tm->servers, own->servers, own->n_servers * sizeof(*own->servers));
	tm->links = calloc(own->n_links + 1, sizeof(*tm->links));
	if (own->missing)
		tm->missing = calloc(own->n_servers, sizeof(*tm->missing));
	if (!tm->links || (own->missing && !tm->missing))
		goto no_memory;
	tm->n_links = own->n_links;
	memcpy(tm->links, own->links, own->n_links * sizeof(*own->links));
	if (own->missing)
		memcpy(tm->missing, own->missing, own->n_servers * sizeof(*own->missing));
	if (to_tm_note_stale(tm, live->accounts, &live->segments))
		goto no_memory;
	for (unsigned int k = 0; k < complete; k++) {
		struct to_tm_sample *sample = to_tm_add_sample(tm);

		if (!sample)
			goto no_memory;
		*sample = live->tm->samples[k];
		live->tm->samples[k] = (struct to_tm_sample){ 0 };
	}
	/* what is being joined, and what waits, is then counted from 0 */
	if (live->joined)
		live->tm->samples[0] = live->tm->samples[complete];
	if (live->joined && complete)
		live->tm->samples[complete] = (struct to_tm_sample){ 0 };
	live->tm->n_samples -= complete;
	for (size_t i = 0; i < live->portions.n; i++)
		live->portions.list[i].sample -= complete;
	return tm;

no_memory:
	to_tm_free(tm);
	return NULL;
}
