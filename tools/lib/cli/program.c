// SPDX-License-Identifier: GPL-2.0-or-later
/* Find the command that a command line names, and run it. */

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/help.h"
#include "cli/options.h"

void to_call_note(const struct to_call *call, const char *format, ...)
{
	char text[TO_LINE_MAX + 1], line[TO_LINE_MAX];
	va_list args;

	if (call->quiet)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	fprintf(stderr, "%s %s: warning: %s\n", call->program->name, call->command->name,
		to_text_clean(line, sizeof(line), text));
}

static const struct to_call *program_running;	/* the call that runs; a process has one */

void to_note(const char *text)
{
	if (program_running)
		to_call_note(program_running, "%s", text);
}

const struct to_command *to_program_find(const struct to_program *program, int argc,
					 char *const *argv, int *used)
{
	for (const struct to_command_row *row = program->rows; row->title || row->command; row++) {
		const char *name = row->command ? row->command->name : "", *space = strchr(name, ' ');

		if (!space) {
			*used = 1;
			if (*name && !strcmp(argv[0], name))
				return row->command;
		} else if (argc > 1 && strlen(argv[0]) == (size_t)(space - name) &&
			   !strncmp(argv[0], name, space - name) && !strcmp(argv[1], space + 1)) {
			*used = 2;
			return row->command;
		}
	}
	return NULL;
}

bool to_program_is_family(const struct to_program *program, const char *word)
{
	const size_t len = strlen(word);

	for (const struct to_command_row *row = program->rows; row->title || row->command; row++)
		if (row->command && !strncmp(row->command->name, word, len) &&
		    row->command->name[len] == ' ')
			return true;
	return false;
}

/* The command, or the family, whose name is nearest to the words at @argv. */
static bool program_nearest(const struct to_program *program, int argc, char *const *argv,
			    char near[TO_COMMAND_WORDS_MAX + 1])
{
	unsigned int best = TO_TEXT_NEAR;
	char words[2][TO_COMMAND_WORDS_MAX + 1], family[TO_COMMAND_WORDS_MAX + 1];

	snprintf(words[0], sizeof(words[0]), "%s", argv[0]);
	snprintf(words[1], sizeof(words[1]), "%s %s", argv[0], argc > 1 ? argv[1] : "");
	for (const struct to_command_row *row = program->rows; row->title || row->command; row++) {
		const char *name = row->command ? row->command->name : "", *space = strchr(name, ' ');

		snprintf(family, sizeof(family), "%.*s", space ? (int)(space - name) : 0, name);
		if (to_text_is_near(name, words[!!space], &best))
			strcpy(near, name);
		else if (space && argc < 2 && to_text_is_near(family, words[0], &best))
			strcpy(near, family);
	}
	return best < TO_TEXT_NEAR;
}

/* Where the command at @argv went, or NULL. */
static const char *program_moved(const struct to_program *program, int argc, char *const *argv)
{
	char words[TO_COMMAND_WORDS_MAX + 1];

	snprintf(words, sizeof(words), "%s %s", argv[0], argc > 1 ? argv[1] : "");
	for (const struct to_moved *m = program->moved; m && m->name; m++)
		if (!strcmp(m->name, argv[0]) || !strcmp(m->name, words))
			return m->now;
	return NULL;
}

int to_program_unknown(const struct to_program *program, int argc, char *const *argv)
{
	const bool family = to_program_is_family(program, argv[0]);
	const char *moved = program_moved(program, argc, argv), *name = program->name;
	char near[TO_COMMAND_WORDS_MAX + 1];
	struct to_error typed;

	if (moved) {
		fprintf(stderr, "%s: this is now: %s\n", name, moved);
		return TO_EXIT_USAGE;
	}
	if (family && argc < 2) {
		to_help_family(stderr, program, argv[0]);
		return TO_EXIT_USAGE;
	}
	/* an error's text has no hidden characters */
	to_error_set(&typed, 0, "%s%s%s", argv[0], family ? " " : "", family ? argv[1] : "");
	fprintf(stderr, "%s: unknown command %s; ", name, typed.text);
	if (program_nearest(program, argc, argv, near))
		fprintf(stderr, "did you mean %s?\n", near);
	else
		fprintf(stderr, "see %s%s%s --help\n", name, family ? " " : "", family ? argv[0] : "");
	return TO_EXIT_USAGE;
}

