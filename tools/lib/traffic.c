// SPDX-License-Identifier: GPL-2.0-or-later
#include "traffic.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/topoopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../bpf/traffic.h"
#include "traffic.skel.h"
#include "traffic_tc.skel.h"

#define BATCH 1024

/* enum bpf_attach_type of newer headers than Debian 12's. */
#define TCX_INGRESS 46
#define TCX_EGRESS 47

/* Place of the filters on a clsact qdisc: a later run replaces a leftover. */
#define TC_PRIORITY 29807
#define TC_HANDLE 1

/* tc programs on one interface, by link or (@link < 0) by filter. */
struct attachment {
	int link;
	uint32_t ifindex;
	enum bpf_tc_attach_point point;
	bool owns_qdisc;
};

/**
 * struct to_traffic - programs that count
 * @epoch: map that holds the map being counted into
 * @map: the two that take turns, @current is in @epoch
 * @lost, @missed: of earlier epochs
 * @keys, @values: of a batch; a value per possible CPU
 */
struct to_traffic {
	struct to_traffic_config config;
	struct to_traffic_port *ports;
	const char *source;
	struct traffic_bpf *tracepoint;
	struct traffic_tc_bpf *tc;
	struct bpf_link *link;
	struct attachment *attachments;
	unsigned int n_attachments;
	int epoch, lost_map;
	int map[2], current;
	int n_cpus;
	struct traffic_value lost;
	uint64_t missed;
	struct traffic_key *keys;
	struct traffic_value *values;
};

/* libbpf's first complaint about a load, for the error message. */
static __thread char complaint[256];

static int keep_complaint(enum libbpf_print_level level, const char *format,
			  va_list args)
{
	if (level == LIBBPF_WARN && !complaint[0]) {
		vsnprintf(complaint, sizeof(complaint), format, args);
		complaint[strcspn(complaint, "\n")] = '\0';
	}
	return 0;
}

static int fail(struct to_error *err, int code, const char *what)
{
	if (code == -EPERM || code == -EACCES)
		return to_error_set(err, code,
				    "%s: not permitted: needs CAP_BPF, CAP_PERFMON and CAP_NET_ADMIN",
				    what);
	return to_error_set(err, code, "%s: %s%s%s%s", what, strerror(-code),
			    complaint[0] ? " (" : "", complaint,
			    complaint[0] ? ")" : "");
}

/* The two maps of the epochs, and the first of them in its place. */
static int open_maps(struct to_traffic *t, struct bpf_object *obj,
		     struct to_error *err)
{
	const uint32_t zero = 0;

	t->epoch = bpf_object__find_map_fd_by_name(obj, "traffic_epoch");
	t->lost_map = bpf_object__find_map_fd_by_name(obj, "traffic_lost");
	for (int i = 0; i < 2; i++) {
		t->map[i] = bpf_map_create(BPF_MAP_TYPE_PERCPU_HASH, "traffic",
					   sizeof(struct traffic_key),
					   sizeof(struct traffic_value),
					   t->config.entries, NULL);
		if (t->map[i] < 0)
			return fail(err, t->map[i], "making the map of counters");
	}
	if (bpf_map_update_elem(t->epoch, &zero, &t->map[0], BPF_ANY))
		return fail(err, -errno, "starting an epoch");
	return 0;
}

static int open_tracepoint(struct to_traffic *t, struct to_error *err)
{
	struct traffic_bpf *skel;
	struct stat netns;
	int ret;

	if (stat("/proc/self/ns/net", &netns))
		return fail(err, -errno, "/proc/self/ns/net");
	skel = traffic_bpf__open();
	if (!skel)
		return fail(err, -errno, "traffic.bpf.o");
	t->tracepoint = skel;
	skel->rodata->traffic_device = (uint64_t)netns.st_ino << 32 | t->config.device;
	ret = traffic_bpf__load(skel);
	if (ret)
		return fail(err, ret, "loading the program for the tracepoint topoopt_account");
	ret = open_maps(t, skel->obj, err);
	if (ret)
		return ret;
	t->link = bpf_program__attach(skel->progs.traffic);
	if (!t->link)
		return fail(err, -errno, "attaching to the tracepoint topoopt_account");
	t->source = "tracepoint";
	return 0;
}

