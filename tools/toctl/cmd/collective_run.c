// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <linux/netlink.h>
#include <math.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "collectives/rendezvous.h"
#include "cli/command.h"
#include "format/plan_json.h"
#include "format/tm_names.h"
#include "kernel/netlink.h"
#include "measure/counters.h"
#include "node.h"

#define COLLECTIVE_UNSAID (-1)

struct collective_args {
	const char *node, *log;
	uint64_t bytes, group, port, timeout, repeat;
	int algorithm;
	double tolerance;
	bool check, nodes;
};

/* What a member tells member 0 when all are done. */
struct collective_report {
	uint64_t wrong;			/* sums, of all repetitions */
	double seconds;			/* mean */
	uint64_t sent[TO_PORTS_MAX];	/* bytes, by port */
};

/*
 * Of all members and links
 * @busiest, @most: bytes of a link, planned and sent
 * @off: most that a link is off, in parts of @busiest
 */
struct collective_sums {
	unsigned int right, links;
	double seconds, busiest, most, off;
	bool certain;
};

/* One member's run. */
struct collective_run {
	struct to_call *call;
	const struct collective_args *args;
	struct to_collective_plan c;
	uint32_t self;		/* member */
	struct to_steps steps;
	struct to_exchange exchange;
	float *buffer;
	struct to_rendezvous rendezvous;
	struct collective_report report, *all;
	FILE *log;
	unsigned int done;	/* repetitions */
	struct to_netlink netlink;
	struct to_counters *counters;	/* of the ports of this server */
};

/* A directed link, at member 0, or a port of a packet switch: to_port is NULL then. */
struct collective_link {
	const struct to_port *from_port, *to_port;
	const char *from, *to;
	double planned, sent;
};

static const struct to_server *collective_server(const struct collective_run *run, uint32_t member)
{
	return &run->c.plan->cluster->servers[run->c.members[member]];
}

static void collective_note(void *data, const struct to_exchange_done *done)
{
	struct collective_run *run = data;

	fprintf(run->log, "{\"run\": %u, \"thread\": %u, \"step\": %u, \"begin_s\": %.6f, \"end_s\": %.6f, "
		"\"sent\": %" PRIu64 ", \"received\": %" PRIu64 "}\n", run->done, done->thread,
		done->step, done->begin_s, done->end_s, done->sent, done->received);
	fflush(run->log);
}

static int collective_open_counters(struct collective_run *run)
{
	const struct to_server *server = collective_server(run, run->self);
	struct to_error *err = &run->call->err;
	uint32_t ifindex[TO_PORTS_MAX];

	for (unsigned int q = 0; q < server->n_ports; q++) {
		const struct to_port *port = &server->ports[q];
		const char *name = port->transmit[0] ? port->transmit : port->name;

		ifindex[q] = if_nametoindex(name);
		if (!ifindex[q])
			return to_error_set(err, -ENODEV, "%s: no interface %s on this host", server->name, name);
	}
	if (to_netlink_open(&run->netlink, NETLINK_ROUTE, err))
		return -EIO;
	run->counters = to_counters_open(&run->netlink, ifindex, server->n_ports, NULL, err);
	if (run->counters)
		return 0;
	to_netlink_close(&run->netlink);
	return -EIO;
}

/* Bytes that this server's ports have sent until now. */
static int collective_count(const struct collective_run *run, uint64_t sent[TO_PORTS_MAX])
{
	struct to_tm_counters values[TO_PORTS_MAX];
	int ret = to_counters_read(run->counters, values, &run->call->err);

	for (unsigned int q = 0; !ret && q < collective_server(run, run->self)->n_ports; q++)
		sent[q] = values[q].tx_bytes;
	return ret;
}

/* What must be the same at all members, in a number. */
static uint64_t collective_token(const struct collective_run *run, const char *fingerprint)
{
	uint64_t token = strtoull(fingerprint, NULL, 16);
	const uint64_t words[] = { run->c.algorithm, run->c.group, run->c.nodes, run->args->bytes,
				   run->args->repeat };

	for (unsigned int i = 0; i < sizeof(words) / sizeof(*words); i++)
		token = (token ^ token >> 29 ^ words[i]) * 0x9e3779b97f4a7c15;
	return token;
}

