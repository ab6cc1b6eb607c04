// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "kernel/desired_state.h"
#include "kernel/diff.h"
#include "kernel/resolve.h"

#define RECORD_TRIES 8	/* to start while nothing passes */

/**
 * struct to_recorder - a recording under way
 * @plan: that of @config, held
 * @ports: interfaces of the plan's ports
 * @on_tx: the port is a device on what it transmits through, which counts for both
 * @counters: of what the ports transmit by, and after these of those by which they
 *	receive, where these count apart
 * @before: their counters when the current sample started
 * @early: continuity checks that programs saw and counters did not count yet
 * @start_ns, @mono_ns: when that was
 */
struct to_recorder {
	struct to_record_config config;
	struct to_plan *plan;
	struct to_netlink rt;
	struct to_genl genl;
	uint32_t device;
	struct to_traffic_port ports[TO_PORTS_MAX];
	bool on_tx[TO_PORTS_MAX];
	struct to_counters *counters;
	struct to_tm_counters before[TO_PORTS_MAX], early[TO_PORTS_MAX];
	uint64_t start_ns, mono_ns;
	struct to_traffic_programs *traffic;
	struct to_tm *tm;
	bool connected[2];	/* rt, genl */
	struct to_error *err;
};

/* Until the next multiple of the interval; false when told to stop. */
static bool record_wait_multiple(const struct to_recorder *r)
{
	const uint64_t interval = r->config.interval_ns;
	uint64_t at = (to_clock_realtime_ns() / interval + 1) * interval;

	do {
		if (*r->config.stop)
			return false;
	} while (!to_clock_sleep_until(at));
	return true;
}

/* The ports as this host has them. */
static int record_find_interfaces(struct to_recorder *r)
{
	const struct to_record_config *config = &r->config;
	const struct to_server *self = &config->plan->cluster->servers[config->server];
	struct to_interfaces found;
	int ret;

	ret = to_resolve_nics(&r->rt, config->device, &found, r->err);
	ret = ret ? ret : to_resolve_ports(&found, config->plan, config->server, r->err);
	for (unsigned int p = 0; !ret && p < self->n_ports; p++) {
		const struct to_nic *nic = to_rtnl_nic_by_index(found.nics, found.n_nics,
								found.port[p]);

		r->ports[p] = (struct to_traffic_port){ found.port[p], found.transmit[p] };
		r->on_tx[p] = nic && nic->lower == found.transmit[p];
	}
	r->device = found.device;
	to_interfaces_free(&found);
	if (!ret && !r->device)
		ret = to_error_set(r->err, -ENODEV, "there is no device %s: apply the plan first",
				   config->device);
	return ret;
}

/* The active table must be the plan's; gives its generation. */
static int record_check_table(struct to_recorder *r)
{
	const struct to_record_config *config = &r->config;
	struct to_kernel_table want = {}, have = {};
	uint32_t ifindex[TO_PORTS_MAX];
	struct to_diff_count differ;
	struct to_device device;
	int ret;

	if (config->generation) {
		ret = to_genl_device(&r->genl, r->device, &device, r->err);
		r->tm->generation = device.generation;
		if (ret || device.generation == config->generation)
			return ret;
	}
	for (unsigned int p = 0; p < r->tm->n_ports; p++)
		ifindex[p] = r->ports[p].ifindex;
	ret = to_desired_state_table(config->plan, config->server, ifindex, &want, r->err);
	ret = ret ? ret : to_genl_table(&r->genl, r->device, false, &have, r->err);
	ret = ret ? ret : to_diff_tables(&have, &want, &differ, NULL, NULL, NULL, r->err);
	if (!ret && to_diff_any(&differ))
		ret = to_error_set(r->err, -ESTALE,
				   "the active table of %s is not that of %s in this plan: toctl apply --dry-run shows how they differ",
				   config->device, r->tm->servers[config->server]);
	r->tm->generation = have.generation;
	to_kernel_table_free(&want);
	to_kernel_table_free(&have);
	return ret;
}

static void record_name_end(const struct to_cluster *cluster, struct to_tm_end *end,
			    struct to_port_ref at)
{
	end->server = at.server;
	strcpy(end->port, cluster->servers[at.server].ports[at.port].name);
}

