// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/sort_by.h"

#include <string.h>

#define SORT_BY_RUN 16		/* indices that are sorted by insertion */

/* Two parts, up to @middle and @end, each in order, become one. */
static void sort_by_merge(uint32_t *indices, unsigned int middle, unsigned int end,
			  const double *key, uint32_t *scratch)
{
	unsigned int low = 0, high = middle, at = 0;

	if (key[indices[middle - 1]] <= key[indices[middle]])
		return;
	memcpy(scratch, indices, middle * sizeof(*indices));
	while (low < middle)
		indices[at++] = high < end && key[indices[high]] < key[scratch[low]] ?
					indices[high++] : scratch[low++];
}

void to_sort_by(uint32_t *indices, unsigned int n, const double *key, uint32_t *scratch)
{
	unsigned int run, i, k;

	for (i = 1; i < n; i++) {
		uint32_t x = indices[i];

		for (k = i; k % SORT_BY_RUN && key[indices[k - 1]] > key[x]; k--)
			indices[k] = indices[k - 1];
		indices[k] = x;
	}
	for (run = SORT_BY_RUN; run < n; run *= 2)
		for (i = 0; i + run < n; i += 2 * run)
			sort_by_merge(indices + i, run, n - i < 2 * run ? n - i : 2 * run, key,
				      scratch);
}
