// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/tm_segments.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SEGMENTS_ROUNDS 50	/* of fitting; a byte in a gigabyte after some ten */

static int segments_compare(const void *a, const void *b)
{
	const struct to_tm_segment_port *x = a, *y = b;

	if (x->segment != y->segment)
		return x->segment < y->segment ? -1 : 1;
	return (x->server > y->server) - (x->server < y->server);
}

/* Index of the switch called @name, which it gets if it has none. */
static uint32_t segments_name(struct to_tm_segments *s, const char *name)
{
	uint32_t i;

	for (i = 0; i < s->n && strcmp(s->names[i], name); i++)
		;
	if (i == s->n)
		strcpy(s->names[s->n++], name);
	return i;
}

int to_tm_segments_find(struct to_tm_segments *s, const struct to_tm *const *records,
			unsigned int n_servers)
{
	unsigned int room = 0;

	*s = (struct to_tm_segments){ 0 };
	for (unsigned int x = 0; x < n_servers; x++)
		for (unsigned int p = 0; records[x] && p < records[x]->n_ports; p++)
			room += records[x]->ports[p].packet_switch[0] != 0;
	s->names = calloc(room + 1, sizeof(*s->names));
	s->ports = calloc(room + 1, sizeof(*s->ports));
	if (!s->names || !s->ports)
		return -ENOMEM;
	for (unsigned int x = 0; x < n_servers; x++) {
		for (unsigned int p = 0; records[x] && p < records[x]->n_ports; p++) {
			const struct to_tm_port *port = &records[x]->ports[p];
			struct to_tm_segment_port *to = &s->ports[s->n_ports];

			if (!port->packet_switch[0])
				continue;
			to->server = x;
			to->segment = segments_name(s, port->packet_switch);
			strcpy(to->name, port->name);
			to_tm_account_init(&to->account);
			s->n_ports++;
		}
	}
	qsort(s->ports, s->n_ports, sizeof(*s->ports), segments_compare);
	return 0;
}

void to_tm_segments_free(struct to_tm_segments *s)
{
	for (unsigned int i = 0; i < s->n_ports; i++)
		to_tm_account_free(&s->ports[i].account);
	free(s->names);
	free(s->ports);
	free(s->cells);
	free(s->arrivals);
	*s = (struct to_tm_segments){ 0 };
}

uint32_t to_tm_segments_index(const struct to_tm_segments *s, const struct to_tm *record,
			      unsigned int port)
{
	for (uint32_t i = 0; i < s->n_ports; i++)
		if (s->ports[i].server == record->server &&
		    !strcmp(s->ports[i].name, record->ports[port].name) &&
		    !strcmp(s->names[s->ports[i].segment], record->ports[port].packet_switch))
			return i;
	return TO_TM_NONE;
}

/* The port of @server on @segment, TO_TM_NONE when it has none that was recorded. */
static uint32_t segments_port(const struct to_tm_segments *s, uint32_t segment, uint32_t server)
{
	const struct to_tm_segment_port key = { .server = server, .segment = segment };
	const struct to_tm_segment_port *port = bsearch(&key, s->ports, s->n_ports, sizeof(key),
							segments_compare);

	return port ? port - s->ports : TO_TM_NONE;
}

int to_tm_segments_make_room(struct to_tm_segments *s, unsigned int columns)
{
	struct to_tm_cell *cells = calloc((size_t)s->n_ports * columns + 1, sizeof(*cells));
	struct to_tm_arrival *arrivals = calloc((size_t)s->n_ports * columns + 1,
						sizeof(*arrivals));

	if (!cells || !arrivals) {
		free(cells);
		free(arrivals);
		return -ENOMEM;
	}
	for (size_t i = 0; s->room && i < s->n_ports; i++) {
		memcpy(cells + i * columns, s->cells + i * s->room, s->room * sizeof(*cells));
		memcpy(arrivals + i * columns, s->arrivals + i * s->room,
		       s->room * sizeof(*arrivals));
	}
	free(s->cells);
	free(s->arrivals);
	s->cells = cells;
	s->arrivals = arrivals;
	s->room = columns;
	return 0;
}

