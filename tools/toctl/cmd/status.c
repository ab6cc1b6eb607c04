// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/text.h"
#include "checks.h"
#include "cli/command.h"
#include "control/state_file.h"
#include "fabric_options.h"
#include "observer.h"

struct status_args {
	const char *log;
	struct to_fabric_options fabric;
};

/* As scripts see it: what is unwell is a failure, not to know is trouble. */
enum { STATUS_HEALTHY, STATUS_UNWELL, STATUS_TROUBLE };

struct status {
	struct to_observer observer;
	struct to_status st;
};

static void status_note(const char *text)
{
	fprintf(stderr, "toctl status: %s\n", text);
}

/* The look before; NULL when there was none that can be read. */
static json_t *status_before(const char *path)
{
	char *text;
	size_t len;
	json_t *look;

	if (to_file_read(path, TO_FILE_MAX, &text, &len, NULL))
		return NULL;
	look = to_json_load(text, len, TO_JSON_MEMORY_MAX, path, NULL);
	free(text);
	return look;
}

static int status_write(FILE *out, const void *look, struct to_error *err)
{
	return json_dumpf(look, out, JSON_COMPACT) ?
	       to_error_set(err, -ENOMEM, "out of memory") : 0;
}

static int status_look(struct status *s, struct to_error *err)
{
	struct to_observer *o = &s->observer;
	char path[PATH_MAX];
	struct to_error why;
	int kept = to_state_file(o->plan->demand->name, "look.json", path, &why), ret;

	if (!kept)
		o->before = status_before(path);
	ret = to_observer_look(o, &s->st, err);
	if (!ret && !kept)
		kept = to_file_write(path, status_write, o->before, &why);
	if (!ret && kept)
		fprintf(stderr, "toctl status: the next one will not know of this one: %s\n",
			why.text);
	return ret;
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
	status_print_loop(s);
	to_checks_print(stdout, call, &st->checks);
	printf("status: %s\n", st->checks.n ? "NOT healthy" : "healthy");
}

static int status_print_json(const struct status *s)
{
	json_t *object = to_observer_json(&s->observer, &s->st);
	int ret;

	ret = object ? json_dumpf(object, stdout, JSON_INDENT(2)) : -1;
	putchar('\n');
	json_decref(object);
	return ret ? -ENOMEM : 0;
}

static int status_run(struct to_call *call, const void *data)
{
	const struct status_args *args = data;
	struct to_fabric_options options = args->fabric;
	struct status s = {};
	int ret;

	options.note = status_note;
	ret = to_observer_open(&s.observer, call->n_operands ? call->operands[0] : "plan.json",
			       args->log, &options, &call->err);
	ret = ret ? ret : status_look(&s, &call->err);
	if (!ret && call->json)
		ret = status_print_json(&s) ? to_error_set(&call->err, -ENOMEM, "out of memory") : 0;
	else if (!ret)
		status_print(call, &s);
	if (!ret)
		ret = s.st.checks.n ? STATUS_UNWELL : STATUS_HEALTHY;
	if (ret < 0) {
		/* said here: status 2 would add advice on how to call it */
		fprintf(stderr, "toctl status: %s\n", call->err.text);
		call->err.text[0] = '\0';
		ret = STATUS_TROUBLE;
	}
	to_status_free(&s.st);
	to_observer_close(&s.observer);
	return ret;
}

#define FIELD(field) .offset = offsetof(struct status_args, field)

static const struct to_option status_options[] = {
	TO_FABRIC_KEYS(struct status_args, fabric),
	{ "log", 'l', TO_OPTION_STRING, FIELD(log), .argument = "FILE",
	  .help = "that toctl run writes, to tell its last decision" },
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
