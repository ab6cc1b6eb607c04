// SPDX-License-Identifier: GPL-2.0-or-later
#include "control/controller_repair.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "control/controller_lossy.h"
#include "format/plan_json.h"
#include "plan/repair.h"

#define CONTROLLER_SMALL 256	/* servers whose repair is worth all effort: it takes a second */

int to_controller_repair_adopt(struct controller *c)
{
	const struct to_plan *plan = c->plan;
	int ret;

	to_down_free(&c->without);
	ret = to_down_init(&c->without, c->asked->cluster);
	for (unsigned int i = 0; !ret && i < plan->n_down; i++) {
		ret = to_down_add(&c->without, c->asked->cluster, plan->down[i]);
		if (plan->down[i].port != TO_DOWN_SERVER)
			to_carrier_begin_down(&c->carrier, plan->down[i],
					      to_clock_monotonic_ns());
	}
	return ret;
}

/* Whether the plan in force is for something else than @down. */
static bool controller_outdated(const struct controller *c, const struct to_down *down)
{
	const struct to_cluster *cluster = c->plan->cluster;

	if (memcmp(down->links, c->without.links, down->n_links * sizeof(*down->links)) ||
	    memcmp(down->servers, c->without.servers, down->n_servers * sizeof(*down->servers)))
		return true;
	for (unsigned int l = 0; l < cluster->n_links; l++)
		if (to_down_has(down, cluster->links[l].a) || to_down_has(down, cluster->links[l].b))
			return true;
	return false;
}

/* Every attempt asks all servers, so they get ever rarer. */
static void controller_repair_failed(struct controller *c)
{
	const unsigned int pause = c->repair_pause ? 2 * c->repair_pause : CONTROLLER_RETRY_S;

	c->repair_pause = pause < CONTROLLER_RETRY_MAX_S ? pause : CONTROLLER_RETRY_MAX_S;
	c->repair_ns = to_clock_monotonic_ns() + c->repair_pause * TO_NS_PER_S;
}

/*
 * Who is dead is left out, who came back takes part again. Return: whether all
 * others are there.
 */
static bool controller_gather(struct controller *c, const struct to_down *down)
{
	const struct to_fabric_server *servers = to_fabric_servers(c->fabric);
	bool back = false, all = true;

	for (unsigned int s = 0; s < down->n_servers; s++)
		back |= c->without.servers[s] && !down->servers[s];
	to_fabric_leave_out(c->fabric, down->servers);
	if (back)
		to_fabric_status(c->fabric, NULL);
	for (unsigned int s = 0; s < down->n_servers; s++)
		all &= down->servers[s] || servers[s].reached;
	if (!all)
		to_fabric_leave_out(c->fabric, c->without.servers);
	return all;
}

/* From the links of the plan in force that are lit: on the way nobody waits for others. */
static int controller_repair_change(struct controller *c, const struct to_down *down,
				    const struct to_plan *to, struct to_error *err)
{
	struct to_cluster *cluster = to_cluster_copy(c->plan->cluster);
	struct to_plan from = { .cluster = cluster, .seed = c->plan->seed };
	unsigned int n = 0;
	int ret;

	if (!cluster)
		return to_error_set(err, -ENOMEM, "out of memory");
	for (unsigned int l = 0; l < cluster->n_links; l++)
		if (!to_down_has(down, cluster->links[l].a) &&
		    !to_down_has(down, cluster->links[l].b))
			cluster->links[n++] = cluster->links[l];
	cluster->n_links = n;
	ret = to_transition_make(&c->transition, &from, to, err);
	to_cluster_free(cluster);
	return ret;
}

/* To @to, whose file is in place when it is a repaired plan. */
static int controller_repair_go(struct controller *c, const struct to_down *down,
				struct to_plan *to, struct to_error *err)
{
	const struct to_plan *from = c->next ? c->next : c->plan;
	int ret = c->broken ? to_transition_restore(&c->transition, from, to, NULL, err) :
			      controller_repair_change(c, down, to, err);

	if (!ret && to_controller_state_is_repair(to))
		ret = to_file_replace(c->repair_path, c->next_path, err);
	if (!ret && !to_controller_state_is_repair(to) && unlink(c->repair_path) && errno != ENOENT)
		ret = to_error_set(err, -errno, "%s: %s", c->repair_path, strerror(errno));
	return ret;
}