/* Once: all begin together, and sums are compared when it is done. */
static int collective_once(struct collective_run *run, char *heard)
{
	struct to_error *err = &run->call->err;
	uint64_t start_ns;
	int ret;

	to_collective_plan_fill(&run->c, run->self, run->buffer);
	ret = to_rendezvous_meet(&run->rendezvous, "", heard, 1, err);
	start_ns = to_clock_monotonic_ns();
	if (!ret)
		ret = to_exchange_run(&run->exchange, run->rendezvous.deadline_ns, err);
	run->report.seconds += to_clock_seconds_since(start_ns) / (double)run->args->repeat;
	run->report.wrong += ret ? 0 : to_collective_plan_wrong(&run->c, run->buffer);
	return ret;
}

/* Connect, do the steps, and hear of the others. */
static int collective_do(struct collective_run *run)
{
	struct to_error *err = &run->call->err;
	uint64_t before[TO_PORTS_MAX] = { 0 };
	char *heard = calloc(run->c.n, 1);
	int ret = heard ? 0 : to_error_set(err, -ENOMEM, "out of memory");

	if (!ret)
		ret = to_rendezvous_connect(&run->rendezvous, &run->exchange, err);
	if (!ret)
		ret = collective_count(run, before);
	for (; !ret && run->done < run->args->repeat; run->done++)
		ret = collective_once(run, heard);
	/* others may still send through this server */
	if (!ret)
		ret = to_rendezvous_meet(&run->rendezvous, "", heard, 1, err);
	free(heard);
	if (!ret)
		ret = collective_count(run, run->report.sent);
	if (ret)
		return ret;
	for (unsigned int q = 0; q < TO_PORTS_MAX; q++)
		run->report.sent[q] -= before[q];
	return to_rendezvous_meet(&run->rendezvous, &run->report, run->all, sizeof(run->report), err);
}

static int collective_prepare(struct collective_run *run, const char *fingerprint)
{
	struct to_error *err = &run->call->err;

	if (to_collective_plan_steps(&run->c, run->self, &run->steps))
		return to_error_set(err, -ENOMEM, "out of memory");
	run->buffer = calloc(run->c.size, sizeof(*run->buffer));
	run->all = calloc(run->c.n, sizeof(*run->all));
	if (!run->buffer || !run->all || to_exchange_init(&run->exchange, &run->steps, run->buffer))
		return to_error_set(err, -ENOMEM, "out of memory");
	if (collective_open_counters(run))
		return -ENODEV;
	if (run->args->log) {
		run->log = fopen(run->args->log, "ae");
		if (!run->log)
			return to_error_set(err, -errno, "%s: %s", run->args->log, strerror(errno));
		run->exchange.note = collective_note;
		run->exchange.data = run;
	}
	run->rendezvous = (struct to_rendezvous){
		.c = &run->c, .self = run->self, .token = collective_token(run, fingerprint),
		.port = run->args->port, .listener = -1,
		.deadline_ns = to_clock_monotonic_ns() + run->args->timeout };
	return to_rendezvous_open(&run->rendezvous, err);
}

/* What is planned and sent on arc @a of member @m. */
static struct collective_link collective_link(const struct collective_run *run, uint32_t m,
					      uint32_t a, double planned)
{
	const struct to_graph *g = run->c.graph;
	const struct to_cluster *c = run->c.plan->cluster;
	const struct to_port *port = &c->servers[g->from[a]].ports[g->port[a]];
	const struct to_packet_switch *on = to_port_packet_switch(c, port);

	return (struct collective_link){
		port, on ? NULL : &c->servers[g->to[a]].ports[g->peer_port[a]],
		c->servers[g->from[a]].name, on ? on->name : c->servers[g->to[a]].name,
		planned * (double)run->args->repeat, run->all[m].sent[g->port[a]] };
}

/*
 * The links out of members, with what was planned and sent; of a port on a packet switch
 * all links together. Return: how many.
 */
static unsigned int collective_links(const struct collective_run *run, const double *planned,
				     struct collective_link *links)
{
	const struct to_graph *g = run->c.graph;
	unsigned int n = 0, first, i;

