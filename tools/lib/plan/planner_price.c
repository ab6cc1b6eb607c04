// SPDX-License-Identifier: GPL-2.0-or-later
#include "plan/planner_price.h"

#include <errno.h>

#include "base/text.h"

void to_planner_price_print(FILE *out, const struct to_planner_price *price,
			    const struct to_figures *now)
{
	const struct to_figures *cyclic = &price->cyclic;
	char time[16], without[16];

	if (cyclic->servers)
		fprintf(out, "  no buffer cycles   busiest link %.4g MB, %.4g with them (%+.3g %%); mean hops %.3f, %.3f with them; communication %.4g ms, %.4g with them\n",
			now->max_link_load / 1e6, cyclic->max_link_load / 1e6,
			cyclic->max_link_load > 0 ? 100 * (now->max_link_load / cyclic->max_link_load - 1) : 0,
			now->hops.all.mean, cyclic->hops.all.mean, now->comm_time * 1e3,
			cyclic->comm_time * 1e3);
	if (price->free_time > 0)
		fprintf(out, "  one order of ranks: communication time %s, %+.3g %% of the %s that a free plan takes\n",
			to_seconds_text(now->comm_time, time),
			100 * (now->comm_time / price->free_time - 1),
			to_seconds_text(price->free_time, without));
}

int to_planner_price_json(const struct to_planner_price *price, json_t *object)
{
	const struct to_figures *cyclic = &price->cyclic;
	int ret = 0;

	if (price->free_time > 0)
		ret |= json_object_set_new(object, "free_comm_time", json_real(price->free_time));
	if (cyclic->servers)
		ret |= json_object_set_new(object, "with_buffer_cycles", json_pack(
			"{s:f, s:f, s:f}", "max_link_load_bytes", cyclic->max_link_load,
			"mean_hops", cyclic->hops.all.mean, "comm_time_s", cyclic->comm_time));
	return ret ? -ENOMEM : 0;
}
