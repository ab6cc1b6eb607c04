// SPDX-License-Identifier: GPL-2.0-or-later
/* Option parsing and help, both from the command table. */

#include "command.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/file.h"
#include "base/quantity.h"

#define HELP_WIDTH 79
#define HELP_WIDTH_MIN 40
#define HELP_COLUMN 32	/* where the options' explanations start */
#define FIRST_LONG 256	/* getopt values of options, above all letters */

struct common_args {
	bool json, help;
};

const struct to_option to_common_options[] = {
	{ .name = "json", .offset = offsetof(struct common_args, json),
	  .help = "print JSON" },
	{ .name = "help", .letter = 'h', .offset = offsetof(struct common_args, help),
	  .help = "print this help" },
	{}
};

static int set_number(const struct to_option *o, const char *text,
		      bool (*parse)(const char *text, uint64_t *value), const char *what,
		      uint64_t *value, struct to_error *err)
{
	if (!parse(text, value))
		return to_error_set(err, -EINVAL, "--%s: expected %s, not \"%s\"",
				    o->name, what, text);
	if (*value < o->min || (o->max && *value > o->max))
		return o->max ?
			to_error_set(err, -ERANGE,
				     "--%s: expected %llu to %llu, not %s", o->name,
				     (unsigned long long)o->min,
				     (unsigned long long)o->max, text) :
			to_error_set(err, -ERANGE,
				     "--%s: expected at least %llu, not %s", o->name,
				     (unsigned long long)o->min, text);
	return 0;
}

/* As in a file, but nothing needs no unit. */
static bool read_duration(const char *text, uint64_t *ns)
{
	*ns = 0;
	return !strcmp(text, "0") || to_quantity_duration(text, ns);
}

static int set_real(const struct to_option *o, const char *text, double *value,
		    struct to_error *err)
{
	char *end;

	*value = strtod(text, &end);
	if (end == text || *end || !isfinite(*value))
		return to_error_set(err, -EINVAL,
				    "--%s: expected a number, not \"%s\"",
				    o->name, text);
	return 0;
}

static int set_choice(const struct to_option *o, const char *text, int *value,
		      struct to_error *err)
{
	char words[256] = "";
	size_t len = 0;

	for (int i = 0; o->choices[i] && len < sizeof(words); i++) {
		if (!strcmp(text, o->choices[i])) {
			*value = i;
			return 0;
		}
		len += snprintf(words + len, sizeof(words) - len, "%s%s",
				i ? ", " : "", o->choices[i]);
	}
	return to_error_set(err, -EINVAL, "--%s: expected one of %s, not \"%s\"",
			    o->name, words, text);
}

static int add_word(struct to_words *words, const char *text, struct to_error *err)
{
	const char **list = realloc(words->list, (words->n + 1) * sizeof(*list));

	if (!list)
		return to_error_set(err, -ENOMEM, "out of memory");
	words->list = list;
	words->list[words->n++] = text;
	return 0;
}

static int option_set(const struct to_option *o, const char *text, void *args,
		      struct to_error *err)
{
	void *field = (char *)args + o->offset;

	switch (o->type) {
	case TO_OPTION_FLAG:
		*(bool *)field = true;
		return 0;
	case TO_OPTION_STRING:
	case TO_OPTION_OUTPUT:
		*(const char **)field = text;
		return 0;
	case TO_OPTION_NUMBER:
		return set_number(o, text, to_quantity_number, "a number", field, err);
	case TO_OPTION_DURATION:
		return set_number(o, text, read_duration,
				  "a duration like 50ms (ns, us, ms, s, m, h)", field,
				  err);
	case TO_OPTION_RATE:
		return set_number(o, text, to_quantity_rate,
				  "bits/s like 100G (k, M, G, T, Gbit)", field, err);
	case TO_OPTION_BYTES:
		return set_number(o, text, to_quantity_bytes,
				  "bytes like 100MB (kB to TB, KiB to TiB)", field, err);
	case TO_OPTION_REAL:
		return set_real(o, text, field, err);
	case TO_OPTION_CHOICE:
		return set_choice(o, text, field, err);
	case TO_OPTION_WORDS:
		return add_word(field, text, err);
	}
	return -EINVAL;
}

static unsigned int option_count(const struct to_option *options)
{
	unsigned int n = 0;

	while (options && options[n].name)
		n++;
	return n;
}

