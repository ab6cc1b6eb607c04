/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_OUTPUT_H
#define TOPOOPT_OUTPUT_H

/* Standard output of commands: text, JSON, or a file of --output or --report. */

#include <jansson.h>

#include "cli/command.h"

/** to_output_is_stdout() - tell whether @path, which may be NULL, is standard output */
bool to_output_is_stdout(const char *path);

/** to_output_check() - refuse two files on standard output; 0 or to_usage() */
int to_output_check(struct to_call *call, const char *output, const char *report);

/**
 * to_output_json() - print JSON on standard output
 * @object: freed; NULL when there was no memory for it
 * @flags: of json_dumpf()
 *
 * Return: 0 or a negative errno with @err set.
 */
int to_output_json(json_t *object, size_t flags, struct to_error *err);

#endif
