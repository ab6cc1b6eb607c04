// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/metrics.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "kernel/rtnl.h"

/* One of the topoopt device's or of a port's figures. */
enum source { SOURCE_COUNTER, SOURCE_LINK, SOURCE_LIVE, SOURCE_GENERATION, SOURCE_ROUTES,
	      SOURCE_GROUPS, SOURCE_STAGED, SOURCE_MEMORY, SOURCE_UP, SOURCE_TRANSIT,
	      SOURCE_LOCAL, SOURCE_REASON, SOURCE_RECEIVED, SOURCE_MISSING, SOURCE_VERSION };

enum scope { SCOPE_DEVICE, SCOPE_PORT, SCOPE_PEER, SCOPE_TOOL };

/**
 * struct family - metric family
 * @name: without _total, which the samples of counters end in
 * @counter: TO_COUNTER() of SOURCE_COUNTER; enum link_counter of SOURCE_LINK
 * @drops: all counters of drops, told apart by the label "reason"
 */
struct family {
	const char *name, *unit, *help;
	enum scope scope;
	enum source source;
	unsigned int counter;
	bool drops;
};

/* What a NIC counts on a port's link. */
enum link_counter { LINK_RECEIVED, LINK_SENT, LINK_MISSED, LINK_DAMAGED, LINK_CARRIER };

#define LINK(name, help, counter) \
	{ "topoopt_port_link_" name, NULL, help, SCOPE_PORT, SOURCE_LINK, counter, false }

#define COUNTERS(scope, prefix, where) \
	{ prefix "_relay_receive_bytes", "bytes", "Frames that arrived " where " and were relayed.", \
	  scope, SOURCE_COUNTER, TO_COUNTER(RELAY_RX_BYTES), 0 }, \
	{ prefix "_relay_receive_packets", NULL, "Packets that arrived " where " and were relayed.", \
	  scope, SOURCE_COUNTER, TO_COUNTER(RELAY_RX_PACKETS), 0 }, \
	{ prefix "_relay_xdp_packets", NULL, "Packets of these that XDP relayed in the driver.", \
	  scope, SOURCE_COUNTER, TO_COUNTER(RELAY_XDP_PACKETS), 0 }, \
	{ prefix "_relay_xdp_generic_packets", NULL, "Packets of these that generic XDP relayed.", \
	  scope, SOURCE_COUNTER, TO_COUNTER(RELAY_XDP_GENERIC_PACKETS), 0 }, \
	{ prefix "_transmit_bytes", "bytes", "Frames relayed or originated, and sent " where ".", \
	  scope, SOURCE_COUNTER, TO_COUNTER(RELAY_TX_BYTES), 0 }, \
	{ prefix "_transmit_packets", NULL, "Packets relayed or originated, and sent " where ".", \
	  scope, SOURCE_COUNTER, TO_COUNTER(RELAY_TX_PACKETS), 0 }, \
	{ prefix "_local_receive_bytes", "bytes", "Frames that arrived " where " for this server.", \
	  scope, SOURCE_COUNTER, TO_COUNTER(LOCAL_BYTES), 0 }, \
	{ prefix "_local_receive_packets", NULL, "Packets that arrived " where " for this server.", \
	  scope, SOURCE_COUNTER, TO_COUNTER(LOCAL_PACKETS), 0 }, \
	{ prefix "_miss_packets", NULL, "Packets without a route, left to the stack.", \
	  scope, SOURCE_COUNTER, TO_COUNTER(MISS_PACKETS), 0 }, \
	{ prefix "_backup_packets", NULL, "Packets sent through a backup next hop.", \
	  scope, SOURCE_COUNTER, TO_COUNTER(BACKUP_PACKETS), 0 }, \
	{ prefix "_alternate_packets", NULL, \
	  "Packets that a failure turned back, sent through an alternate next hop.", \
	  scope, SOURCE_COUNTER, TO_COUNTER(ALTERNATE_PACKETS), 0 }, \
	{ prefix "_checks_sent", NULL, "Continuity checks sent " where ".", \
	  scope, SOURCE_COUNTER, TO_COUNTER(CHECK_SENT), 0 }, \
	{ prefix "_checks_received", NULL, \
	  "Continuity checks that arrived " where " from the planned neighbour.", \
	  scope, SOURCE_COUNTER, TO_COUNTER(CHECK_RECEIVED), 0 }, \
	{ prefix "_checks_missing", NULL, \
	  "Continuity checks that the neighbour sent and that did not arrive.", \
	  scope, SOURCE_COUNTER, TO_COUNTER(CHECK_MISSING), 0 }, \
	{ prefix "_checks_refused", NULL, \
	  "Continuity checks that were malformed or wrongly authenticated.", \
	  scope, SOURCE_COUNTER, TO_COUNTER(CHECK_REFUSED), 0 }, \
	{ prefix "_dropped_packets", NULL, "Packets that could not be relayed or sent.", \
	  scope, SOURCE_COUNTER, 0, true }

