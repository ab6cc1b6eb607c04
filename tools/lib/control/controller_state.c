// SPDX-License-Identifier: GPL-2.0-or-later
#include "control/controller_state.h"

#include <string.h>

void to_controller_state_take(struct controller *c, struct to_plan *plan)
{
	to_plan_free(c->plan);
	c->plan = plan;
}

void to_controller_state_switch(struct controller *c, struct to_plan *plan)
{
	if (plan == c->asked) {
		c->asked = NULL;
		to_controller_state_take(c, plan);
	} else if (c->asked) {
		to_controller_state_take(c, plan);
	} else {
		c->asked = c->plan;
		c->plan = plan;
	}
}

bool to_controller_state_has_link(const struct to_plan *plan, const struct to_link *link)
{
	const struct to_cluster *c = plan->cluster;

	for (unsigned int l = 0; l < c->n_links; l++) {
		const struct to_link *other = &c->links[l];

		if ((!memcmp(&other->a, &link->a, sizeof(link->a)) &&
		     !memcmp(&other->b, &link->b, sizeof(link->b))) ||
		    (!memcmp(&other->a, &link->b, sizeof(link->a)) &&
		     !memcmp(&other->b, &link->a, sizeof(link->b))))
			return true;
	}
	return false;
}

bool to_controller_state_is_recabled(const struct controller *c, const struct to_plan *plan,
				     const struct to_link *link)
{
	const struct to_port *a = &plan->cluster->servers[link->a.server].ports[link->a.port];
	const struct to_port *b = &plan->cluster->servers[link->b.server].ports[link->b.port];

	return a->optical_switch < 0 && b->optical_switch < 0 &&
	       !to_link_is_shared(plan->cluster, link) &&
	       !to_controller_state_has_link(to_controller_state_asked(c), link);
}

/* Whether @plan is for ports that run at another rate than the plan asked for says. */
static bool state_has_rates(const struct controller *c, const struct to_plan *plan)
{
	const struct to_cluster *a = to_controller_state_asked(c)->cluster, *b = plan->cluster;

	for (unsigned int s = 0; s < a->n_servers && s < b->n_servers; s++)
		for (unsigned int p = 0; p < a->servers[s].n_ports && p < b->servers[s].n_ports; p++)
			if (a->servers[s].ports[p].bandwidth != b->servers[s].ports[p].bandwidth)
				return true;
	return false;
}

bool to_controller_state_is_repair(const struct controller *c, const struct to_plan *plan)
{
	if (plan->n_down || plan->n_dark || state_has_rates(c, plan))
		return true;
	for (unsigned int l = 0; l < plan->cluster->n_links; l++)
		if (to_controller_state_is_recabled(c, plan, &plan->cluster->links[l]))
			return true;
	return false;
}

const struct to_plan *to_controller_state_asked(const struct controller *c)
{
	return c->asked ? c->asked : c->plan;
}