/* The head of the recording: names, and who is at the other end of the ports. */
static int record_make_head(struct to_recorder *r)
{
	const struct to_record_config *config = &r->config;
	const struct to_cluster *cluster = config->plan->cluster;
	const bool duplex = cluster->link_mode == TO_LINKS_DUPLEX;
	const struct to_server *self = &cluster->servers[config->server];
	struct to_tm *tm = to_tm_new(cluster->n_servers);

	r->tm = tm;
	if (!tm)
		return to_error_set(r->err, -ENOMEM, "out of memory");
	tm->ports = calloc(self->n_ports + 1, sizeof(*tm->ports));
	if (!tm->ports)
		return to_error_set(r->err, -ENOMEM, "out of memory");
	strcpy(tm->job, config->plan->demand->name);
	tm->interval_ns = config->interval_ns;
	tm->server = config->server;
	tm->n_ports = self->n_ports;
	for (unsigned int s = 0; s < cluster->n_servers; s++)
		strcpy(tm->servers[s], cluster->servers[s].name);
	for (unsigned int p = 0; p < self->n_ports; p++) {
		strcpy(tm->ports[p].name, self->ports[p].name);
		tm->ports[p].to.server = TO_TM_NONE;
		tm->ports[p].from.server = TO_TM_NONE;
		if (self->ports[p].packet_switch)
			strcpy(tm->ports[p].packet_switch,
			       to_port_packet_switch(cluster, &self->ports[p])->name);
	}
	for (unsigned int l = 0; l < cluster->n_links; l++) {
		const struct to_link *link = &cluster->links[l];

		if (cluster->servers[link->a.server].ports[link->a.port].packet_switch)
			continue;	/* where a port has many ends */
		if (link->a.server == config->server) {
			record_name_end(cluster, &tm->ports[link->a.port].to, link->b);
			if (duplex)
				record_name_end(cluster, &tm->ports[link->a.port].from, link->b);
		}
		if (link->b.server == config->server) {
			record_name_end(cluster, &tm->ports[link->b.port].from, link->a);
			if (duplex)
				record_name_end(cluster, &tm->ports[link->b.port].to, link->a);
		}
	}
	return 0;
}

/* The statistics of a NIC are of the wire, whoever a frame was for. */
static bool record_counts_apart(const struct to_recorder *r, unsigned int port)
{
	return !r->config.counter_names && !r->on_tx[port] &&
	       r->ports[port].tx_ifindex != r->ports[port].ifindex;
}

static int record_open_counters(struct to_recorder *r)
{
	uint32_t ifindex[2 * TO_PORTS_MAX];
	unsigned int n = 0;

	for (unsigned int p = 0; p < r->tm->n_ports; p++)
		ifindex[n++] = r->ports[p].tx_ifindex;
	for (unsigned int p = 0; p < r->tm->n_ports; p++)
		if (record_counts_apart(r, p))
			ifindex[n++] = r->ports[p].ifindex;
	if (to_counters_check(ifindex, r->tm->n_ports, r->config.counter_names, r->err))
		return -ENOTSUP;
	r->counters = to_counters_open(&r->rt, ifindex, n, r->config.counter_names, r->err);
	return r->counters ? 0 : -EIO;
}

static int record_read_counters(struct to_recorder *r, struct to_tm_counters *counters)
{
	struct to_tm_counters values[2 * TO_PORTS_MAX] = {};
	const struct to_tm_counters *apart = values + r->tm->n_ports;
	int ret = to_counters_read(r->counters, values, r->err);

	for (unsigned int p = 0; !ret && p < r->tm->n_ports; p++) {
		counters[p] = values[p];
		if (!record_counts_apart(r, p))
			continue;
		counters[p].rx_packets += apart->rx_packets;
		counters[p].rx_bytes += apart->rx_bytes;
		counters[p].tx_packets += apart->tx_packets;
		counters[p].tx_bytes += apart->tx_bytes;
		apart++;
	}
	return ret;
}

/* Statistics that went back, as when a NIC was reset, count as no traffic. */
static uint64_t record_grown(uint64_t before, uint64_t after)
{
	return after > before ? after - before : 0;
}

/* What was counted without continuity checks; those that it lacks are to be counted next. */
static uint64_t record_without(uint64_t counted, uint64_t checks, uint64_t *early)
{
	checks += *early;
	*early = checks > counted ? checks - counted : 0;
	return counted > checks ? counted - checks : 0;
}

/*
 * Matrices know no continuity checks: they are no traffic of servers, and ends that count
 * them at different times would have them taken for some.
 */