static void segments_add(struct to_tm_amount *to, uint64_t packets, uint64_t bytes)
{
	to->packets += packets;
	to->bytes += bytes;
}

void to_tm_segments_count(struct to_tm_segments *s, uint32_t index, unsigned int column,
			  const struct to_tm_counters *c)
{
	const size_t at = (size_t)index * s->room + column;

	segments_add(&s->cells[at].counted[TO_TM_SENT], c->tx_packets, c->tx_bytes);
	segments_add(&s->arrivals[at].counted, c->rx_packets, c->rx_bytes);
}

int to_tm_segments_send(struct to_tm_segments *s, uint32_t index, unsigned int column,
			const struct to_tm_flow *flow)
{
	const struct to_tm_segment_port *port = &s->ports[index];
	const struct to_tm_sighting sighting = {
		.src = flow->src, .dst = flow->dst, .column = column, .class = flow->class,
		.side = TO_TM_SENT,
		.relayed = flow->in != TO_TM_NO_PORT && port->server == flow->src,
		.amount = { flow->packets, flow->bytes },
	};
	const uint32_t to = flow->class == TO_TM_ROCE ?
		segments_port(s, port->segment, flow->dst) : TO_TM_NONE;

	if (to != TO_TM_NONE)
		segments_add(&s->arrivals[(size_t)to * s->room + column].handed, flow->packets,
			     flow->bytes);
	return to_tm_account_see(&s->ports[index].account, &sighting);
}

/* What others relay from the sender is seen where that is sent. */
int to_tm_segments_receive(struct to_tm_segments *s, uint32_t index, unsigned int column,
			   const struct to_tm_flow *flow)
{
	const struct to_tm_segment_port *port = &s->ports[index];
	struct to_tm_arrival *arrival = &s->arrivals[(size_t)index * s->room + column];
	const uint32_t from = segments_port(s, port->segment, flow->src);
	const struct to_tm_sighting sighting = {
		.src = flow->src, .dst = flow->dst, .column = column, .class = flow->class,
		.side = TO_TM_RECEIVED, .amount = { flow->packets, flow->bytes },
	};

	if (flow->class == TO_TM_ROCE && flow->dst == port->server)
		segments_add(&arrival->local, flow->packets, flow->bytes);
	else
		segments_add(&arrival->counted, -flow->packets, -flow->bytes);
	return from == TO_TM_NONE || from == index ? 0 :
	       to_tm_account_see(&s->ports[from].account, &sighting);
}

/* What hardware sent to the hardware of @port, in the columns that settle. */
static int segments_arrive(struct to_tm_segment_port *port, const struct to_tm_arrival *arrivals,
			   struct to_tm_rows *rows, uint32_t n_servers)
{
	struct to_tm_portion portion = { .src = n_servers + port->segment, .dst = port->server,
					 .class = TO_TM_ROCE };
	int ret = 0;

	for (unsigned int k = 0; !ret && k < rows->settled; k++) {
		const struct to_tm_arrival *a = &arrivals[k];
		int64_t most = port->local.bytes > port->handed.bytes ? port->local.bytes :
								       port->handed.bytes;

		segments_add(&port->local, a->local.packets, a->local.bytes);
		segments_add(&port->handed, a->handed.packets, a->handed.bytes);
		most -= port->local.bytes > port->handed.bytes ? port->local.bytes :
								 port->handed.bytes;
		portion.sample = k;
		portion.amount = (struct to_tm_amount){ 0, a->counted.bytes + most };
		ret = to_tm_portions_add(rows->portions, &portion);
	}
	return ret;
}