	for (uint32_t m = 0; m < run->c.n; m++) {
		const uint32_t x = run->c.members[m];

		first = n;
		for (uint32_t a = g->out[x]; a < g->out[x + 1]; a++) {
			links[n] = collective_link(run, m, a, planned[a]);
			for (i = first; i < n && links[i].from_port != links[n].from_port; i++)
				;
			if (i < n)
				links[i].planned += links[n].planned;
			else
				n++;
		}
	}
	return n;
}

static json_t *collective_links_json(const struct collective_link *links, unsigned int n)
{
	json_t *array = json_array();

	for (unsigned int i = 0; i < n; i++)
		json_array_append_new(array, json_pack("{s:o s:o s:f s:f}",
			"from", json_sprintf("%s:%s", links[i].from, links[i].from_port->name),
			"to", links[i].to_port ?
			json_sprintf("%s:%s", links[i].to, links[i].to_port->name) :
			json_string(links[i].to),
			"planned_bytes", links[i].planned, "sent_bytes", links[i].sent));
	return array;
}

/* Bytes of the buffer a second, and of what each server has to send at the least. */
static double collective_algbw(const struct collective_run *run, const struct collective_sums *sums)
{
	return sums->seconds > 0 ? (double)run->args->bytes / sums->seconds : 0;
}

static double collective_busbw(const struct collective_run *run, const struct collective_sums *sums)
{
	return collective_algbw(run, sums) * 2 * (run->c.n - 1) / run->c.n;
}

static void collective_print(const struct collective_run *run, const struct collective_sums *sums,
			     const struct collective_link *links)
{
	const double form = to_collective_plan_closed_form(&run->c);
	char text[3][16];
	json_t *out;

	if (!run->call->json) {
		printf("%s of %s on %u servers: %s, sums right on %u\n",
		       to_collective_algorithms[run->c.algorithm],
		       to_bytes_text((double)run->args->bytes, text[0]), run->c.n,
		       to_seconds_text(sums->seconds, text[1]), sums->right);
		printf("  %.4g Gbit/s of the buffer, %.4g Gbit/s out of each server at the least (nccl-tests: algbw, busbw)\n",
		       8e-9 * collective_algbw(run, sums), 8e-9 * collective_busbw(run, sums));
		printf("  links: %s at most planned, %s at most sent, up to %.2f %% off%s\n",
		       to_bytes_text(sums->busiest, text[0]), to_bytes_text(sums->most, text[1]),
		       100 * sums->off, sums->certain ? "" : ", as flows take one of several paths");
		if (form > 0 && run->c.plan->cluster->n_packet_switches)
			printf("  closed form on BCube(%u,%u): a port sends %.6g of the buffer, %s\n",
			       run->c.bcube.n, run->c.bcube.k, form,
			       to_bytes_text(form * (double)run->args->bytes, text[2]));
		else if (form > 0)
			printf("  closed form on BCube(%u,%u): a port, here %u link%s, "
			       "sends %.6g of the buffer, %s a link\n",
			       run->c.bcube.n, run->c.bcube.k, run->c.bcube.n - 1,
			       run->c.bcube.n == 2 ? "" : "s", form,
			       to_bytes_text(form * (double)run->args->bytes / (run->c.bcube.n - 1), text[2]));
		return;
	}
	out = json_pack("{s:s s:I s:I s:I s:f s:f s:f s:I s:b s:f s:f s:o}",
		"algorithm", to_collective_algorithms[run->c.algorithm],
		"servers", (json_int_t)run->c.n, "bytes", (json_int_t)run->args->bytes,
		"repeat", (json_int_t)run->args->repeat, "time_s", sums->seconds,
		"algbw_Bps", collective_algbw(run, sums), "busbw_Bps", collective_busbw(run, sums),
		"sums_right", (json_int_t)sums->right,
		"paths_certain", sums->certain, "busiest_link_bytes", sums->busiest,
		"largest_deviation", sums->off, "links", collective_links_json(links, sums->links));
	if (form > 0)
		json_object_set_new(out, "closed_form", json_real(form));
	json_dumpf(out, stdout, JSON_INDENT(1) | JSON_SORT_KEYS);
	putchar('\n');
	json_decref(out);
}

