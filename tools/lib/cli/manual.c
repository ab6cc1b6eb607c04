// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/manual.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/limits.h"
#include "cli/help.h"

/* Print @text with scdoc's special characters escaped. */
static void manual_text(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (strchr("\\*_#`<>~", *text))
			fputc('\\', out);
		fputc(*text, out);
	}
}

static void manual_argument(FILE *out, const struct to_option *o)
{
	if (o->argument) {
		fprintf(out, " _");
		manual_text(out, o->argument);
		fprintf(out, "_");
		return;
	}
	for (int i = 0; o->type == TO_OPTION_CHOICE && o->choices[i]; i++) {
		fprintf(out, "%s*", i ? "|" : " ");
		manual_text(out, o->choices[i]);
		fprintf(out, "*");
	}
}

static void manual_option(FILE *out, const struct to_option *o)
{
	if (o->letter)
		fprintf(out, "*-%c*, ", o->letter);
	fprintf(out, "*--%s*", o->name);
	manual_argument(out, o);
	fprintf(out, "\n\t");
	manual_text(out, o->help);
	fprintf(out, "%s.\n\n", o->required ? " (required)" : "");
}

/* Print the keys of the configuration that a command reads. */
static void manual_keys(FILE *out, const struct to_command *command)
{
	bool any = false;

	for (const struct to_option *o = command->options; o && o->name; o++) {
		if (o->type != TO_OPTION_KEY)
			continue;
		fprintf(out, any ? ", _" : "The command reads these keys of *fabric.conf*(5): _");
		manual_text(out, o->name);
		fprintf(out, "_");
		any = true;
	}
	fprintf(out, any ? ".\n\n" : "");
}

static void manual_options(FILE *out, const struct to_program *program,
			   const struct to_command *command)
{
	for (const struct to_option *o = command->options; o && o->name; o++)
		if (o->type != TO_OPTION_KEY)
			manual_option(out, o);
	for (const struct to_option *o = program->common; o->name; o++)
		manual_option(out, o);
	manual_keys(out, command);
}

static void manual_synopsis(FILE *out, const struct to_program *program,
			    const struct to_command *command)
{
	fprintf(out, "*%s %s*", program->name, command->name);
	for (const struct to_option *o = command->options; o && o->name; o++)
		if (o->required) {
			fprintf(out, " *--%s*", o->name);
			manual_argument(out, o);
		}
	fprintf(out, " [OPTIONS] ");
	manual_text(out, command->operands ? command->operands : "");
	fprintf(out, "\n");
}

static void manual_commands(FILE *out, const struct to_program *program)
{
	char page[TO_COMMAND_WORDS_MAX];

	for (const struct to_command_row *row = program->rows; row->title || row->command; row++) {
		if (row->title) {
			fprintf(out, "## %s\n\n", row->title);
			continue;
		}
		fprintf(out, "*%s*(8)\n\t", to_help_page(page, sizeof(page), program, row->command));
		manual_text(out, row->command->summary);
		fprintf(out, ".\n\n");
	}
}

/* The command whose page it is, NULL for none. */
static const struct to_command *manual_find(const struct to_program *program, const char *name,
					    size_t len)
{
	char page[TO_COMMAND_WORDS_MAX];

	for (const struct to_command_row *row = program->rows; row->title || row->command; row++) {
		if (!row->command)
			continue;
		to_help_page(page, sizeof(page), program, row->command);
		if (strlen(page) == len && !strncmp(page, name, len))
			return row->command;
	}
	return NULL;
}

int to_manual_fill(FILE *out, const struct to_program *program, const char *path,
		   struct to_error *err)
{
	const struct to_command *command;
	char *text, *line, *rest;
	size_t len;
	int ret = to_file_read(path, TO_FILE_SMALL_MAX, &text, &len, err);

	if (ret)
		return ret;
	len = strcspn(text, "(\n");
	command = manual_find(program, text, len);
	if (!command && (len != strlen(program->name) || strncmp(text, program->name, len)))
		ret = to_error_set(err, -EINVAL, "%s:1: no command has the page %.*s", path,
				   (int)len, text);
	rest = text;
	while (!ret && (line = strsep(&rest, "\n"))) {
		if (command && !strcmp(line, "@synopsis@"))
			manual_synopsis(out, program, command);
		else if (command && !strcmp(line, "@options@"))
			manual_options(out, program, command);
		else if (!strcmp(line, "@commands@"))
			manual_commands(out, program);
		else
			fprintf(out, "%s%s", line, rest ? "\n" : "");
	}
	free(text);
	return ret;
}
