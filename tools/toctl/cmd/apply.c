// SPDX-License-Identifier: GPL-2.0-or-later
/* Over 200 lines: one server or all of them, in one step or two, with a confirmation of either. */

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "applied_print.h"
#include "cli/command.h"
#include "control/applied.h"
#include "control/apply_all.h"
#include "control/apply_server.h"
#include "fabric_options.h"
#include "format/plan_json.h"
#include "node.h"

#define DEFAULT_DEV "topo0"

struct apply_args {
	const char *node, *dev;
	bool dry_run, stage, commit, abort, all, previous, confirm;
	uint64_t base, confirm_ns;
	struct to_fabric_options fabric;
	int xdp;	/* index into apply_xdp_choices, or -1 */
};

static const char *const apply_xdp_choices[] = { "off", "auto", "on", NULL };

static void apply_ask(const char *question)
{
	fprintf(stderr, "%s\n", question);
}

/* Keep the plan for --previous. */
static void apply_keep(const struct to_call *call, const struct to_plan *plan, bool all)
{
	struct to_error why;

	if (to_applied_keep(plan, all, &why))
		to_call_note(call, "%s; --previous will not know of this plan", why.text);
}

static int apply_server(struct to_call *call, const struct apply_args *args, const char *path,
			const struct to_plan *plan, const struct to_confirm *confirm)
{
	const int server = to_node_find(plan, path, args->node, &call->err);
	const struct to_apply_job job = {
		.plan = plan, .server = server, .device = args->dev, .base = args->base,
		.part = args->stage ? TO_APPLY_STAGE : args->commit ? TO_APPLY_COMMIT : TO_APPLY_ALL,
		.xdp = TO_XDP_OFF + args->xdp, .confirm = confirm,
	};
	struct to_applied_server result;
	int ret;

	if (server < 0)
		return server;
	if (args->dry_run) {
		ret = to_applied_print_changes(call, &job);
	} else {
		ret = to_apply_server(&job, &result, &call->err);
		if (!ret)
			to_applied_print_server(call, &job, &result);
		if (!ret && !args->stage)
			apply_keep(call, plan, false);
	}
	if (!ret)
		to_applied_warn(call, &job);
	return ret;
}

static int apply_all(struct to_call *call, const struct apply_args *args,
		     const struct to_plan *plan, const struct to_confirm *confirm)
{
	struct to_fabric_options options = args->fabric;
	struct to_applied_all result;
	int ret;

	options.note = to_note;
	ret = to_apply_all(plan, &options, confirm, &result, &call->err);
	if (ret)
		return ret;
	to_applied_print_all(call, &result);
	to_applied_warn_rdma(call, plan, TO_SERVER_NONE);
	apply_keep(call, plan, true);
	return 0;
}

static int apply_abort(struct to_call *call, const char *dev)
{
	struct to_device device;
	int ret = to_apply_drop_stage(dev, &device, &call->err);

	if (ret)
		return ret;
	if (call->json)
		printf("{\"device\": \"%s\", \"generation\": %llu}\n", dev,
		       (unsigned long long)device.generation);
	else
		printf("%s: stage dropped, generation %llu stays\n", dev,
		       (unsigned long long)device.generation);
	return 0;
}

static int apply_confirm(struct to_call *call, const char *job, bool all)
{
	int ret = to_confirm_give(job, all, &call->err);

	if (!ret && call->json)
		printf("{\"confirmed\": true}\n");
	return ret;
}

static int apply_usage(struct to_call *call, const struct apply_args *args)
{
	const unsigned int parts = args->dry_run + args->stage + args->commit + args->abort;

	if (parts > 1)
		return to_usage(call, "--dry-run, --stage, --commit and --abort are mutually exclusive");
	if (args->all && (parts || args->node || args->base != TO_APPLY_ANY_GENERATION ||
			  args->xdp >= 0 || strcmp(args->dev, DEFAULT_DEV)))
		return to_usage(call, "--all cannot be combined with --node, --dev, --xdp, --dry-run, --stage, --commit, --abort or --base-generation");
	if (args->xdp >= 0 && (args->dry_run || args->stage || args->abort))
		return to_usage(call, "--xdp cannot be combined with --dry-run, --stage or --abort");
	if (args->confirm_ns && (parts || args->xdp >= 0))
		return to_usage(call, "--confirm-within cannot be combined with --xdp, --dry-run, --stage, --commit or --abort");
	if (args->confirm && (parts || args->previous || args->confirm_ns || args->xdp >= 0))
		return to_usage(call, "--confirm changes nothing: only --all and JOB go with it");
	if (!call->n_operands && !args->previous && !args->confirm && !args->abort)
		return to_usage(call, "PLAN expected");
	return 0;
}

