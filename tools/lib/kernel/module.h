/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TO_KERNEL_MODULE_H
#define TO_KERNEL_MODULE_H

/* The loaded module: its version, and what it can. genl.h asks it. */

#include <jansson.h>
#include <linux/topoopt.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

#define TO_MODULE_TEXT 128	/* bytes of to_module_text(), with the NUL */

/** struct to_module - what the loaded module says of itself; zeroed: it is too old to */
struct to_module {
	char version[32];	/* "" of a module that does not tell */
	uint32_t features;	/* bit per enum topoopt_feature */
};

/** to_module_has() - return whether the module has a feature */
bool to_module_has(const struct to_module *module, enum topoopt_feature feature);

/**
 * to_module_require() - refuse what the module cannot do
 * @what: who needs @feature, as the beginning of a sentence: "the plan"
 *
 * Return: 0, or -EOPNOTSUPP with @err that names the feature.
 */
int to_module_require(const struct to_module *module, enum topoopt_feature feature,
		      const char *what, struct to_error *err);

/** to_module_text() - write "version 0.1.0, with checks" into @text and return it */
const char *to_module_text(const struct to_module *module, char text[TO_MODULE_TEXT]);

/** to_module_features() - return an array of the features' names; NULL without memory */
json_t *to_module_features(const struct to_module *module);

/** to_module_lists() - tell whether an array of to_module_features() has @feature */
bool to_module_lists(const json_t *features, enum topoopt_feature feature);

/** to_module_json() - return the version, or null, and the names of features; NULL without memory */
json_t *to_module_json(const struct to_module *module);

#endif