int to_tm_segments_settle(struct to_tm_segments *s, struct to_tm_rows *rows,
			  uint32_t n_servers)
{
	int ret = 0;

	for (unsigned int i = 0; !ret && i < s->n_ports; i++) {
		struct to_tm_segment_port *port = &s->ports[i];
		const struct to_tm_link link = { .from.server = port->server,
						 .to.server = n_servers + port->segment };

		ret = to_tm_account_settle(&port->account, &link,
					   s->cells + (size_t)i * s->room, rows);
		if (!ret)
			ret = segments_arrive(port, s->arrivals + (size_t)i * s->room, rows,
					      n_servers);
	}
	return ret;
}

void to_tm_segments_advance(struct to_tm_segments *s, unsigned int settled, unsigned int left)
{
	for (size_t i = 0; i < s->n_ports; i++) {
		struct to_tm_cell *cells = s->cells + i * s->room;
		struct to_tm_arrival *arrivals = s->arrivals + i * s->room;

		memmove(cells, cells + settled, left * sizeof(*cells));
		memset(cells + left, 0, settled * sizeof(*cells));
		memmove(arrivals, arrivals + settled, left * sizeof(*arrivals));
		memset(arrivals + left, 0, settled * sizeof(*arrivals));
	}
}

/* ---- by pairs ---- */

/* Of one switch in one sample. */
struct fit {
	unsigned int n;
	const struct to_tm_segment_port *ports;
	struct to_tm_amount *sent;	/* per port */
	double *owed;			/* per port */
	double *part;			/* n x n, row = sender */
};

/* Scale rows or columns of @fit->part to their sums; what has no part of a sum stays 0. */
static void fit_scale(struct fit *fit, bool rows)
{
	for (size_t i = 0; i < fit->n; i++) {
		double want = rows ? (double)fit->sent[i].bytes : fit->owed[i], is = 0;

		for (size_t k = 0; k < fit->n; k++)
			is += fit->part[rows ? i * fit->n + k : k * fit->n + i];
		for (size_t k = 0; is > 0 && k < fit->n; k++)
			fit->part[rows ? i * fit->n + k : k * fit->n + i] *= want / is;
	}
}

/* Start with the same for all pairs; @known: of those whose end is owed something. */
static void fit_start(struct fit *fit, bool known)
{
	for (size_t i = 0; i < fit->n; i++)
		for (size_t k = 0; k < fit->n; k++)
			fit->part[i * fit->n + k] = i != k && fit->sent[i].bytes > 0 &&
						    (!known || fit->owed[k] > 0);
}

/* A sender all whose partners are owed nothing sends to all alike, and is made up for later. */
static void fit_fill(struct fit *fit)
{
	for (size_t i = 0; i < fit->n; i++) {
		double sum = 0;

		for (size_t k = 0; k < fit->n; k++)
			sum += fit->part[i * fit->n + k];
		for (size_t k = 0; !(sum > 0) && fit->sent[i].bytes > 0 && k < fit->n; k++)
			fit->part[i * fit->n + k] = k == i ? 0 :
				(double)fit->sent[i].bytes / (fit->n - 1);
	}
}

/* What port @i sent, whole bytes and packets of each pair. Return: 0 or -ENOMEM. */
static int fit_give(struct fit *fit, size_t i, uint32_t sample, struct to_tm_portions *portions)
{
	struct to_tm_portion portion = { .sample = sample, .src = fit->ports[i].server,
					 .class = TO_TM_ROCE };
	struct to_tm_amount given = { 0 };
	double sum = 0;
	int ret = 0;

	for (size_t k = 0; !ret && k < fit->n; k++) {
		struct to_tm_amount upto;
		double share;

		sum += fit->part[i * fit->n + k];
		share = sum / (double)fit->sent[i].bytes;
		upto.bytes = llround(share * (double)fit->sent[i].bytes);
		upto.packets = llround(share * (double)fit->sent[i].packets);
		portion.dst = fit->ports[k].server;
		portion.amount.bytes = upto.bytes - given.bytes;
		portion.amount.packets = upto.packets - given.packets;
		given = upto;
		ret = to_tm_portions_add(portions, &portion);
	}
	return ret;
}

