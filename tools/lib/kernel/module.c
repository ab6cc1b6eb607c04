// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/module.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Each with the words for it in a sentence. */
static const struct {
	const char *name, *words;
} module_features[] = {
	[TOPOOPT_FEATURE_CHECKS] = { "checks", "continuity checks" },
};

#define N_FEATURES (sizeof(module_features) / sizeof(*module_features))

bool to_module_has(const struct to_module *module, enum topoopt_feature feature)
{
	return module->features & 1U << feature;
}

int to_module_require(const struct to_module *module, enum topoopt_feature feature,
		      const char *what, struct to_error *err)
{
	if (to_module_has(module, feature))
		return 0;
	return to_error_set(err, -EOPNOTSUPP,
			    "%s needs %s, which the loaded module%s%s lacks: reload the module: modprobe -r topoopt_fwd; modprobe topoopt_fwd",
			    what, module_features[feature].words, module->version[0] ? " " : "",
			    module->version);
}

const char *to_module_text(const struct to_module *module, char text[TO_MODULE_TEXT])
{
	size_t n;

	if (!module->version[0]) {
		snprintf(text, TO_MODULE_TEXT, "an older version, without %s",
			 module_features[TOPOOPT_FEATURE_CHECKS].words);
		return text;
	}
	n = snprintf(text, TO_MODULE_TEXT, "version %s", module->version);
	for (unsigned int i = 0; i < N_FEATURES; i++)
		n += snprintf(text + n, TO_MODULE_TEXT - n, ", %s %s",
			      to_module_has(module, i) ? "with" : "without",
			      module_features[i].words);
	return text;
}

json_t *to_module_features(const struct to_module *module)
{
	json_t *features = json_array();

	for (unsigned int i = 0; i < N_FEATURES; i++)
		if (to_module_has(module, i))
			json_array_append_new(features, json_string(module_features[i].name));
	return features;
}

bool to_module_lists(const json_t *features, enum topoopt_feature feature)
{
	const json_t *one;
	size_t i;

	json_array_foreach(features, i, one) {
		const char *name = json_string_value(one);

		if (name && !strcmp(name, module_features[feature].name))
			return true;
	}
	return false;
}

json_t *to_module_json(const struct to_module *module)
{
	return json_pack("{s:s?, s:o}", "version",
			 module->version[0] ? module->version : NULL, "features",
			 to_module_features(module));
}