const struct to_command *to_command_find(int argc, char *const *argv, int *used)
{
	for (int i = 0; to_commands[i]; i++) {
		const char *name = to_commands[i]->name;
		const char *space = strchr(name, ' ');

		if (!space) {
			*used = 1;
			if (!strcmp(argv[0], name))
				return to_commands[i];
		} else if (argc > 1 && strlen(argv[0]) == (size_t)(space - name) &&
			   !strncmp(argv[0], name, space - name) &&
			   !strcmp(argv[1], space + 1)) {
			*used = 2;
			return to_commands[i];
		}
	}
	return NULL;
}

/* Columns of the terminal that @out is, if they are fewer than HELP_WIDTH. */
static int help_width(FILE *out)
{
	struct winsize size;

	if (ioctl(fileno(out), TIOCGWINSZ, &size) || size.ws_col > HELP_WIDTH || !size.ws_col)
		return HELP_WIDTH;
	return size.ws_col > HELP_WIDTH_MIN ? size.ws_col - 1 : HELP_WIDTH_MIN;
}

/* Where the second column of a row begins, or its first one if it has no other. */
static int row_hang(const char *row, int len)
{
	const int first = strspn(row, " ");

	for (int i = first; i + 2 < len; i++)
		if (row[i] == ' ' && row[i + 1] == ' ')
			return i + strspn(row + i, " ");
	return first;
}

/*
 * A row of a table, as it is where it fits; else its last column is filled, with the lines
 * below that go on there. Return: what follows it.
 */
static const char *help_row(FILE *out, const char *text, int indent, int width)
{
	const int len = strcspn(text, "\n"), first = strspn(text, " "), hang = row_hang(text, len);
	int at = indent + hang;

	if (indent + len <= width) {
		fprintf(out, "%.*s", len, text);
		return text + len;
	}
	fprintf(out, "%.*s", hang, text);
	text += hang;
	for (;;) {
		const int word = strcspn(text, " \n");

		if (at > indent + hang && at + 1 + word > width)
			at = fprintf(out, "\n%*s", indent + hang, "") - 1;
		else if (at > indent + hang)
			at += fprintf(out, " ");
		at += fprintf(out, "%.*s", word, text);
		text += word;
		if (*text == '\n' && hang > first && strspn(text + 1, " ") == (size_t)hang)
			text++;
		if (*text != ' ')
			return text;
		text += strspn(text, " ");
	}
}

/*
 * Fill lines of @text from column @at, further ones indented; an empty line starts a
 * paragraph, and a line that begins with a space is a row of a table.
 */
static void help_text(FILE *out, const char *text, int at, int indent)
{
	const int width = help_width(out);

	while (*text) {
		int word = strcspn(text, " \n");

		if (*text == ' ' && at == indent) {
			text = help_row(out, text, indent, width);
			word = 0;
			at = width;
		} else if (at > indent && at + 1 + word > width) {
			fprintf(out, "\n%*s", indent, "");
			at = indent;
		} else if (at > indent) {
			at += fprintf(out, " ");
		}
		at += fprintf(out, "%.*s", word, text);
		text += word;
		if (*text == '\n' && (text[1] == '\n' || text[1] == ' ')) {
			fprintf(out, text[1] == ' ' ? "\n%*s" : "\n\n%*s", indent, "");
			text += text[1] == ' ' ? 1 : 2;
			at = indent;
		} else if (*text) {
			text++;
		}
	}
	fprintf(out, "\n");
}

static void help_option(FILE *out, const struct to_option *o)
{
	/* a narrow terminal has room for explanations below the options only */
	const int column = help_width(out) < HELP_WIDTH ? 8 : HELP_COLUMN;
	char help[256];
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
	snprintf(help, sizeof(help), "%s%s", o->help, o->required ? " (required)" : "");
	help_text(out, help, column, column);
}

static void usage_line(FILE *out, const struct to_command *command)
{
	const int indent = fprintf(out, "usage: ");
	char line[256];
	int len = snprintf(line, sizeof(line), "toctl %s", command->name);

	for (const struct to_option *o = command->options; o && o->name; o++)
		if (o->required)
			len += snprintf(line + len, sizeof(line) - len, " --%s %s", o->name,
					o->argument);
	snprintf(line + len, sizeof(line) - len, " [OPTIONS]%s%s", command->operands ? " " : "",
		 command->operands ? command->operands : "");
	help_text(out, line, indent, indent);
}

void to_command_help(FILE *out, const struct to_command *command)
{
	char summary[128];

	usage_line(out, command);
	fprintf(out, "\n");
	snprintf(summary, sizeof(summary), "%s.", command->summary);
	help_text(out, summary, 0, 0);
	if (command->description) {
		fprintf(out, "\n");
		help_text(out, command->description, 0, 0);
	}
	fprintf(out, "\nOptions:\n");
	for (const struct to_option *o = command->options; o && o->name; o++)
		help_option(out, o);
	for (const struct to_option *o = to_common_options; o->name; o++)
		help_option(out, o);
}

