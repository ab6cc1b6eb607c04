// SPDX-License-Identifier: GPL-2.0-or-later
/* toctl: finds the command and hands over; command.c does the rest. */

#include <stdlib.h>
#include <string.h>

#include "command.h"

#define TO_COMMAND(name) extern const struct to_command to_cmd_##name;
#include "commands.h"
#undef TO_COMMAND

const struct to_command *const to_commands[] = {
#define TO_COMMAND(name) &to_cmd_##name,
#include "commands.h"
#undef TO_COMMAND
	NULL
};

static bool is_help(const char *word)
{
	return !strcmp(word, "--help") || !strcmp(word, "-h");
}

int main(int argc, char **argv)
{
	const struct to_command *command;
	bool json = false;
	int first = 1, used;

	for (; first < argc && argv[first][0] == '-'; first++) {
		if (!strcmp(argv[first], "--json")) {
			json = true;
		} else if (is_help(argv[first])) {
			argv[first] = "help";
			break;
		} else if (!strcmp(argv[first], "--version") || !strcmp(argv[first], "-V")) {
			argv[first] = "version";
			break;
		} else {
			fprintf(stderr, "toctl: unknown option %s; see toctl --help\n",
				argv[first]);
			return TO_EXIT_USAGE;
		}
	}
	if (first == argc) {
		to_command_overview(stderr, NULL);
		return TO_EXIT_USAGE;
	}
	command = to_command_find(argc - first, argv + first, &used);
	if (!command && argc - first == 2 && is_help(argv[first + 1]) &&
	    to_command_is_family(argv[first])) {
		to_command_overview(stdout, argv[first]);
		return TO_EXIT_OK;
	}
	if (!command)
		return to_command_unknown(argc - first, argv + first);
	return to_command_main(command, argc - first - used, argv + first + used,
			       json);
}