static const struct family families[] = {
	COUNTERS(SCOPE_PORT, "topoopt_port", "at the port"),
	{ "topoopt_port_live", NULL,
	  "Whether the port takes traffic: device and port are up, with light, and no neighbour is distrusted.",
	  SCOPE_PORT, SOURCE_LIVE, 0, 0 },
	{ "topoopt_peer_transit", NULL, "Whether the neighbour takes packets that it has to relay.",
	  SCOPE_PEER, SOURCE_TRANSIT, 0, 0 },
	{ "topoopt_peer_local", NULL, "Whether the neighbour takes packets for itself.",
	  SCOPE_PEER, SOURCE_LOCAL, 0, 0 },
	{ "topoopt_peer_reason", NULL, "Whether this is what checks say of the neighbour.",
	  SCOPE_PEER, SOURCE_REASON, 0, 0 },
	{ "topoopt_peer_checks_received", NULL, "Continuity checks that arrived of the neighbour.",
	  SCOPE_PEER, SOURCE_RECEIVED, 0, 0 },
	{ "topoopt_peer_checks_missing", NULL,
	  "Continuity checks that the neighbour sent and that did not arrive.",
	  SCOPE_PEER, SOURCE_MISSING, 0, 0 },
	LINK("receive_packets", "Packets that the NIC received, of all protocols.", LINK_RECEIVED),
	LINK("transmit_packets", "Packets that the NIC sent, of all protocols.", LINK_SENT),
	LINK("missed_packets", "Packets that arrived when the NIC had no buffer.", LINK_MISSED),
	LINK("damaged_packets", "Packets that arrived damaged.", LINK_DAMAGED),
	LINK("carrier_changes", "Times that the carrier went or came.", LINK_CARRIER),
	COUNTERS(SCOPE_DEVICE, "topoopt_device", "at present and past ports"),
	{ "topoopt_device_up", NULL, "Whether the device is up, and relays.",
	  SCOPE_DEVICE, SOURCE_UP, 0, 0 },
	{ "topoopt_device_generation", NULL, "Generation of the active table, 0 before the first.",
	  SCOPE_DEVICE, SOURCE_GENERATION, 0, 0 },
	{ "topoopt_device_routes", NULL, "Routes of the active table.",
	  SCOPE_DEVICE, SOURCE_ROUTES, 0, 0 },
	{ "topoopt_device_groups", NULL, "Next hop groups of the active table.",
	  SCOPE_DEVICE, SOURCE_GROUPS, 0, 0 },
	{ "topoopt_device_table_bytes", "bytes", "Kernel memory of the active table.",
	  SCOPE_DEVICE, SOURCE_MEMORY, 0, 0 },
	{ "topoopt_device_staged", NULL, "Whether a table is staged.",
	  SCOPE_DEVICE, SOURCE_STAGED, 0, 0 },
	{ "topoopt_toctl", NULL, "Version of toctl.", SCOPE_TOOL, SOURCE_VERSION, 0, 0 },
};

