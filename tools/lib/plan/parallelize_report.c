// SPDX-License-Identifier: GPL-2.0-or-later
#include "plan/parallelize_report.h"

#include "base/text.h"

/* In the order of enum to_approach. */
static const struct {
	const char *key, *name;
} report_approaches[] = {
	{ "data_parallel", "data parallelism" },
	{ "naive", "strategy first" },
	{ "tables_by_hand", "hand-placed tables" },
	{ "search", "co-optimised" },
};

static void report_row(FILE *out, const char *name, const struct to_choice *choice,
				  double ours)
{
	char time[16], bound[16], memory[16];

	fprintf(out, "  %-20s %13s %13s ", name, to_seconds_text(choice->time, time),
		to_seconds_text(choice->bound, bound));
	/* the time is 0 when operators neither compute nor send */
	if (ours > 0)
		fprintf(out, "%8.3f", choice->time / ours);
	else
		fprintf(out, "%8s", "-");
	fprintf(out, " %11s%s\n", to_bytes_text(choice->memory, memory), choice->fits ? "" : ", too much");
}

/* Return SiP-ML's placement as one choice among the others. */
static struct to_choice report_sip(const struct to_sub_op_plan *sip)
{
	return (struct to_choice){ .time = sip->time, .bound = sip->bound, .memory = sip->memory,
				   .fits = true };
}

const struct to_plan *to_parallelize_report_plan(const struct to_parallelize_report *all)
{
	return all->sip.plan ?: all->search.by[TO_APPROACH_SEARCH].plan;
}

void to_parallelize_report_print(FILE *out, const struct to_parallelize_report *all)
{
	const struct to_dnn_model *model = all->model;
	const struct to_parallelized *found = &all->search;
	const struct to_choice *ours = &found->by[TO_APPROACH_SEARCH];
	const struct to_choice sip = report_sip(&all->sip);

	fprintf(out, "%s: %u operators on %u servers, %llu samples per iteration\n", model->name,
		model->n_operators, ours->strategy->n_servers,
		(unsigned long long)ours->strategy->samples);
	fprintf(out, "  %-20s %13s %13s %8s %11s\n", "", "iteration", "lower bound", "relative",
		"per server");
	for (unsigned int i = 0; i < TO_APPROACHES; i++)
		report_row(out, report_approaches[i].name, &found->by[i], ours->time);
	if (!all->sip.plan) {
		to_strategy_print(out, ours->strategy);
		return;
	}
	report_row(out, "SiP-ML's placement", &sip, ours->time);
	to_sub_ops_print(out, &all->sip.placed);
}

static json_t *report_row_json(const struct to_choice *choice, double ours, json_t *strategy)
{
	return json_pack("{s:f, s:f, s:o, s:f, s:b, s:o?}", "time_s", choice->time,
			 "bound_s", choice->bound, "ratio",
			 ours > 0 ? json_real(choice->time / ours) : json_null(),
			 "parameter_bytes", choice->memory, "fits", choice->fits,
			 "strategy", strategy);
}

json_t *to_parallelize_report_json(const struct to_parallelize_report *all)
{
	const struct to_choice *ours = &all->search.by[TO_APPROACH_SEARCH];
	const struct to_choice sip = report_sip(&all->sip);
	json_t *approaches = json_object();
	int ret = 0;

	for (unsigned int i = 0; i < TO_APPROACHES; i++) {
		const struct to_choice *choice = &all->search.by[i];

		ret |= json_object_set_new(approaches, report_approaches[i].key,
					   report_row_json(choice, ours->time,
							   to_strategy_json(choice->strategy)));
	}
	if (all->sip.plan)
		ret |= json_object_set_new(approaches, "sip",
					   report_row_json(&sip, ours->time,
							   to_sub_ops_json(&all->sip.placed)));
	if (ret) {
		json_decref(approaches);
		return NULL;
	}
	return json_pack("{s:s, s:i, s:I, s:o, s:O}", "model", all->model->name, "servers",
			 (int)ours->strategy->n_servers, "samples",
			 (json_int_t)ours->strategy->samples, "approaches", approaches,
			 "predictions", to_parallelize_report_plan(all)->predictions);
}
