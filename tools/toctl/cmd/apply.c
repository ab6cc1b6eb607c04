// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "apply_all.h"
#include "base/clock.h"
#include "cli/command.h"
#include "confirm.h"
#include "control/applied.h"
#include "doctor/check.h"
#include "fabric_options.h"
#include "format/plan_json.h"
#include "kernel/apply.h"
#include "kernel/device_lock.h"
#include "kernel/xdp.h"
#include "node.h"

#define ANY_GENERATION UINT64_MAX
#define DEFAULT_DEV "topo0"

struct apply_args {
	const char *node, *dev;
	bool dry_run, stage, commit, abort, verbose, all, previous, confirm;
	uint64_t base, confirm_ns;
	struct to_fabric_options fabric;
	int xdp;	/* index into apply_xdp_choices, or -1 */
};

static const char *const apply_xdp_choices[] = { "off", "auto", "on", NULL };
static const enum to_xdp_mode apply_xdp_modes[] = { TO_XDP_OFF, TO_XDP_AUTO, TO_XDP_ON };

static void apply_text_line(char sign, const char *what, const char *text, void *arg)
{
	(void)arg;
	printf("%c %s %s\n", sign, what, text);
}

static void apply_json_line(char sign, const char *what, const char *text, void *arg)
{
	json_array_append_new(arg, json_pack("{s:s#, s:s, s:s}", "change", &sign, 1,
					     "what", what, "text", text));
}

