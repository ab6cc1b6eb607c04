// SPDX-License-Identifier: GPL-2.0-or-later
#include "study/rank_study.h"

#include <errno.h>
#include <stdio.h>

#include "base/text.h"
#include "collectives/dimensions_load.h"

int to_rank_study_run(struct to_rank_study *s, struct to_error *err)
{
	struct to_error why = { "" };
	int ret = to_dimensions_load(s->network, NULL, &s->setting.network, err);

	if (ret)
		return ret;
	s->setting.model = s->loaded = to_dnn_model_load(s->model, err);
	if (!s->loaded)
		return -EINVAL;
	ret = to_rank_iteration(&s->setting, &s->iteration, &why);
	return ret ? to_error_set(err, ret, "%s on %s: %.400s", s->loaded->name, s->network, why.text) :
		     0;
}

void to_rank_study_free(struct to_rank_study *s)
{
	to_dnn_model_free(s->loaded);
}

void to_rank_study_print(const struct to_rank_study *study)
{
	const struct to_rank_setting *s = &study->setting;
	const struct to_rank_iteration *i = &study->iteration;
	char text[16];

	printf("%s on %s: %u ranks, %s%s%s\n", s->model->name, study->network, s->network.ranks,
	       to_rank_policies[s->policy], s->policy == TO_RANK_THEMIS ? ", " : "",
	       s->policy == TO_RANK_THEMIS ? to_chunk_orders[s->order] : "");
	printf("  iteration       %s\n", to_seconds_text(i->time, text));
	printf("  computing       %s\n", to_seconds_text(i->computing, text));
	printf("  gradients       %s", to_seconds_text(i->gradients, text));
	printf(", AllReduce of %s a rank when all are there\n", to_bytes_text(i->gradient_bytes, text));
	printf("  results         %s, waiting for those of other ranks\n",
	       to_seconds_text(i->results, text));
	printf("  bandwidth       %.2f %% used in AllReduce\n", 100 * i->used);
}

json_t *to_rank_study_json(const struct to_rank_study *study)
{
	const struct to_rank_setting *s = &study->setting;
	const struct to_rank_iteration *i = &study->iteration;

	return json_pack("{s:s s:s s:I s:s s:s s:I s:I s:f s:f s:f s:f s:f s:f}",
		"workload", s->model->name, "network", study->network,
		"ranks", (json_int_t)s->network.ranks, "policy", to_rank_policies[s->policy],
		"order", s->policy == TO_RANK_THEMIS ? to_chunk_orders[s->order] : "fifo",
		"chunks", (json_int_t)s->chunks.n_chunks, "model_parallel", (json_int_t)s->divided,
		"time_s", i->time, "computing_s", i->computing, "gradients_s", i->gradients,
		"results_s", i->results, "gradient_bytes", i->gradient_bytes, "utilisation", i->used);
}