/* tc. */

static void add_address(struct traffic_address *keys, uint32_t *values,
			uint32_t *n, const struct to_address *address,
			uint32_t server)
{
	if (address->has_v4) {
		keys[*n] = (struct traffic_address){
			{ 0, 0, htonl(0xffff), address->v4.s_addr } };
		values[(*n)++] = server;
	}
	if (address->has_v6) {
		memcpy(&keys[*n], &address->v6, sizeof(*keys));
		values[(*n)++] = server;
	}
}

/* Addresses of the plan, for programs that have only the packet. */
static int fill_addresses(const struct to_plan *plan, int map,
			  uint32_t room, struct to_error *err)
{
	struct traffic_address *keys = calloc(room, sizeof(*keys));
	uint32_t *values = calloc(room, sizeof(*values)), n = 0;
	int ret = -ENOMEM;

	if (keys && values) {
		for (unsigned int s = 0; s < plan->cluster->n_servers; s++) {
			const struct to_server *server = &plan->cluster->servers[s];

			add_address(keys, values, &n, &server->address, s);
			for (unsigned int p = 0; p < server->n_ports; p++)
				add_address(keys, values, &n,
					    &server->ports[p].address, s);
		}
		ret = bpf_map_update_batch(map, keys, values, &n, NULL);
	}
	free(keys);
	free(values);
	return ret ? fail(err, ret, "loading the addresses of the plan") : 0;
}

static int attach_filter(struct attachment *at, int program)
{
	DECLARE_LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = at->ifindex,
			    .attach_point = at->point);
	DECLARE_LIBBPF_OPTS(bpf_tc_opts, opts, .prog_fd = program,
			    .handle = TC_HANDLE, .priority = TC_PRIORITY,
			    .flags = BPF_TC_F_REPLACE);
	int ret = bpf_tc_hook_create(&hook);

	if (ret && ret != -EEXIST)
		return ret;
	at->owns_qdisc = !ret;
	return bpf_tc_attach(&hook, &opts);
}

static int attach_tc(struct to_traffic *t, uint32_t ifindex, bool ingress,
		     struct to_error *err)
{
	struct attachment *at = &t->attachments[t->n_attachments];
	int program, ret = 0;

	program = bpf_program__fd(ingress ? t->tc->progs.traffic_ingress :
				  t->tc->progs.traffic_egress);
	*at = (struct attachment){ .ifindex = ifindex,
		.point = ingress ? BPF_TC_INGRESS : BPF_TC_EGRESS };
	at->link = bpf_link_create(program, ifindex,
				   ingress ? TCX_INGRESS : TCX_EGRESS, NULL);
	if (at->link < 0) {	/* before 6.6 */
		t->source = "clsact";
		ret = attach_filter(at, program);
	}
	t->n_attachments += !ret;
	return ret ? fail(err, ret, "attaching to tc") : 0;
}

static void detach_tc(struct attachment *at)
{
	DECLARE_LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = at->ifindex,
			    .attach_point = at->point);
	DECLARE_LIBBPF_OPTS(bpf_tc_opts, opts, .handle = TC_HANDLE,
			    .priority = TC_PRIORITY);

	if (at->link >= 0) {
		close(at->link);
		return;
	}
	bpf_tc_detach(&hook, &opts);
	if (at->owns_qdisc) {
		hook.attach_point = BPF_TC_INGRESS | BPF_TC_EGRESS;
		bpf_tc_hook_destroy(&hook);
	}
}

