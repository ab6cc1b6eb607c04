/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_COMMAND_H
#define TOPOOPT_COMMAND_H

/*
 * The command table of a program. A command is a `const struct to_command to_cmd_NAME` in a
 * file of its own and a row in the program's commands.h. Parsing, --help, completion and the
 * OPTIONS of its manual page follow from it. Documentation/command-line.md has the grammar.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

#define TO_COMMAND_WORDS_MAX 64	/* bytes of a command's name, at most */

/**
 * enum to_exit - exit statuses of all commands
 * @TO_EXIT_OK: done, or all is well
 * @TO_EXIT_FAILURE: a finding, a refusal or a failure
 * @TO_EXIT_USAGE: the command line is wrong
 * @TO_EXIT_UNKNOWN: the answer could not be determined
 * @TO_EXIT_DEGRADED: everything is reached, but something of the plan is missing
 */
enum to_exit { TO_EXIT_OK, TO_EXIT_FAILURE, TO_EXIT_USAGE, TO_EXIT_UNKNOWN, TO_EXIT_DEGRADED };

/**
 * enum to_option_type - argument of an option, and the type of its field
 * @TO_OPTION_FLAG: no argument, bool
 * @TO_OPTION_STRING: const char *
 * @TO_OPTION_OUTPUT: const char *, a file that the command writes; refused if the command
 *	also reads that file, or writes it by another option
 * @TO_OPTION_NUMBER: uint64_t, decimal
 * @TO_OPTION_REAL: double
 * @TO_OPTION_DURATION: uint64_t in ns, written with a unit: 50ms
 * @TO_OPTION_RATE: uint64_t in bits/s, k M G T allowed: 100G
 * @TO_OPTION_BYTES: uint64_t, bytes, with or without a unit: 100MB, 64MiB
 * @TO_OPTION_CHOICE: int, index into @choices
 * @TO_OPTION_WORDS: struct to_words; may be given more than once
 * @TO_OPTION_KEY: no option but a key of the program's configuration, "etcd.endpoints";
 *	to_program.configure() knows its type and fills its field
 */
enum to_option_type {
	TO_OPTION_FLAG,
	TO_OPTION_STRING,
	TO_OPTION_OUTPUT,
	TO_OPTION_NUMBER,
	TO_OPTION_REAL,
	TO_OPTION_DURATION,
	TO_OPTION_RATE,
	TO_OPTION_BYTES,
	TO_OPTION_CHOICE,
	TO_OPTION_WORDS,
	TO_OPTION_KEY,
};

/** struct to_words - arguments of an option that may be given more than once */
struct to_words {
	unsigned int n;		/* number of arguments */
	const char **list;	/* the arguments, in the order of the command line */
};

/** struct to_option - one option of a command */
struct to_option {
	const char *name;		/* long name without dashes, or a key; NULL ends the table */
	char letter;			/* short name or 0 */
	enum to_option_type type;	/* type of the argument */
	size_t offset;			/* of the field in the command's arguments */
	bool required;			/* the command refuses to run without it */
	const char *argument;		/* word in the help; FILE, also in "WORD|FILE", is a file */
	const char *const *choices;	/* words of a TO_OPTION_CHOICE, ends with NULL */
	uint64_t min, max;		/* bounds of a number, duration or rate; max 0: none */
	const char *with;		/* option that this one needs, "level=packet"; or NULL */
	const char *help;		/* one line, no full stop */
	bool advanced;			/* --help only names it; the manual page explains it */
};

/** TO_KEY() - an entry of a table of options for a key of the configuration */
#define TO_KEY(key, at) { .name = (key), .type = TO_OPTION_KEY, .offset = (at) }

struct to_command;
struct to_program;

/** struct to_call - one run of a command */
struct to_call {
	const struct to_program *program;	/* whose command it is */
	const struct to_command *command;	/* the command that runs */
	bool json;			/* print JSON on standard output instead of text */
	bool verbose;			/* print details, too */
	bool quiet;			/* print no notes, warnings or progress */
	const char *config;		/* file of --config, or NULL */
	struct to_words set;		/* KEY=VALUE of each --set */
	void *configuration;		/* of to_program.configure() */
	unsigned int n_operands;	/* number of operands */
	char **operands;		/* words after the options, ends with NULL */
	struct to_error err;		/* why run() failed; the caller prints it */
};

