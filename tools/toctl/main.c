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

int main(int argc, char **argv)
{
	const struct to_command *command;
	bool json = false;
	int first = 1, used;

	for (; first < argc && argv[first][0] == '-'; first++) {
		if (!strcmp(argv[first], "--json")) {
			json = true;
		} else if (!strcmp(argv[first], "--help") ||
			   !strcmp(argv[first], "-h")) {
			to_command_overview(stdout);
			return TO_EXIT_OK;
		} else if (!strcmp(argv[first], "--version")) {
			argv[first] = "version";
			break;
		} else {
			fprintf(stderr, "toctl: unknown option %s; see toctl --help\n",
				argv[first]);
			return TO_EXIT_USAGE;
		}
	}
	if (first == argc) {
		to_command_overview(stderr);
		return TO_EXIT_USAGE;
	}
	command = to_command_find(argc - first, argv + first, &used);
	if (!command) {
		fprintf(stderr, "toctl: unknown command %s; see toctl --help\n",
			argv[first]);
		return TO_EXIT_USAGE;
	}
	return to_command_main(command, argc - first - used, argv + first + used,
			       json);
}