static int open_tc(struct to_traffic *t, struct to_error *err)
{
	const struct to_plan *plan = t->config.plan;
	const unsigned int n = plan->cluster->servers[t->config.server].n_ports;
	struct traffic_tc_bpf *skel;
	uint32_t addresses = 0;
	int ret;

	for (unsigned int s = 0; s < plan->cluster->n_servers; s++)
		addresses += 2 * (1 + plan->cluster->servers[s].n_ports);
	t->attachments = calloc(2 * n + 1, sizeof(*t->attachments));
	skel = traffic_tc_bpf__open();
	if (!t->attachments || !skel)
		return fail(err, -ENOMEM, "traffic_tc.bpf.o");
	t->tc = skel;
	t->source = "tcx";
	skel->rodata->traffic_self = t->config.server;
	bpf_map__set_max_entries(skel->maps.traffic_servers_by_address, addresses);
	ret = traffic_tc_bpf__load(skel);
	if (ret)
		return fail(err, ret, "loading the programs for tc");
	ret = fill_addresses(plan, bpf_map__fd(skel->maps.traffic_servers_by_address),
			     addresses, err);
	ret = ret ? ret : open_maps(t, skel->obj, err);
	for (unsigned int p = 0; !ret && p < n; p++) {
		if (!t->ports[p].ifindex)
			continue;
		ret = attach_tc(t, t->ports[p].ifindex, true, err);
		ret = ret ? ret : attach_tc(t, t->ports[p].tx_ifindex, false, err);
	}
	return ret;
}

/* Back to where nothing is loaded. */
static void unload(struct to_traffic *t)
{
	while (t->n_attachments)
		detach_tc(&t->attachments[--t->n_attachments]);
	free(t->attachments);
	t->attachments = NULL;
	bpf_link__destroy(t->link);
	t->link = NULL;
	for (int i = 0; i < 2; i++) {
		if (t->map[i] >= 0)
			close(t->map[i]);
		t->map[i] = -1;
	}
	traffic_bpf__destroy(t->tracepoint);
	t->tracepoint = NULL;
	traffic_tc_bpf__destroy(t->tc);
	t->tc = NULL;
}

static int open_programs(struct to_traffic *t, struct to_error *err)
{
	const enum to_traffic_source source = t->config.source;
	int ret;

	complaint[0] = '\0';
	if (source != TO_TRAFFIC_TC) {
		ret = open_tracepoint(t, err);
		if (!ret || source == TO_TRAFFIC_TRACEPOINT)
			return ret;
	}
	complaint[0] = '\0';
	unload(t);
	return open_tc(t, err);
}

struct to_traffic *to_traffic_open(const struct to_traffic_config *config,
				   struct to_error *err)
{
	const unsigned int n = config->plan->cluster->servers[config->server].n_ports;
	struct to_traffic *t;
	libbpf_print_fn_t print;
	int ret = -ENOMEM;