/** struct to_command - one command of a program */
struct to_command {
	const char *name;		/* "plan", or two words for a family: "tm record" */
	const char *summary;		/* one line, begins with a verb, no full stop */
	const char *operands;		/* as the usage line shows them, NULL for none */
	unsigned int min_operands;	/* fewest operands that it takes */
	unsigned int max_operands;	/* most operands that it takes; UINT_MAX: any number */
	const struct to_option *options; /* ends with an entry without a name, may be NULL */
	bool configured;		/* needs to_call.configuration without a key of its own */
	size_t args_size;		/* size of the structure that the options fill */
	const void *defaults;		/* what it starts as, NULL for zeros */

	/*
	 * Run the command. Return: 0, a negative errno with to_call.err set, a positive
	 * enum to_exit if everything is printed already, or to_usage().
	 */
	int (*run)(struct to_call *call, const void *args);
};

/** struct to_command_row - a command of a program, or the title of those that follow */
struct to_command_row {
	const char *title;			/* of a group, or NULL; "": not in the overview */
	const struct to_command *command;	/* NULL in a row with a title */
};

/** struct to_command_family - commands whose names begin with the same word */
struct to_command_family {
	const char *name;	/* that word; NULL ends the table */
	const char *summary;	/* one line, begins with a verb, no full stop */
};

/** struct to_moved - a command that another program has */
struct to_moved {
	const char *name;	/* as in struct to_command; NULL ends the table */
	const char *now;	/* program and command: "tosim simulate" */
};

/** struct to_program - a program made of commands */
struct to_program {
	const char *name;			/* as one types it */
	const char *version;			/* version of the project */
	const char *summary;			/* one sentence with its full stop */
	const struct to_command_row *rows;	/* in the order of the help, ends with {} */
	const struct to_command_family *families;	/* summaries for the overview, may be NULL */
	const struct to_option *common;		/* options of every command */
	const struct to_moved *moved;		/* commands of another program, may be NULL */

	/*
	 * Fill the fields of @args that are a TO_OPTION_KEY of call->command, if the
	 * configuration has a value for them. Return: as run().
	 * release() frees to_call.configuration, also after a failure. Both may be NULL.
	 */
	int (*configure)(struct to_call *call, void *args);
	void (*release)(struct to_call *call);
};

/** to_common_options - --json, -v, -q and --help, for struct to_program */
extern const struct to_option to_common_options[];

/** to_common_config_options - to_common_options with --config and --set, for struct to_program */
extern const struct to_option to_common_config_options[];

/** Commands that every program has. */
extern const struct to_command to_cmd_help, to_cmd_version, to_cmd_completion;

/** to_usage() - refuse the way the command was called; for run() to return */
#define to_usage(call, ...) \
	(to_error_set(&(call)->err, 0, __VA_ARGS__), TO_EXIT_USAGE)

/**
 * to_call_note() - print a warning on standard error, "toctl plan: warning: ..."
 *
 * The warning is one line, as of to_text_clean(). Prints nothing with -q.
 */
void to_call_note(const struct to_call *call, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/** to_note() - to_call_note() of the call that runs, for functions that take a text only */
void to_note(const char *text);

/**
 * to_command_check_output() - refuse to write a file that the command also uses otherwise
 * @args: arguments of the command
 * @name: option that the file follows from
 * @path: file to write; one of a TO_OPTION_OUTPUT is checked before run()
 *
 * Return: 0, or to_usage(), for run() to return.
 */
int to_command_check_output(struct to_call *call, const void *args, const char *name,
			    const char *path);

/** to_program_main() - parse the command line of a program and run its command; exit status */
int to_program_main(const struct to_program *program, int argc, char **argv);

/**
 * to_program_find() - find the command that the words at @argv name
 * @used: set to the number of words of its name
 *
 * Return: NULL if there is none.
 */
const struct to_command *to_program_find(const struct to_program *program, int argc,
					 char *const *argv, int *used);

/** to_program_is_family() - tell whether @word begins commands of two words */
bool to_program_is_family(const struct to_program *program, const char *word);

/**
 * to_program_unknown() - print that no command has the name at @argv, and the nearest one
 *
 * Return: exit status.
 */
int to_program_unknown(const struct to_program *program, int argc, char *const *argv);

#endif
