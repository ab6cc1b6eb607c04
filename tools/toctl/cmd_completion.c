// SPDX-License-Identifier: GPL-2.0-or-later
/* Shell completion, from the command table. */

#include <string.h>

#include "command.h"

/* Words after `toctl`, or after the family's name, each once. */
static void complete_commands(const char *family)
{
	size_t len = family ? strlen(family) : 0;
	const char *last = "";
	size_t last_len = 0;

	for (int i = 0; to_commands[i]; i++) {
		const char *word = to_commands[i]->name;
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

static void complete_families(void)
{
	const char *last = "";
	size_t last_len = 0;

	for (int i = 0; to_commands[i]; i++) {
		const char *name = to_commands[i]->name;
		size_t n = strcspn(name, " ");
		char family[32];

		if (!name[n] || (n == last_len && !strncmp(name, last, n)))
			continue;
		snprintf(family, sizeof(family), "%.*s", (int)n, name);
		printf("\t%s) words=\"", family);
		complete_commands(family);
		printf("\" ;;\n");
		last = name;
		last_len = n;
	}
}

static void complete_arguments(const struct to_command *command)
{
	for (const struct to_option *o = command->options; o && o->name; o++) {
		if (o->type == TO_OPTION_FLAG)
			continue;
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
}

static void complete_options(const struct to_command *command)
{
	printf("\t\"%s\") words=\"", command->name);
	for (const struct to_option *o = command->options; o && o->name; o++)
		printf("--%s ", o->name);
	for (const struct to_option *o = to_common_options; o->name; o++)
		printf("--%s%s", o->name, o[1].name ? " " : "");
	printf("\" ;;\n");
}

/* A function for complete -F, and for zsh, which has that, too. */
static void complete_bash(void)
{
	printf("_toctl()\n{\n"
	       "\tlocal cur=$2 prev=$3 command='' words='' i\n"
	       "\tCOMPREPLY=()\n"
	       "\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
	       "\t\tcase ${COMP_WORDS[i]} in -*) ;; *) command=${COMP_WORDS[i]}; break ;; esac\n"
	       "\tdone\n"
	       "\tif [ -z \"$command\" ]; then\n"
	       "\t\tCOMPREPLY=($(compgen -W \"");
	complete_commands(NULL);
	printf(" --json --help --version\" -- \"$cur\"))\n\t\treturn\n\tfi\n"
	       "\tcase $command in\n");
	complete_families();
	printf("\tesac\n"
	       "\tif [ -n \"$words\" ]; then\n"
	       "\t\tif [ $((i + 1)) -eq $COMP_CWORD ]; then\n"
	       "\t\t\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
	       "\t\t\treturn\n\t\tfi\n"
	       "\t\tcommand=\"$command ${COMP_WORDS[i + 1]}\"\n"
	       "\tfi\n"
	       "\tcase $command/$prev in\n");
	for (int i = 0; to_commands[i]; i++)
		complete_arguments(to_commands[i]);
	printf("\tesac\n"
	       "\tcase $command in\n");
	for (int i = 0; to_commands[i]; i++)
		complete_options(to_commands[i]);
	printf("\tesac\n"
	       "\tcase $cur in\n"
	       "\t-*) COMPREPLY=($(compgen -W \"$words\" -- \"$cur\")) ;;\n"
	       "\t*) COMPREPLY=($(compgen -f -- \"$cur\")) ;;\n"
	       "\tesac\n}\n"
	       "");
}

/* In single quotes, as fish reads them. */
static void fish_quote(const char *text)
{
	putchar('\'');
	for (; *text; text++)
		printf(strchr("\\'", *text) ? "\\%c" : "%c", *text);
	putchar('\'');
}

static void fish_option(const struct to_command *command, const struct to_option *o)
{
	printf("complete -c toctl -n '__toctl_is %s' -l %s", command->name, o->name);
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

static void complete_fish(void)
{
	printf("# words of the command line that are no options\n"
	       "function __toctl_words\n"
	       "\tstring match -v -- '-*' (commandline -opc)[2..] | string join ' '\n"
	       "end\n"
	       "# are the first ones these?\n"
	       "function __toctl_is\n"
	       "\tstring match -q -- \"$argv *\" \"$(__toctl_words) \"\n"
	       "end\n"
	       "function __toctl_none\n"
	       "\ttest -z \"$(__toctl_words)\"\n"
	       "end\n"
	       "function __toctl_family\n"
	       "\ttest \"$(__toctl_words)\" = $argv\n"
	       "end\n"
	       "complete -c toctl -n __toctl_none -f -l json -d 'print JSON'\n"
	       "complete -c toctl -n __toctl_none -f -l version -s V -d 'print the version'\n");
	for (int i = 0; to_commands[i]; i++) {
		const struct to_command *command = to_commands[i];
		const char *space = strchr(command->name, ' ');

		if (space)
			printf("complete -c toctl -n __toctl_none -fa %.*s\n"
			       "complete -c toctl -n '__toctl_family %.*s' -fa %s -d ",
			       (int)(space - command->name), command->name,
			       (int)(space - command->name), command->name, space + 1);
		else
			printf("complete -c toctl -n __toctl_none -fa %s -d ", command->name);
		fish_quote(command->summary);
		putchar('\n');
		for (const struct to_option *o = command->options; o && o->name; o++)
			fish_option(command, o);
		for (const struct to_option *o = to_common_options; o->name; o++)
			fish_option(command, o);
	}
}

static int completion_run(struct to_call *call, const void *args)
{
	const char *shell = call->operands[0];

	(void)args;
	if (strcmp(shell, "bash") && strcmp(shell, "zsh") && strcmp(shell, "fish"))
		return to_usage(call, "only bash, zsh and fish are known, not \"%s\"", shell);
	if (!strcmp(shell, "zsh"))
		printf("#compdef toctl\n");
	printf("# completion for toctl, made by: toctl completion %s\n", shell);
	if (!strcmp(shell, "fish")) {
		complete_fish();
		return 0;
	}
	if (!strcmp(shell, "zsh"))
		printf("autoload -Uz bashcompinit && bashcompinit\n");
	complete_bash();
	printf("complete -o filenames -F _toctl toctl\n");
	return 0;
}

const struct to_command to_cmd_completion = {
	.name = "completion",
	.summary = "Print a shell completion script",
	.operands = "bash|zsh|fish",
	.min_operands = 1,
	.max_operands = 1,
	.description = "Load it with: source <(toctl completion bash), the same for zsh, or "
		"toctl completion fish | source.",
	.run = completion_run,
};
