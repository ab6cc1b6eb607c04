// SPDX-License-Identifier: GPL-2.0-or-later
#include "plan/regret.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define REGRET_ROUNDING 1e-9

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

unsigned int to_regret_add(struct to_regret *regret, const double *price, double work,
			   double last)
{
	const unsigned int s = regret->n++;

	for (unsigned int t = 0; t < s; t++)
		regret->price[s][t] = regret->price[t][s] = price[t];
	regret->price[s][s] = 0;
	regret->work[s] = work;
	regret->last[s] = last;
	regret->behind[s] = 0;
	regret_settle(regret);
	return s;
}

void to_regret_remove(struct to_regret *regret, unsigned int state)
{
	const unsigned int behind = --regret->n - state;

	memmove(&regret->work[state], &regret->work[state + 1], behind * sizeof(regret->work[0]));
	memmove(&regret->last[state], &regret->last[state + 1], behind * sizeof(regret->last[0]));
	memmove(&regret->behind[state], &regret->behind[state + 1],
		behind * sizeof(regret->behind[0]));
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

/* What the dearest change from the first state costs. */
static double regret_dearest(const struct to_regret *regret)
{
	double most = 0;

	for (unsigned int s = 1; s < regret->n; s++)
		most = fmax(most, regret->price[0][s]);
	return most;
}

static double regret_loan(const struct to_regret *regret)
{
	return TO_REGRET_LOAN * regret_dearest(regret);
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
	for (unsigned int s = 0; s < regret->n; s++) {
		regret->work[s] += cost[s];
		regret->last[s] = cost[s];
		regret->behind[s] = fmax(regret->behind[s] + cost[regret->at] - cost[s], 0);
	}
	regret->age++;
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

/* Was as much lost as the change to @state costs, or will it be until the next change? */
static bool regret_pays(const struct to_regret *regret, unsigned int state)
{
	const double lost = regret->last[regret->at] - regret->last[state];
	const double likely = lost * fmax(regret->age, regret->life);

	return regret->caution >= 1 ||
	       fmax(likely, regret->behind[state]) >= regret->price[regret->at][state];
}

double to_regret_share(const struct to_regret *regret, unsigned int state)
{
	const double lost = to_regret_lost(regret, state);

	if (!(lost > 0) || !regret_affords(regret, state) || !regret_pays(regret, state))
		return 0;
	return lost / (regret->caution * regret->price[regret->at][state]);
}

/* What it costs to change to @state and to be there until the next change. */
static double regret_outlook(const struct to_regret *regret, unsigned int state)
{
	return regret->price[regret->at][state] +
	       fmax(regret->age, regret->life) * regret->last[state];
}

/* Was enough lost to change to @state instead of another one, and is none due from there? */
static bool regret_serves(const struct to_regret *regret, unsigned int state)
{
	const double part = (1 - REGRET_ROUNDING) / TO_REGRET_CAUTION;

	if (regret->caution * to_regret_share(regret, state) < part / 2)
		return false;
	for (unsigned int s = 0; s < regret->n; s++)
		if (regret->work[state] - regret->work[s] > part * regret->price[state][s])
			return false;
	return true;
}

unsigned int to_regret_rather(const struct to_regret *regret, unsigned int due)
{
	unsigned int best = due;

	for (unsigned int s = 0; s < regret->n; s++)
		if (s != regret->at && regret_serves(regret, s) &&
		    regret_outlook(regret, s) < regret_outlook(regret, best))
			best = s;
	return best;
}

unsigned int to_regret_choose(const struct to_regret *regret)
{
	unsigned int due = regret->at;
	double most = 1 - REGRET_ROUNDING;

	if (regret->credit + regret_loan(regret) < regret->price[regret->at][0])
		return 0;
	for (unsigned int s = 0; s < regret->n; s++) {
		const double share = s == regret->at ? 0 : to_regret_share(regret, s);

		if (share < most)
			continue;
		due = s;
		most = share;
	}
	return due == regret->at ? due : to_regret_rather(regret, due);
}

void to_regret_move(struct to_regret *regret, unsigned int state)
{
	const double price = regret->price[regret->at][state];

	if (regret->before < TO_REGRET_MAX) {
		/* that a cheap one paid says nothing of dear ones */
		regret->caution *= regret->gained <= 0 ? 4 :
				   regret->gained <= TO_REGRET_WORTH * regret->paid ? 2 :
				   regret->gained <= TO_REGRET_WORTH * regret_dearest(regret) ? 1 : 0.5;
		regret->caution = fmin(fmax(regret->caution, 1 / TO_REGRET_CAUTION),
				       TO_REGRET_CAUTION);
	}
	regret->life = regret->life > 0 ? (regret->life + regret->age) / 2 : regret->age;
	regret->age = 0;
	memset(regret->behind, 0, sizeof(regret->behind));
	regret->credit -= price;
	regret->before = regret->at;
	regret->paid = price;
	regret->gained = 0;
	regret->at = state;
}
