// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/traffic_programs.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/topoopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../../bpf/traffic.h"
#include "kernel/genl.h"
#include "kernel/verifier_log.h"
#include "measure/epochs.h"
#include "traffic.skel.h"
#include "traffic_tc.skel.h"

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
 * struct to_traffic_programs - programs that count
 * @module: the programs at the module's accounting point, or
 * @tc: those at tc
 * @genl: socket that @module hangs on
 */
struct to_traffic_programs {
	struct to_traffic_config config;
	struct to_traffic_port *ports;
	const char *source;
	struct traffic_bpf *module;
	struct to_genl genl;
	struct traffic_tc_bpf *tc;
	struct attachment *attachments;
	unsigned int n_attachments;
	struct to_epochs epochs;
};

static int programs_fail(struct to_error *err, int code, const char *what)
{
	if (code == -EPERM || code == -EACCES)
		return to_error_set(err, code,
				    "%s: not permitted: needs CAP_BPF, CAP_PERFMON and CAP_NET_ADMIN",
				    what);
	return to_error_set(err, code, "%s: %s%s%s%s", what, strerror(-code),
			    *to_verifier_log() ? " (" : "", to_verifier_log(),
			    *to_verifier_log() ? ")" : "");
}

static int programs_open_module(struct to_traffic_programs *t, struct to_error *err)
{
	struct traffic_bpf *skel;
	int ret;

	skel = traffic_bpf__open();
	if (!skel)
		return programs_fail(err, -errno, "traffic.bpf.o");
	t->module = skel;
	ret = to_epochs_prepare(skel->obj, t->config.entries);
	ret = ret ? ret : traffic_bpf__load(skel);
	if (ret)
		return programs_fail(err, ret, "loading the program that counts");
	ret = to_epochs_open(&t->epochs, skel->obj, t->config.entries, err);
	ret = ret ? ret : to_genl_open(&t->genl, err);
	if (ret)
		return ret;
	t->source = "module";
	ret = to_genl_account(&t->genl, t->config.device,
			      bpf_program__fd(skel->progs.traffic), err);
	return ret;
}

/* tc. */

static void programs_add_address(struct traffic_address *keys, struct traffic_owner *values,
				 uint32_t *n, const struct to_address *address,
				 struct traffic_owner owner)
{
	if (address->has_v4) {
		keys[*n] = (struct traffic_address){
			{ 0, 0, htonl(0xffff), address->v4.s_addr } };
		values[(*n)++] = owner;
	}
	if (address->has_v6) {
		memcpy(&keys[*n], &address->v6, sizeof(*keys));
		values[(*n)++] = owner;
	}
}

/* The interface that RoCEv2 for port @at has to enter this server by; 0 for any. */
static uint32_t programs_entry(const struct to_traffic_programs *t, struct to_port_ref at)
{
	const struct to_plan *plan = t->config.plan;
	struct to_port_ref peer;

	if (at.server != t->config.server)
		return 0;
	/* without a link nothing can be sent round: see to_desired_state_table() */
	if (!plan->cluster->servers[at.server].ports[at.port].packet_switch &&
	    to_plan_peer(plan, at, &peer))
		return 0;
	return t->ports[at.port].ifindex;
}

static int programs_fill_addresses(const struct to_traffic_programs *t, int map,
				   uint32_t room, struct to_error *err)
{
	const struct to_cluster *cluster = t->config.plan->cluster;
	struct traffic_address *keys = calloc(room, sizeof(*keys));
	struct traffic_owner *values = calloc(room, sizeof(*values));
	uint32_t n = 0;
	int ret = -ENOMEM;

	if (keys && values) {
		for (uint32_t s = 0; s < cluster->n_servers; s++) {
			const struct to_server *server = &cluster->servers[s];

			programs_add_address(keys, values, &n, &server->address,
					     (struct traffic_owner){ .server = s });
			for (unsigned int p = 0; p < server->n_ports; p++)
				programs_add_address(keys, values, &n, &server->ports[p].address,
						     (struct traffic_owner){ s, programs_entry(
							t, (struct to_port_ref){ s, p }) });
		}
		ret = bpf_map_update_batch(map, keys, values, &n, NULL);
	}
	free(keys);
	free(values);
	return ret ? programs_fail(err, ret, "loading the addresses of the plan") : 0;
}

