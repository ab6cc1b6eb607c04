// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/bcube_loads.h"
#include "cli/command.h"
#include "format/plan_json.h"

#define SHOW_SERVERS_MAX 4096
#define SHOW_UNSAID (-1)

struct show_args {
	const char *bcube;
	uint64_t server;
	int algorithm;
};

static const char *const show_algorithms[] = { "bml", "ps", "ring", NULL };

static const struct {
	enum to_collective_algorithm algorithm;
	double (*time)(const struct to_bcube *bcube);
	const char *formula;
} show_forms[] = {
	{ TO_COLLECTIVE_BML, to_bcube_bml_time, "2(N-1)/(kN)" },
	{ TO_COLLECTIVE_PS, to_bcube_ps_time, "2(n-1)/n" },
	{ TO_COLLECTIVE_RING, to_bcube_ring_time, "2(N-1)/N" },
};

static int show_parse(const char *text, struct to_bcube *bcube, struct to_error *err)
{
	unsigned int n, k;
	int end = 0;

	if (sscanf(text, "%5u,%5u%n", &n, &k, &end) < 2 || text[end] ||
	    strspn(text, "0123456789,") < strlen(text))
		return to_error_set(err, -EINVAL, "--bcube %s: expected n,k: ports of a switch, and of a server",
				    text);
	return to_bcube_init(bcube, n, k, err) ? -ERANGE : 0;
}

/* The network of a plan, and what its job does. */
static int show_read_plan(const char *path, struct to_bcube *bcube,
			  enum to_collective_algorithm *algorithm, struct to_error *err)
{
	struct to_plan *plan = to_plan_load_shared(path, err);
	struct to_collective_plan c;
	int ret = -EINVAL;

	if (!plan)
		return ret;
	*algorithm = plan->collective;
	/* BML, as the others run on any links */
	ret = to_collective_plan_init(&c, plan, TO_COLLECTIVE_BML, TO_COLLECTIVE_NO_GROUP, false,
				      plan->cluster->n_servers, err);
	if (!ret) {
		*bcube = c.bcube;
		to_collective_plan_free(&c);
	}
	to_plan_free(plan);
	return ret;
}

/* Whose steps to list: of --bcube or of a plan, by --algorithm or as the plan says. */
static int show_read(struct to_call *call, const struct show_args *args, struct to_bcube *bcube,
		     unsigned int *form)
{
	enum to_collective_algorithm algorithm = TO_COLLECTIVE_BML;
	int ret;

	if (!call->n_operands == !args->bcube)
		return to_usage(call, "give a plan, or --bcube");
	ret = args->bcube ? show_parse(args->bcube, bcube, &call->err) :
	      show_read_plan(call->operands[0], bcube, &algorithm, &call->err);
	if (ret)
		return ret;
	if (bcube->servers > SHOW_SERVERS_MAX)
		return to_error_set(&call->err, -ERANGE, "BCube(%u,%u) has more than %d servers",
				    bcube->n, bcube->k, SHOW_SERVERS_MAX);
	if (args->algorithm != SHOW_UNSAID)
		algorithm = show_forms[args->algorithm].algorithm;
	for (*form = 0; *form < sizeof(show_forms) / sizeof(*show_forms); ++*form)
		if (show_forms[*form].algorithm == algorithm)
			return 0;
	return to_usage(call, "%s was planned without --collective: give --algorithm",
			call->operands[0]);
}

/* Pieces of a transfer, as "0-2,5"; an ellipsis in the place of many. */
static void show_pieces(const struct to_steps *s, const struct to_steps_transfer *t, char *text, size_t size)
{
	size_t len = 0;

	text[0] = '\0';
	for (uint32_t i = 0; i < t->n && len < size; i++) {
		const struct to_elements *e = &s->elements[t->first + i];

		if (i == 8) {
			snprintf(text + len, size - len, ",..");
			return;
		}
		len += snprintf(text + len, size - len,
				e->n > 1 ? "%s%" PRIu64 "-%" PRIu64 : "%s%" PRIu64, i ? "," : "",
				e->first, e->first + e->n - 1);
	}
}

static const char *const show_verbs[] = { "send", "add", "copy" };

static json_t *show_json(const struct to_steps *s)
{
	json_t *list = json_array();
	char pieces[512];

	for (uint32_t t = 0; t < s->n_threads; t++)
		for (uint32_t w = 0; w < s->threads[t].n; w++) {
			const struct to_steps_part *step = &s->steps[s->threads[t].first + w];

			for (uint32_t i = 0; i < step->n; i++) {
				const struct to_steps_transfer *x = &s->transfers[step->first + i];

				show_pieces(s, x, pieces, sizeof(pieces));
				json_array_append_new(list, json_pack("{s:i s:i s:s s:i s:I s:s}",
					"thread", t, "step", w, "does", show_verbs[x->kind], "server", x->peer,
					"pieces", (json_int_t)to_steps_transfer_size(s, x), "which", pieces));
			}
		}
	return list;
}

