// SPDX-License-Identifier: GPL-2.0-or-later
#include "study/bcube_study.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "format/plan_json.h"

#define BCUBE_SERVERS_MAX 4096

const char *const to_bcube_algorithms[] = { "bml", "ps", "ring", NULL };

/* In the order of to_bcube_algorithms. */
static const struct {
	enum to_collective_algorithm algorithm;
	double (*time)(const struct to_bcube *bcube);
	const char *formula;
} bcube_forms[] = {
	{ TO_COLLECTIVE_BML, to_bcube_bml_time, "2(N-1)/(kN)" },
	{ TO_COLLECTIVE_PS, to_bcube_ps_time, "2(n-1)/n" },
	{ TO_COLLECTIVE_RING, to_bcube_ring_time, "2(N-1)/N" },
};

#define BCUBE_FORMS (sizeof(bcube_forms) / sizeof(*bcube_forms))

int to_bcube_study_load(struct to_bcube_study *s, const char *path, struct to_error *err)
{
	struct to_plan *plan = to_plan_load_shared(path, err);
	struct to_collective_plan c;
	int ret = -EINVAL;

	if (!plan)
		return ret;
	for (s->which = 0; s->which < (int)BCUBE_FORMS; s->which++)
		if (bcube_forms[s->which].algorithm == plan->collective)
			break;
	if (s->which == (int)BCUBE_FORMS)
		s->which = TO_BCUBE_UNSAID;
	/* the network of BML: other algorithms run on any links */
	ret = to_collective_plan_init(&c, plan, TO_COLLECTIVE_BML, TO_COLLECTIVE_NO_GROUP, false,
				      plan->cluster->n_servers, err);
	if (!ret) {
		s->bcube = c.bcube;
		to_collective_plan_free(&c);
	}
	to_plan_free(plan);
	return ret;
}

int to_bcube_study_run(struct to_bcube_study *s, struct to_error *err)
{
	const struct to_bcube *bcube = &s->bcube;
	const enum to_collective_algorithm algorithm = bcube_forms[s->which].algorithm;

	if (bcube->servers > BCUBE_SERVERS_MAX)
		return to_error_set(err, -ERANGE, "BCube(%u,%u) has more than %d servers", bcube->n,
				    bcube->k, BCUBE_SERVERS_MAX);
	if (s->server >= bcube->servers)
		return to_error_set(err, -ERANGE, "BCube(%u,%u) has the servers 0 to %u", bcube->n,
				    bcube->k, bcube->servers - 1);
	if (to_bcube_loads_init(&s->loads, bcube, algorithm))
		return to_error_set(err, -ENOMEM, "out of memory");
	s->time = to_bcube_loads_time(&s->loads, &s->even);
	s->form = bcube_forms[s->which].time(bcube);
	if (!to_bcube_loads_steps(&s->loads, algorithm, s->server, &s->steps))
		return 0;
	to_bcube_loads_free(&s->loads);
	return to_error_set(err, -ENOMEM, "out of memory");
}

void to_bcube_study_free(struct to_bcube_study *s)
{
	to_steps_free(&s->steps);
	to_bcube_loads_free(&s->loads);
}

/* Write the pieces of a transfer as "0-2,5", at most eight ranges of them. */
static void bcube_pieces(const struct to_steps *s, const struct to_steps_transfer *t, char *text, size_t size)
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

static const char *const bcube_verbs[] = { "send", "add", "copy" };

static json_t *bcube_steps_json(const struct to_steps *s)
{
	json_t *list = json_array();
	char pieces[512];

	for (uint32_t t = 0; t < s->n_threads; t++)
		for (uint32_t w = 0; w < s->threads[t].n; w++) {
			const struct to_steps_part *step = &s->steps[s->threads[t].first + w];

			for (uint32_t i = 0; i < step->n; i++) {
				const struct to_steps_transfer *x = &s->transfers[step->first + i];

				bcube_pieces(s, x, pieces, sizeof(pieces));
				json_array_append_new(list, json_pack("{s:i s:i s:s s:i s:I s:s}",
					"thread", t, "step", w, "does", bcube_verbs[x->kind], "server", x->peer,
					"pieces", (json_int_t)to_steps_transfer_size(s, x), "which", pieces));
			}
		}
	return list;
}

static void bcube_steps_print(const struct to_steps *s)
{
	static const char *const to_from[] = { "to", "from", "from" };
	char pieces[512];

	for (uint32_t t = 0; t < s->n_threads; t++)
		for (uint32_t w = 0; w < s->threads[t].n; w++) {
			const struct to_steps_part *step = &s->steps[s->threads[t].first + w];

			for (uint32_t i = 0; i < step->n; i++) {
				const struct to_steps_transfer *x = &s->transfers[step->first + i];

				bcube_pieces(s, x, pieces, sizeof(pieces));
				printf("  thread %u step %u: %s %s server %u: %s\n", t, w,
				       bcube_verbs[x->kind], to_from[x->kind], x->peer, pieces);
			}
		}
}

json_t *to_bcube_study_json(const struct to_bcube_study *s)
{
	const struct to_bcube *b = &s->bcube;

	return json_pack("{s:s s:i s:i s:I s:I s:I s:f s:f s:b s:I s:o}",
		"algorithm", to_bcube_algorithms[s->which], "n", b->n, "k", b->k,
		"servers", (json_int_t)b->servers,
		"switches", (json_int_t)b->k * (b->servers / b->n),
		"pieces", (json_int_t)s->loads.size, "time_tf", s->time, "closed_form_tf", s->form,
		"even", s->even, "server", (json_int_t)s->server,
		"transfers", bcube_steps_json(&s->steps));
}

void to_bcube_study_print(const struct to_bcube_study *s)
{
	const struct to_bcube *b = &s->bcube;

	printf("%s on BCube(%u,%u): %u servers of %u ports, %u switches of %u ports\n",
	       to_bcube_algorithms[s->which], b->n, b->k, b->servers, b->k,
	       b->k * (b->servers / b->n), b->n);
	printf("  %.6g T_F, the time that a port takes for the buffer; closed form %s: %.6g\n", s->time,
	       bcube_forms[s->which].formula, s->form);
	printf("  in each step, %s; server %" PRIu64 ", of %" PRIu64 " pieces:\n",
	       s->even ? "all ports carry the same" : "some ports carry more than others",
	       s->server, s->loads.size);
	bcube_steps_print(&s->steps);
}
