// SPDX-License-Identifier: GPL-2.0-or-later
#include "packets/simulator.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "packets/capture.h"
#include "packets/deadlock.h"
#include "packets/fast_forward.h"
#include "packets/leg.h"
#include "packets/pcie.h"
#include "packets/port.h"
#include "packets/relay.h"
#include "packets/transport.h"

#define SIMULATOR_WATCH (1 << 16)	/* events between looks at the watch */

/* The end of a path, a relay or a switch takes a packet that has come over its link. */
static void simulator_take(struct to_packet_simulator *s, uint32_t packet)
{
	const uint32_t entry = s->paths[s->store.packets[packet].at];

	if (entry & PACKET_LAST) {
		s->result.received++;
		to_packet_transport_deliver(s, packet);
	} else if (s->ports[entry].to_server) {
		to_packet_relay_arrive(s, packet);
	} else {
		to_packet_port_arrive(s, packet);
	}
}

/* Take a packet at the end of its link, once the PCIe links behind it are free. */
static void simulator_arrive(struct to_packet_simulator *s, uint32_t packet)
{
	const struct to_packet *arrived = &s->store.packets[packet];
	const uint32_t link = packet_link(s, arrived->at);
	struct packet_port *port = &s->ports[link];
	uint64_t at;

	if (arrived->kind != TO_PACKET_DATA || !port->to_server || !s->network->n_pcie) {
		simulator_take(s, packet);
		return;
	}
	at = to_packet_pcie_free_at(s, link, true);
	if (at > s->now) {
		/* the ring of a NIC without PFC drops what it has no room for */
		if (port->ring >= s->options.relay_ring ||
		    !to_packet_port_hold(s, link, arrived->wire)) {
			to_packet_port_drop(s, link, packet);
			return;
		}
		port->ring++;
		packet_schedule(s, at, PACKET_CROSSED, packet);
	}
	to_packet_pcie_cross(s, link, true, at, arrived->wire);
	if (at == s->now)
		simulator_take(s, packet);
}

/* Take a packet that a PCIe link has begun to carry out of the ring of its NIC. */
static void simulator_crossed(struct to_packet_simulator *s, uint32_t packet)
{
	const struct to_packet *arrived = &s->store.packets[packet];
	const uint32_t link = packet_link(s, arrived->at);

	s->ports[link].ring--;
	to_packet_port_release(s, link, arrived->wire);
	simulator_take(s, packet);
}

/* Note that more chunks of a leg have arrived, perhaps the last ones of its task. */
static void simulator_progress(struct to_packet_simulator *s, uint32_t index)
{
	const struct packet_leg *leg = &s->legs[index];

	if (s->fast_forward)
		to_packet_fast_forward_chunk(s, index);
	if (leg->arrived < leg->n_chunks)
		return;
	if (leg->transfer != UINT32_MAX)
		s->result.simulation.transfer_finish[leg->transfer] = s->now * 1e-12;
	if (!--s->open[leg->task])
		s->done[s->n_done++] = leg->task;
}

static void simulator_computed(struct to_packet_simulator *s, uint32_t task)
{
	s->done[s->n_done++] = task;
}

static packet_handler *const simulator_handlers[PACKET_EVENTS] = {
	[PACKET_ARRIVE] = simulator_arrive,
	[PACKET_CROSSED] = simulator_crossed,
	[PACKET_RELAYED] = to_packet_relay_forward,
	[PACKET_FREE] = to_packet_port_free,
	[PACKET_PAUSE] = to_packet_port_pause,
	[PACKET_RESUME] = to_packet_port_resume,
	[PACKET_PACED] = to_packet_transport_paced,
	[PACKET_TIMEOUT] = to_packet_transport_timeout,
	[PACKET_CHUNK] = to_packet_leg_allow,
	[PACKET_COMPUTED] = simulator_computed,
	[PACKET_COMPLETE] = to_packet_leg_arrived,
	[PACKET_PROGRESS] = simulator_progress,
};

