// SPDX-License-Identifier: GPL-2.0-or-later
#include "status_print.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"
#include "checks.h"

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

static void status_print_loop(const struct to_observer *o)
{
	const char *controller = to_fabric_controller(o->fabric);
	const struct to_loop_state *loop = &o->loop;
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

void to_status_print(const struct to_call *call, const struct to_observer *observer,
		     const struct to_status *st)
{
	printf("%s: ", st->plan->demand->name);
	if (st->generation)
		printf("generation %" PRIu64 " on all %u servers\n", st->generation,
		       st->plan->cluster->n_servers);
	else
		printf("%u servers without a common generation\n", st->plan->cluster->n_servers);
	status_print_ports(st);
	status_print_traffic(st);
	status_print_losses(st);
	status_print_loop(observer);
	to_checks_print(stdout, call, &st->checks);
	printf("status: %s\n", to_status_word(st));
}
