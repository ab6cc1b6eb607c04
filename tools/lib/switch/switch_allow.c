// SPDX-License-Identifier: GPL-2.0-or-later
#include "switch/switch_allow.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/limits.h"
#include "base/text.h"
#include "switch/switch_driver.h"

#define ALLOW_TOLD_MAX 256	/* characters that fit into an error */

/* Kinds of permission. */
static const char *const allow_kinds[] = {
	"command", "password-file", "password-env", "http", "netns",
};

/* Whoever could write the file could run what the plan says. */
static int allow_trust(const char *path, struct to_error *err)
{
	struct stat st;

	if (stat(path, &st))
		return to_error_set(err, -errno, "%s: %s", path, strerror(errno));
	if ((st.st_uid && st.st_uid != geteuid()) || (st.st_mode & (S_IWGRP | S_IWOTH)))
		return to_error_set(err, -EPERM,
				    "%s: others may write to it; it must be root's or yours alone",
				    path);
	return 0;
}

/* @text: NULL when there is no file. */
static int allow_read(const char *path, char **text, struct to_error *err)
{
	size_t len;
	int ret;

	*text = NULL;
	if (!path && access(TO_SWITCH_ALLOW, F_OK) && errno == ENOENT)
		return 0;
	path = path ? path : TO_SWITCH_ALLOW;
	ret = allow_trust(path, err);
	return ret ? ret : to_file_read(path, TO_FILE_SMALL_MAX, text, &len, err);
}

static bool allow_is_kind(const char *word, size_t len)
{
	for (unsigned int i = 0; i < sizeof(allow_kinds) / sizeof(*allow_kinds); i++)
		if (strlen(allow_kinds[i]) == len && !strncmp(word, allow_kinds[i], len))
			return true;
	return false;
}

/* Is @what of @kind in @text? Return: 1, 0, or -EINVAL: a line means nothing. */
static int allow_find(const char *path, const char *text, const char *kind, const char *what,
		      struct to_error *err)
{
	unsigned int number = 1;
	int found = 0;

	for (const char *line = text; line && *line; number++) {
		size_t len = strcspn(line, "\n"), word = strcspn(line, " \t\n");
		const char *rest = line + word + strspn(line + word, " \t");
		size_t left = len - (rest - line);

		while (left && isspace((unsigned char)rest[left - 1]))
			left--;
		if (len && line[0] != '#' && strspn(line, " \t\r") < len) {
			if (!allow_is_kind(line, word) || !left)
				return to_error_set(err, -EINVAL,
						    "%s:%u: expected \"command\", \"password-file\", \"password-env\", \"http\" or \"netns\" and what is allowed",
						    path ? path : TO_SWITCH_ALLOW, number);
			if (strlen(kind) == word && !strncmp(line, kind, word) &&
			    ((left == 1 && rest[0] == '*') ||
			     (left == strlen(what) && !strncmp(rest, what, left))))
				found = 1;
		}
		line += len + (line[len] == '\n');
	}
	return found;
}

/* Whether it can be copied from the error, and is one line. */
static bool allow_is_plain(const char *text)
{
	return strlen(text) <= ALLOW_TOLD_MAX && to_text_is_clean(text);
}

static int allow_demand(const char *path, const char *text, const char *kind, const char *what,
			struct to_error *err)
{
	int ret = allow_find(path, text, kind, what, err);

	if (ret)
		return ret < 0 ? ret : 0;
	if (!allow_is_plain(what))
		return to_error_set(err, -EACCES, "not allowed by %s: a \"%s\" that is long or has control characters",
				    path ? path : TO_SWITCH_ALLOW, kind);
	return to_error_set(err, -EACCES,
			    "not allowed; where the plan is to be trusted with it, add to %s: %s %s",
			    path ? path : TO_SWITCH_ALLOW, kind, what);
}

/* All that is needed for a Polatis switch by RESTCONF. */
static int allow_restconf(const char *path, const char *text,
			  const struct to_switch_control *control, struct to_error *err)
{
	char what[sizeof(control->password_file) + sizeof(control->password_env) +
		  sizeof(control->address)];
	bool by_env = control->password_env[0], by_file = !by_env && control->password_file[0];
	int ret = 0;

	if (control->user[0] && (by_env || by_file)) {
		snprintf(what, sizeof(what), "%s %s",
			 by_env ? control->password_env : control->password_file,
			 control->address);
		ret = allow_demand(path, text, by_env ? "password-env" : "password-file", what,
				   err);
	}
	/* an address without a scheme is taken for plain HTTP, too */
	if (!ret && strncasecmp(control->address, "https://", 8))
		ret = allow_demand(path, text, "http", control->address, err);
	return ret;
}

static int allow_control(const char *path, const char *text,
			 const struct to_switch_control *control, struct to_error *err)
{
	switch (control->driver) {
	case TO_SWITCH_POLATIS_RESTCONF:
		return allow_restconf(path, text, control, err);
	case TO_SWITCH_NETNS:
		return allow_demand(path, text, "netns", to_switch_netns_name(control), err);
	case TO_SWITCH_COMMAND:
	case TO_SWITCH_SONIC:
		/* SONiC's own is ssh, which knows whom it speaks to */
		return control->command[0] ?
		       allow_demand(path, text, "command", control->command, err) : 0;
	default:
		return 0;
	}
}

int to_switch_allow_check(const char *path, const struct to_optical_switch *optical,
			  struct to_error *err)
{
	struct to_error why = {};
	char *text;
	int ret = allow_read(path, &text, err);

	if (ret)
		return ret;
	ret = allow_control(path, text, &optical->control, &why);
	free(text);
	if (ret == -EACCES)	/* else it is about the file */
		return to_error_set(err, ret, "optical switch %s: %.440s", optical->name, why.text);
	return ret ? to_error_set(err, ret, "%s", why.text) : 0;
}
