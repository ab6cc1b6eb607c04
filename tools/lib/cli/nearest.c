// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/nearest.h"

#include <limits.h>
#include <string.h>

#define NEAREST_MAX 64	/* bytes of a word that is compared */

/* Damerau-Levenshtein distance, without edits between swapped letters. */
static unsigned int nearest_edits(const char *a, const char *b)
{
	unsigned int row[3][NEAREST_MAX + 1];
	unsigned int *older = row[0], *old = row[1], *now = row[2], *spare, n = strlen(b);

	if (n > NEAREST_MAX)
		return UINT_MAX;
	for (unsigned int j = 0; j <= n; j++)
		now[j] = j;
	for (unsigned int i = 0; a[i]; i++) {
		spare = older;
		older = old;
		old = now;
		now = spare;
		now[0] = i + 1;
		for (unsigned int j = 0; j < n; j++) {
			unsigned int least = old[j] + (a[i] != b[j]);

			least = old[j + 1] + 1 < least ? old[j + 1] + 1 : least;
			least = now[j] + 1 < least ? now[j] + 1 : least;
			if (i && j && a[i] == b[j - 1] && a[i - 1] == b[j] && older[j - 1] + 1 < least)
				least = older[j - 1] + 1;
			now[j + 1] = least;
		}
	}
	return now[n];
}

bool to_is_nearer(const char *name, const char *typed, unsigned int *best)
{
	const unsigned int n = nearest_edits(name, typed);

	if (n >= *best || n > strlen(name) / 2)
		return false;
	*best = n;
	return true;
}
