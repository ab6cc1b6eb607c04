// SPDX-License-Identifier: GPL-2.0-or-later
/* Shell completion, from the command table. */

#include <string.h>

#include "cli/command.h"

#define for_each_command(row, program) \
	for (const struct to_command_row *row = (program)->rows; row->title || row->command; row++) \
		if (row->command)

/* Print the words that may follow the program's name, or that of a family, each once. */
static void complete_commands(const struct to_program *program, const char *family)
{
	size_t len = family ? strlen(family) : 0;
	const char *last = "";
	size_t last_len = 0;

	for_each_command(row, program) {
		const char *word = row->command->name;
		size_t n;

		if (family) {
			if (strncmp(word, family, len) || word[len] != ' ')
				continue;
			word += len + 1;
		}
		n = strcspn(word, " ");
		if (n == last_len && !strncmp(word, last, n))
			continue;
		printf("%s%.*s", last_len ? " " : "", (int)n, word);
		last = word;
		last_len = n;
	}
}

static void complete_families(const struct to_program *program)
{
	const char *last = "";
	size_t last_len = 0;

	for_each_command(row, program) {
		const char *name = row->command->name;
		size_t n = strcspn(name, " ");
		char family[TO_COMMAND_WORDS_MAX];

		if (!name[n] || (n == last_len && !strncmp(name, last, n)))
			continue;
		snprintf(family, sizeof(family), "%.*s", (int)n, name);
		printf("\t%s) words=\"", family);
		complete_commands(program, family);
		printf("\" ;;\n");
		last = name;
		last_len = n;
	}
}

static void complete_argument(const struct to_command *command, const struct to_option *o)
{
	if (o->type == TO_OPTION_FLAG || o->type == TO_OPTION_KEY)
		return;
	printf("\t\"%s/--%s\"", command->name, o->name);
	if (o->letter)
		printf("|\"%s/-%c\"", command->name, o->letter);
	if (o->type == TO_OPTION_CHOICE) {
		printf(") COMPREPLY=($(compgen -W \"");
		for (int i = 0; o->choices[i]; i++)
			printf("%s%s", i ? " " : "", o->choices[i]);
		printf("\" -- \"$cur\")); return ;;\n");
	} else if (o->argument && !strcmp(o->argument, "DEV")) {
		printf(") COMPREPLY=($(compgen -W \"$(ls /sys/class/net)\" -- \"$cur\")); return ;;\n");
	} else if (o->argument && !strcmp(o->argument, "FILE")) {
		printf(") COMPREPLY=($(compgen -f -- \"$cur\")); return ;;\n");
	} else {
		printf(") return ;;\n");
	}
}

static void complete_arguments(const struct to_program *program, const struct to_command *command)
{
	for (const struct to_option *o = command->options; o && o->name; o++)
		complete_argument(command, o);
	for (const struct to_option *o = program->common; o->name; o++)
		complete_argument(command, o);
}

static void complete_options(const struct to_program *program, const struct to_command *command)
{
	printf("\t\"%s\") words=\"", command->name);
	for (const struct to_option *o = command->options; o && o->name; o++)
		if (o->type != TO_OPTION_KEY)
			printf("--%s ", o->name);
	for (const struct to_option *o = program->common; o->name; o++)
		printf("--%s%s", o->name, o[1].name ? " " : "");
	printf("\" ;;\n");
}

/* Print a function for complete -F of bash, which zsh has, too. */
static void complete_bash(const struct to_program *program)
{
	printf("_%s()\n{\n"
	       "\tlocal cur=$2 prev=$3 command='' words='' i\n"
	       "\tCOMPREPLY=()\n"
	       "\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
	       "\t\tcase ${COMP_WORDS[i]} in -*) ;; *) command=${COMP_WORDS[i]}; break ;; esac\n"
	       "\tdone\n"
	       "\tif [ -z \"$command\" ]; then\n"
	       "\t\tCOMPREPLY=($(compgen -W \"", program->name);
	complete_commands(program, NULL);
	printf(" --json --help --version\" -- \"$cur\"))\n\t\treturn\n\tfi\n"
	       "\tcase $command in\n");
	complete_families(program);
	printf("\tesac\n"
	       "\tif [ -n \"$words\" ]; then\n"
	       "\t\tif [ $((i + 1)) -eq $COMP_CWORD ]; then\n"
	       "\t\t\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
	       "\t\t\treturn\n\t\tfi\n"
	       "\t\tcommand=\"$command ${COMP_WORDS[i + 1]}\"\n"
	       "\tfi\n"
	       "\tcase $command/$prev in\n");
	for_each_command(row, program)
		complete_arguments(program, row->command);
	printf("\tesac\n"
	       "\tcase $command in\n");
	for_each_command(row, program)
		complete_options(program, row->command);
	printf("\tesac\n"
	       "\tcase $cur in\n"
	       "\t-*) COMPREPLY=($(compgen -W \"$words\" -- \"$cur\")) ;;\n"
	       "\t*) COMPREPLY=($(compgen -f -- \"$cur\")) ;;\n"
	       "\tesac\n}\n");
}