/* What all came to. Return: 0 or a negative errno. */
static int collective_add_up(const struct collective_run *run, struct collective_sums *sums,
			     struct collective_link *links)
{
	double *planned = calloc(run->c.graph->n_arcs + 1, sizeof(*planned));

	if (!planned || to_collective_plan_link_bytes(&run->c, planned, &sums->certain)) {
		free(planned);
		return to_error_set(&run->call->err, -ENOMEM, "out of memory");
	}
	sums->links = collective_links(run, planned, links);
	free(planned);
	for (unsigned int i = 0; i < sums->links; i++) {
		sums->busiest = fmax(sums->busiest, links[i].planned);
		sums->most = fmax(sums->most, links[i].sent);
	}
	for (unsigned int i = 0; i < sums->links; i++)
		sums->off = fmax(sums->off, fabs(links[i].sent - links[i].planned) / sums->busiest);
	for (uint32_t m = 0; m < run->c.n; m++) {
		sums->right += !run->all[m].wrong;
		sums->seconds = fmax(sums->seconds, run->all[m].seconds);
	}
	return 0;
}

static int collective_judge(const struct collective_run *run, const struct collective_sums *sums)
{
	struct to_error *err = &run->call->err;

	for (uint32_t m = 0; m < run->c.n; m++)
		if (run->all[m].wrong)
			return to_error_set(err, -EBADMSG, "%s: %" PRIu64 " of %" PRIu64 " sums are wrong",
					    collective_server(run, m)->name, run->all[m].wrong, run->c.size * run->args->repeat);
	if (run->args->check && !sums->certain)
		return to_error_set(err, -ENOTSUP,
				    "bytes of links cannot be checked: flows take one of several paths");
	if (run->args->check && sums->off > run->args->tolerance / 100)
		return to_error_set(err, -ERANGE,
				    "a link is %.2f %% of the busiest one's bytes off, more than %g %%",
				    100 * sums->off, run->args->tolerance);
	return 0;
}

/* At member 0, which has heard of all. */
static int collective_report_all(const struct collective_run *run)
{
	struct collective_link *links = calloc(run->c.graph->n_arcs + 1, sizeof(*links));
	struct collective_sums sums = { 0 };
	int ret = links ? collective_add_up(run, &sums, links) :
			  to_error_set(&run->call->err, -ENOMEM, "out of memory");

	if (!ret) {
		collective_print(run, &sums, links);
		ret = collective_judge(run, &sums);
	}
	free(links);
	return ret;
}

static int collective_report(const struct collective_run *run)
{
	const char *name = collective_server(run, run->self)->name;

	if (!run->self)
		return collective_report_all(run);
	if (run->call->json)
		printf("{\"server\": \"%s\", \"time_s\": %.6f, \"sums_wrong\": %" PRIu64 "}\n", name,
		       run->report.seconds, run->report.wrong);
	else
		printf("%s: %.3f s, %" PRIu64 " sums wrong\n", name, run->report.seconds,
		       run->report.wrong);
	return run->report.wrong ? to_error_set(&run->call->err, -EBADMSG, "%" PRIu64 " sums are wrong",
						run->report.wrong) : 0;
}

static int collective_member(const struct to_collective_plan *c, uint32_t server, struct to_error *err)
{
	for (uint32_t m = 0; m < c->n; m++)
		if (c->members[m] == server)
			return m;
	return to_error_set(err, -ENOENT, "server %s is no member of the group",
			    c->plan->cluster->servers[server].name);
}