static void record_leave_out(struct to_tm_counters *counted, const struct to_tm_counters *checks,
			     struct to_tm_counters *early)
{
	counted->rx_packets = record_without(counted->rx_packets, checks->rx_packets,
					     &early->rx_packets);
	counted->rx_bytes = record_without(counted->rx_bytes, checks->rx_bytes, &early->rx_bytes);
	counted->tx_packets = record_without(counted->tx_packets, checks->tx_packets,
					     &early->tx_packets);
	counted->tx_bytes = record_without(counted->tx_bytes, checks->tx_bytes, &early->tx_bytes);
}

/*
 * End a sample and start the next. The counters are read right before the programs turn
 * to the other map: nothing stands between that does not have to.
 */
static int record_cut(struct to_recorder *r, struct to_tm_sample *sample)
{
	struct to_tm_counters after[TO_PORTS_MAX], checks[TO_PORTS_MAX] = {};
	uint64_t end_ns, mono_ns, begun_ns;
	int ret;

	if (to_clock_realtime_ns() < r->start_ns)
		return to_error_set(r->err, -ESTALE,
				    "the clock was set back during the recording; it ends after %u samples",
				    r->tm->n_samples - 1);
	begun_ns = to_clock_monotonic_ns();
	ret = record_read_counters(r, after);
	if (ret)
		return ret;
	end_ns = to_clock_realtime_ns();
	mono_ns = to_clock_monotonic_ns();
	ret = to_traffic_programs_read(r->traffic, sample, checks, r->err);
	if (ret)
		return ret;
	sample->spread_ns = mono_ns - begun_ns;
	sample->start_ns = r->start_ns;
	sample->end_ns = end_ns;
	sample->elapsed_ns = mono_ns - r->mono_ns;
	for (unsigned int p = 0; p < r->tm->n_ports; p++) {
		const struct to_tm_counters *b = &r->before[p], *a = &after[p];

		sample->ports[p] = (struct to_tm_counters){
			.rx_packets = record_grown(b->rx_packets, a->rx_packets),
			.rx_bytes = record_grown(b->rx_bytes, a->rx_bytes),
			.tx_packets = record_grown(b->tx_packets, a->tx_packets),
			.tx_bytes = record_grown(b->tx_bytes, a->tx_bytes),
		};
		record_leave_out(&sample->ports[p], &checks[p], &r->early[p]);
		r->before[p] = *a;
	}
	r->start_ns = end_ns;
	r->mono_ns = mono_ns;
	return 0;
}

static struct to_tm_sample *record_new_sample(struct to_recorder *r)
{
	struct to_tm_sample *sample = to_tm_add_sample(r->tm);

	if (sample)
		sample->ports = calloc(r->tm->n_ports + 1, sizeof(*sample->ports));
	return sample;
}

void to_recorder_drop(struct to_recorder *r)
{
	struct to_tm_sample *sample = &r->tm->samples[--r->tm->n_samples];

	free(sample->flows);
	free(sample->ports);
}

static int record_check_generation(struct to_recorder *r)
{
	struct to_device device;
	int ret;

	ret = to_genl_device(&r->genl, r->device, &device, r->err);
	if (!ret && device.generation != r->tm->generation)
		ret = to_error_set(r->err, -ESTALE,
				   "generation %llu of the table became active during the recording of %llu; it ends after %u samples",
				   (unsigned long long)device.generation,
				   (unsigned long long)r->tm->generation,
				   r->tm->n_samples - 1);
	return ret;
}

int to_recorder_cut(struct to_recorder *r, struct to_error *err)
{
	struct to_tm_sample *sample = record_new_sample(r);
	int ret = 0;

	r->err = err;
	if (!sample)
		return to_error_set(err, -ENOMEM, "out of memory");
	if (!sample->ports)
		ret = to_error_set(err, -ENOMEM, "out of memory");
	ret = ret ? ret : record_cut(r, sample);
	ret = ret ? ret : record_check_generation(r);
	if (ret)
		to_recorder_drop(r);
	return ret;
}

/*
 * Start the first sample. A frame that passes meanwhile is seen by the programs and not
 * counted by the NIC, as is one at the end of the last sample; the other way round it would
 * be taken for one that bypassed the kernel. Better is a moment without any.
 */