/* Print @text in single quotes, as fish reads them. */
static void fish_quote(const char *text)
{
	putchar('\'');
	for (; *text; text++)
		printf(strchr("\\'", *text) ? "\\%c" : "%c", *text);
	putchar('\'');
}

static void fish_option(const char *program, const struct to_command *command,
			const struct to_option *o)
{
	printf("complete -c %s -n '__%s_is %s' -l %s", program, program, command->name, o->name);
	if (o->letter)
		printf(" -s %c", o->letter);
	if (o->type == TO_OPTION_CHOICE) {
		printf(" -xa '");
		for (int i = 0; o->choices[i]; i++)
			printf("%s%s", i ? " " : "", o->choices[i]);
		printf("'");
	} else if (o->argument && !strcmp(o->argument, "DEV")) {
		printf(" -xa '(ls /sys/class/net)'");
	} else if (o->type != TO_OPTION_FLAG) {
		printf(o->argument && !strcmp(o->argument, "FILE") ? " -rF" : " -x");
	}
	printf(" -d ");
	fish_quote(o->help);
	putchar('\n');
}

static void fish_command(const struct to_program *program, const struct to_command *command)
{
	const char *name = program->name, *space = strchr(command->name, ' ');
	const int family = space ? space - command->name : 0;

	if (space)
		printf("complete -c %s -n __%s_none -fa %.*s\n"
		       "complete -c %s -n '__%s_family %.*s' -fa %s -d ",
		       name, name, family, command->name, name, name, family, command->name,
		       space + 1);
	else
		printf("complete -c %s -n __%s_none -fa %s -d ", name, name, command->name);
	fish_quote(command->summary);
	putchar('\n');
	for (const struct to_option *o = command->options; o && o->name; o++)
		if (o->type != TO_OPTION_KEY)
			fish_option(name, command, o);
	for (const struct to_option *o = program->common; o->name; o++)
		fish_option(name, command, o);
}

static void complete_fish(const struct to_program *program)
{
	const char *name = program->name;

	printf("# words of the command line that are no options\n"
	       "function __%s_words\n"
	       "\tstring match -v -- '-*' (commandline -opc)[2..] | string join ' '\n"
	       "end\n"
	       "# are the first ones these?\n"
	       "function __%s_is\n"
	       "\tstring match -q -- \"$argv *\" \"$(__%s_words) \"\n"
	       "end\n", name, name, name);
	printf("function __%s_none\n"
	       "\ttest -z \"$(__%s_words)\"\n"
	       "end\n"
	       "function __%s_family\n"
	       "\ttest \"$(__%s_words)\" = $argv\n"
	       "end\n", name, name, name, name);
	printf("complete -c %s -n __%s_none -f -l json -d 'print JSON'\n"
	       "complete -c %s -n __%s_none -f -l version -s V -d 'print the version'\n",
	       name, name, name, name);
	for_each_command(row, program)
		fish_command(program, row->command);
}

static int completion_run(struct to_call *call, const void *args)
{
	const char *shell = call->operands[0], *name = call->program->name;

	(void)args;
	if (strcmp(shell, "bash") && strcmp(shell, "zsh") && strcmp(shell, "fish"))
		return to_usage(call, "only bash, zsh and fish are known, not \"%s\"", shell);
	if (!strcmp(shell, "zsh"))
		printf("#compdef %s\n", name);
	printf("# completion for %s, made by: %s completion %s\n", name, name, shell);
	if (!strcmp(shell, "fish")) {
		complete_fish(call->program);
		return 0;
	}
	if (!strcmp(shell, "zsh"))
		printf("autoload -Uz bashcompinit && bashcompinit\n");
	complete_bash(call->program);
	printf("complete -o filenames -F _%s %s\n", name, name);
	return 0;
}

const struct to_command to_cmd_completion = {
	.name = "completion",
	.summary = "Print a completion script for a shell",
	.operands = "bash|zsh|fish",
	.min_operands = 1,
	.max_operands = 1,
	.run = completion_run,
};
