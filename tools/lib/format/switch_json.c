// SPDX-License-Identifier: GPL-2.0-or-later
/* "control" of an optical switch: how it is set, in cluster.json and plan.json. */

#include "format/switch_json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/argv.h"
#include "base/environment.h"
#include "base/json.h"
#include "base/quantity.h"
#include "base/text.h"
#include "format/names.h"

#define TIMEOUT_MS_MAX 3600000

enum { ADDRESS = 1, COMMAND = 2, OFFSET = 4, USER = 8 };

/*
 * By enum to_switch_kind: what a driver needs of the keys, what it may be given,
 * and "timeout_ms" without it: SONiC checks all of its configuration, for minutes.
 */
static const struct {
	const char *name;
	unsigned int needs, takes, timeout_ms;
} kinds[] = {
	[TO_SWITCH_COMMAND] = { "command", COMMAND, ADDRESS | COMMAND, 5000 },
	[TO_SWITCH_NETNS] = { "netns", 0, ADDRESS, 5000 },
	[TO_SWITCH_POLATIS_SCPI] = { "polatis-scpi", ADDRESS, ADDRESS | OFFSET, 5000 },
	[TO_SWITCH_POLATIS_RESTCONF] = { "polatis-restconf", ADDRESS, ADDRESS | OFFSET | USER,
					 5000 },
	[TO_SWITCH_SONIC] = { "sonic", 0, ADDRESS | COMMAND, 300000 },
};

static uint64_t switch_kind_timeout_ns(enum to_switch_kind kind)
{
	return kinds[kind].timeout_ms * 1000000ULL;
}

static int switch_control_text(const struct to_json *at, char *to, size_t size)
{
	const char *text;
	int ret = to_json_string(at, &text);

	if (ret)
		return ret;
	if (!*text || strlen(text) >= size)
		return to_json_error(at, -EINVAL, "expected a string of 1 to %zu bytes", size - 1);
	if (!to_text_is_clean(text))
		return to_json_error(at, -EINVAL, "a control character in the value");
	strcpy(to, text);
	return 0;
}

#define FIELD_SIZE(field) sizeof(((struct to_switch_control *)0)->field)

static int switch_read_driver(const struct to_json *at, void *to)
{
	const char *names[TO_SWITCH_KINDS] = {};
	int driver;

	for (int i = 1; i < TO_SWITCH_KINDS; i++)
		names[i - 1] = kinds[i].name;
	driver = to_json_choice(at, names);
	if (driver < 0)
		return driver;
	*(enum to_switch_kind *)to = driver + 1;
	return 0;
}

static int switch_read_address(const struct to_json *at, void *to)
{
	const int ret = switch_control_text(at, to, FIELD_SIZE(address));

	return ret || to_names_is_address(to) ? ret :
	       to_json_error(at, -EINVAL, "expected %s, not \"%.80s\"", TO_NAMES_ADDRESS_EXPECTED,
			     (const char *)to);
}

static int switch_read_command(const struct to_json *at, void *to)
{
	int ret = switch_control_text(at, to, FIELD_SIZE(command));
	struct to_error why;
	struct to_argv argv;

	if (ret)
		return ret;
	ret = to_argv_split(&argv, to, &why);
	to_argv_free(&argv);
	return ret ? to_json_error(at, ret, "%s", why.text) : 0;
}

static int switch_read_user(const struct to_json *at, void *to)
{
	return switch_control_text(at, to, FIELD_SIZE(user));
}

static int switch_read_password_file(const struct to_json *at, void *to)
{
	return switch_control_text(at, to, FIELD_SIZE(password_file));
}

static int switch_read_password_env(const struct to_json *at, void *to)
{
	int ret = switch_control_text(at, to, FIELD_SIZE(password_env));

	/* children of who reads a plan do not get passwords of its switches */
	if (!ret && to_environment_hide(to))
		ret = to_json_error(at, -ENOMEM, "out of memory");
	return ret;
}

