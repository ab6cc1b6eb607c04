// SPDX-License-Identifier: GPL-2.0-or-later
#include "control/lossy.h"

#include <errno.h>
#include <stdlib.h>

int to_lossy_init(struct to_lossy *l, const struct to_lossy_config *config,
		  const struct to_cluster *cluster)
{
	*l = (struct to_lossy){
		.config = *config, .losses.config = TO_LINK_LOSS_DEFAULTS,
		.n_links = cluster->n_links,
		.links = calloc(cluster->n_links + 1, sizeof(*l->links)),
	};
	l->losses.config.rate = config->rate;
	if (!l->links || to_link_losses_follow(&l->losses, cluster)) {
		to_lossy_free(l);
		return -ENOMEM;
	}
	for (unsigned int i = 0; i < l->n_links; i++)
		l->links[i] = (struct to_lossy_link){
			.a = cluster->links[i].a, .b = cluster->links[i].b,
		};
	return 0;
}

void to_lossy_free(struct to_lossy *l)
{
	free(l->links);
	to_link_losses_free(&l->losses);
	*l = (struct to_lossy){};
}

static const struct to_link_loss *lossy_way(const struct to_lossy *l,
					    const struct to_lossy_link *link, unsigned int way)
{
	return way ? to_link_losses_find(&l->losses, link->b, link->a) :
		     to_link_losses_find(&l->losses, link->a, link->b);
}

/* Note what is said of a direction. Return: whether it has lost something since the last look. */
static bool lossy_note(struct to_lossy_link *link, unsigned int way,
		       const struct to_link_loss *loss)
{
	const struct to_link_point *now = loss->n ? &loss->points[loss->n - 1] : NULL;
	bool lost;

	if (!now)
		return false;
	lost = now->checks_lost > link->ways[way].lost ||
	       (now->checks && now->checks == link->ways[way].heard);
	link->ways[way].heard = now->checks;
	link->ways[way].lost = now->checks_lost;
	if (to_link_loss_verdict(loss) != TO_LINK_LOSSY)
		return lost;
	link->from = way ? link->b : link->a;
	link->to = way ? link->a : link->b;
	to_link_figures_text(&loss->figures, link->why);
	return true;
}

/* Judge one link. Return: whether it is held or used again from now on. */
static bool lossy_judge(struct to_lossy *l, struct to_lossy_link *link, uint64_t now_ns)
{
	bool lossy = false, lost = false;

	for (unsigned int way = 0; way < 2; way++) {
		const struct to_link_loss *loss = lossy_way(l, link, way);

		lossy |= loss && to_link_loss_verdict(loss) == TO_LINK_LOSSY;
		lost |= loss && lossy_note(link, way, loss);
	}
	if (to_hold_end(&link->hold, lost, now_ns)) {
		l->n_held--;
	} else if (!link->hold.held && lossy) {
		to_hold_begin(&link->hold, l->config.hold_ns, now_ns);
		l->n_held++;
	} else {
		return false;
	}
	/* what was seen before says nothing of what comes */
	to_link_losses_reset(&l->losses, link->a, link->b);
	return true;
}

bool to_lossy_look(struct to_lossy *l, const struct to_cluster *cluster,
		   const json_t *const *replies, uint64_t now_ns, uint64_t span_ns)
{
	bool changed = false;

	if (l->config.rate <= 0)
		return false;
	to_link_losses_look(&l->losses, cluster, replies, now_ns, span_ns);
	for (unsigned int i = 0; i < l->n_links; i++)
		if (!to_link_is_shared(cluster, &cluster->links[i]))
			changed |= lossy_judge(l, &l->links[i], now_ns);
	return changed;
}
