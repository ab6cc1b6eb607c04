/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_REGRET_H
#define TOPOOPT_REGRET_H

/*
 * When to leave one plan for another, without knowing what traffic will come: a
 * metrical task system (Borodin, Linial and Saks, "An optimal on-line algorithm for
 * metrical task systems", J. ACM 39(4), 1992). A plan is a state, an interval of
 * traffic is a task that costs each state its busy time, and a change has a price.
 *
 * Work functions decide: the least that all intervals so far could have cost, ending
 * in each state. A state is left when its work function exceeds another one's by the
 * price of the change, so whatever comes, n states cost at most 2n - 1 times what the
 * best sequence of changes would have cost, known in advance.
 *
 * Where changes prove to pay, and would if they were dear, a part of the price is enough to
 * leave; where they prove vain, it takes a multiple (@caution). The bound is worse by as
 * much: TO_REGRET_CAUTION times at most. A part of it is enough only where all of it would
 * be lost between two changes, at the pace of the last interval, or was.
 *
 * A state that is left is not left for the one that made it due, but for the one that
 * costs least until the next change, if all that is lost by the last interval goes on: of
 * those against which an eighth of the price was lost, and where no change is due at once.
 * So the bound is twice as large again (TO_REGRET_RATIO).
 *
 * That would allow more than doing nothing would have cost. So there is a credit as well:
 * what was gained over staying in the first state for ever, TO_REGRET_SLACK of what that
 * costs, and TO_REGRET_HOPE of what it loses to the best state of each interval. A change
 * must leave enough for the way back to the first state, and what uses the credit up ends
 * there. So it never costs more than the first state alone, those two parts, the price of
 * TO_REGRET_LOAN changes, and the interval that used the credit up; and the bound above
 * holds while there is credit.
 */

#define TO_REGRET_MAX 8		/* states */
#define TO_REGRET_CAUTION 4.0
#define TO_REGRET_RATIO (2 * TO_REGRET_CAUTION)	/* times 2n - 1 */
#define TO_REGRET_WORTH 3	/* times its price, what a change gains that pays */
#define TO_REGRET_SLACK 0.01
#define TO_REGRET_HOPE 0.1
#define TO_REGRET_LOAN 3	/* changes that credit is given for */
#define TO_REGRET_CREDIT 10	/* times the loan, credit that is kept at most */

/**
 * struct to_regret - states and what they cost; 0 is the first one
 * @n: states
 * @at: the present one
 * @before: the one before it, TO_REGRET_MAX when there is none
 * @work: work functions, seconds
 * @price: of changes, seconds, symmetric
 * @credit: seconds by which changes have paid more than they cost, less than nothing
 *	while they have not
 * @caution: times the price, what must be lost before a change
 * @paid, @gained: seconds; price of the last change, and what it has gained since over
 *	the state before
 * @last: per state, what the last interval cost
 * @behind: per state, seconds lost against it alone, since the last change at most
 * @age: intervals since the last change; @life: those between changes before, on average
 */
struct to_regret {
	unsigned int n, at, before;
	double work[TO_REGRET_MAX], price[TO_REGRET_MAX][TO_REGRET_MAX];
	double credit, caution, paid, gained;
	double last[TO_REGRET_MAX], behind[TO_REGRET_MAX], age, life;
};

/** to_regret_init() - begin with one state */
void to_regret_init(struct to_regret *regret);

/**
 * to_regret_work() - return the least cost of being in any state and changing to one
 * @work: of all states at some time
 * @price: of changes between all states and that one
 */
double to_regret_work(const struct to_regret *regret, const double *work, const double *price);

/**
 * to_regret_add() - add a state, for which there must be room
 * @price: of changes between it and all others
 * @work: its work function
 * @last: what the last interval would have cost
 *
 * Return: its index.
 */
unsigned int to_regret_add(struct to_regret *regret, const double *price, double work,
			   double last);

/** to_regret_remove() - forget a state, neither 0 nor the present one; those behind move up */
void to_regret_remove(struct to_regret *regret, unsigned int state);

/** to_regret_observe() - add an interval with its cost per state, in seconds */
void to_regret_observe(struct to_regret *regret, const double *cost);

/** to_regret_lost() - return the seconds lost by being in the present state rather than in @state */
double to_regret_lost(const struct to_regret *regret, unsigned int state);

/**
 * to_regret_share() - return the lost part of what must be lost before a change to @state pays
 *
 * 1 and more when to_regret_choose() may choose it; 0 while there is no credit for it.
 */
double to_regret_share(const struct to_regret *regret, unsigned int state);

/**
 * to_regret_rather() - return the state to go to when the present one is left for @due
 */
unsigned int to_regret_rather(const struct to_regret *regret, unsigned int due);

/** to_regret_choose() - return the state to be in */
unsigned int to_regret_choose(const struct to_regret *regret);

/** to_regret_move() - note that @state of to_regret_choose() is reached */
void to_regret_move(struct to_regret *regret, unsigned int state);

#endif
