// SPDX-License-Identifier: GPL-2.0-or-later
#include "plan/plan_completion.h"

#include <errno.h>
#include <math.h>

#include "data/cross_connects.h"
#include "routing/routing.h"

#define PLAN_COMPLETION_NEAR 0.99	/* of a time: routes that may save less are not sought */

static int plan_completion_note(struct to_plan *plan, const struct to_figures *figures)
{
	json_decref(plan->predictions);
	plan->predictions = to_predict_json(plan, figures);
	return plan->predictions ? 0 : -ENOMEM;
}

int to_plan_completion_predictions(struct to_plan *plan, struct to_figures *figures)
{
	int ret = to_predict_plan_routes(plan, figures);

	return ret ? ret : plan_completion_note(plan, figures);
}

int to_plan_completion_all_predictions(struct to_plan *plan, unsigned int effort,
				       struct to_figures *figures)
{
	int ret = to_predict_plan_flows(plan, figures);
	double unbounded = ret ? 0 : figures->comm_time;

	if (!ret && plan->least_time < unbounded * PLAN_COMPLETION_NEAR)
		ret = to_routing_unbounded(plan, effort, &unbounded);
	if (!ret)
		ret = plan_completion_note(plan, figures);
	/* the routes of the plan are some of them */
	if (!ret && json_object_set_new(plan->predictions, "comm_time_unbounded_s",
					json_real(fmin(unbounded, figures->comm_time))))
		ret = -ENOMEM;
	return ret;
}

int to_plan_completion_primaries(struct to_plan *plan, struct to_layout *layout,
				 unsigned int effort, struct to_error *err)
{
	int ret;

	to_plan_set_layout(plan, layout);
	ret = to_cross_connects_fill(plan, err);
	if (!ret)
		ret = to_routing_primaries(plan, effort, err);
	return ret ? ret : to_plan_index(plan);
}

int to_plan_completion_backups(struct to_plan *plan, struct to_figures *figures,
			       struct to_error *err)
{
	int ret = to_routing_backups(plan, err);

	return ret ? ret : to_plan_completion_predictions(plan, figures);
}

int to_plan_completion_fill(struct to_plan *plan, struct to_layout *layout, unsigned int effort,
			    struct to_figures *figures, struct to_error *err)
{
	int ret = to_plan_completion_primaries(plan, layout, effort, err);

	if (ret)
		return ret;
	return figures ? to_plan_completion_backups(plan, figures, err) :
			 to_routing_backups(plan, err);
}
