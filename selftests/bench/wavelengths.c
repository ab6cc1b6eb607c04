// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How long the wavelengths of an optical ring take to assign.
 *
 *	wavelengths SERVERS WAVELENGTHS REACH
 *
 * Each server sends 1 to 16 MiB, at random, to all within reach. Prints a JSON object:
 * cpu_s; served: the share of such pairs with a lightpath; used: of wavelengths and segments.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/random.h"
#include "topology/wavelengths.h"

int main(int argc, char **argv)
{
	struct to_error err = { "" };
	struct to_wavelengths s;
	uint64_t random = 1, *bytes;
	double pairs = 0, served = 0, used = 0, cpu;
	size_t n;

	if (argc != 4) {
		fprintf(stderr, "usage: wavelengths SERVERS WAVELENGTHS REACH\n");
		return 2;
	}
	n = strtoul(argv[1], NULL, 10);
	bytes = calloc(n * n + 1, sizeof(*bytes));
	if (n < 2 || !bytes || to_wavelengths_init(&s, n, strtoul(argv[2], NULL, 10),
						   strtoul(argv[3], NULL, 10), &err)) {
		fprintf(stderr, "wavelengths: %s\n", err.text);
		return 1;
	}
	for (size_t i = 0; i < n * n; i++)
		if (i / n != i % n && to_wavelengths_within(&s, i / n, i % n))
			bytes[i] = (1 + to_random_below(&random, 16)) << 20;
	cpu = clock() / (double)CLOCKS_PER_SEC;
	if (to_wavelengths_assign(&s, bytes, false))
		return 1;
	cpu = clock() / (double)CLOCKS_PER_SEC - cpu;
	for (size_t i = 0; i < n * n; i++) {
		pairs += !!bytes[i];
		served += bytes[i] && s.count[i];
	}
	for (size_t i = 0; i < s.w * n; i++)
		if (s.to[i] != TO_SERVER_NONE)
			used += i < s.w / 2 * n ? (s.to[i] + n - i % n) % n : (i % n + n - s.to[i]) % n;
	printf("{\"cpu_s\": %.6f, \"served\": %.6f, \"used\": %.6f}\n", cpu, served / pairs,
	       used / (s.w * n));
	to_wavelengths_free(&s);
	free(bytes);
	return 0;
}
