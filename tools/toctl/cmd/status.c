// SPDX-License-Identifier: GPL-2.0-or-later
#include <inttypes.h>

#include "base/json.h"
#include "base/text.h"
#include "checks.h"
#include "cli/command.h"
#include "doctor/observer.h"
#include "fabric_options.h"

struct status_args {
	const char *log;
	struct to_fabric_options fabric;
};

struct status {
	struct to_observer observer;
	struct to_status st;
};

/* Name the servers that send no checks, and the agents that could be why. */
static void status_print_older(const struct to_status *st)
{
	const struct to_cluster *c = st->wanted->cluster;
	unsigned int unable = 0, old = 0;

	for (unsigned int i = 0; c->continuity.interval != TO_CONTINUITY_OFF && i < c->n_servers; i++)
		if (c->servers[i].unable || st->servers[i].unable)
			printf("%s%s", unable++ ? ", " : "             no checks, links follow light: ",
			       c->servers[i].name);
	if (unable)
		printf("\n");
	for (unsigned int i = 0; i < c->n_servers; i++)
		if (st->servers[i].old)
			printf(old++ ? ", %s" : "  agents     older than this toctl: %s",
			       c->servers[i].name);
	if (old)
		printf("; update toctl there\n");
}

/* How many neighbours are heard. */
static void status_print_checks(const struct to_status *st)
{
	const struct to_cluster *c = st->wanted->cluster;

	printf("  %-10s ", "checks");
	if (c->continuity.interval == TO_CONTINUITY_OFF)
		printf("off by the plan: links follow light\n");
	else
		printf("%u of %u neighbours are heard; only the highest traffic class is checked\n",
		       st->heard, st->expected);
	status_print_older(st);
}

static void status_print_ports(const struct to_status *st)
{
	printf("  %-10s %u of %u reached\n", "servers", st->reached, st->plan->cluster->n_servers);
	if (st->compared)
		printf("  %-10s as planned on %u of %u servers\n", "tables", st->planned,
		       st->compared);
	else if (st->generation)
		printf("  %-10s not compared\n", "tables");
	printf("  %-10s %u of %u have light\n", "ports", st->lit, st->ports);
	printf("  %-10s %" PRIu64 " of %" PRIu64 " are reached", "pairs", st->pairs - st->apart,
	       st->pairs);
	if (st->apart)
		printf("; %s does not reach %s", st->servers[st->apart_from].name,
		       st->servers[st->apart_to].name);
	printf("\n");
	status_print_checks(st);
	if (st->backups)
		printf("  %-10s in use for %u groups of next hops\n", "backups", st->backups);
	else
		printf("  %-10s none in use\n", "backups");
}

static void status_print_traffic(const struct to_status *st)
{
	const struct to_status_arc *busiest = to_status_busiest(st);
	char bytes[16], seconds[16], from[TO_STATUS_END], to[TO_STATUS_END];

	if (st->seconds <= 0) {
		printf("  %-10s counted from now on: run it again\n", "traffic");
		return;
	}
	to_seconds_text(st->seconds, seconds);
	printf("  %-10s %" PRIu64 " misses, %" PRIu64 " drops in %s; %" PRIu64
	       " at full queues, %" PRIu64 " by TTL\n", "packets", st->misses, st->drops, seconds,
	       st->congested, st->expired);
	printf("  %-10s %s on links in %s", "traffic", to_bytes_text(st->bytes, bytes), seconds);
	if (busiest)
		printf("; busiest %s to %s, %.1f %%", to_status_end(st, busiest->from, from),
		       to_status_end(st, busiest->to, to), busiest->utilisation * 100);
	printf("\n");
	if (st->off_plan >= 0)
		printf("  %-10s %.1f %% of these bytes\n", "off plan", st->off_plan * 100);
}