static int switch_read_egress_offset(const struct to_json *at, void *to)
{
	int ret = to_json_u32(at, to);

	if (!ret && *(unsigned int *)to > INT32_MAX)
		ret = to_json_error(at, -ERANGE, "expected at most %d", INT32_MAX);
	return ret;
}

static int switch_read_timeout(const struct to_json *at, void *to)
{
	const bool unit = json_is_string(at->value);
	unsigned int ms = 0;
	uint64_t ns = 0;
	int ret = unit ? to_json_duration(at, &ns) : to_json_u32(at, &ms);

	ns = unit ? ns : ms * 1000000ULL;
	if (!ret && (!ns || ns > TIMEOUT_MS_MAX * 1000000ULL))
		ret = to_json_error(at, -ERANGE, "expected 1 to %d ms", TIMEOUT_MS_MAX);
	if (!ret)
		*(uint64_t *)to = ns;
	return ret;
}

#define CONTROL(field) offsetof(struct to_switch_control, field)

static const struct to_json_field control_fields[] = {
	{ "driver", switch_read_driver, CONTROL(driver), false },
	{ "address", switch_read_address, CONTROL(address), true },
	{ "command", switch_read_command, CONTROL(command), true },
	{ "user", switch_read_user, CONTROL(user), true },
	{ "password_file", switch_read_password_file, CONTROL(password_file), true },
	{ "password_env", switch_read_password_env, CONTROL(password_env), true },
	{ "egress_offset", switch_read_egress_offset, CONTROL(egress_offset), true },
	{ "timeout_ms", switch_read_timeout, CONTROL(timeout_ns), true },
	{}
};

int to_switch_control_read(const struct to_json *at, void *to)
{
	static const struct {
		const char *key;
		unsigned int bit;
	} keys[] = {
		{ "address", ADDRESS }, { "command", COMMAND }, { "egress_offset", OFFSET },
		{ "user", USER }, { "password_file", USER }, { "password_env", USER },
	};
	struct to_switch_control *control = to;
	int ret;

	control->timeout_ns = 0;
	ret = to_json_object(at, control_fields, control);
	if (!control->timeout_ns)
		control->timeout_ns = switch_kind_timeout_ns(control->driver);
	for (unsigned int i = 0; i < sizeof(keys) / sizeof(*keys) && !ret; i++) {
		bool given = json_object_get(at->value, keys[i].key);

		if (!given && (kinds[control->driver].needs & keys[i].bit))
			ret = to_json_error(at, -EINVAL, "driver \"%s\" needs \"%s\"",
					    kinds[control->driver].name, keys[i].key);
		if (given && !(kinds[control->driver].takes & keys[i].bit))
			ret = to_json_error_at(at, keys[i].key, -EINVAL,
					       "driver \"%s\" has no use for it",
					       kinds[control->driver].name);
	}
	if (!ret && control->driver == TO_SWITCH_SONIC && !control->address[0] &&
	    !control->command[0])
		ret = to_json_error(at, -EINVAL,
				    "driver \"sonic\" needs \"address\" or \"command\"");
	return ret;
}

static void switch_print_text(FILE *out, const char *key, const char *text)
{
	if (!*text)
		return;
	fprintf(out, ",\"%s\":", key);
	to_json_print_string(out, text);
}

void to_switch_control_print(FILE *out, const struct to_switch_control *control)
{
	if (control->driver == TO_SWITCH_BY_HAND)
		return;
	fprintf(out, ",\n  \"control\":{\"driver\":\"%s\"", kinds[control->driver].name);
	switch_print_text(out, "address", control->address);
	switch_print_text(out, "command", control->command);
	switch_print_text(out, "user", control->user);
	switch_print_text(out, "password_file", control->password_file);
	switch_print_text(out, "password_env", control->password_env);
	if (control->egress_offset)
		fprintf(out, ",\"egress_offset\":%u", control->egress_offset);
	if (control->timeout_ns != switch_kind_timeout_ns(control->driver))
		fprintf(out, ",\"timeout_ms\":%llu",
			(unsigned long long)control->timeout_ns / 1000000);
	fprintf(out, "}");
}
