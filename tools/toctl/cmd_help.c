// SPDX-License-Identifier: GPL-2.0-or-later
/* Help on the terminal and as toctl(8), from the command table. */

#include <errno.h>
#include <jansson.h>

#include "command.h"

struct help_args {
	bool man;
};

static const struct to_option help_options[] = {
	{ .name = "man", .offset = offsetof(struct help_args, man),
	  .help = "print toctl(8) as a manual page source" },
	{}
};

/* Text as roff: backslashes and dashes escaped, blank lines as paragraphs. */
static void man_text(const char *text)
{
	bool start = true;

	for (; *text; text++) {
		if (*text == '\n' && text[1] == '\n') {
			printf("\n.PP");
			text++;
			putchar('\n');
			start = true;
			continue;
		}
		if (start && (*text == '.' || *text == '\''))
			printf("\\&");
		if (*text == '\\')
			printf("\\e");
		else if (*text == '-')
			printf("\\-");
		else
			putchar(*text);
		start = *text == '\n';
	}
	putchar('\n');
}

static void man_option(const struct to_option *o)
{
	printf(".TP\n.B ");
	if (o->letter)
		printf("\\-%c, ", o->letter);
	printf("\\-\\-");
	for (const char *s = o->name; *s; s++)
		printf(*s == '-' ? "\\-" : "%c", *s);
	if (o->argument)
		printf(" \\fI%s\\fR", o->argument);
	for (int i = 0; !o->argument && o->type == TO_OPTION_CHOICE && o->choices[i]; i++)
		printf("%s%s", i ? "|" : " ", o->choices[i]);
	putchar('\n');
	man_text(o->help);
}

static void man_command(const struct to_command *command)
{
	printf(".SS toctl %s", command->name);
	for (const struct to_option *o = command->options; o && o->name; o++)
		if (o->required)
			printf(" \\-\\-%s %s", o->name, o->argument);
	printf(" [OPTIONS]%s%s\n", command->operands ? " " : "",
	       command->operands ? command->operands : "");
	man_text(command->summary);
	if (command->description) {
		printf(".PP\n");
		man_text(command->description);
	}
	for (const struct to_option *o = command->options; o && o->name; o++)
		man_option(o);
}

static void man_page(void)
{
	printf(".TH TOCTL 8 \"\" \"toctl %s\" \"TopoOpt\"\n"
	       ".SH NAME\ntoctl \\- plan, program and measure a fabric of servers without switches\n"
	       ".SH SYNOPSIS\n.B toctl\n[\\-\\-json] \\fICOMMAND\\fR [\\fIOPTIONS\\fR] [\\fIOPERANDS\\fR]\n"
	       ".SH OPTIONS\nEvery command takes:\n", TO_VERSION);
	for (const struct to_option *o = to_common_options; o->name; o++)
		man_option(o);
	printf(".SH COMMANDS\n");
	for (int i = 0; to_commands[i]; i++)
		man_command(to_commands[i]);
	printf(".SH EXIT STATUS\n"
	       "0 on success, 1 on failure, 2 on wrong usage; some commands document others. "
	       "A failure prints one line on standard error.\n"
	       ".SH SEE ALSO\n"
	       ".BR topoopt_fwd (4),\n.BR cluster.json (5),\n.BR dims.json (5),\n.BR job.json (5),\n"
	       ".BR model.json (5),\n.BR plan.json (5),\n.BR prices.json (5),\n.BR tm.json (5)\n");
}

static json_t *help_json_option(const struct to_option *o)
{
	static const char *const types[] = {
		[TO_OPTION_FLAG] = "flag", [TO_OPTION_STRING] = "string",
		[TO_OPTION_OUTPUT] = "output", [TO_OPTION_NUMBER] = "number",
		[TO_OPTION_REAL] = "real", [TO_OPTION_DURATION] = "duration",
		[TO_OPTION_RATE] = "rate", [TO_OPTION_BYTES] = "bytes",
		[TO_OPTION_CHOICE] = "choice", [TO_OPTION_WORDS] = "words",
	};
	json_t *option = json_pack("{ss ss* ss ss* ss* sb ss}", "name", o->name, "letter",
				   o->letter ? (char []){ o->letter, '\0' } : NULL,
				   "type", types[o->type], "argument", o->argument,
				   "with", o->with, "required", o->required, "help", o->help);

	if (o->type == TO_OPTION_CHOICE) {
		json_t *choices = json_array();

		for (int i = 0; o->choices[i]; i++)
			json_array_append_new(choices, json_string(o->choices[i]));
		json_object_set_new(option, "choices", choices);
	}
	return option;
}

static json_t *help_json_command(const struct to_command *command)
{
	json_t *options = json_array();

	for (const struct to_option *o = command->options; o && o->name; o++)
		json_array_append_new(options, help_json_option(o));
	for (const struct to_option *o = to_common_options; o->name; o++)
		json_array_append_new(options, help_json_option(o));
	return json_pack("{ss ss ss* ss* so}", "name", command->name, "summary", command->summary,
			 "operands", command->operands, "description", command->description,
			 "options", options);
}

/* @command: NULL for all of them */
static int help_json(struct to_call *call, const struct to_command *command)
{
	json_t *commands = json_array(), *all;
	int ret;

	for (int i = 0; to_commands[i]; i++)
		if (!command || command == to_commands[i])
			json_array_append_new(commands, help_json_command(to_commands[i]));
	all = json_pack("{ss so}", "toctl", TO_VERSION, "commands", commands);
	ret = json_dumpf(all, stdout, JSON_INDENT(1));
	json_decref(all);
	putchar('\n');
	return ret ? to_error_set(&call->err, -ENOMEM, "out of memory") : 0;
}

static int help_run(struct to_call *call, const void *data)
{
	const struct help_args *args = data;
	const struct to_command *command = NULL;
	int used;

	if (args->man) {
		man_page();
		return 0;
	}
	if (call->n_operands)
		command = to_command_find(call->n_operands, call->operands, &used);
	if (call->n_operands && !command && !to_command_is_family(call->operands[0]))
		return to_command_unknown(call->n_operands, call->operands);
	if (call->json)
		return help_json(call, command);
	if (command)
		to_command_help(stdout, command);
	else
		to_command_overview(stdout, call->operands[0]);
	return 0;
}

const struct to_command to_cmd_help = {
	.name = "help",
	.summary = "Explain a command",
	.operands = "[COMMAND]",
	.max_operands = 2,
	.options = help_options,
	.args_size = sizeof(struct help_args),
	.run = help_run,
};