static void status_print_losses(const struct to_status *st)
{
	unsigned int n[] = { [TO_LINK_UNPROVEN] = 0, [TO_LINK_CLEAN] = 0, [TO_LINK_LOSSY] = 0 };

	for (unsigned int i = 0; i < st->n_arcs; i++)
		n[st->arcs[i].loss]++;
	if (n[TO_LINK_CLEAN] || n[TO_LINK_LOSSY])
		printf("  %-10s %u directions lossy, %u clean, %u carried too little to tell\n",
		       "links", n[TO_LINK_LOSSY], n[TO_LINK_CLEAN], n[TO_LINK_UNPROVEN]);
}

static void status_print_loop(const struct status *s)
{
	const char *controller = to_fabric_controller(s->observer.fabric);
	const struct to_loop_state *loop = &s->observer.loop;
	char text[200];

	if (loop->running || controller[0])
		printf("  %-10s toctl is at work%s%s%s\n", "loop",
		       controller[0] ? ": " : " with this plan", controller,
		       loop->change ? ", a change is under way" : "");
	else
		printf("  %-10s not running%s\n", "loop",
		       loop->change ? "; a change was interrupted" : "");
	if (loop->repair)
		printf("  %-10s a plan without what is down is in force\n", "repair");
	if (!loop->decision)
		return;
	to_loop_state_text(loop, text, sizeof(text));
	printf("  %-10s %s\n", "decision", text);
}

static void status_print(const struct to_call *call, const struct status *s)
{
	const struct to_status *st = &s->st;

	printf("%s: ", st->plan->demand->name);
	if (st->generation)
		printf("generation %" PRIu64 " on all %u servers\n", st->generation,
		       st->plan->cluster->n_servers);
	else
		printf("%u servers without a common generation\n", st->plan->cluster->n_servers);
	status_print_ports(st);
	status_print_traffic(st);
	status_print_losses(st);
	status_print_loop(s);
	to_checks_print(stdout, call, &st->checks);
	printf("status: %s\n", to_status_word(st));
}

static void status_print_json(const struct status *s)
{
	json_t *object = to_observer_json(&s->observer, &s->st);

	to_json_write(object, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(object);
}

static int status_exit(const struct to_status *st)
{
	static const int exits[] = {
		[TO_HEALTH_HEALTHY] = TO_EXIT_OK, [TO_HEALTH_DEGRADED] = TO_EXIT_DEGRADED,
		[TO_HEALTH_BROKEN] = TO_EXIT_FAILURE,
	};

	return st->reached ? exits[st->health] : TO_EXIT_UNKNOWN;
}

static int status_run(struct to_call *call, const void *data)
{
	const struct status_args *args = data;
	struct to_fabric_options options = args->fabric;
	struct status s = {};
	struct to_error not_kept;
	int ret;

	options.note = to_note;
	ret = to_observer_open(&s.observer, call->n_operands ? call->operands[0] : "plan.json",
			       args->log, &options, &call->err);
	ret = ret ? ret : to_observer_look_once(&s.observer, &s.st, &not_kept, &call->err);
	if (!ret) {
		if (not_kept.text[0])
			to_call_note(call, "the next one will not know of this one: %s", not_kept.text);
		if (call->json)
			status_print_json(&s);
		else
			status_print(call, &s);
	}
	ret = ret ? TO_EXIT_UNKNOWN : status_exit(&s.st);
	to_status_free(&s.st);
	to_observer_close(&s.observer);
	return ret;
}

#define FIELD(field) .offset = offsetof(struct status_args, field)

static const struct to_option status_options[] = {
	TO_FABRIC_KEYS(struct status_args, fabric),
	{ "log", 0, TO_OPTION_STRING, FIELD(log), .argument = "FILE",
	  .help = "log of a toctl run; its last decision is printed" },
	{}
};

const struct to_command to_cmd_status = {
	.name = "status",
	.summary = "Tell whether a fabric is healthy",
	.operands = "[PLAN]",
	.max_operands = 1,
	.options = status_options,
	.args_size = sizeof(struct status_args),
	.defaults = &(const struct status_args){ .fabric = TO_FABRIC_DEFAULTS },
	.run = status_run,
};
