/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_TM_JSON_H
#define TOPOOPT_TM_JSON_H

/* tm.json (Documentation/schemas/tm.schema.json). */

#include <stdio.h>

#include "data/tm.h"
#include "format/tm_names.h"

struct to_tm *to_tm_load(const char *path, struct to_error *err);

/**
 * to_tm_parse() - tm.json from memory
 * @name: for errors
 * @names: for a recording with their fingerprint in place of its servers; NULL: it lists them
 */
struct to_tm *to_tm_parse(const char *data, size_t len, const char *name,
			  const struct to_tm_names *names, struct to_error *err);

/**
 * to_tm_print() - the text that to_tm_save() writes
 * @names: fingerprint of names that its reader has; where @tm has them, it stands for
 *	them. NULL: the names are listed
 */
void to_tm_print(FILE *out, const struct to_tm *tm, const char *names);

/** to_tm_save() - write @tm to @path ("-": standard output), by renaming */
int to_tm_save(const struct to_tm *tm, const char *path, struct to_error *err);

#endif