#define N_FAMILIES (sizeof(families) / sizeof(*families))

/* Everything of one sample but its value. */
struct labels {
	const char *device, *port, *server, *server_port, *reason, *version;
};

typedef void (*sample_fn)(const struct family *family, const struct labels *labels,
			  uint64_t value, void *arg);

static uint64_t metrics_device_value(const struct family *f, const struct to_metrics_device *d)
{
	switch (f->source) {
	case SOURCE_UP: return d->up;
	case SOURCE_GENERATION: return d->device.generation;
	case SOURCE_ROUTES: return d->device.routes;
	case SOURCE_GROUPS: return d->device.groups;
	case SOURCE_STAGED: return d->device.staged;
	case SOURCE_MEMORY: return d->device.memory;
	default: return 0;
	}
}

static uint64_t metrics_peer_value(const struct family *f, const struct to_peer *p)
{
	switch (f->source) {
	case SOURCE_TRANSIT: return p->transit;
	case SOURCE_LOCAL: return p->local;
	case SOURCE_RECEIVED: return p->received;
	case SOURCE_MISSING: return p->missing;
	default: return 0;
	}
}

static void metrics_each_of_peer(const struct family *f, const struct to_peer *p,
				 struct labels labels, sample_fn sample, void *arg)
{
	labels.port = p->port;
	labels.server = p->server;
	labels.server_port = p->server_port;
	if (f->source != SOURCE_REASON) {
		sample(f, &labels, metrics_peer_value(f, p), arg);
		return;
	}
	for (unsigned int i = 0; to_peer_reasons[i]; i++) {
		labels.reason = to_peer_reasons[i];
		sample(f, &labels, p->reason == i, arg);
	}
}

static uint64_t metrics_link_value(enum link_counter counter, const struct to_link_end *end)
{
	const struct to_link_packets *packets = end->has_phy ? &end->phy : &end->device;

	switch (counter) {
	case LINK_RECEIVED: return packets->rx;
	case LINK_SENT: return packets->tx;
	case LINK_MISSED: return end->missed;
	case LINK_DAMAGED: return end->errors;
	case LINK_CARRIER: return end->carrier_changes;
	}
	return 0;
}

static void metrics_each_counter(const struct family *f, const uint64_t *counters,
				 struct labels labels, sample_fn sample, void *arg)
{
	if (!f->drops) {
		sample(f, &labels, counters[f->counter], arg);
		return;
	}
	for (unsigned int i = 0; i < TO_COUNTERS; i++) {
		if (strncmp(to_genl_counter_names[i], "drop-", strlen("drop-")))
			continue;
		labels.reason = to_genl_counter_names[i] + strlen("drop-");
		sample(f, &labels, counters[i], arg);
	}
}

static void metrics_each_of_device(const struct family *f, const struct to_metrics_device *d,
				   sample_fn sample, void *arg)
{
	struct labels labels = { .device = d->device.name };

	if (f->scope == SCOPE_DEVICE) {
		if (f->source == SOURCE_COUNTER)
			metrics_each_counter(f, d->device.counters, labels, sample, arg);
		else
			sample(f, &labels, metrics_device_value(f, d), arg);
		return;
	}
	if (f->scope == SCOPE_PEER) {
		for (unsigned int p = 0; p < d->n_peers; p++)
			metrics_each_of_peer(f, &d->peers[p], labels, sample, arg);
		return;
	}
	for (unsigned int p = 0; p < d->n_ports; p++) {
		labels.port = d->ports[p].name;
		if (f->source == SOURCE_COUNTER)
			metrics_each_counter(f, d->ports[p].counters, labels, sample, arg);
		else if (f->source == SOURCE_LINK)
			sample(f, &labels, metrics_link_value(f->counter, &d->links[p]), arg);
		else
			sample(f, &labels, d->up && d->ports[p].live, arg);
	}
}

