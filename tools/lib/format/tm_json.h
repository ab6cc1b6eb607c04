/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_TM_JSON_H
#define TOPOOPT_TM_JSON_H

/* tm.json (Documentation/schemas/tm.schema.json). */

#include <stdio.h>

#include "data/tm.h"

struct to_tm *to_tm_load(const char *path, struct to_error *err);

/** to_tm_parse() - tm.json from memory; @name is for errors */
struct to_tm *to_tm_parse(const char *data, size_t len, const char *name,
			  struct to_error *err);

/** to_tm_print() - the text that to_tm_save() writes */
void to_tm_print(FILE *out, const struct to_tm *tm);

/** to_tm_save() - write @tm to @path ("-": standard output), by renaming */
int to_tm_save(const struct to_tm *tm, const char *path, struct to_error *err);

/**
 * to_tm_fingerprint() - 64-bit FNV-1a of a plan file, as hexadecimal text
 *
 * Tells apart recordings that were made under different plans.
 */
int to_tm_fingerprint(const char *plan_path, char fingerprint[17],
		      struct to_error *err);

#endif