void to_packet_simulator_free(struct to_packet_simulator *s)
{
	if (!s)
		return;
	to_packet_calendar_free(&s->calendar);
	to_packet_store_free(&s->store);
	to_packet_fast_forward_free(s->fast_forward);
	to_packet_messages_free(&s->scratch);
	to_iteration_free(&s->iteration);
	free(s->ports);
	free(s->pcie);
	free(s->flows);
	free(s->legs);
	free(s->paths);
	free(s->edges);
	free(s->received);
	free(s->open);
	free(s->done);
	free(s->result.simulation.transfer_finish);
	free(s->result.simulation.link_bytes);
	free(s->result.simulation.critical);
	free(s->result.links);
	free(s);
}

/* Thresholds of one link. A buffer has to take what comes until a PAUSE works. */
static int simulator_init_port(struct to_packet_simulator *s, uint32_t link, struct to_error *err)
{
	const struct to_packet_options *o = &s->options;
	const struct to_network_link *l = &s->network->links[link];
	struct packet_port *port = &s->ports[link];
	const uint64_t wire = o->mtu + o->headers;
	const double gbits = l->capacity * 8e-9;
	uint64_t headroom;

	port->from = l->from;
	port->to = l->to;
	port->from_server = l->from < s->network->n_servers;
	port->to_server = l->to < s->network->n_servers;
	port->cost = round(PACKET_SECOND / l->capacity * (1 << 20));
	port->latency = round(l->latency * PACKET_SECOND);
	if (o->transport == TO_TRANSPORT_DCQCN || o->transport == TO_TRANSPORT_DCTCP) {
		port->mark_min = o->mark_min ? o->mark_min : 1000 * gbits;
		port->mark_max = o->transport == TO_TRANSPORT_DCTCP ? port->mark_min :
				 o->mark_max ? o->mark_max : 4000 * gbits;
		if (port->from_server && !o->relay_marks)
			port->mark_min = 0;
	}
	/* a round trip, a packet that had begun at either end, the PAUSE itself */
	headroom = 2 * l->latency * l->capacity + 2 * wire + 84;
	port->room = port->to_server ? o->relay_ring * wire : o->buffer;
	if (o->pfc && port->room < headroom + 3 * wire)
		return to_error_set(err, -EINVAL,
				    port->to_server ?
				    "PFC needs a ring of %llu packets for head-room on the link from %s to %s" :
				    "PFC needs a buffer of %llu bytes for head-room on the link from %s to %s",
				    (unsigned long long)(port->to_server ?
							 (headroom + 4 * wire - 1) / wire :
							 headroom + 3 * wire),
				    s->network->names[l->from], s->network->names[l->to]);
	port->stop = port->room - headroom;
	port->go = port->stop - 2 * wire;
	return 0;
}

static int simulator_init(struct to_packet_simulator *s, struct to_error *err)
{
	const struct to_network *w = s->network;
	uint64_t year = s->relay_latency + 1000000;
	uint32_t i;
	int ret = 0;

	s->ports = calloc(w->n_links + 1, sizeof(*s->ports));
	s->result.links = calloc(w->n_links + 1, sizeof(*s->result.links));
	s->result.simulation.link_bytes = calloc(2 * (size_t)w->n_links + 1, sizeof(double));
	if (!s->ports || !s->result.links || !s->result.simulation.link_bytes ||
	    to_packet_pcie_init(s))
		return to_error_set(err, -ENOMEM, "out of memory");
	s->result.simulation.link_busy = s->result.simulation.link_bytes + w->n_links;
	if (s->options.fast_forward) {
		s->fast_forward = to_packet_fast_forward_new(w->n_links);
		if (!s->fast_forward)
			return to_error_set(err, -ENOMEM, "out of memory");
	}
	for (i = 0; !ret && i < w->n_links; i++) {
		const struct packet_port *port = &s->ports[i];
		uint64_t takes;

		ret = simulator_init_port(s, i, err);
		takes = port->latency + 2 * packet_time(port, s->options.mtu + s->options.headers) +
			s->relay_latency;
		year = takes > year ? takes : year;
	}
	if (!ret && to_packet_calendar_init(&s->calendar, 8 * w->n_links, year))
		ret = to_error_set(err, -ENOMEM, "out of memory");
	return ret;
}

struct to_packet_simulator *to_packet_simulator_new(struct to_packet_paths *routes,
						    const struct to_delays *delays,
						    const struct to_packet_options *options,
						    struct to_error *err)
{
	struct to_packet_simulator *s = calloc(1, sizeof(*s));

