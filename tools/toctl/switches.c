// SPDX-License-Identifier: GPL-2.0-or-later
#include "switches.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "format/plan_json.h"
#include "format/plan_lock.h"

int to_switches_start(struct to_call *call, const char *allow, to_switch_set_comparison *compare,
		      struct to_plan **plan, struct to_switch_set *switches)
{
	int ret;

	*plan = to_plan_load_shared(call->operands[0], &call->err);
	if (!*plan)
		return -EINVAL;
	ret = to_switch_set_open(switches, (*plan)->cluster, allow, &call->err);
	if (!ret) {
		ret = compare(switches, *plan, &call->err);
		if (ret)
			to_switch_set_close(switches);
	}
	if (ret)
		to_plan_free(*plan);
	return ret;
}

void to_switches_end(struct to_plan *plan, struct to_switch_set *switches)
{
	to_switch_set_close(switches);
	to_plan_free(plan);
}

static bool switches_has(const struct to_circuits *circuits, unsigned int in, unsigned int out)
{
	for (unsigned int i = 0; i < circuits->n; i++)
		if (circuits->circuit[i].in == in && circuits->circuit[i].out == out)
			return true;
	return false;
}

/* Tell whether the line of the reverse circuit stands for @p, too. */
static bool switches_told(const struct to_circuits *circuits, enum to_link_mode mode,
			  const struct to_circuit *p)
{
	return mode == TO_LINKS_DUPLEX && p->in > p->out && switches_has(circuits, p->out, p->in);
}

static bool switches_leads_to(const struct to_port *port, int index, unsigned int number)
{
	const struct to_look_ahead *ahead = &port->look_ahead;

	if (port->optical_switch == index && port->optical_port == number)
		return true;
	if (!ahead->common)
		return false;
	return (ahead->optical_switch == index && ahead->optical_port == number) ||
	       (ahead->selector == index && (ahead->common == number ||
					     ahead->ends[0] == number || ahead->ends[1] == number));
}

static void switches_print_end(const struct to_plan *plan, int index, unsigned int number)
{
	const struct to_cluster *c = plan->cluster;

	for (unsigned int i = 0; i < c->n_servers; i++)
		for (unsigned int q = 0; q < c->servers[i].n_ports; q++) {
			const struct to_port *port = &c->servers[i].ports[q];

			if (!switches_leads_to(port, index, number))
				continue;
			printf("%s:%s", c->servers[i].name, port->name);
			return;
		}
	printf("not in the plan");
}

static void switches_print_circuits(char sign, const struct to_plan *plan, int index,
				    const struct to_circuits *circuits,
				    const struct to_circuits *except)
{
	enum to_link_mode mode = plan->cluster->link_mode;

	for (unsigned int i = 0; i < circuits->n; i++) {
		const struct to_circuit *p = &circuits->circuit[i];
		bool both = mode == TO_LINKS_DUPLEX && switches_has(circuits, p->out, p->in);

		if (switches_told(circuits, mode, p) ||
		    (except && switches_has(except, p->in, p->out)))
			continue;
		printf("%c %s %u%c%u  ", sign, plan->cluster->switches[index].name, p->in,
		       both ? '-' : '>', p->out);
		switches_print_end(plan, index, p->in);
		printf(" %s ", both ? "-" : ">");
		switches_print_end(plan, index, p->out);
		putchar('\n');
	}
}

void to_switches_print(const struct to_switch_set *switches, const struct to_plan *plan, bool all)
{
	for (unsigned int i = 0; i < switches->n; i++) {
		const struct to_switch_change *c = &switches->changes[i];

		if (all)
			switches_print_circuits(' ', plan, i, &c->has, &c->off);
		switches_print_circuits('-', plan, i, &c->off, NULL);
		switches_print_circuits('+', plan, i, &c->on, NULL);
	}
}

static json_t *switches_json_circuits(const struct to_circuits *circuits, enum to_link_mode mode)
{
	json_t *array = json_array();

	for (unsigned int i = 0; i < circuits->n; i++) {
		const struct to_circuit *p = &circuits->circuit[i];

		if (!switches_told(circuits, mode, p))
			json_array_append_new(array, json_pack("[I, I]", (json_int_t)p->in,
							       (json_int_t)p->out));
	}
	return array;
}

json_t *to_switches_json(const struct to_switch_set *switches)
{
	enum to_link_mode mode = switches->cluster->link_mode;
	json_t *array = json_array();

	for (unsigned int i = 0; i < switches->n; i++) {
		const struct to_switch_change *c = &switches->changes[i];

		json_array_append_new(array, json_pack("{s:s, s:o, s:o, s:o}",
			"name", switches->cluster->switches[i].name,
			"has", switches_json_circuits(&c->has, mode),
			"remove", switches_json_circuits(&c->off, mode),
			"add", switches_json_circuits(&c->on, mode)));
	}
	return array;
}

static int switches_change(struct to_call *call, bool dry_run, const struct to_plan *plan,
			   struct to_switch_set *switches)
{
	bool differ = to_switch_set_differ(switches);
	const uint64_t start = to_clock_monotonic_ns();
	json_t *object;
	double seconds;
	int ret = 0;

	if (!dry_run && differ)
		ret = to_switch_set_apply(switches, &call->err);
	if (ret)
		return ret;
	seconds = to_clock_seconds_since(start);
	if (call->json) {
		object = json_pack("{s:b, s:f, s:o}", "changed", !dry_run && differ,
				   "seconds", seconds, "switches", to_switches_json(switches));
		to_json_write(object, stdout, JSON_INDENT(2));
		putchar('\n');
		json_decref(object);
		return 0;
	}
	to_switches_print(switches, plan, false);
	if (!differ)
		printf("nothing to do: the optical switches are as planned\n");
	else if (!dry_run)
		printf("done in %.3f s\n", seconds);
	return 0;
}

int to_switches_run(struct to_call *call, const char *allow, to_switch_set_comparison *compare,
		    bool dry_run)
{
	struct to_switch_set switches;
	struct to_plan *plan;
	int lock = -1, ret;

	/* toctl run may be changing them */
	if (!dry_run) {
		lock = to_plan_lock_take(call->operands[0], &call->err);
		if (lock < 0)
			return lock;
	}
	ret = to_switches_start(call, allow, compare, &plan, &switches);
	if (!ret) {
		ret = switches_change(call, dry_run, plan, &switches);
		to_switches_end(plan, &switches);
	}
	if (lock >= 0)
		close(lock);
	return ret;
}