/* Return: whether the fabric runs @to, which is taken over if so. */
static bool controller_repair_make(struct controller *c, const char *action,
				   const struct to_down *down, struct to_plan *to,
				   uint64_t since_ns)
{
	uint64_t decided = to_clock_monotonic_ns(), generation = 0;
	struct to_error err = { 0 };
	double shift, ms;
	int ret = 0;

	if (to_controller_state_is_repair(to))
		ret = to_plan_save(to, c->next_path, &err);
	if (!ret)
		ret = controller_repair_go(c, down, to, &err);
	if (ret) {
		to_run_log(c->config->log, "refused", json_pack("{s:s}", "error", err.text),
			   "%s failed: %s", action, err.text);
		to_fabric_leave_out(c->fabric, c->without.servers);
		if (!c->broken) {
			to_plan_free(c->next);
			c->next = to_plan_hold(to);
			to_controller_state_restore(c, err.text);
		}
		return false;
	}
	c->broken = false;
	unlink(c->next_path);
	to_plan_free(c->next);
	c->next = NULL;
	shift = to_clock_seconds_since(since_ns) * 1e3;
	ms = to_clock_seconds_since(decided) * 1e3;
	to_fabric_generation(c->fabric, &generation, &err);
	to_run_log(c->config->log, "changed",
		   json_pack("{s:s, s:I, s:f, s:f}", "action", action, "generation",
			     (json_int_t)generation, "shift_ms", shift, "ms", ms),
		   "%s done: generation %" PRIu64 " on all servers that are there, %.1f ms after the light changed, %.1f ms after the decision",
		   action, generation, shift, ms);
	return true;
}

/* What is decided and why, with the price. */
static void controller_note_repair(const struct controller *c, const char *action,
				   const struct to_repair *repair, double ms)
{
	const struct to_cluster *cluster = repair->plan->cluster;
	char text[160] = "", name[TO_DOWN_NAME_MAX];
	size_t len = 0;

	for (unsigned int i = 0; i < repair->plan->n_down; i++) {
		if (len + sizeof(name) + 16 > sizeof(text)) {
			snprintf(text + len, sizeof(text) - len, " and %u more",
				 repair->plan->n_down - i);
			break;
		}
		len += snprintf(text + len, sizeof(text) - len, " %s",
				to_down_name(cluster, repair->plan->down[i], name));
	}
	to_run_log(c->config->log, "decision",
		   json_pack("{s:s, s:s, s:f, s:b, s:o}", "action", action, "reason",
			     repair->plan->n_down ? "ports are without light" :
						    "the light is back",
			     "ms", ms, "dry_run", c->config->dry_run, "repair",
			     to_repair_json(repair)),
		   repair->plan->n_down ?
		   "decision: %s%s: without light:%s; %u links are dark, %u moved, rings %s; communication %.4g ms, now %.4g ms, busiest link %.4g B, now %.4g B (%.1f ms)" :
		   "decision: %s%s: the light is back%s; %u links are dark, %u moved, rings %s; communication %.4g ms, now %.4g ms, busiest link %.4g B, now %.4g B (%.1f ms)",
		   action, c->config->dry_run ? " (dry run)" : "", text, repair->dark,
		   repair->moved, to_repair_rings_names[repair->rings],
		   repair->before.comm_time * 1e3, repair->after.comm_time * 1e3,
		   repair->before.max_link_load, repair->after.max_link_load, ms);
}

/* The plan for @down: a repaired one, or the one asked for. Return: 0 or a negative errno. */
static int controller_repair_decide(const struct controller *c, const struct to_down *down,
				    struct to_repair *repair, struct to_error *err)
{
	const struct to_plan *asked = to_controller_state_asked(c);
	int ret;

	if (down->n_dark)
		return to_repair_plan(asked, down,
				      down->n_servers <= CONTROLLER_SMALL ? TO_EFFORT_DEFAULT :
									    TO_EFFORT_MIN,
				      repair, err);
	*repair = (struct to_repair){ .parts = 1, .plan = to_plan_hold(asked) };
	ret = to_predict_plan(c->plan, &repair->before);
	ret = ret ? ret : to_predict_plan(asked, &repair->after);
	if (ret)
		to_repair_free(repair);
	return ret ? to_error_set(err, ret, "out of memory") : 0;
}