static void show_print(const struct to_steps *s)
{
	static const char *const to_from[] = { "to", "from", "from" };
	char pieces[512];

	for (uint32_t t = 0; t < s->n_threads; t++)
		for (uint32_t w = 0; w < s->threads[t].n; w++) {
			const struct to_steps_part *step = &s->steps[s->threads[t].first + w];

			for (uint32_t i = 0; i < step->n; i++) {
				const struct to_steps_transfer *x = &s->transfers[step->first + i];

				show_pieces(s, x, pieces, sizeof(pieces));
				printf("  thread %u step %u: %s %s server %u: %s\n", t, w,
				       show_verbs[x->kind], to_from[x->kind], x->peer, pieces);
			}
		}
}

static int show_run(struct to_call *call, const void *data)
{
	const struct show_args *args = data;
	enum to_collective_algorithm algorithm;
	struct to_bcube_loads loads;
	struct to_steps steps;
	struct to_bcube bcube;
	unsigned int which = 0;
	const char *name;
	double time, form;
	bool even;
	int ret = show_read(call, args, &bcube, &which);

	if (ret)
		return ret;
	algorithm = show_forms[which].algorithm;
	name = show_algorithms[which];
	if (args->server >= bcube.servers)
		return to_error_set(&call->err, -ERANGE, "BCube(%u,%u) has the servers 0 to %u", bcube.n,
				    bcube.k, bcube.servers - 1);
	if (to_bcube_loads_init(&loads, &bcube, algorithm))
		return to_error_set(&call->err, -ENOMEM, "out of memory");
	time = to_bcube_loads_time(&loads, &even);
	form = show_forms[which].time(&bcube);
	if (to_bcube_loads_steps(&loads, algorithm, args->server, &steps)) {
		to_bcube_loads_free(&loads);
		return to_error_set(&call->err, -ENOMEM, "out of memory");
	}
	if (call->json) {
		json_t *out = json_pack("{s:s s:i s:i s:I s:I s:I s:f s:f s:b s:I s:o}", "algorithm", name,
			"n", bcube.n, "k", bcube.k, "servers", (json_int_t)bcube.servers,
			"switches", (json_int_t)bcube.k * (bcube.servers / bcube.n),
			"pieces", (json_int_t)loads.size, "time_tf", time, "closed_form_tf", form,
			"even", even, "server", (json_int_t)args->server, "transfers", show_json(&steps));

		json_dumpf(out, stdout, JSON_INDENT(1) | JSON_SORT_KEYS);
		putchar('\n');
		json_decref(out);
	} else {
		printf("%s on BCube(%u,%u): %u servers of %u ports, %u switches of %u ports\n", name, bcube.n,
		       bcube.k, bcube.servers, bcube.k, bcube.k * (bcube.servers / bcube.n), bcube.n);
		printf("  %.6g T_F, the time that a port takes for the buffer; closed form %s: %.6g\n", time,
		       show_forms[which].formula, form);
		printf("  in each step, %s; server %" PRIu64 ", of %" PRIu64 " pieces:\n",
		       even ? "all ports carry the same" : "some ports carry more than others",
		       args->server, loads.size);
		show_print(&steps);
	}
	to_steps_free(&steps);
	to_bcube_loads_free(&loads);
	return 0;
}

#define FIELD(field) .offset = offsetof(struct show_args, field)

static const struct to_option show_options[] = {
	{ "bcube", 'b', TO_OPTION_STRING, FIELD(bcube), .argument = "N,K",
	  .help = "the network: n ports of a packet switch, k ports of a server" },
	{ "algorithm", 'a', TO_OPTION_CHOICE, FIELD(algorithm), .argument = "NAME",
	  .choices = show_algorithms, .help = "bml, ps or ring; default: as the plan was made for, else bml" },
	{ "server", 's', TO_OPTION_NUMBER, FIELD(server), .argument = "I", .max = TO_SERVERS_MAX,
	  .help = "whose steps to list; default: 0" },
	{}
};

const struct to_command to_cmd_steps = {
	.name = "steps",
	.summary = "List the steps of an AllReduce on BCube",
	.operands = "[PLAN]",
	.max_operands = 1,
	.options = show_options,
	.args_size = sizeof(struct show_args),
	.defaults = &(const struct show_args){ .algorithm = SHOW_UNSAID },
	.run = show_run,
};