static int segments_fit(struct to_tm_segment_port *ports, struct fit *fit, uint32_t sample,
			struct to_tm_portions *portions)
{
	int ret = 0;

	fit->ports = ports;
	for (size_t i = 0; i < fit->n; i++)
		fit->owed[i] = ports[i].owed > 0 ? ports[i].owed : 0;
	fit_start(fit, true);
	for (unsigned int round = 0; round < SEGMENTS_ROUNDS; round++) {
		fit_scale(fit, false);
		fit_scale(fit, true);
	}
	fit_fill(fit);
	for (size_t i = 0; i < fit->n; i++)
		for (size_t k = 0; k < fit->n; k++)
			ports[k].owed -= fit->part[i * fit->n + k];
	for (size_t i = 0; !ret && i < fit->n; i++)
		if (fit->sent[i].bytes > 0)
			ret = fit_give(fit, i, sample, portions);
	return ret;
}

/* Take what is open of @sample on @segment out of @portions from @first on. */
static bool segments_take(const struct to_tm_segments *s, struct to_tm_portions *portions,
			  size_t first, size_t end, uint32_t segment, unsigned int begin,
			  uint32_t open, struct to_tm_amount *sent)
{
	bool any = false;

	for (size_t i = first; i < end; i++) {
		struct to_tm_portion *portion = &portions->list[i];
		uint32_t port;

		if (portion->dst == open) {
			port = segments_port(s, segment, portion->src);
			sent[port - begin].bytes += portion->amount.bytes;
			sent[port - begin].packets += portion->amount.packets;
			any = true;
		} else if (portion->src == open) {
			port = segments_port(s, segment, portion->dst);
			s->ports[port].owed += (double)portion->amount.bytes;
		} else {
			continue;
		}
		portion->amount = (struct to_tm_amount){ 0 };
	}
	return any;
}

/* One sample's. */
static int segments_divide(struct to_tm_segments *s, struct to_tm_portions *portions, size_t first,
			   size_t end, uint32_t n_servers, struct fit *fit)
{
	const uint32_t sample = portions->list[first].sample;
	unsigned int begin = 0, next;
	int ret = 0;

	for (; !ret && begin < s->n_ports; begin = next) {
		const uint32_t segment = s->ports[begin].segment;

		for (next = begin; next < s->n_ports && s->ports[next].segment == segment; next++)
			;
		fit->n = next - begin;
		memset(fit->sent, 0, fit->n * sizeof(*fit->sent));
		if (segments_take(s, portions, first, end, segment, begin, n_servers + segment,
				  fit->sent) && fit->n > 1)
			ret = segments_fit(&s->ports[begin], fit, sample, portions);
	}
	return ret;
}

int to_tm_segments_divide(struct to_tm_segments *s, struct to_tm_portions *portions,
			  unsigned int complete, uint32_t n_servers)
{
	const size_t all = portions->n;
	size_t first, next, n = 0;
	struct fit fit = {
		.sent = calloc(s->n_ports + 1, sizeof(*fit.sent)),
		.owed = calloc(s->n_ports + 1, sizeof(*fit.owed)),
		.part = calloc((size_t)s->n_ports * s->n_ports + 1, sizeof(*fit.part)) };
	int ret = fit.sent && fit.owed && fit.part ? 0 : -ENOMEM;

	for (first = 0; !ret && first < all; first = next) {
		const uint32_t sample = portions->list[first].sample;

		for (next = first; next < all && portions->list[next].sample == sample; next++)
			;
		if (sample < complete)
			ret = segments_divide(s, portions, first, next, n_servers, &fit);
	}
	/* without what was taken out */
	for (first = 0; first < portions->n; first++)
		if (portions->list[first].amount.bytes || portions->list[first].amount.packets)
			portions->list[n++] = portions->list[first];
	portions->n = n;
	free(fit.sent);
	free(fit.owed);
	free(fit.part);
	return ret;
}
