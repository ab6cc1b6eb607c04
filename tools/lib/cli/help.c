// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/help.h"

#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define HELP_WIDTH 79
#define HELP_WIDTH_MIN 40
#define HELP_COLUMN 32	/* where explanations of options start */
#define HELP_TITLES 10	/* columns of the titles of groups */
#define HELP_COMMANDS 12	/* columns of the names of commands */

/* Columns of the terminal that @out is, at most HELP_WIDTH. */
static int help_width(FILE *out)
{
	struct winsize size;

	if (ioctl(fileno(out), TIOCGWINSZ, &size) || size.ws_col > HELP_WIDTH || !size.ws_col)
		return HELP_WIDTH;
	return size.ws_col > HELP_WIDTH_MIN ? size.ws_col - 1 : HELP_WIDTH_MIN;
}

/* Print the words of @text from column @at, and further lines from column @indent. */
static int help_words(FILE *out, const char *text, int at, int indent)
{
	const int width = help_width(out);

	for (; *text; text += *text == ' ') {
		const int word = strcspn(text, " ");

		if (at > indent && at + 1 + word > width)
			at = fprintf(out, "\n%*s", indent, "") - 1;
		else if (at > indent)
			at += fprintf(out, " ");
		at += fprintf(out, "%.*s", word, text);
		text += word;
	}
	return at;
}

static void help_text(FILE *out, const char *text, int at, int indent)
{
	help_words(out, text, at, indent);
	fputc('\n', out);
}

static void help_option(FILE *out, const struct to_option *o)
{
	/* on a narrow terminal explanations stand below the options */
	const int column = help_width(out) < HELP_WIDTH ? 8 : HELP_COLUMN;
	int at;

	at = fprintf(out, "  %c%c%s --%s", o->letter ? '-' : ' ',
		     o->letter ? o->letter : ' ', o->letter ? "," : " ", o->name);
	if (o->argument)
		at += fprintf(out, " %s", o->argument);
	for (int i = 0; !o->argument && o->type == TO_OPTION_CHOICE && o->choices[i]; i++) {
		if (at + 1 + (int)strlen(o->choices[i]) >= help_width(out))
			at = fprintf(out, "%s\n%*s", i ? "|" : "", column, "") - 1 - !!i;
		else
			at += fprintf(out, "%c", i ? '|' : ' ');
		at += fprintf(out, "%s", o->choices[i]);
	}
	if (at > column - 2)
		at = fprintf(out, "\n") - 1;
	fprintf(out, "%*s", column - at, "");
	at = help_words(out, o->help, column, column);
	help_text(out, o->required ? "(required)" : "", at, column);
}

/* Print the names of options, of advanced ones only if @advanced is set. */
static void help_names(FILE *out, const char *title, const struct to_option *options,
		       bool advanced)
{
	const int indent = 2;
	int at = 0;

	for (const struct to_option *o = options; o && o->name; o++) {
		char word[TO_COMMAND_WORDS_MAX];

		if (o->advanced != advanced || o->type == TO_OPTION_KEY)
			continue;
		snprintf(word, sizeof(word), "--%s%s%s", o->name, o->argument ? " " : "",
			 o->argument ? o->argument : "");
		if (!at)
			at = fprintf(out, "%s", title);
		at = help_words(out, word, at, indent);
	}
	if (at)
		fputc('\n', out);
}

static void help_usage(FILE *out, const struct to_program *program,
		       const struct to_command *command)
{
	const int indent = fprintf(out, "usage: ");
	int at = help_words(out, program->name, indent, indent);

	at = help_words(out, command->name, at, indent);
	for (const struct to_option *o = command->options; o && o->name; o++) {
		char word[TO_COMMAND_WORDS_MAX];

		if (!o->required)
			continue;
		snprintf(word, sizeof(word), "--%s %s", o->name, o->argument ? o->argument : "");
		at = help_words(out, word, at, indent);
	}
	at = help_words(out, "[OPTIONS]", at, indent);
	help_text(out, command->operands ? command->operands : "", at, indent);
}

void to_help_command(FILE *out, const struct to_program *program,
		     const struct to_command *command)
{
	char page[TO_COMMAND_WORDS_MAX];

	help_usage(out, program, command);
	help_words(out, command->summary, 0, 0);
	fprintf(out, ".\n\n");
	for (const struct to_option *o = command->options; o && o->name; o++)
		if (!o->advanced && o->type != TO_OPTION_KEY)
			help_option(out, o);
	help_names(out, "Also:", command->options, true);
	help_names(out, "Common:", program->common, false);
	fprintf(out, "\nSee %s(8).\n", to_help_page(page, sizeof(page), program, command));
}

const char *to_help_page(char *page, size_t size, const struct to_program *program,
			 const struct to_command *command)
{
	snprintf(page, size, "%s-%s", program->name, command->name);
	for (char *c = page; *c; c++)
		if (*c == ' ')
			*c = '-';
	return page;
}

bool to_help_in_family(const struct to_command *command, const char *family)
{
	const size_t len = strlen(family);

	return command && !strncmp(command->name, family, len) && command->name[len] == ' ';
}

void to_help_family(FILE *out, const struct to_program *program, const char *family)
{
	fprintf(out, "usage: %s %s COMMAND [OPTIONS] [OPERANDS]\n\n", program->name, family);
	for (const struct to_command_row *row = program->rows; row->title || row->command; row++) {
		const int indent = 2 + strlen(family) + 12;

		if (!to_help_in_family(row->command, family))
			continue;
		fprintf(out, "  %s%*s", row->command->name,
			indent - 2 - (int)strlen(row->command->name), "");
		help_text(out, row->command->summary, indent, indent);
	}
	fprintf(out, "\nSee %s %s COMMAND --help.\n", program->name, family);
}

/* Print a row of the overview; @title is that of the group in its first row, else "". */
static void help_row(FILE *out, const char *title, const char *name, const char *summary)
{
	/* a narrow terminal has no room for titles */
	const bool wide = help_width(out) == HELP_WIDTH;
	const int column = HELP_COMMANDS + (wide ? HELP_TITLES : 2);

	if (wide)
		fprintf(out, "%-*s", HELP_TITLES, title);
	else
		fprintf(out, "  ");
	fprintf(out, "%-*s", HELP_COMMANDS, name);
	help_text(out, summary, column, column);
}

static const char *family_summary(const struct to_program *program, const char *family)
{
	for (const struct to_command_family *f = program->families; f && f->name; f++)
		if (!strcmp(f->name, family))
			return f->summary;
	return "";
}

void to_help_overview(FILE *out, const struct to_program *program)
{
	const char *title = "";
	char family[TO_COMMAND_WORDS_MAX] = "";

	fprintf(out, "usage: %s [--json] COMMAND [OPTIONS] [OPERANDS]\n", program->name);
	help_text(out, program->summary, 0, 0);
	for (const struct to_command_row *row = program->rows; row->title || row->command; row++) {
		const char *space = row->command ? strchr(row->command->name, ' ') : NULL;

		if (row->title && !*row->title)
			break;
		if (row->title || (*family && to_help_in_family(row->command, family))) {
			title = row->title ? row->title : title;
			continue;
		}
		snprintf(family, sizeof(family), "%.*s",
			 space ? (int)(space - row->command->name) : 0, row->command->name);
		help_row(out, title, space ? family : row->command->name,
			 space ? family_summary(program, family) : row->command->summary);
		title = "";
	}
	fprintf(out, "See %s COMMAND --help and %s(8).\n", program->name, program->name);
}