static void apply_print_json(json_t *object)
{
	json_dumpf(object, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(object);
}

static int apply_dry_run(struct to_call *call, const struct apply_args *args,
			 struct to_apply *apply)
{
	json_t *lines;
	int ret;

	if (!call->json) {
		if (!to_apply_differs(apply))
			printf("%s: nothing to do\n", args->dev);
		return to_apply_print(apply, apply_text_line, NULL, &call->err);
	}
	lines = json_array();
	ret = to_apply_print(apply, apply_json_line, lines, &call->err);
	if (ret) {
		json_decref(lines);
		return ret;
	}
	apply_print_json(json_pack("{s:s, s:b, s:o}", "device", args->dev,
				   "differs", to_apply_differs(apply),
				   "changes", lines));
	return 0;
}

/* What was done, for the last line. */
struct apply_result {
	uint64_t generation;
	bool changed, staged;
	double seconds;
	json_t *paths;
};

/*
 * The plan is active, and XDP only makes it faster: a port that has to do
 * without gets a warning and is no failure. Return: the path of each port for
 * the JSON.
 */
static json_t *apply_xdp(const struct to_server *self, const struct to_interfaces *found,
			 enum to_xdp_mode mode)
{
	struct to_xdp_port ports[TO_PORTS_MAX] = {};
	json_t *paths = json_object();
	struct to_error err = {};
	int ret = 0;

	for (unsigned int p = 0; p < self->n_ports; p++) {
		ports[p].ifindex = found->port[p];
		snprintf(ports[p].name, IFNAMSIZ, "%s", self->ports[p].name);
	}
	if (mode == TO_XDP_OFF)
		for (unsigned int p = 0; !ret && p < self->n_ports; p++)
			ret = to_xdp_detach(ports[p].ifindex, NULL, &err);
	else
		ret = to_xdp_attach(ports, self->n_ports, mode, &err);
	if (ret)
		fprintf(stderr, "toctl apply: warning: %s; relaying without XDP\n", err.text);
	for (unsigned int p = 0; p < self->n_ports; p++) {
		if (ports[p].why[0])
			fprintf(stderr, "toctl apply: warning: %s: relaying without XDP: %s\n",
				ports[p].name, ports[p].why);
		json_object_set_new(paths, ports[p].name, json_string(
			to_xdp_path_names[to_xdp_path(ports[p].ifindex)]));
	}
	return paths;
}

static void apply_report(const struct to_call *call, const struct apply_args *args,
			 const struct to_server *self, const struct to_apply *apply,
			 const struct apply_result *r)
{
	const struct to_apply_counts counts = to_apply_count(apply);
	double rate = r->seconds > 0 ? counts.routes / r->seconds : 0;
	bool table = r->staged || (r->changed && to_apply_table_differs(apply));

	if (call->json) {
		apply_print_json(json_pack("{s:s, s:s, s:b, s:b, s:I, s:i, s:i, s:i, s:i, s:f, s:f, s:o*}",
			"server", self->name, "device", args->dev,
			"changed", r->changed, "staged", r->staged,
			"generation", (json_int_t)r->generation,
			"routes", counts.routes, "groups", counts.groups,
			"entries_added", counts.entries_added,
			"entries_removed", counts.entries_removed,
			"seconds", r->seconds, "routes_per_second", table ? rate : 0.0,
			"paths", r->paths));
		return;
	}
	if (!r->changed) {
		printf("%s: nothing to do, generation %llu is this plan\n", args->dev,
		       (unsigned long long)r->generation);
		return;
	}
	if (r->staged)
		printf("%s: staged %u routes in %u groups, replacing generation %llu\n",
		       args->dev, counts.routes, counts.groups,
		       (unsigned long long)r->generation);
	else
		printf("%s: generation %llu, %u routes in %u groups; %u entries added, %u removed\n",
		       args->dev, (unsigned long long)r->generation, counts.routes,
		       counts.groups, counts.entries_added, counts.entries_removed);
	if (args->verbose && table)
		printf("%s: %.3f s from the plan to %s, %.0f routes/s\n", args->dev,
		       r->seconds, r->staged ? "the stage" : "the commit", rate);
}

static void apply_warn(const struct to_plan *plan, unsigned int server, const char *dev)
{
	struct to_check_view view = {};
	struct to_checks checks = {};

	to_check_view_plan(&view, plan, server);
	to_check_sysctl(&checks, dev, &view);
	for (unsigned int i = 0; i < checks.n; i++)
		if (checks.items[i].verdict != TO_CHECK_OK)
			fprintf(stderr, "toctl apply: warning: %s: %s: %s; %s\n",
				checks.items[i].subject, checks.items[i].name,
				checks.items[i].text, checks.items[i].fix);
	to_checks_free(&checks);
}

static int apply_change(struct to_call *call, struct to_apply *apply,
			const struct apply_args *args, struct apply_result *result)
{
	uint64_t base = to_apply_current(apply)->generation;
	bool table = args->stage || args->commit || to_apply_table_differs(apply);
	int ret = 0;

	if (args->commit) {
		ret = to_apply_check_stage(apply, &call->err);
	} else {
		ret = to_apply_links(apply, &call->err);
		if (!ret && table)
			ret = to_apply_stage(apply, args->stage, &call->err);
	}
	result->changed = true;
	result->staged = args->stage;
	result->generation = base;
	if (ret || args->stage)
		return ret;
	result->generation = 0;
	return to_apply_commit(apply, table, base, &result->generation, &call->err);
}

/* Back to what was before, unless somebody says that it may stay. */
static int apply_confirm(struct to_call *call, const struct apply_args *args,
			 struct to_apply *apply, const struct apply_result *result,
			 const struct to_confirm *confirm, int *lock)
{
	uint64_t generation = 0;
	char what[64];
	int ret;

	snprintf(what, sizeof(what), "%s: generation %llu is active", args->dev,
		 (unsigned long long)result->generation);
	/* others may work meanwhile: a table that they change is not ours to take back */
	close(*lock);
	*lock = -1;
	if (to_confirm_wait(confirm, what, args->confirm_ns))
		return 0;
	*lock = to_device_lock_take("toctl", args->dev, TO_DEVICE_LOCK_WAIT_S, &call->err);
	if (*lock < 0)
		return *lock;
	ret = to_apply_revert(apply, result->generation, &generation, &call->err);
	if (ret)
		return ret;
	return to_error_set(&call->err, -ECANCELED, generation ?
			    "%s: not confirmed: went back, as generation %llu" :
			    "%s: not confirmed: went back to no plan", args->dev,
			    (unsigned long long)generation);
}

/* For --previous. It is no failure of the plan that it cannot be kept. */
static void apply_keep(const struct to_plan *plan, bool all)
{
	struct to_error why;

	if (to_applied_keep(plan, all, &why))
		fprintf(stderr, "toctl apply: warning: %s; --previous will not know of this plan\n",
			why.text);
}

static int apply_server(struct to_call *call, const struct apply_args *args,
			const struct to_plan *plan, unsigned int server,
			const struct to_confirm *confirm, int *lock)
{
	const struct to_server *self = &plan->cluster->servers[server];
	struct apply_result result = {};
	const uint64_t start = to_clock_monotonic_ns();
	struct to_apply *apply;
	uint64_t active;
	int ret;

	apply = to_apply_open(plan, server, args->dev, args->dry_run || args->confirm_ns, NULL,
			      &call->err);
	if (!apply)
		return -EIO;
	active = to_apply_current(apply)->generation;
	if (args->base != ANY_GENERATION && args->base != active) {
		ret = to_error_set(&call->err, -ESTALE,
				   "%s: stale generation: the active one is %llu, not %llu",
				   args->dev, (unsigned long long)active,
				   (unsigned long long)args->base);
	} else if (args->dry_run) {
		ret = apply_dry_run(call, args, apply);
	} else if (!args->stage && !args->commit && !to_apply_differs(apply)) {
		result.generation = active;
		ret = 0;
	} else {
		ret = apply_change(call, apply, args, &result);
		result.seconds = to_clock_seconds_since(start);
		if (!ret && args->confirm_ns)
			ret = apply_confirm(call, args, apply, &result, confirm, lock);
	}
	if (!ret && args->xdp >= 0)
		result.paths = apply_xdp(self, to_apply_interfaces(apply),
					 apply_xdp_modes[args->xdp]);
	if (!ret && !args->dry_run)
		apply_report(call, args, self, apply, &result);
	if (!ret && !args->dry_run && !args->stage)
		apply_keep(plan, false);
	if (!ret)
		apply_warn(plan, server, args->dev);
	to_apply_close(apply);
	return ret;
}

/* The lock keeps us from finding, or undoing, what another toctl has half done. */
static int apply_plan(struct to_call *call, const struct apply_args *args, const char *path,
		      const struct to_plan *plan, const struct to_confirm *confirm)
{
	int server = to_node_find(plan, path, args->node, &call->err);
	int lock = -1, ret;

	if (server < 0)
		return server;
	if (!args->dry_run) {
		lock = to_device_lock_take("toctl", args->dev, TO_DEVICE_LOCK_WAIT_S, &call->err);
		if (lock < 0)
			return lock;
	}
	ret = apply_server(call, args, plan, server, confirm, &lock);
	if (lock >= 0)
		close(lock);
	return ret;
}

static int apply_drop_stage(const char *dev, struct to_device *device, struct to_error *err)
{
	struct to_genl genl;
	uint32_t ifindex;
	int ret;

	ifindex = if_nametoindex(dev);
	if (!ifindex)
		return to_error_set(err, -ENODEV, "there is no device %s", dev);
	ret = to_genl_open(&genl, err);
	if (ret)
		return ret;
	ret = to_genl_device(&genl, ifindex, device, err);
	if (!ret && !device->staged)
		ret = to_error_set(err, -ENOENT, "%s has no stage", dev);
	if (!ret)
		ret = to_genl_abort(&genl, ifindex, err);
	to_genl_close(&genl);
	return ret;
}

static int apply_abort(struct to_call *call, const char *dev)
{
	struct to_device device;
	int lock, ret;

	lock = to_device_lock_take("toctl", dev, TO_DEVICE_LOCK_WAIT_S, &call->err);
	if (lock < 0)
		return lock;
	ret = apply_drop_stage(dev, &device, &call->err);
	close(lock);
	if (ret)
		return ret;
	if (call->json)
		apply_print_json(json_pack("{s:s, s:I}", "device", dev, "generation",
					   (json_int_t)device.generation));
	else
		printf("%s: stage dropped, generation %llu stays\n", dev,
		       (unsigned long long)device.generation);
	return 0;
}

/* Load the plan that the operand names, or that was active before; @path gets its file. */
static struct to_plan *apply_load(struct to_call *call, const struct apply_args *args, char *path)
{
	const char *operand = call->n_operands ? call->operands[0] : NULL;

	if (!args->previous)
		snprintf(path, PATH_MAX, "%s", operand);
	else if (to_applied_previous(operand, args->all, path, &call->err))
		return NULL;
	return to_plan_load_shared(path, &call->err);
}

static int apply_loaded(struct to_call *call, const struct apply_args *args, const char *path,
			const struct to_plan *plan)
{
	struct to_confirm confirm = {};
	int ret = 0;

	if (args->confirm_ns)
		ret = to_confirm_begin(&confirm, plan->demand->name, args->all, &call->err);
	if (!ret && args->all) {
		ret = to_apply_all(call, plan, &args->fabric, args->confirm_ns ? &confirm : NULL,
				   args->confirm_ns, args->verbose);
		if (!ret)
			apply_keep(plan, true);
	} else if (!ret) {
		ret = apply_plan(call, args, path, plan, &confirm);
	}
	return ret;
}

static int apply_run(struct to_call *call, const void *data)
{
	const struct apply_args *args = data;
	const bool part = args->dry_run || args->stage || args->commit || args->abort;
	struct to_plan *plan;
	char path[PATH_MAX];
	int ret;

	if (args->dry_run + args->stage + args->commit + args->abort > 1)
		return to_usage(call, "--dry-run, --stage, --commit and --abort are mutually exclusive");
	if (args->all && (args->dry_run || args->stage || args->commit || args->abort ||
			  args->node || args->base != ANY_GENERATION ||
			  strcmp(args->dev, DEFAULT_DEV)))
		return to_usage(call, "--all cannot be combined with --node, --dev, --dry-run, --stage, --commit, --abort or --base-generation");
	if (args->all && args->xdp >= 0)
		return to_usage(call, "--all cannot be combined with --xdp, which each server has of its own");
	if (args->xdp >= 0 && (args->dry_run || args->stage || args->abort))
		return to_usage(call, "--xdp cannot be combined with --dry-run, --stage or --abort");
	if (args->confirm_ns && (part || args->xdp >= 0))
		return to_usage(call, "--confirm-within cannot be combined with --xdp, --dry-run, --stage, --commit or --abort");
	if (args->confirm && (part || args->previous || args->confirm_ns || args->xdp >= 0))
		return to_usage(call, "--confirm changes nothing: only --all and JOB go with it");
	if (args->abort)
		return apply_abort(call, args->dev);
	if (args->confirm)
		return to_confirm_give(call->n_operands ? call->operands[0] : NULL, args->all,
				       &call->err);
	if (!call->n_operands && !args->previous)
		return to_usage(call, "PLAN expected");
	plan = apply_load(call, args, path);
	if (!plan)
		return -EINVAL;
	ret = apply_loaded(call, args, path, plan);
	to_plan_free(plan);
	return ret;
}

#define FIELD(field) .offset = offsetof(struct apply_args, field)

static const struct to_option apply_options[] = {
	{ "node", 'n', TO_OPTION_STRING, FIELD(node), .argument = "NAME",
	  .help = "name of this server in the plan; default: the host name" },
	{ "dev", 'd', TO_OPTION_STRING, FIELD(dev), .argument = "DEV",
	  .help = "topoopt device, created if there is none; default: topo0" },
	{ "dry-run", 0, TO_OPTION_FLAG, FIELD(dry_run),
	  .help = "print what would change; change nothing" },
	{ "stage", 0, TO_OPTION_FLAG, FIELD(stage),
	  .help = "set up the links and stage the table; do not commit" },
	{ "commit", 0, TO_OPTION_FLAG, FIELD(commit),
	  .help = "commit what --stage prepared, and set addresses and routes" },
	{ "abort", 0, TO_OPTION_FLAG, FIELD(abort),
	  .help = "drop what --stage prepared" },
	{ "base-generation", 0, TO_OPTION_NUMBER, FIELD(base), .argument = "N",
	  .max = INT64_MAX, .help = "refuse unless generation N is active" },
	{ "previous", 0, TO_OPTION_FLAG, FIELD(previous),
	  .help = "the plan that was active before; again: back to the one that it replaced" },
	{ "confirm-within", 0, TO_OPTION_DURATION, FIELD(confirm_ns), .argument = "TIME",
	  .min = 1000000, .max = 86400000000000,
	  .help = "go back by itself unless it is confirmed in time" },
	{ "confirm", 0, TO_OPTION_FLAG, FIELD(confirm),
	  .help = "confirm what another toctl apply waits for" },
	{ "all", 'a', TO_OPTION_FLAG, FIELD(all),
	  .help = "on all servers of the plan or on none, through their agents" },
	TO_FABRIC_KEYS(struct apply_args, fabric),
	{ "xdp", 0, TO_OPTION_CHOICE, FIELD(xdp), .choices = apply_xdp_choices,
	  .help = "relay at XDP, before the kernel's queues; default: leave as it is" },
	{ "verbose", 'v', TO_OPTION_FLAG, FIELD(verbose),
	  .help = "print how long it took, and the routes per second" },
	{}
};

const struct to_command to_cmd_apply = {
	.name = "apply",
	.summary = "Apply a plan to this server's kernel",
	.operands = "[PLAN|JOB]",
	.max_operands = 1,
	.options = apply_options,
	.args_size = sizeof(struct apply_args),
	.defaults = &(const struct apply_args){
		.dev = DEFAULT_DEV, .base = ANY_GENERATION, .fabric = TO_FABRIC_DEFAULTS,
		.xdp = -1,
	},
	.run = apply_run,
};