static int record_start(struct to_recorder *r)
{
	const size_t size = r->tm->n_ports * sizeof(*r->before);
	struct to_tm_counters before[TO_PORTS_MAX];
	unsigned int tries = 0;
	int ret;

	do {
		ret = to_recorder_cut(r, r->err);
		if (ret)
			return ret;
		to_recorder_drop(r);
		memcpy(before, r->before, size);
		ret = record_read_counters(r, r->before);
	} while (!ret && memcmp(before, r->before, size) && ++tries < RECORD_TRIES);
	memset(r->early, 0, sizeof(r->early));
	return ret;
}

struct to_tm *to_recorder_tm(const struct to_recorder *r)
{
	return r->tm;
}

struct to_recorder *to_recorder_open(const struct to_record_config *config,
				     struct to_error *err)
{
	struct to_recorder *r = calloc(1, sizeof(*r));
	struct to_traffic_config traffic = {
		.source = config->source, .entries = config->entries,
		.plan = config->plan, .server = config->server,
	};
	int ret;

	if (!r) {
		to_error_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	r->config = *config;
	r->plan = to_plan_hold(config->plan);
	r->err = err;
	ret = record_make_head(r);
	if (!ret) {
		ret = to_netlink_open(&r->rt, NETLINK_ROUTE, err);
		r->connected[0] = !ret;
	}
	ret = ret ? ret : record_find_interfaces(r);
	if (!ret) {
		ret = to_genl_open(&r->genl, err);
		r->connected[1] = !ret;
	}
	ret = ret ? ret : record_check_table(r);
	traffic.device = r->device;
	traffic.ports = r->ports;
	if (!ret) {
		r->traffic = to_traffic_programs_open(&traffic, err);
		ret = r->traffic ? 0 : -EIO;
	}
	ret = ret ? ret : record_open_counters(r);
	/* What came before now is in no sample. */
	ret = ret ? ret : record_start(r);
	if (ret) {
		to_recorder_close(r);
		return NULL;
	}
	return r;
}

void to_recorder_close(struct to_recorder *r)
{
	if (!r)
		return;
	to_traffic_programs_close(r->traffic);
	to_counters_close(r->counters);
	if (r->connected[1])
		to_genl_close(&r->genl);
	if (r->connected[0])
		to_netlink_close(&r->rt);
	to_tm_free(r->tm);
	to_plan_free(r->plan);
	free(r);
}

int to_recorder_follow(struct to_recorder *r, const struct to_plan *plan, uint64_t generation,
		       struct to_error *err)
{
	struct to_traffic_port ports[TO_PORTS_MAX];
	const uint32_t device = r->device;
	int ret;

	memcpy(ports, r->ports, sizeof(ports));
	to_tm_free(r->tm);
	r->tm = NULL;
	to_plan_free(r->plan);
	r->plan = to_plan_hold(plan);
	r->config.plan = plan;
	r->config.generation = generation;
	r->err = err;
	ret = to_traffic_programs_follow(r->traffic, plan, err);
	ret = ret ? ret : record_make_head(r);
	ret = ret ? ret : record_find_interfaces(r);
	if (!ret && (r->device != device || memcmp(ports, r->ports, sizeof(ports))))
		ret = to_error_set(err, -EOPNOTSUPP, "the ports of %s are other interfaces now",
				   r->config.device);
	ret = ret ? ret : record_check_table(r);
	return ret ? ret : record_start(r);
}

static int record_take_samples(struct to_recorder *r, struct to_error *err)
{
	bool go_on;
	int ret;

	/* What came before the first multiple of the interval is no sample. */
	go_on = record_wait_multiple(r);
	ret = record_start(r);
	if (ret)
		return ret;
	if (r->config.started)
		r->config.started(to_traffic_programs_source(r->traffic), r->config.arg);

	/* A stop ends the sample under way early. */
	while (!ret && go_on &&
	       (!r->config.count || r->tm->n_samples < r->config.count)) {
		go_on = record_wait_multiple(r);
		ret = to_recorder_cut(r, err);
	}
	return ret;
}

int to_record(const struct to_record_config *config, struct to_tm **tm,
	      struct to_error *err)
{
	struct to_recorder *r = to_recorder_open(config, err);
	int ret;

	*tm = NULL;
	if (!r)
		return -EIO;
	ret = record_take_samples(r, err);
	*tm = r->tm;
	r->tm = NULL;
	to_recorder_close(r);
	return ret;
}
