/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_SPECIAL_CASES_H
#define TOPOOPT_SPECIAL_CASES_H

/* What easier searches find is a plan too, so that no plan falls behind one of theirs. */

#include "plan/search.h"

#define TO_SPECIAL_CASES_SEED 1	/* whose plans no other seed's may fall behind */

/**
 * to_special_cases_try() - what an easier search finds instead of @plan, where it is faster
 * @plan: complete, what @search found
 * @search: gets the effort and the seed of the one that found it
 * @figures: of @plan; gets those that it has then
 *
 * Easier searches have duplex links, each of which is two simplex ones; fewer ports,
 * the others then used as Algorithm 1 uses up ports; with all ports, less effort; and each
 * of them the seed TO_SPECIAL_CASES_SEED, too; but for those whose bounds say that they
 * cannot win. Large jobs have duplex links only, see SPECIAL_CASES_ALL:
 * there other seeds and more effort change less, and every split of the ports is in the
 * search itself.
 *
 * @plan stays as it is unless another is faster by more than a permille.
 *
 * Return: 0, or as to_plan_completion_fill().
 */
int to_special_cases_try(struct to_plan *plan, struct to_search *search,
			 struct to_figures *figures, struct to_error *err);

#endif