static int programs_attach_filter(struct attachment *at, int program)
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

static int programs_attach_tc(struct to_traffic_programs *t, uint32_t ifindex, bool ingress,
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
		ret = programs_attach_filter(at, program);
	}
	t->n_attachments += !ret;
	return ret ? programs_fail(err, ret, "attaching to tc") : 0;
}

static void programs_detach_tc(struct attachment *at)
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

static int programs_open_tc(struct to_traffic_programs *t, struct to_error *err)
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
		return programs_fail(err, -ENOMEM, "traffic_tc.bpf.o");
	t->tc = skel;
	t->source = "tcx";
	skel->rodata->traffic_self = t->config.server;
	bpf_map__set_max_entries(skel->maps.traffic_servers_by_address, addresses);
	ret = to_epochs_prepare(skel->obj, t->config.entries);
	ret = ret ? ret : traffic_tc_bpf__load(skel);
	if (ret)
		return programs_fail(err, ret, "loading the programs for tc");
	ret = programs_fill_addresses(t, bpf_map__fd(skel->maps.traffic_servers_by_address),
				      addresses, err);
	ret = ret ? ret : to_epochs_open(&t->epochs, skel->obj, t->config.entries, err);
	for (unsigned int p = 0; !ret && p < n; p++) {
		if (!t->ports[p].ifindex)
			continue;
		ret = programs_attach_tc(t, t->ports[p].ifindex, true, err);
		ret = ret ? ret : programs_attach_tc(t, t->ports[p].tx_ifindex, false, err);
	}
	return ret;
}

/* Detach and unload everything. */
static void programs_unload(struct to_traffic_programs *t)
{
	while (t->n_attachments)
		programs_detach_tc(&t->attachments[--t->n_attachments]);
	free(t->attachments);
	t->attachments = NULL;
	if (t->source && !t->tc)
		to_genl_close(&t->genl);
	t->source = NULL;
	to_epochs_close(&t->epochs);
	traffic_bpf__destroy(t->module);
	t->module = NULL;
	traffic_tc_bpf__destroy(t->tc);
	t->tc = NULL;
}

static int programs_open_programs(struct to_traffic_programs *t, struct to_error *err)
{
	const enum to_traffic_source source = t->config.source;
	int ret;

	to_verifier_log_forget();
	if (source != TO_TRAFFIC_TC) {
		ret = programs_open_module(t, err);
		if (!ret || source == TO_TRAFFIC_MODULE)
			return ret;
	}
	to_verifier_log_forget();
	programs_unload(t);
	return programs_open_tc(t, err);
}

struct to_traffic_programs *to_traffic_programs_open(const struct to_traffic_config *config,
						     struct to_error *err)
{
	const unsigned int n = config->plan->cluster->servers[config->server].n_ports;
	struct to_traffic_programs *t;
	libbpf_print_fn_t print;
	int ret = -ENOMEM;

