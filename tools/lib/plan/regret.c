// SPDX-License-Identifier: GPL-2.0-or-later
#include "plan/regret.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

void to_regret_init(struct to_regret *regret)
{
	*regret = (struct to_regret){ .n = 1, .caution = 1, .before = TO_REGRET_MAX };
}

double to_regret_work(const struct to_regret *regret, const double *work, const double *price)
{
	double least = INFINITY;

	for (unsigned int s = 0; s < regret->n; s++)
		least = fmin(least, work[s] + regret->caution * price[s]);
	return least;
}

/* No state costs more than to be in another one and change to it. */
static void regret_settle(struct to_regret *regret)
{
	for (unsigned int s = 0; s < regret->n; s++)
		regret->work[s] = fmin(regret->work[s],
				       to_regret_work(regret, regret->work, regret->price[s]));
}

unsigned int to_regret_add(struct to_regret *regret, const double *price, double work)
{
	const unsigned int s = regret->n++;

	for (unsigned int t = 0; t < s; t++)
		regret->price[s][t] = regret->price[t][s] = price[t];
	regret->price[s][s] = 0;
	regret->work[s] = work;
	regret_settle(regret);
	return s;
}

void to_regret_remove(struct to_regret *regret, unsigned int state)
{
	const unsigned int behind = --regret->n - state;

	memmove(&regret->work[state], &regret->work[state + 1], behind * sizeof(regret->work[0]));
	memmove(&regret->price[state], &regret->price[state + 1],
		behind * sizeof(regret->price[0]));
	for (unsigned int s = 0; s < regret->n; s++)
		memmove(&regret->price[s][state], &regret->price[s][state + 1],
			behind * sizeof(regret->price[s][0]));
	regret->at -= regret->at > state;
	if (regret->before == state)
		regret->before = TO_REGRET_MAX;
	else if (regret->before > state && regret->before < TO_REGRET_MAX)
		regret->before--;
}

static double regret_loan(const struct to_regret *regret)
{
	double loan = 0;

	for (unsigned int s = 1; s < regret->n; s++)
		loan = fmax(loan, TO_REGRET_LOAN * regret->price[0][s]);
	return loan;
}

void to_regret_observe(struct to_regret *regret, const double *cost)
{
	double least = cost[0];

	for (unsigned int s = 1; s < regret->n; s++)
		least = fmin(least, cost[s]);
	regret->credit += (1 + TO_REGRET_SLACK) * cost[0] - cost[regret->at];
	regret->credit += TO_REGRET_HOPE * (cost[0] - least);
	regret->credit = fmin(regret->credit, TO_REGRET_CREDIT * regret_loan(regret));
	if (regret->before < TO_REGRET_MAX)
		regret->gained += cost[regret->before] - cost[regret->at];
	for (unsigned int s = 0; s < regret->n; s++)
		regret->work[s] += cost[s];
	regret_settle(regret);
}

double to_regret_lost(const struct to_regret *regret, unsigned int state)
{
	return regret->work[regret->at] - regret->work[state];
}

/* Enough credit to change to @state, and from there to the first one? */
static bool regret_affords(const struct to_regret *regret, unsigned int state)
{
	return !state || regret->credit + regret_loan(regret) >=
			 regret->price[regret->at][state] + regret->price[state][0];
}

double to_regret_share(const struct to_regret *regret, unsigned int state)
{
	const double lost = to_regret_lost(regret, state);

	if (!(lost > 0) || !regret_affords(regret, state))
		return 0;
	return lost / (regret->caution * regret->price[regret->at][state]);
}

unsigned int to_regret_choose(const struct to_regret *regret)
{
	const double *price = regret->price[regret->at];
	unsigned int best = regret->at;
	double least = INFINITY;

	if (regret->credit + regret_loan(regret) < price[0])
		return 0;
	for (unsigned int s = 0; s < regret->n; s++) {
		const double work = regret->work[s] + regret->caution * price[s];

		if (s == regret->at || work >= least || !regret_affords(regret, s))
			continue;
		best = s;
		least = work;
	}
	/* settled, the present state is never worse than that, but for rounding */
	return least <= regret->work[regret->at] * (1 + 1e-12) ? best : regret->at;
}

void to_regret_move(struct to_regret *regret, unsigned int state)
{
	const double price = regret->price[regret->at][state];

	if (regret->before < TO_REGRET_MAX) {
		regret->caution *= regret->gained > TO_REGRET_WORTH * regret->paid ? 0.5 :
				   regret->gained > 0 ? 2 : 4;
		regret->caution = fmin(fmax(regret->caution, 1 / TO_REGRET_CAUTION),
				       TO_REGRET_CAUTION);
	}
	regret->credit -= price;
	regret->before = regret->at;
	regret->paid = price;
	regret->gained = 0;
	regret->at = state;
}
