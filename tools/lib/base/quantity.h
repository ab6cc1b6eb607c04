/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_QUANTITY_H
#define TOPOOPT_QUANTITY_H

/*
 * Quantities as people write them, on a command line or in a file: digits and a unit,
 * "100G". No sign, no fraction, no space.
 */

#include <stdbool.h>
#include <stdint.h>

struct to_json;

/**
 * to_quantity_number() - "64"
 *
 * Return: whether @text is one, for all functions here; also false when the value
 * needs more than 64 bits.
 */
bool to_quantity_number(const char *text, uint64_t *value);

/** to_quantity_duration() - ns, of "700ns": ns, us, ms, s, m, h */
bool to_quantity_duration(const char *text, uint64_t *ns);

/** to_quantity_rate() - bits/s, of "100G": k, M, G, T, or none; also "100Gbit" */
bool to_quantity_rate(const char *text, uint64_t *bits_per_second);

/** to_quantity_bytes() - bytes, of "100MB": B, kB, MB, GB, TB, KiB, MiB, GiB, TiB, or none */
bool to_quantity_bytes(const char *text, uint64_t *bytes);

/* Readers for struct to_json_field, of strings with a unit; the comment is the type at @to. */
int to_json_rate(const struct to_json *at, void *to);		/* uint64_t, bits/s, 1 to 2^63 - 1 */
int to_json_duration(const struct to_json *at, void *to);	/* uint64_t, ns, to 2^63 - 1 */

/* The same, where a number without a unit is what most files have. */
int to_json_bits_per_second(const struct to_json *at, void *to);	/* uint64_t, 1 to 2^63 - 1 */
int to_json_nanoseconds(const struct to_json *at, void *to);	/* uint64_t, to 2^63 - 1 */
int to_json_bytes(const struct to_json *at, void *to);		/* uint64_t, to 2^63 - 1 */
int to_json_some_bytes(const struct to_json *at, void *to);	/* uint64_t, 1 to 2^63 - 1 */

#endif