static void metrics_each_sample(const struct to_metrics *m, const struct family *f,
				sample_fn sample, void *arg)
{
	struct labels tool = { .version = m->version };

	if (f->scope == SCOPE_TOOL) {
		sample(f, &tool, 1, arg);
		return;
	}
	for (unsigned int d = 0; d < m->n_devices; d++)
		metrics_each_of_device(f, &m->devices[d], sample, arg);
}

static bool metrics_is_counter(const struct family *f)
{
	return f->source == SOURCE_COUNTER || f->source == SOURCE_LINK ||
	       f->source == SOURCE_RECEIVED || f->source == SOURCE_MISSING;
}

/* What the names of a family's samples end in. */
static const char *metrics_suffix(const struct family *f)
{
	return metrics_is_counter(f) ? "_total" :
	       f->source == SOURCE_VERSION ? "_info" : "";
}

static const char *metrics_type(const struct family *f)
{
	return metrics_is_counter(f) ? "counter" :
	       f->source == SOURCE_VERSION ? "info" : "gauge";
}

static void metrics_print_label(FILE *out, const char *name, const char *value, char *before)
{
	char text[128];

	if (!value)
		return;
	fprintf(out, "%c%s=\"", *before, name);
	for (const char *c = to_text_clean(text, sizeof(text), value); *c; c++) {
		if (*c == '"' || *c == '\\')
			putc('\\', out);
		putc(*c, out);
	}
	putc('"', out);
	*before = ',';
}

static void metrics_print_sample(const struct family *f, const struct labels *labels,
				 uint64_t value, void *arg)
{
	FILE *out = arg;
	char before = '{';

	fprintf(out, "%s%s", f->name, metrics_suffix(f));
	metrics_print_label(out, "device", labels->device, &before);
	metrics_print_label(out, "port", labels->port, &before);
	metrics_print_label(out, "server", labels->server, &before);
	metrics_print_label(out, "server_port", labels->server_port, &before);
	metrics_print_label(out, "reason", labels->reason, &before);
	metrics_print_label(out, "version", labels->version, &before);
	fprintf(out, "} %" PRIu64 "\n", value);
}

void to_metrics_print(const struct to_metrics *metrics,
		      enum to_metrics_format format, FILE *out)
{
	bool open = format == TO_METRICS_OPENMETRICS;

	for (unsigned int i = 0; i < N_FAMILIES; i++) {
		const struct family *f = &families[i];
		/* the older format names samples, and has no info */
		const char *end = open ? "" : metrics_suffix(f);
		const char *what = open || f->source != SOURCE_VERSION ? metrics_type(f) : "gauge";

		fprintf(out, "# TYPE %s%s %s\n", f->name, end, what);
		if (open && f->unit)
			fprintf(out, "# UNIT %s %s\n", f->name, f->unit);
		fprintf(out, "# HELP %s%s %s\n", f->name, end, f->help);
		metrics_each_sample(metrics, f, metrics_print_sample, out);
	}
	if (open)
		fprintf(out, "# EOF\n");
}

static void metrics_json_sample(const struct family *f, const struct labels *labels,
				uint64_t value, void *arg)
{
	(void)f;
	json_array_append_new(arg, json_pack("{s:s*, s:s*, s:s*, s:s*, s:s*, s:s*, s:I}",
			      "device", labels->device, "port", labels->port,
			      "server", labels->server, "server_port", labels->server_port,
			      "reason", labels->reason, "version", labels->version,
			      "value", (json_int_t)value));
}

json_t *to_metrics_json(const struct to_metrics *metrics)
{
	json_t *all = json_array();

	for (unsigned int i = 0; i < N_FAMILIES; i++) {
		const struct family *f = &families[i];
		json_t *samples = json_array();

		metrics_each_sample(metrics, f, metrics_json_sample, samples);
		json_array_append_new(all, json_pack("{s:s, s:s, s:s*, s:s, s:o}",
				      "name", f->name, "type", metrics_type(f), "unit", f->unit,
				      "help", f->help, "samples", samples));
	}
	return all;
}

