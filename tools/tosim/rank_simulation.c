// SPDX-License-Identifier: GPL-2.0-or-later
#include "rank_simulation.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/limits.h"
#include "base/text.h"

#define RANK_THRESHOLD 0.0625	/* as tosim schedule */

static void rank_print(const struct to_rank_options *options, const struct to_rank_setting *s,
		       const struct to_rank_iteration *i)
{
	char text[16];

	printf("%s on %s: %u ranks, %s%s%s\n", s->model->name, options->network, s->network.ranks,
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

static void rank_print_json(const struct to_rank_options *options, const struct to_rank_setting *s,
			    const struct to_rank_iteration *i)
{
	json_t *out = json_pack("{s:s s:s s:I s:s s:s s:I s:I s:f s:f s:f s:f s:f s:f}",
		"workload", s->model->name, "network", options->network,
		"ranks", (json_int_t)s->network.ranks, "policy", to_rank_policies[s->policy],
		"order", s->policy == TO_RANK_THEMIS ? to_chunk_orders[s->order] : "fifo",
		"chunks", (json_int_t)s->chunks.n_chunks, "model_parallel", (json_int_t)s->divided,
		"time_s", i->time, "computing_s", i->computing, "gradients_s", i->gradients,
		"results_s", i->results, "gradient_bytes", i->gradient_bytes, "utilisation", i->used);

	json_dumpf(out, stdout, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
	putchar('\n');
	json_decref(out);
}

static int rank_load_network(const char *path, struct to_dimensions *network, struct to_error *err)
{
	char *data;
	size_t len;
	int ret = to_file_read(path, TO_FILE_MAX, &data, &len, err);

	if (ret)
		return ret;
	ret = to_dimensions_parse(data, len, path, network, err);
	free(data);
	return ret;
}

int to_rank_simulate(struct to_call *call, const struct to_rank_options *options,
		     const char *model, const char *placement, unsigned int batch)
{
	const bool tables = !strcmp(placement, "tables");
	struct to_rank_setting setting = {
		.batch = batch, .divided = options->divided, .recompute = options->recompute,
		.tables = tables, .policy = options->policy, .order = options->order,
		.chunks = { .n_chunks = options->chunks, .threshold = RANK_THRESHOLD } };
	struct to_rank_iteration iteration;
	struct to_error why = { "" };
	struct to_dnn_model *loaded;
	int ret;

	if (!model)
		return to_usage(call, "--network: give a --model");
	if (!tables && strcmp(placement, "data") && strcmp(placement, "search"))
		return to_usage(call, "--network: --placement is data or tables, and --model-parallel divides operators");
	if (tables && setting.divided > 1)
		return to_usage(call, "--placement tables excludes --model-parallel, which divides embeddings, too");
	if (rank_load_network(options->network, &setting.network, &call->err))
		return -EINVAL;
	setting.model = loaded = to_dnn_model_load(model, &call->err);
	if (!loaded)
		return -EINVAL;
	ret = to_rank_iteration(&setting, &iteration, &why);
	if (ret)
		to_error_set(&call->err, ret, "%s on %s: %.400s", loaded->name, options->network, why.text);
	else if (call->json)
		rank_print_json(options, &setting, &iteration);
	else
		rank_print(options, &setting, &iteration);
	to_dnn_model_free(loaded);
	return ret;
}