static bool in_family(const struct to_command *command, const char *family)
{
	size_t len = strlen(family);

	return !strncmp(command->name, family, len) && command->name[len] == ' ';
}

bool to_command_is_family(const char *word)
{
	for (int i = 0; to_commands[i]; i++)
		if (in_family(to_commands[i], word))
			return true;
	return false;
}

void to_command_overview(FILE *out, const char *family)
{
	const int column = 18;

	if (family)
		fprintf(out, "usage: toctl [--json] %s COMMAND [OPTIONS] [OPERANDS]\n", family);
	else
		fprintf(out, "usage: toctl [--json] COMMAND [OPTIONS] [OPERANDS]\n\n");
	if (!family)
		help_text(out, "Plans, programs and measures a fabric of servers without switches.", 0, 0);
	fprintf(out, "\nCommands:\n");
	for (int i = 0; to_commands[i]; i++) {
		const int width = 2 + strlen(to_commands[i]->name);

		if (family && !in_family(to_commands[i], family))
			continue;
		fprintf(out, "  %s%s%*s", to_commands[i]->name, width < column ? "" : "\n",
			width < column ? column - width : column, "");
		help_text(out, to_commands[i]->summary, column, column);
	}
	fprintf(out, "\nSee toctl%s%s COMMAND --help.\n", family ? " " : "", family ? family : "");
}

/* Least number of letters to insert, remove, replace or swap that make @a of @b. */
static unsigned int edits(const char *a, const char *b)
{
	unsigned int row[3][TO_COMMAND_WORDS_MAX + 1];
	unsigned int *older = row[0], *old = row[1], *now = row[2], *spare, n = strlen(b);

	if (n > TO_COMMAND_WORDS_MAX)
		return UINT_MAX;
	for (unsigned int j = 0; j <= n; j++)
		now[j] = j;
	for (unsigned int i = 0; a[i]; i++) {
		spare = older;
		older = old;
		old = now;
		now = spare;
		now[0] = i + 1;
		for (unsigned int j = 0; j < n; j++) {
			unsigned int least = old[j] + (a[i] != b[j]);

			least = old[j + 1] + 1 < least ? old[j + 1] + 1 : least;
			least = now[j] + 1 < least ? now[j] + 1 : least;
			if (i && j && a[i] == b[j - 1] && a[i - 1] == b[j] && older[j - 1] + 1 < least)
				least = older[j - 1] + 1;
			now[j + 1] = least;
		}
	}
	return now[n];
}

/* Whether @name is nearer to @said than @best edits; two slips of the finger are near. */
static bool is_near(const char *name, const char *said, unsigned int *best)
{
	const unsigned int n = edits(name, said);

	if (n >= *best || n > strlen(name) / 2)
		return false;
	*best = n;
	return true;
}

/* The command, or the family of some, whose name is nearest to what @argv says. */
static bool nearest_command(int argc, char *const *argv, char near[TO_COMMAND_WORDS_MAX + 1])
{
	unsigned int best = 3;
	char words[2][TO_COMMAND_WORDS_MAX + 1], family[TO_COMMAND_WORDS_MAX + 1];

	snprintf(words[0], sizeof(words[0]), "%s", argv[0]);
	snprintf(words[1], sizeof(words[1]), "%s %s", argv[0], argc > 1 ? argv[1] : "");
	for (int i = 0; to_commands[i]; i++) {
		const char *name = to_commands[i]->name, *space = strchr(name, ' ');

		snprintf(family, sizeof(family), "%.*s", space ? (int)(space - name) : 0, name);
		if (is_near(name, words[!!space], &best))
			strcpy(near, name);
		else if (space && argc < 2 && is_near(family, words[0], &best))
			strcpy(near, family);
	}
	return best < 3;
}

int to_command_unknown(int argc, char *const *argv)
{
	const bool family = to_command_is_family(argv[0]);
	char near[TO_COMMAND_WORDS_MAX + 1];

	if (family && argc < 2) {
		to_command_overview(stderr, argv[0]);
		return TO_EXIT_USAGE;
	}
	fprintf(stderr, "toctl: unknown command %s%s%s; ", argv[0], family ? " " : "",
		family ? argv[1] : "");
	if (nearest_command(argc, argv, near))
		fprintf(stderr, "did you mean %s?\n", near);
	else
		fprintf(stderr, "see toctl%s%s --help\n", family ? " " : "", family ? argv[0] : "");
	return TO_EXIT_USAGE;
}