	if (!s) {
		to_error_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	s->handlers = simulator_handlers;
	s->routes = routes;
	s->network = routes->network;
	s->options = *options;
	s->delays = *delays;
	s->relay_latency = round(delays->relay * PACKET_SECOND);
	s->relay_cost = round(options->relay_cost * PACKET_SECOND);
	s->step = round(delays->step * PACKET_SECOND);
	s->patience = options->timeout * PACKET_SECOND;
	if (!simulator_init(s, err))
		return s;
	to_packet_simulator_free(s);
	return NULL;
}

void to_packet_simulator_watch(struct to_packet_simulator *s, int (*watch)(void *data, double done),
			       void *data)
{
	s->watch = watch;
	s->watch_data = data;
}

void to_packet_simulator_slow(struct to_packet_simulator *s, const double *factors)
{
	s->slow = factors;
}

uint32_t to_packet_simulator_capture(struct to_packet_simulator *s, uint32_t from, uint32_t to,
				     FILE *file, const uint32_t *addresses)
{
	uint32_t found = 0;

	s->capture = (struct packet_capture){ file, addresses };
	for (uint32_t i = 0; i < s->network->n_links; i++) {
		const bool meant = s->ports[i].from == from && s->ports[i].to == to;

		s->ports[i].captured = file && meant;
		found += meant;
	}
	if (file)
		to_packet_capture_begin(file);
	return found;
}

/* Put the messages of @task into s->scratch. */
static int simulator_messages(struct to_packet_simulator *s, const struct to_task *task)
{
	const struct to_taskgraph *g = s->iteration.tasks;

	to_packet_messages_clear(&s->scratch);
	if (task->kind == TO_TASK_ALLREDUCE)
		return task->n < 2 || !task->bytes ? 0 :
		       s->routes->ops->messages(s->routes, g->members + task->first, task->n,
						task->bytes, &s->scratch, s->err);
	for (uint32_t i = 0; i < task->n; i++) {
		const uint32_t t = task->first + i;

		s->result.simulation.transfer_finish[t] = s->now * 1e-12;
		if (g->transfers[t].src != g->transfers[t].dst && g->transfers[t].bytes)
			to_packet_messages_transfer(&s->scratch, &g->transfers[t], t);
	}
	return s->scratch.failed ? to_error_set(s->err, -ENOMEM, "out of memory") : 0;
}

static int simulator_begin(void *data, uint32_t t)
{
	struct to_packet_simulator *s = data;
	const struct to_task *task = &s->iteration.tasks->tasks[t];
	int ret;

	if (task->kind == TO_TASK_COMPUTE) {
		const double seconds = task->seconds * (s->slow ? s->slow[task->server] : 1);

		packet_schedule(s, s->now + (uint64_t)round(seconds * PACKET_SECOND),
				PACKET_COMPUTED, t);
		return 0;
	}
	ret = simulator_messages(s, task);
	s->open[t] = s->scratch.n;
	if (!ret && s->scratch.n)
		ret = to_packet_leg_start(s, t);
	if (!ret && !s->scratch.n)
		s->done[s->n_done++] = t;
	return ret;
}

/* Tasks that ended let others begin. */
static int simulator_finish(struct to_packet_simulator *s)
{
	int ret = 0;

	/* what sends nothing ends as it begins */
	while (!ret && s->n_done)
		ret = to_iteration_finish(&s->iteration, s->done[--s->n_done], s->now * 1e-12);
	return ret ? ret : to_iteration_dispatch(&s->iteration, s->now * 1e-12);
}

static int simulator_look(struct to_packet_simulator *s)
{
	uint64_t packets = 1, arrived = 0;

	for (uint32_t i = 0; i < s->n_flows; i++) {
		packets += s->flows[i].n_packets;
		arrived += s->flows[i].expected;
	}
	if (s->watch && s->watch(s->watch_data, (double)arrived / packets))
		return to_error_set(s->err, -EINTR, "interrupted");
	if (s->calendar.failed || s->store.failed)
		return to_error_set(s->err, -ENOMEM, "out of memory");
	return 0;
}

static int simulator_run(struct to_packet_simulator *s)
{
	const uint32_t n = s->iteration.tasks->n_tasks;
	int ret = to_iteration_start(&s->iteration);
	uint32_t what;

	if (!ret)
		ret = simulator_finish(s);
	while (!ret && s->iteration.finished < n) {
		if (s->result.simulation.events++ % SIMULATOR_WATCH == 0) {
			ret = simulator_look(s);
			if (ret)
				break;
		}
		if (!to_packet_calendar_take(&s->calendar, &s->now, &what))
			return s->calendar.failed || s->store.failed ?
			       to_error_set(s->err, -ENOMEM, "out of memory") :
			       to_packet_deadlock_tell(s);
		packet_happen(s, what >> PACKET_EVENT_SHIFT, what & PACKET_INDEX_MAX);
		if (s->now >= s->look_at && s->fast_forward)
			ret = to_packet_fast_forward_look(s);
		if (!ret && s->n_done)
			ret = simulator_finish(s);
	}
	return ret;
}

static int simulator_reset(struct to_packet_simulator *s, const struct to_taskgraph *tasks)
{
	struct to_simulation *r = &s->result.simulation;
	struct to_packets clear = { .links = s->result.links };

	to_packet_calendar_clear(&s->calendar);
	to_packet_store_clear(&s->store);
	s->n_flows = s->n_legs = s->n_paths = s->n_edges = s->n_done = 0;
	s->now = s->changes = 0;
	s->look_at = UINT64_MAX;
	if (s->fast_forward)
		to_packet_fast_forward_reset(s);
	s->random = s->options.seed;
	for (uint32_t i = 0; i < s->network->n_links; i++) {
		struct packet_port *port = &s->ports[i];

		port->control.first = port->data.first = port->ready.first = PACKET_NONE;
		port->free_at = port->queued = port->held = port->softirq = 0;
		port->queued_packets = port->ring = 0;
		port->turn = port->waits = port->paused = port->stopped = false;
		memset(&port->count, 0, sizeof(port->count));
	}
	for (uint32_t i = 0; i < s->network->n_pcie; i++)
		s->pcie[i].free_at = 0;
	free(s->open);
	free(s->done);
	free(r->transfer_finish);
	free(r->critical);
	s->open = calloc(tasks->n_tasks + 1, sizeof(*s->open));
	s->done = calloc(tasks->n_tasks + 1, sizeof(*s->done));
	clear.simulation.link_bytes = r->link_bytes;
	clear.simulation.link_busy = r->link_busy;
	clear.simulation.transfer_finish = calloc(tasks->n_transfers + 1, sizeof(double));
	clear.simulation.critical = calloc(tasks->n_tasks + 1, sizeof(uint32_t));
	s->result = clear;
	s->iteration.begin = simulator_begin;
	s->iteration.data = s;
	if (!s->open || !s->done || !r->transfer_finish || !r->critical)
		return -ENOMEM;
	return to_iteration_reset(&s->iteration, tasks);
}

static void simulator_conclude(struct to_packet_simulator *s)
{
	struct to_simulation *r = &s->result.simulation;

	for (uint32_t i = 0; i < s->network->n_links; i++) {
		struct packet_port *port = &s->ports[i];

		if (port->paused)
			port->count.paused += s->now - port->paused_since;
		s->result.links[i] = port->count;
		r->link_bytes[i] = port->count.bytes;
		r->link_busy[i] = port->count.busy * 1e-12;
	}
	s->result.queued = s->store.used;
	s->result.most = s->store.used_max;
	r->start = s->iteration.start;
	r->finish = s->iteration.finish;
	r->n_critical = to_iteration_critical(&s->iteration, r->critical, r->critical_time);
	r->time = r->n_critical ? r->finish[r->critical[r->n_critical - 1]] : 0;
}

const struct to_packets *to_packet_simulate(struct to_packet_simulator *s,
					    const struct to_taskgraph *tasks, struct to_error *err)
{
	int ret;

	if (tasks->n_servers != s->network->n_servers) {
		to_error_set(err, -EINVAL, "the tasks are for %u servers, the network has %u",
			     tasks->n_servers, s->network->n_servers);
		return NULL;
	}
	s->err = err;
	ret = simulator_reset(s, tasks);
	if (ret)
		to_error_set(err, ret, "out of memory");
	else
		ret = simulator_run(s);
	if (ret)
		return NULL;
	simulator_conclude(s);
	return &s->result;
}