/* Parse the options in front of the command's name. Return: index of the name, or -1. */
static int program_leading(const struct to_program *program, struct to_call *call, int argc,
			   char **argv)
{
	int i = 1;

	for (; i < argc && argv[i][0] == '-'; i++) {
		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
			argv[i] = "help";
			break;
		}
		if (!strcmp(argv[i], "--version") || !strcmp(argv[i], "-V")) {
			argv[i] = "version";
			break;
		}
		if (!strcmp(argv[i], "--json")) {
			call->json = true;
		} else {
			to_error_set(&call->err, 0, "%s", argv[i]);
			fprintf(stderr, "%s: unknown option %s; options other than --json follow the command, see %s --help\n",
				program->name, call->err.text, program->name);
			return -1;
		}
	}
	return i;
}

static bool program_has_keys(const struct to_command *command)
{
	for (const struct to_option *o = command->options; o && o->name; o++)
		if (o->type == TO_OPTION_KEY)
			return true;
	return command->configured;
}

static int program_call(struct to_call *call, void *args)
{
	const struct to_program *program = call->program;
	/* --config and --set are checked for all commands */
	const bool configure = program->configure &&
		(call->config || call->set.n || program_has_keys(call->command));
	int ret = configure ? program->configure(call, args) : 0;

	if (ret < 0)
		ret = TO_EXIT_UNKNOWN;
	if (!ret)
		ret = call->command->run(call, args);
	if (configure && program->release)
		program->release(call);
	return ret;
}

static int program_run(struct to_call *call, int argc, char **argv)
{
	const struct to_command *command = call->command;
	void *args = calloc(1, command->args_size + 1);
	bool help = false;
	int ret = TO_EXIT_USAGE;

	if (!args) {
		fprintf(stderr, "%s: out of memory\n", call->program->name);
		return TO_EXIT_FAILURE;
	}
	if (command->defaults)
		memcpy(args, command->defaults, command->args_size);
	if (!to_options_parse(call, argc, argv, args, &help)) {
		if (help)
			to_help_command(stdout, call->program, command);
		program_running = call;
		ret = help ? 0 : program_call(call, args);
		program_running = NULL;
		if (ret < 0)
			ret = TO_EXIT_FAILURE;
		if (fflush(stdout) || ferror(stdout)) {
			to_error_set(&call->err, 0, "standard output: %s", strerror(errno));
			ret = TO_EXIT_FAILURE;
		}
	}
	if (ret && call->err.text[0])
		fprintf(stderr, "%s %s: %s\n", call->program->name, command->name, call->err.text);
	/* job run returns the status of the job, which may be TO_EXIT_USAGE */
	if (ret == TO_EXIT_USAGE && call->err.text[0])
		fprintf(stderr, "see %s %s --help\n", call->program->name, command->name);
	to_options_free(call, args);
	free(args);
	return ret;
}

int to_program_main(const struct to_program *program, int argc, char **argv)
{
	struct to_call call = { .program = program };
	int first = program_leading(program, &call, argc, argv), used;

	if (first < 0)
		return TO_EXIT_USAGE;
	if (first == argc) {
		to_help_overview(stderr, program);
		return TO_EXIT_USAGE;
	}
	argc -= first;
	argv += first;
	call.command = to_program_find(program, argc, argv, &used);
	if (!call.command && argc == 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) &&
	    to_program_is_family(program, argv[0])) {
		to_help_family(stdout, program, argv[0]);
		return TO_EXIT_OK;
	}
	if (!call.command)
		return to_program_unknown(program, argc, argv);
	return program_run(&call, argc - used, argv + used);
}