/* @down is taken over when the fabric does without it. */
static void controller_repair(struct controller *c, struct to_down *down, uint64_t since_ns)
{
	const char *action = down->n_dark ? "repair" : "return";
	uint64_t start = to_clock_monotonic_ns();
	struct to_error err = { 0 };
	struct to_repair repair;

	if (controller_repair_decide(c, down, &repair, &err)) {
		to_run_log(c->config->log, "refused", json_pack("{s:s}", "error", err.text),
			   "cannot %s: %s", action, err.text);
		controller_repair_failed(c);
		return;
	}
	controller_note_repair(c, action, &repair, to_clock_seconds_since(start) * 1e3);
	if (!c->config->dry_run && !controller_repair_make(c, action, down, repair.plan, since_ns)) {
		controller_repair_failed(c);
		to_repair_free(&repair);
		return;
	}
	if (repair.plan == c->asked)
		to_plan_free(repair.plan);	/* held twice */
	to_controller_state_switch(c, repair.plan);
	repair.plan = NULL;
	to_repair_free(&repair);
	to_down_free(&c->without);
	c->without = *down;
	*down = (struct to_down){ 0 };
	c->repair_ns = c->repair_pause = 0;
	c->n_changes++;
}

void to_controller_repair_look(struct controller *c)
{
	const struct to_fabric_server *servers = to_fabric_servers(c->fabric);
	const uint64_t now = to_clock_monotonic_ns();
	struct to_down down;

	if (!c->config->carrier.after_ns || *c->config->stop)
		return;
	to_carrier_look(&c->carrier, servers, to_controller_state_asked(c), now);
	if (c->asked)
		to_carrier_look(&c->carrier, servers, c->plan, now);
	to_carrier_settle(&c->carrier, now, &c->since_ns);
	if (now < c->repair_ns)
		return;
	if (!to_carrier_find_down(&c->carrier, servers, to_controller_state_asked(c), &down) &&
	    !to_controller_lossy_add(c, &down) && controller_outdated(c, &down)) {
		if (controller_gather(c, &down))
			controller_repair(c, &down, c->since_ns);
		else
			controller_repair_failed(c);
	}
	to_down_free(&down);
}

static bool controller_has_link(const struct to_link *links, unsigned int n,
				const struct to_link *link)
{
	for (unsigned int l = 0; l < n; l++)
		if (!memcmp(&links[l].a, &link->a, sizeof(link->a)) &&
		    !memcmp(&links[l].b, &link->b, sizeof(link->b)))
			return true;
	return false;
}

/* Is @repaired made of @plan? Then all cables of that are lit or dark in it. */
static bool controller_fits(const struct to_plan *repaired, const struct to_plan *plan)
{
	const struct to_cluster *c = plan->cluster, *now = repaired->cluster;

	if (!to_controller_state_is_repair(repaired) || c->n_servers != now->n_servers)
		return false;
	for (unsigned int s = 0; s < c->n_servers; s++)
		if (strcmp(c->servers[s].name, now->servers[s].name) ||
		    c->servers[s].n_ports != now->servers[s].n_ports)
			return false;
	for (unsigned int l = 0; l < c->n_links; l++)
		if (!to_link_is_shared(c, &c->links[l]) &&
		    !controller_has_link(now->links, now->n_links, &c->links[l]) &&
		    !controller_has_link(repaired->dark, repaired->n_dark, &c->links[l]))
			return false;
	return !strcmp(plan->demand->name, repaired->demand->name);
}

int to_controller_repair_open(struct controller *c)
{
	struct to_error err = { 0 };
	struct to_plan *plan;

	if (access(c->repair_path, F_OK))
		return 0;
	plan = to_plan_load_shared(c->repair_path, &err);
	if (!plan || !controller_fits(plan, c->plan)) {
		to_run_log(c->config->log, "refused",
			   json_pack("{s:s}", "error", plan ? "it is of another plan" : err.text),
			   "%s is not used: %s", c->repair_path,
			   plan ? "it is of another plan" : err.text);
		to_plan_free(plan);
		return 0;
	}
	to_controller_state_switch(c, plan);
	return to_controller_repair_adopt(c);
}
