/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_COMMAND_H
#define TOPOOPT_COMMAND_H

/*
 * The command table of toctl. A command is a `const struct to_command
 * to_cmd_NAME` in its own file and a row in commands.h; parsing, --help,
 * bash completion and the manual page follow from it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

#define TO_COMMAND_WORDS_MAX 64	/* bytes of a command's name, at most */

/** Exit statuses of toctl. */
enum to_exit { TO_EXIT_OK, TO_EXIT_FAILURE, TO_EXIT_USAGE };

/**
 * enum to_option_type - what an option's argument is, and its field's type
 * @TO_OPTION_FLAG: no argument, bool
 * @TO_OPTION_STRING: const char *
 * @TO_OPTION_OUTPUT: const char *, a file that the command writes: none that it is
 *	told to read, nor another of its outputs
 * @TO_OPTION_NUMBER: uint64_t, decimal
 * @TO_OPTION_REAL: double
 * @TO_OPTION_DURATION: uint64_t in ns, written with a unit: 50ms
 * @TO_OPTION_RATE: uint64_t in bits/s, k M G T allowed: 100G
 * @TO_OPTION_BYTES: uint64_t, bytes, with or without a unit: 100MB, 64MiB
 * @TO_OPTION_CHOICE: int, index into @choices
 * @TO_OPTION_WORDS: struct to_words; may be given more than once
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
};

/** struct to_words - what an option was given, @n times */
struct to_words {
	unsigned int n;
	const char **list;
};

/**
 * struct to_option - one option of a command
 * @name: long name without dashes; NULL ends the table
 * @letter: short name or 0
 * @type: type of the field of the command's arguments at @offset
 * @required: the command refuses to run without it
 * @argument: word for the argument in the help; FILE, also of "WORD|FILE", says that it is
 *	one
 * @choices: NULL-terminated words of a TO_OPTION_CHOICE; the help lists them unless
 *	there is an @argument
 * @min, @max: bounds of a number, duration or rate; @max 0 means none
 * @with: name of the option without which this one is refused, or NULL
 * @help: one line, no full stop
 */
struct to_option {
	const char *name;
	char letter;
	enum to_option_type type;
	size_t offset;
	bool required;
	const char *argument;
	const char *const *choices;
	uint64_t min, max;
	const char *with;
	const char *help;
};

/** struct to_gone_option - one that a command had once; no @name ends the table */
struct to_gone_option {
	const char *name, *instead;
};

struct to_command;

/**
 * struct to_call - one run of a command
 * @json: print JSON on standard output instead of text
 * @operands: what is left after the options, @n_operands of them
 * @err: why run() failed; the caller prints it
 */
struct to_call {
	const struct to_command *command;
	bool json;
	unsigned int n_operands;
	char **operands;
	struct to_error err;
};

/**
 * struct to_command - one verb
 * @name: "plan", or two words for a family: "tm record"
 * @summary: one line, no full stop
 * @operands: operands as the usage line shows them, NULL for none
 * @min_operands, @max_operands: how many it takes; UINT_MAX for any number
 * @description: paragraphs for --help and the manual page, may be NULL
 * @options: ends with an entry without a name, may be NULL
 * @gone: those that are refused with advice, may be NULL
 * @args_size: size of the structure that the options fill
 * @defaults: what it starts as, NULL for zeros
 * @run: does it. Returns 0, a negative errno with to_call.err set, a positive
 *	enum to_exit when all is said already, or to_usage()
 */
struct to_command {
	const char *name;
	const char *summary;
	const char *operands;
	unsigned int min_operands, max_operands;
	const char *description;
	const struct to_option *options;
	const struct to_gone_option *gone;
	size_t args_size;
	const void *defaults;
	int (*run)(struct to_call *call, const void *args);
};

/** to_usage() - refuse the way the command was called; for run() to return */
#define to_usage(call, ...) \
	(to_error_set(&(call)->err, 0, __VA_ARGS__), TO_EXIT_USAGE)

/**
 * to_command_check_output() - refuse to write @path, which --@name only leads to, where it is
 *	a file that the command reads or another of its outputs; for run() to return
 * @args: of the command
 *
 * Return: 0, or as to_usage(). Of a TO_OPTION_OUTPUT this is done before run().
 */
int to_command_check_output(struct to_call *call, const void *args, const char *name,
			    const char *path);

/** Options that every command takes, same form as a command's own. */
extern const struct to_option to_common_options[];

/** All commands, in the order of the help; ends with NULL. */
extern const struct to_command *const to_commands[];

/**
 * to_command_find() - command that the words at @argv name
 * @used: how many words that were
 *
 * Return: NULL when there is none.
 */
const struct to_command *to_command_find(int argc, char *const *argv,
					 int *used);

/** to_command_main() - parse @argv (after the command's name) and run */
int to_command_main(const struct to_command *command, int argc, char **argv,
		    bool json);

void to_command_help(FILE *out, const struct to_command *command);

/** to_command_overview() - all commands, or those of @family ("tm"), a line each */
void to_command_overview(FILE *out, const char *family);

/** to_command_is_family() - does @word begin commands of two words? */
bool to_command_is_family(const char *word);

/**
 * to_command_unknown() - say that there is no command as at @argv, and which comes near
 *
 * Return: exit status.
 */
int to_command_unknown(int argc, char *const *argv);

#endif
