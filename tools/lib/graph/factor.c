// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "graph/factor.h"

#define NONE UINT32_MAX

static void factors_set(struct to_factors *f, unsigned int c, uint32_t tail, uint32_t head)
{
	f->next[(size_t)c * f->n + tail] = head;
	f->before[(size_t)c * f->n + head] = tail;
}

/* The first factor in which server @x of @side has no arc. */
static unsigned int factors_open(const struct to_factors *f, const uint32_t *side, uint32_t x)
{
	unsigned int c = 0;

	while (side[(size_t)c * f->n + x] != NONE)
		c++;
	return c;
}

/* Exchange @a and @b on the path that ends at @head, which lacks @b. */
static void factors_flip(struct to_factors *f, uint32_t head, unsigned int a, unsigned int b)
{
	uint32_t *next_a = f->next + (size_t)a * f->n, *before_a = f->before + (size_t)a * f->n;
	uint32_t *next_b = f->next + (size_t)b * f->n, *before_b = f->before + (size_t)b * f->n;
	uint32_t tail, on = head, last = NONE;

	while (on != NONE) {
		tail = before_a[on];
		before_b[on] = tail;
		before_a[on] = last;
		if (tail == NONE)
			break;
		last = tail;
		on = next_b[tail];
		next_b[tail] = next_a[tail];
		next_a[tail] = on;
	}
}

int to_factors_init(struct to_factors *f, const uint32_t *heads, unsigned int n, unsigned int k)
{
	size_t arcs = (size_t)n * k, i;

	*f = (struct to_factors){ .n = n, .k = k };
	f->next = malloc((2 * arcs + n + k) * sizeof(*f->next));
	if (!f->next)
		return -ENOMEM;
	f->before = f->next + arcs;
	f->list = f->before + arcs;
	memset(f->next, 0xff, 2 * arcs * sizeof(*f->next));
	for (i = 0; i < arcs; i++) {
		unsigned int a = factors_open(f, f->next, i / k);
		unsigned int b = factors_open(f, f->before, heads[i]);

		if (f->before[(size_t)a * n + heads[i]] != NONE)
			factors_flip(f, heads[i], a, b);
		factors_set(f, a, i / k, heads[i]);
	}
	return 0;
}

void to_factors_free(struct to_factors *f)
{
	free(f->next);
}

/* Cycles of factor @c; @list says which one a server is on, from 1. */
static unsigned int factors_cycles(struct to_factors *f, unsigned int c)
{
	const uint32_t *next = f->next + (size_t)c * f->n;
	unsigned int cycles = 0;
	uint32_t x, at;

	memset(f->list, 0, f->n * sizeof(*f->list));
	for (x = 0; x < f->n; x++) {
		cycles += !f->list[x];
		for (at = x; !f->list[at]; at = next[at])
			f->list[at] = cycles;
	}
	return cycles;
}

/*
 * Factors @a and @b exchange their arcs from @first and from all servers that
 * this leaves with two arcs in. A second time undoes it.
 */
static void factors_exchange(struct to_factors *f, unsigned int a, unsigned int b, uint32_t first)
{
	uint32_t *next_a = f->next + (size_t)a * f->n, *next_b = f->next + (size_t)b * f->n;
	uint32_t at = first, head;
	unsigned int n = 0, i;

	do {
		head = next_b[at];
		next_b[at] = next_a[at];
		next_a[at] = head;
		f->list[n++] = at;
		at = f->before[(size_t)a * f->n + head];
	} while (at != first);
	for (i = 0; i < n; i++) {
		factors_set(f, a, f->list[i], next_a[f->list[i]]);
		factors_set(f, b, f->list[i], next_b[f->list[i]]);
	}
}

/* Join the cycles of factor @c. Return: arcs that are new. */
static unsigned int factors_join(struct to_factors *f, unsigned int c, uint64_t *random)
{
	uint32_t *next = f->next + (size_t)c * f->n;
	unsigned int cycles = factors_cycles(f, c), left;
	uint32_t x, y, head;

	for (left = cycles; left > 1; left--) {
		do
			x = to_random_below(random, f->n);
		while (f->list[x] != left);
		do
			y = to_random_below(random, f->n);
		while (f->list[y] >= left);
		head = next[x];
		factors_set(f, c, x, next[y]);
		factors_set(f, c, y, head);
	}
	return 2 * (cycles - 1);
}

unsigned int to_factors_merge(struct to_factors *f, unsigned int steps, uint64_t seed)
{
	unsigned int *cycles = f->list + f->n, many = 0, fresh = 0, c, a, b, was, now_a, now_b;
	uint64_t random = seed;

	for (c = 0; c < f->k; c++)
		many += (cycles[c] = factors_cycles(f, c)) - 1;
	/* the parity of @many stays */
	while (f->k > 1 && many > 1 && steps--) {
		uint32_t first = to_random_below(&random, f->n);

		a = to_random_below(&random, f->k);
		b = (a + 1 + to_random_below(&random, f->k - 1)) % f->k;
		was = cycles[a] + cycles[b];
		if (was == 2)
			continue;
		factors_exchange(f, a, b, first);
		now_a = factors_cycles(f, a);
		now_b = factors_cycles(f, b);
		if (now_a + now_b > was) {
			factors_exchange(f, a, b, first);
			continue;
		}
		many -= was - now_a - now_b;
		cycles[a] = now_a;
		cycles[b] = now_b;
	}
	for (c = 0; c < f->k; c++)
		fresh += factors_join(f, c, &random);
	return fresh;
}