void to_metrics_free(struct to_metrics *metrics)
{
	for (unsigned int i = 0; i < metrics->n_devices; i++) {
		free(metrics->devices[i].ports);
		free(metrics->devices[i].peers);
		free(metrics->devices[i].links);
	}
	free(metrics->devices);
}

static int metrics_read_links(struct to_netlink *rt, struct to_metrics_device *d,
			      struct to_error *err)
{
	struct to_link_ifindex *ifindex = calloc(d->n_ports + 1, sizeof(*ifindex));
	int ret = 0;

	d->links = calloc(d->n_ports + 1, sizeof(*d->links));
	if (!ifindex || !d->links)
		ret = to_error_set(err, -ENOMEM, "out of memory");
	for (unsigned int p = 0; !ret && p < d->n_ports; p++)
		ifindex[p] = (struct to_link_ifindex){ d->ports[p].ifindex,
						       d->ports[p].tx_ifindex };
	ret = ret ? ret : to_link_counters_read(rt, ifindex, d->n_ports, d->links, err);
	free(ifindex);
	return ret;
}

static int metrics_read_device(struct to_genl *genl, struct to_netlink *rt, uint32_t ifindex,
			       struct to_metrics_device *d, struct to_error *err)
{
	int ret = to_genl_device(genl, ifindex, &d->device, err);

	ret = ret ? ret : to_genl_ports(genl, ifindex, &d->ports, &d->n_ports, err);
	ret = ret ? ret : to_peers_get(genl, ifindex, &d->peers, &d->n_peers, err);
	ret = ret ? ret : metrics_read_links(rt, d, err);
	if (ret) {
		free(d->ports);
		free(d->peers);
		free(d->links);
		*d = (struct to_metrics_device){};
	}
	return ret;
}

static int metrics_read_devices(struct to_metrics *m, struct to_netlink *rt,
				const struct to_nic *nics, unsigned int n, const char *device,
				struct to_error *err)
{
	struct to_genl genl;
	int ret;

	ret = to_genl_open(&genl, err);
	if (ret)
		return ret;
	for (unsigned int i = 0; !ret && i < n; i++) {
		if (strcmp(nics[i].kind, "topoopt") ||
		    (device && strcmp(nics[i].name, device)))
			continue;
		m->devices[m->n_devices].up = nics[i].flags & IFF_UP;
		ret = metrics_read_device(&genl, rt, nics[i].ifindex, &m->devices[m->n_devices],
					  err);
		/* it may have gone since */
		if (ret == -ENODEV)
			ret = 0;
		else if (!ret)
			m->n_devices++;
	}
	to_genl_close(&genl);
	if (!ret && device && !m->n_devices)
		ret = to_error_set(err, -ENODEV, "there is no topoopt device %s", device);
	return ret;
}

int to_metrics_read(struct to_metrics *metrics, const char *device,
		    struct to_error *err)
{
	struct to_nic *nics = NULL;
	struct to_netlink rt;
	unsigned int n;
	int ret;

	ret = to_netlink_open(&rt, NETLINK_ROUTE, err);
	if (ret)
		return ret;
	ret = to_rtnl_nics(&rt, &nics, &n, err);
	if (ret) {
		to_netlink_close(&rt);
		return ret;
	}
	metrics->n_devices = 0;
	metrics->devices = calloc(n + 1, sizeof(*metrics->devices));
	ret = metrics->devices ? metrics_read_devices(metrics, &rt, nics, n, device, err) :
	      to_error_set(err, -ENOMEM, "out of memory");
	to_netlink_close(&rt);
	free(nics);
	if (ret)
		to_metrics_free(metrics);
	return ret;
}