	if (config->plan->cluster->n_servers > TRAFFIC_SERVER_NONE) {
		to_error_set(err, -E2BIG, "more than %u servers",
			     TRAFFIC_SERVER_NONE);
		return NULL;
	}
	t = calloc(1, sizeof(*t));
	if (!t) {
		to_error_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	t->config = *config;
	t->map[0] = t->map[1] = -1;
	t->n_cpus = libbpf_num_possible_cpus();
	t->ports = calloc(n + 1, sizeof(*t->ports));
	if (t->n_cpus > 0) {
		t->keys = calloc(BATCH, sizeof(*t->keys));
		t->values = calloc(BATCH, t->n_cpus * sizeof(*t->values));
	}
	if (t->ports && t->keys && t->values) {
		memcpy(t->ports, config->ports, n * sizeof(*t->ports));
		print = libbpf_set_print(keep_complaint);
		ret = open_programs(t, err);
		libbpf_set_print(print);
	} else {
		to_error_set(err, ret, "out of memory");
	}
	if (ret) {
		to_traffic_close(t);
		return NULL;
	}
	return t;
}

void to_traffic_close(struct to_traffic *t)
{
	if (!t)
		return;
	unload(t);
	free(t->ports);
	free(t->keys);
	free(t->values);
	free(t);
}

const char *to_traffic_source(const struct to_traffic *t)
{
	return t->source;
}

/* Reading. */

static struct traffic_value sum(const struct to_traffic *t,
				const struct traffic_value *values)
{
	struct traffic_value sum = {};

	for (int cpu = 0; cpu < t->n_cpus; cpu++) {
		sum.packets += values[cpu].packets;
		sum.bytes += values[cpu].bytes;
	}
	return sum;
}

/* Port of the server by interface; -1 for no interface, -2 for a stranger. */
static int port_of(const struct to_traffic *t, uint32_t ifindex)
{
	const unsigned int n =
		t->config.plan->cluster->servers[t->config.server].n_ports;

	if (!ifindex)
		return TO_TM_NO_PORT;
	for (unsigned int p = 0; p < n; p++)
		if (t->ports[p].ifindex == ifindex ||
		    t->ports[p].tx_ifindex == ifindex)
			return p;
	return -2;
}

static uint32_t server_of(const struct to_traffic *t, uint32_t server)
{
	return server < t->config.plan->cluster->n_servers ? server : TO_TM_NONE;
}

static int add_flow(const struct to_traffic *t, struct to_tm_sample *sample,
		    const struct traffic_key *key,
		    const struct traffic_value *value)
{
	struct to_tm_flow flow = {
		.in = port_of(t, key->in & TRAFFIC_IFINDEX_MAX),
		.out = port_of(t, key->out),
		.src = server_of(t, key->servers >> 16),
		.dst = server_of(t, key->servers & 0xffff),
		.class = key->in >> TRAFFIC_IFINDEX_BITS,
		.packets = value->packets,
		.bytes = value->bytes,
	};

	if (!flow.packets)
		return 0;
	if (flow.in < TO_TM_NO_PORT || flow.out < TO_TM_NO_PORT ||
	    flow.class >= TO_TM_CLASSES) {	/* a port the plan lacks */
		sample->lost.packets += flow.packets;
		sample->lost.bytes += flow.bytes;
		return 0;
	}
	return to_tm_add_flow(sample, &flow);
}

/* Empty a map that no program uses. */
static int drain(struct to_traffic *t, int map, struct to_tm_sample *sample)
{
	uint32_t position, count;
	bool first = true;
	int ret;

	do {
		count = BATCH;
		ret = bpf_map_lookup_and_delete_batch(map, first ? NULL : &position,
						      &position, t->keys, t->values,
						      &count, NULL);
		if (ret && ret != -ENOENT)	/* which ends it */
			return ret;
		first = false;
		for (uint32_t i = 0; i < count; i++) {
			struct traffic_value value =
				sum(t, t->values + (size_t)i * t->n_cpus);
			int code = add_flow(t, sample, &t->keys[i], &value);

			if (code)
				return code;
		}
	} while (!ret);
	return 0;
}

/* Packets that a program was not run for since it was loaded. */
static uint64_t missed(const struct to_traffic *t)
{
	struct bpf_program *program;
	uint64_t misses = 0;

	bpf_object__for_each_program(program, t->tc ? t->tc->obj : t->tracepoint->obj) {
		struct bpf_prog_info info = {};
		uint32_t len = sizeof(info);

		if (bpf_program__fd(program) >= 0 &&
		    !bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &len))
			misses += info.recursion_misses;
	}
	return misses;
}

int to_traffic_read(struct to_traffic *t, struct to_tm_sample *sample,
		    struct to_error *err)
{
	const int old = t->map[t->current], next = t->map[!t->current];
	const uint32_t zero = 0;
	struct traffic_value lost;
	uint64_t misses;
	int ret;

	complaint[0] = '\0';
	if (bpf_map_update_elem(t->epoch, &zero, &next, BPF_ANY))
		return fail(err, -errno, "starting an epoch");
	t->current = !t->current;
	ret = drain(t, old, sample);
	if (ret)
		return fail(err, ret, "reading the counters");
	if (bpf_map_lookup_elem(t->lost_map, &zero, t->values))
		return fail(err, -errno, "reading the counters");
	lost = sum(t, t->values);
	misses = missed(t);
	sample->lost.packets += lost.packets - t->lost.packets + misses - t->missed;
	sample->lost.bytes += lost.bytes - t->lost.bytes;
	t->lost = lost;
	t->missed = misses;
	return 0;
}
