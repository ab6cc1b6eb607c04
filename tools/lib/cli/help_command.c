// SPDX-License-Identifier: GPL-2.0-or-later
/* The help command: help on the terminal, the command table as JSON, manual pages. */

#include <errno.h>
#include <jansson.h>

#include "base/json.h"
#include "cli/command.h"
#include "cli/help.h"
#include "cli/manual.h"

struct help_args {
	const char *manual;
};

static const struct to_option help_options[] = {
	{ "manual", 0, TO_OPTION_STRING, offsetof(struct help_args, manual), .argument = "FILE",
	  .help = "fill in a manual page in scdoc's format from the command table" },
	{}
};

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

static json_t *help_json_command(const struct to_program *program, const char *group,
				 const struct to_command *command)
{
	json_t *options = json_array(), *keys = json_array();

	for (const struct to_option *o = command->options; o && o->name; o++)
		if (o->type == TO_OPTION_KEY)
			json_array_append_new(keys, json_string(o->name));
		else
			json_array_append_new(options, help_json_option(o));
	for (const struct to_option *o = program->common; o->name; o++)
		json_array_append_new(options, help_json_option(o));
	return json_pack("{ss ss ss ss* so so}", "name", command->name, "group", group,
			 "summary", command->summary, "operands", command->operands,
			 "options", options, "keys", keys);
}

/* Print the command @only, or those of @family, or all commands if both are NULL. */
static int help_json(struct to_call *call, const struct to_command *only, const char *family)
{
	const struct to_program *program = call->program;
	json_t *commands = json_array(), *all;
	const char *group = "";
	int ret;

	for (const struct to_command_row *row = program->rows; row->title || row->command; row++) {
		group = row->title ? row->title : group;
		if (row->command && (!only || only == row->command) &&
		    (only || !family || to_help_in_family(row->command, family)))
			json_array_append_new(commands,
					      help_json_command(program, group, row->command));
	}
	all = json_pack("{ss ss so}", "program", program->name, "version", program->version,
			"commands", commands);
	ret = to_json_write(all, stdout, JSON_INDENT(1));
	json_decref(all);
	putchar('\n');
	return ret ? to_error_set(&call->err, -ENOMEM, "out of memory") : 0;
}

static int help_run(struct to_call *call, const void *data)
{
	const struct help_args *args = data;
	const struct to_program *program = call->program;
	const struct to_command *command = NULL;
	int used;

	if (args->manual)
		return to_manual_fill(stdout, program, args->manual, &call->err);
	if (call->n_operands)
		command = to_program_find(program, call->n_operands, call->operands, &used);
	if (call->n_operands && !command && !to_program_is_family(program, call->operands[0]))
		return to_program_unknown(program, call->n_operands, call->operands);
	if (call->json)
		return help_json(call, command, call->operands[0]);
	if (command)
		to_help_command(stdout, program, command);
	else if (call->n_operands)
		to_help_family(stdout, program, call->operands[0]);
	else
		to_help_overview(stdout, program);
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