/* What getopt_long() needs, from both option tables. */
struct parser {
	struct option *longs;
	char *shorts;
	const struct to_option **options;	/* by getopt value - FIRST_LONG */
	bool *seen;
	unsigned int n;
};

static void parser_free(struct parser *p)
{
	free(p->longs);
	free(p->shorts);
	free(p->options);
	free(p->seen);
}

static int parser_init(struct parser *p, const struct to_command *command)
{
	unsigned int own = option_count(command->options);
	char *s;

	p->n = own + option_count(to_common_options);
	p->longs = calloc(p->n + 1, sizeof(*p->longs));
	p->shorts = calloc(2 * p->n + 2, 1);
	p->options = calloc(p->n, sizeof(*p->options));
	p->seen = calloc(p->n, sizeof(*p->seen));
	if (!p->longs || !p->shorts || !p->options || !p->seen)
		return -ENOMEM;
	s = p->shorts;
	*s++ = ':';
	for (unsigned int i = 0; i < p->n; i++) {
		const struct to_option *o = i < own ? &command->options[i] :
					    &to_common_options[i - own];

		p->options[i] = o;
		p->longs[i].name = o->name;
		p->longs[i].has_arg = o->type == TO_OPTION_FLAG ?
				      no_argument : required_argument;
		p->longs[i].val = FIRST_LONG + i;
		if (o->letter) {
			*s++ = o->letter;
			if (o->type != TO_OPTION_FLAG)
				*s++ = ':';
		}
	}
	return 0;
}

/* The option whose name is nearest to "--NAME" or "--NAME=...", NULL when none is near. */
static const char *nearest_option(const struct parser *p, const char *word)
{
	unsigned int best = 3;
	const char *near = NULL;
	char name[TO_COMMAND_WORDS_MAX + 1];

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(word, "="), word);
	for (unsigned int i = 0; i < p->n; i++)
		if (!strncmp(name, "--", 2) && is_near(p->options[i]->name, name + 2, &best))
			near = p->options[i]->name;
	return near;
}

/* getopt() left the letter or value in optopt, 0 for an unknown long name. */
static int option_refuse(const struct parser *p, const struct to_command *command, int c,
			 const char *word, struct to_error *err)
{
	const char *what = c == ':' ? "needs an argument" : "takes no argument", *near;

	if (optopt >= FIRST_LONG)
		return to_error_set(err, -EINVAL, "option --%s %s",
				    p->options[optopt - FIRST_LONG]->name, what);
	if (c == ':')
		return to_error_set(err, -EINVAL, "option -%c %s", optopt, what);
	if (optopt)
		return to_error_set(err, -EINVAL, "unknown option -%c", optopt);
	for (const struct to_gone_option *gone = command->gone; gone && gone->name; gone++)
		if (!strncmp(word, "--", 2) && !strncmp(word + 2, gone->name, strlen(gone->name)) &&
		    strchr("=", word[2 + strlen(gone->name)]))
			return to_error_set(err, -EINVAL, "there is no --%s any more: %s", gone->name,
					    gone->instead);
	near = nearest_option(p, word);
	return to_error_set(err, -EINVAL, "unknown or ambiguous option %s%s%s%s", word,
			    near ? "; did you mean --" : "", near ? near : "", near ? "?" : "");
}

static bool parser_saw(const struct parser *p, const char *name)
{
	for (unsigned int i = 0; i < p->n; i++)
		if (p->seen[i] && !strcmp(p->options[i]->name, name))
			return true;
	return false;
}

/* What is missing beside the options that were given. */
static int parser_missing(const struct parser *p, struct to_error *err)
{
	for (unsigned int i = 0; i < p->n; i++) {
		const struct to_option *o = p->options[i];

		if (o->required && !p->seen[i])
			return to_error_set(err, -EINVAL, "--%s is required", o->name);
		if (o->with && p->seen[i] && !parser_saw(p, o->with))
			return to_error_set(err, -EINVAL, "--%s goes with --%s", o->name, o->with);
	}
	return 0;
}

/* What an option names, NULL: nothing, or it takes no text. */
static const char *option_text(const struct to_option *o, const void *args)
{
	if (o->type != TO_OPTION_OUTPUT && o->type != TO_OPTION_STRING)
		return NULL;
	return *(const char *const *)((const char *)args + o->offset);
}