static int apply_plan(struct to_call *call, const struct apply_args *args, const char *path)
{
	struct to_confirm confirm = { .wait_ns = args->confirm_ns, .ask = apply_ask };
	const struct to_confirm *wait = args->confirm_ns ? &confirm : NULL;
	struct to_plan *plan = to_plan_load_shared(path, &call->err);
	int ret = 0;

	if (!plan)
		return -EINVAL;
	if (wait)
		ret = to_confirm_begin(&confirm, plan->demand->name, args->all, &call->err);
	if (!ret)
		ret = args->all ? apply_all(call, args, plan, wait) :
				  apply_server(call, args, path, plan, wait);
	to_plan_free(plan);
	return ret;
}

static int apply_run(struct to_call *call, const void *data)
{
	const char *operand = call->n_operands ? call->operands[0] : NULL;
	const struct apply_args *args = data;
	char previous[PATH_MAX];
	int ret = apply_usage(call, args);

	if (ret)
		return ret;
	if (args->abort)
		return apply_abort(call, args->dev);
	if (args->confirm)
		return apply_confirm(call, operand, args->all);
	if (args->previous)
		ret = to_applied_previous(operand, args->all, previous, &call->err);
	return ret ? ret : apply_plan(call, args, args->previous ? previous : operand);
}

#define FIELD(field) .offset = offsetof(struct apply_args, field)

static const struct to_option apply_options[] = {
	{ "dry-run", 0, TO_OPTION_FLAG, FIELD(dry_run),
	  .help = "print what would change; change nothing" },
	{ "all", 'a', TO_OPTION_FLAG, FIELD(all),
	  .help = "apply to all servers of the plan, or to none" },
	TO_FABRIC_KEYS(struct apply_args, fabric),
	{ "confirm-within", 0, TO_OPTION_DURATION, FIELD(confirm_ns), .argument = "TIME",
	  .min = 1000000, .max = 86400000000000,
	  .help = "undo the change unless it is confirmed in time" },
	{ "confirm", 0, TO_OPTION_FLAG, FIELD(confirm),
	  .help = "confirm what another toctl apply waits for" },
	{ "previous", 0, TO_OPTION_FLAG, FIELD(previous),
	  .help = "apply the plan that was active before" },
	{ "stage", 0, TO_OPTION_FLAG, FIELD(stage),
	  .help = "set up links and stage the table; do not commit" },
	{ "commit", 0, TO_OPTION_FLAG, FIELD(commit), .help = "commit what --stage prepared" },
	{ "abort", 0, TO_OPTION_FLAG, FIELD(abort), .help = "drop what --stage prepared" },
	{ "base-generation", 0, TO_OPTION_NUMBER, FIELD(base), .argument = "N",
	  .max = INT64_MAX, .help = "refuse unless generation N is active" },
	{ "xdp", 0, TO_OPTION_CHOICE, FIELD(xdp), .choices = apply_xdp_choices,
	  .help = "relay at XDP; default: as it is" },
	{ "node", 0, TO_OPTION_STRING, FIELD(node), .argument = "NAME",
	  .help = "name of this server in the plan; default: the host name" },
	{ "dev", 0, TO_OPTION_STRING, FIELD(dev), .argument = "DEV",
	  .help = "topoopt device, created if missing; default: topo0" },
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
		.dev = DEFAULT_DEV, .base = TO_APPLY_ANY_GENERATION, .fabric = TO_FABRIC_DEFAULTS,
		.xdp = -1,
	},
	.run = apply_run,
};