	t = calloc(1, sizeof(*t));
	if (!t) {
		to_error_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	t->config = *config;
	t->ports = calloc(n + 1, sizeof(*t->ports));
	if (t->ports) {
		memcpy(t->ports, config->ports, n * sizeof(*t->ports));
		print = libbpf_set_print(to_verifier_log_keep);
		ret = programs_open_programs(t, err);
		libbpf_set_print(print);
	} else {
		to_error_set(err, ret, "out of memory");
	}
	if (ret) {
		to_traffic_programs_close(t);
		return NULL;
	}
	return t;
}

void to_traffic_programs_close(struct to_traffic_programs *t)
{
	if (!t)
		return;
	programs_unload(t);
	free(t->ports);
	free(t);
}

int to_traffic_programs_follow(struct to_traffic_programs *t, const struct to_plan *plan,
			       struct to_error *err)
{
	if (t->tc)
		return to_error_set(err, -EOPNOTSUPP, "programs at tc are of one plan");
	t->config.plan = plan;
	return 0;
}

const char *to_traffic_programs_source(const struct to_traffic_programs *t)
{
	return t->source;
}

/* Reading. */

/* Port of the server by interface; -1 for no interface, -2 for one that is no port. */
static int programs_port_of(const struct to_traffic_programs *t, uint32_t ifindex)
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

static uint32_t programs_server_of(const struct to_traffic_programs *t, uint32_t server)
{
	return server < t->config.plan->cluster->n_servers ? server : TO_TM_NONE;
}

struct reading {
	const struct to_traffic_programs *traffic;
	struct to_tm_sample *sample;
	struct to_tm_counters *checks;
};

/* A continuity check, which is at one port. */
static void programs_add_check(struct to_tm_counters *checks, int in, int out,
			       const struct traffic_value *value)
{
	if (out >= 0) {
		checks[out].tx_packets += value->packets;
		checks[out].tx_bytes += value->bytes;
	} else if (in >= 0) {
		checks[in].rx_packets += value->packets;
		checks[in].rx_bytes += value->bytes;
	}
}

static int programs_add_flow(const struct traffic_key *key,
			     const struct traffic_value *value, void *arg)
{
	const struct to_traffic_programs *t = ((struct reading *)arg)->traffic;
	struct to_tm_sample *sample = ((struct reading *)arg)->sample;
	struct to_tm_flow flow = {
		.in = programs_port_of(t, key->ports & TRAFFIC_IFINDEX_MAX),
		.out = programs_port_of(t, key->ports >> 32),
		.src = programs_server_of(t, key->pair >> 32),
		.dst = programs_server_of(t, key->pair),
		.class = (uint32_t)key->ports >> TRAFFIC_CLASS_SHIFT,
		.packets = value->packets,
		.bytes = value->bytes,
	};

	if (!flow.packets)
		return 0;
	if (flow.class == TRAFFIC_CLASS_CHECK) {
		programs_add_check(((struct reading *)arg)->checks, flow.in, flow.out, value);
		return 0;
	}
	if (flow.in < TO_TM_NO_PORT || flow.out < TO_TM_NO_PORT ||
	    flow.class >= TO_TM_CLASSES) {	/* a port the plan lacks */
		sample->lost.packets += flow.packets;
		sample->lost.bytes += flow.bytes;
		return 0;
	}
	return to_tm_add_flow(sample, &flow);
}

static int programs_compare_flows(const void *a, const void *b)
{
	const struct to_tm_flow *x = a, *y = b;

	if (x->src != y->src)
		return x->src < y->src ? -1 : 1;
	if (x->dst != y->dst)
		return x->dst < y->dst ? -1 : 1;
	if (x->class != y->class)
		return x->class < y->class ? -1 : 1;
	if (x->in != y->in)
		return x->in < y->in ? -1 : 1;
	return x->out < y->out ? -1 : x->out > y->out;
}

/* Add up what each CPU counted of the same flow. */
static void programs_join_flows(struct to_tm_sample *sample)
{
	unsigned int n = 0;

	qsort(sample->flows, sample->n_flows, sizeof(*sample->flows), programs_compare_flows);
	for (unsigned int i = 0; i < sample->n_flows; i++) {
		const struct to_tm_flow *flow = &sample->flows[i];

		if (!n || programs_compare_flows(&sample->flows[n - 1], flow)) {
			sample->flows[n++] = *flow;
			continue;
		}
		sample->flows[n - 1].packets += flow->packets;
		sample->flows[n - 1].bytes += flow->bytes;
	}
	sample->n_flows = n;
}

int to_traffic_programs_read(struct to_traffic_programs *t, struct to_tm_sample *sample,
			     struct to_tm_counters *checks, struct to_error *err)
{
	struct reading reading = { t, sample, checks };
	struct traffic_value lost;
	int ret;

	ret = to_epochs_turn(&t->epochs, programs_add_flow, &reading, &lost, err);
	if (ret)
		return ret;
	if (sample->n_flows)
		programs_join_flows(sample);
	sample->lost.packets += lost.packets;
	sample->lost.bytes += lost.bytes;
	return 0;
}