/* What --@name writes to @path is no file that the command reads, nor another output. */
static int check_output(const struct to_command *command, const void *args, char **operands,
			const char *name, const char *path, struct to_error *err)
{
	for (char **operand = operands; *operand; operand++)
		if (to_file_is_same(path, *operand))
			return to_error_set(err, -EINVAL, "--%s would overwrite %s, which is read",
					    name, *operand);
	for (const struct to_option *other = command->options; other->name; other++) {
		const char *file = option_text(other, args);
		bool output = other->type == TO_OPTION_OUTPUT;

		if (!strcmp(other->name, name) || !other->argument ||
		    !strstr(other->argument, "FILE") || !file || !to_file_is_same(path, file))
			continue;
		return output ? to_error_set(err, -EINVAL, "--%s and --%s are both %s", name,
					     other->name, path) :
				to_error_set(err, -EINVAL, "--%s would overwrite %s, which --%s reads",
					     name, file, other->name);
	}
	return 0;
}

static int check_outputs(const struct to_command *command, const void *args, char **operands,
			 struct to_error *err)
{
	for (const struct to_option *o = command->options; o && o->name; o++) {
		const char *path = option_text(o, args);

		if (o->type == TO_OPTION_OUTPUT && path &&
		    check_output(command, args, operands, o->name, path, err))
			return -EINVAL;
	}
	return 0;
}

int to_command_check_output(struct to_call *call, const void *args, const char *name,
			    const char *path)
{
	return check_output(call->command, args, call->operands, name, path, &call->err) ?
	       TO_EXIT_USAGE : 0;
}

static int parse_options(struct parser *p, const struct to_command *command,
			 int argc, char **argv, void *args,
			 struct common_args *common, struct to_error *err)
{
	unsigned int own = option_count(command->options);
	int c, i;

	optind = 0;	/* argv[0] is skipped; the name of the command is there */
	while ((c = getopt_long(argc, argv, p->shorts, p->longs, NULL)) != -1) {
		if (c == '?' || c == ':')
			return option_refuse(p, command, c, argv[optind - 1], err);
		i = c - FIRST_LONG;
		if (c < FIRST_LONG)
			for (i = 0; p->options[i]->letter != c; i++)
				;
		p->seen[i] = true;
		if (option_set(p->options[i], optarg,
			       (unsigned int)i < own ? args : (void *)common, err))
			return -EINVAL;
	}
	if (common->help)
		return 0;
	if (parser_missing(p, err))
		return -EINVAL;
	if ((unsigned int)(argc - optind) < command->min_operands)
		return to_error_set(err, -EINVAL, "%s expected", command->operands);
	if ((unsigned int)(argc - optind) > command->max_operands)
		return to_error_set(err, -EINVAL, "unexpected operand \"%s\"",
				    argv[optind + command->max_operands]);
	return check_outputs(command, args, argv + optind, err);
}

int to_command_main(const struct to_command *command, int argc, char **argv,
		    bool json)
{
	struct to_call call = { .command = command };
	struct common_args common = { .json = json };
	struct parser parser = {};
	int ret = TO_EXIT_USAGE;
	void *args;

	args = calloc(1, command->args_size + 1);
	if (!args || parser_init(&parser, command)) {
		fprintf(stderr, "toctl: out of memory\n");
		ret = TO_EXIT_FAILURE;
		goto out;
	}
	if (command->defaults)
		memcpy(args, command->defaults, command->args_size);
	/* The word before the first argument is the command's own. */
	if (!parse_options(&parser, command, argc + 1, argv - 1, args, &common,
			   &call.err)) {
		if (common.help) {
			to_command_help(stdout, command);
			ret = TO_EXIT_OK;
			goto out;
		}
		call.json = common.json;
		call.operands = argv - 1 + optind;
		call.n_operands = argc + 1 - optind;
		ret = command->run(&call, args);
		if (ret < 0)
			ret = TO_EXIT_FAILURE;
		if (!ret && (fflush(stdout) || ferror(stdout))) {
			to_error_set(&call.err, 0, "standard output: %s",
				     strerror(errno));
			ret = TO_EXIT_FAILURE;
		}
	}
	if (ret && call.err.text[0])
		fprintf(stderr, "toctl %s: %s\n", command->name, call.err.text);
	/* not the status of a command that it ran */
	if (ret == TO_EXIT_USAGE && call.err.text[0])
		fprintf(stderr, "see toctl %s --help\n", command->name);
out:
	for (const struct to_option *o = command->options; args && o && o->name; o++)
		if (o->type == TO_OPTION_WORDS)
			free(((struct to_words *)((char *)args + o->offset))->list);
	parser_free(&parser);
	free(args);
	return ret;
}