static int collective_run(struct to_call *call, const void *data)
{
	const struct collective_args *args = data;
	struct collective_run run = { .call = call, .args = args, .rendezvous.listener = -1 };
	const char *path = call->operands[0];
	enum to_collective_algorithm algorithm;
	char fingerprint[17];
	struct to_plan *plan;
	int ret, server;

	if (args->bytes % sizeof(float))
		return to_usage(call, "--bytes: expected whole elements, 4 bytes each");
	ret = to_tm_fingerprint(path, fingerprint, &call->err);
	if (ret)
		return ret;
	plan = to_plan_load_shared(path, &call->err);
	if (!plan)
		return -EINVAL;
	algorithm = args->algorithm == COLLECTIVE_UNSAID ? plan->collective :
		    (enum to_collective_algorithm)args->algorithm;
	server = to_node_find(plan, path, args->node, &call->err);
	ret = server < 0 ? server :
	      to_collective_plan_init(&run.c, plan, algorithm, args->group, args->nodes,
				 args->bytes / sizeof(float), &call->err);
	if (!ret) {
		ret = collective_member(&run.c, server, &call->err);
		if (ret >= 0) {
			run.self = ret;
			ret = collective_prepare(&run, fingerprint);
			if (!ret)
				ret = collective_do(&run);
			if (!ret)
				ret = collective_report(&run);
			to_rendezvous_close(&run.rendezvous);
			to_exchange_free(&run.exchange);
			to_steps_free(&run.steps);
		}
		to_collective_plan_free(&run.c);
	}
	free(run.buffer);
	free(run.all);
	if (run.counters) {
		to_counters_close(run.counters);
		to_netlink_close(&run.netlink);
	}
	if (run.log)
		fclose(run.log);
	to_plan_free(plan);
	return ret;
}

#define FIELD(field) .offset = offsetof(struct collective_args, field)

static const struct to_option collective_options[] = {
	{ "bytes", 'b', TO_OPTION_BYTES, FIELD(bytes), true, "S", .min = 8, .max = 1ull << 40,
	  .help = "of the buffer that each server has, in 32-bit floats" },
	{ "node", 'n', TO_OPTION_STRING, FIELD(node), .argument = "NAME",
	  .help = "name of this server in the plan; default: the host name" },
	{ "algorithm", 'a', TO_OPTION_CHOICE, FIELD(algorithm), .argument = "NAME",
	  .choices = to_collective_algorithms,
	  .help = "plan (its rings or trees), ring, ps or bml; default: as the plan was made for" },
	{ "group", 'g', TO_OPTION_NUMBER, FIELD(group), .argument = "G",
	  .max = TO_COLLECTIVE_NO_GROUP - 1,
	  .help = "AllReduce group; default: the first, or all servers where there is none" },
	{ "repeat", 'r', TO_OPTION_NUMBER, FIELD(repeat), .argument = "N", .min = 1, .max = 1000000,
	  .help = "do it so many times, for the mean of their times; default: 1" },
	{ "check", 'c', TO_OPTION_FLAG, FIELD(check),
	  .help = "fail when a link's bytes are not the planned ones; sums are always checked" },
	{ "tolerance", 't', TO_OPTION_REAL, FIELD(tolerance), .argument = "PERCENT", .with = "check",
	  .help = "of the busiest link's bytes, for headers and acknowledgements; default: 5" },
	{ "nodes", 'N', TO_OPTION_FLAG, FIELD(nodes),
	  .help = "between node addresses only, which survive the loss of a link" },
	{ "log", 'l', TO_OPTION_OUTPUT, FIELD(log), .argument = "FILE",
	  .help = "append a line of JSON for each step of this server" },
	{ "port", 'p', TO_OPTION_NUMBER, FIELD(port), .argument = "PORT", .min = 1, .max = 65535,
	  .help = "TCP port that all servers listen at; default: 7471" },
	{ "timeout", 'T', TO_OPTION_DURATION, FIELD(timeout), .argument = "TIME", .min = 1,
	  .max = INT64_MAX / 2, .help = "for all of it, the other servers' start too; default: 120s" },
	{}
};

const struct to_command to_cmd_collective_run = {
	.name = "collective run",
	.summary = "Do an AllReduce over the links of a plan, and check sums and bytes",
	.operands = "PLAN",
	.min_operands = 1,
	.max_operands = 1,
	.options = collective_options,
	.args_size = sizeof(struct collective_args),
	.defaults = &(const struct collective_args){
		.algorithm = COLLECTIVE_UNSAID, .group = TO_COLLECTIVE_NO_GROUP, .port = TO_RENDEZVOUS_PORT, .tolerance = 5, .repeat = 1,
		.timeout = 120 * TO_NS_PER_S },
	.run = collective_run,
};
