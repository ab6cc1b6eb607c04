// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/options.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/quantity.h"
#include "base/text.h"

#define FIRST_LONG 256	/* getopt values of options, above all letters */

/* Fields of the options that all commands have. */
struct common_args {
	bool json, verbose, quiet, help;
	const char *config;
	struct to_words set;
};

#define COMMON(field) offsetof(struct common_args, field)
#define OPTION_JSON \
	{ .name = "json", .offset = COMMON(json), .help = "print JSON" }
#define OPTION_VERBOSE \
	{ .name = "verbose", .letter = 'v', .offset = COMMON(verbose), .help = "print details" }
#define OPTION_QUIET \
	{ .name = "quiet", .letter = 'q', .offset = COMMON(quiet), \
	  .help = "print no warnings, notes or progress" }
#define OPTION_HELP \
	{ .name = "help", .letter = 'h', .offset = COMMON(help), .help = "print this help" }

const struct to_option to_common_options[] = {
	OPTION_JSON, OPTION_VERBOSE, OPTION_QUIET, OPTION_HELP, {}
};

const struct to_option to_common_config_options[] = {
	{ "config", 0, TO_OPTION_STRING, COMMON(config), .argument = "FILE",
	  .help = "where the fabric is; default: see fabric.conf(5)" },
	{ "set", 0, TO_OPTION_WORDS, COMMON(set), .argument = "KEY=VALUE",
	  .help = "override a key of that file, as etcd.endpoints=URL" },
	OPTION_JSON, OPTION_VERBOSE, OPTION_QUIET, OPTION_HELP, {}
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

/* A duration as in files; "0" may go without a unit. */
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
	case TO_OPTION_KEY:
		break;
	}
	return -EINVAL;
}

/* Tables for getopt_long(), made of the options of a command and the common ones. */
struct parser {
	struct option *longs;
	char *shorts;
	const struct to_option **options;	/* by getopt value - FIRST_LONG */
	bool *seen;
	unsigned int n, n_own;			/* options, and those of the command, which come first */
};

static void parser_free(struct parser *p)
{
	free(p->longs);
	free(p->shorts);
	free(p->options);
	free(p->seen);
}

static unsigned int parser_count(const struct to_option *options)
{
	unsigned int n = 0;

	for (; options && options->name; options++)
		n += options->type != TO_OPTION_KEY;
	return n;
}

static void parser_add(struct parser *p, const struct to_option *options, char **letters)
{
	for (const struct to_option *o = options; o && o->name; o++) {
		if (o->type == TO_OPTION_KEY)
			continue;
		p->longs[p->n].name = o->name;
		p->longs[p->n].has_arg = o->type == TO_OPTION_FLAG ?
					 no_argument : required_argument;
		p->longs[p->n].val = FIRST_LONG + p->n;
		p->options[p->n++] = o;
		if (o->letter) {
			*(*letters)++ = o->letter;
			if (o->type != TO_OPTION_FLAG)
				*(*letters)++ = ':';
		}
	}
}

static int parser_init(struct parser *p, const struct to_call *call)
{
	const struct to_option *own = call->command->options, *common = call->program->common;
	const unsigned int n = parser_count(own) + parser_count(common);
	char *letters;

	p->longs = calloc(n + 1, sizeof(*p->longs));
	p->shorts = calloc(2 * n + 2, 1);
	p->options = calloc(n, sizeof(*p->options));
	p->seen = calloc(n, sizeof(*p->seen));
	if (!p->longs || !p->shorts || !p->options || !p->seen)
		return -ENOMEM;
	letters = p->shorts;
	*letters++ = ':';
	parser_add(p, own, &letters);
	p->n_own = p->n;
	parser_add(p, common, &letters);
	return 0;
}

/* Return: name of the option nearest to "--NAME" or "--NAME=...", NULL if none is near. */
static const char *nearest_option(const struct parser *p, const char *word)
{
	unsigned int best = TO_TEXT_NEAR;
	const char *near = NULL;
	char name[TO_COMMAND_WORDS_MAX + 1];

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(word, "="), word);
	for (unsigned int i = 0; i < p->n; i++)
		if (!strncmp(name, "--", 2) && to_text_is_near(p->options[i]->name, name + 2, &best))
			near = p->options[i]->name;
	return near;
}

/* optopt is the letter or the value of the option, 0 for an unknown long name. */
static int option_refuse(const struct parser *p, int c, const char *word, struct to_error *err)
{
	const char *what = c == ':' ? "needs an argument" : "takes no argument", *near;

	if (optopt >= FIRST_LONG)
		return to_error_set(err, -EINVAL, "option --%s %s",
				    p->options[optopt - FIRST_LONG]->name, what);
	if (c == ':')
		return to_error_set(err, -EINVAL, "option -%c %s", optopt, what);
	if (optopt)
		return to_error_set(err, -EINVAL, "unknown option -%c", optopt);
	near = nearest_option(p, word);
	return to_error_set(err, -EINVAL, "unknown or ambiguous option %s%s%s%s", word,
			    near ? "; did you mean --" : "", near ? near : "", near ? "?" : "");
}

/* Whether an option was given that another one needs: "level", or "level=packet" for a choice. */
static bool parser_has(const struct parser *p, const char *with, const void *args)
{
	const char *value = strchr(with, '=');
	const size_t len = strcspn(with, "=");

	for (unsigned int i = 0; i < p->n_own; i++) {
		const struct to_option *o = p->options[i];

		if (p->seen[i] && strlen(o->name) == len && !strncmp(o->name, with, len))
			return !value ||
			       !strcmp(o->choices[*(const int *)((const char *)args + o->offset)],
				       value + 1);
	}
	return false;
}

/* Refuse if an option is missing that is required, or that another one needs. */
static int parser_missing(const struct parser *p, const void *args, struct to_error *err)
{
	for (unsigned int i = 0; i < p->n; i++) {
		const struct to_option *o = p->options[i];

		if (o->required && !p->seen[i])
			return to_error_set(err, -EINVAL, "--%s is required", o->name);
		if (o->with && p->seen[i] && !parser_has(p, o->with, args))
			return to_error_set(err, -EINVAL, "--%s goes with --%s", o->name, o->with);
	}
	return 0;
}

/* Text that an option was given; NULL if it was not given or takes no text. */
static const char *option_text(const struct to_option *o, const void *args)
{
	if (o->type != TO_OPTION_OUTPUT && o->type != TO_OPTION_STRING)
		return NULL;
	return *(const char *const *)((const char *)args + o->offset);
}

/*
 * Refuse if @path, which --@name writes, is a file that the command reads or another output.
 * @config: file of --config, or NULL
 */
static int check_output(const struct to_command *command, const void *args, char **operands,
			const char *config, const char *name, const char *path,
			struct to_error *err)
{
	if (config && to_file_is_same(path, config))
		return to_error_set(err, -EINVAL, "--%s would overwrite %s, which --config reads",
				    name, config);
	for (char **operand = operands; *operand; operand++)
		/* an operand that is no file may be a name */
		if ((!strcmp(*operand, "-") || !access(*operand, F_OK)) &&
		    to_file_is_same(path, *operand))
			return to_error_set(err, -EINVAL, "--%s would overwrite %s, which is read",
					    name, *operand);
	for (const struct to_option *other = command->options; other->name; other++) {
		const char *file = option_text(other, args);
		bool output = other->type == TO_OPTION_OUTPUT;

		if (!strcmp(other->name, name) || !other->argument ||
		    !strstr(other->argument, "FILE") || !file || (output && !strcmp(file, "-")) ||
		    !to_file_is_same(path, file))
			continue;
		return output ? to_error_set(err, -EINVAL, "--%s and --%s are both %s", name,
					     other->name, path) :
				to_error_set(err, -EINVAL, "--%s would overwrite %s, which --%s reads",
					     name, file, other->name);
	}
	return 0;
}

static int check_outputs(const struct to_command *command, const void *args, char **operands,
			 const char *config, struct to_error *err)
{
	for (const struct to_option *o = command->options; o && o->name; o++) {
		const char *path = option_text(o, args);

		if (o->type == TO_OPTION_OUTPUT && path &&
		    check_output(command, args, operands, config, o->name, path, err))
			return -EINVAL;
	}
	return 0;
}

int to_command_check_output(struct to_call *call, const void *args, const char *name,
			    const char *path)
{
	return check_output(call->command, args, call->operands, call->config, name, path,
			    &call->err) ?
	       TO_EXIT_USAGE : 0;
}

static int parser_run(struct parser *p, struct to_call *call, int argc, char **argv, void *args,
		      struct common_args *common)
{
	const struct to_command *command = call->command;
	struct to_error *err = &call->err;
	int c, i;

	optind = 0;	/* argv[0] is skipped; the name of the command is there */
	while ((c = getopt_long(argc, argv, p->shorts, p->longs, NULL)) != -1) {
		if (c == '?' || c == ':')
			return option_refuse(p, c, argv[optind - 1], err);
		i = c - FIRST_LONG;
		if (c < FIRST_LONG)
			for (i = 0; p->options[i]->letter != c; i++)
				;
		p->seen[i] = true;
		if (option_set(p->options[i], optarg,
			       (unsigned int)i < p->n_own ? args : (void *)common, err))
			return -EINVAL;
	}
	if (common->help)
		return 0;
	if (parser_missing(p, args, err))
		return -EINVAL;
	if ((unsigned int)(argc - optind) < command->min_operands)
		return to_error_set(err, -EINVAL, "%s expected", command->operands);
	if ((unsigned int)(argc - optind) > command->max_operands)
		return to_error_set(err, -EINVAL, "unexpected operand \"%s\"",
				    argv[optind + command->max_operands]);
	return check_outputs(command, args, argv + optind, common->config, err);
}

int to_options_parse(struct to_call *call, int argc, char **argv, void *args, bool *help)
{
	struct common_args common = { .json = call->json };
	struct parser parser = {};
	int ret;

	/* The word before the first argument is the command's own. */
	argc++;
	argv--;
	ret = parser_init(&parser, call) ? to_error_set(&call->err, -ENOMEM, "out of memory") :
	      parser_run(&parser, call, argc, argv, args, &common);
	call->json = common.json;
	call->verbose = common.verbose;
	call->quiet = common.quiet;
	call->config = common.config;
	call->set = common.set;
	call->operands = argv + optind;
	call->n_operands = argc - optind;
	*help = common.help;
	parser_free(&parser);
	return ret;
}

void to_options_free(struct to_call *call, void *args)
{
	for (const struct to_option *o = call->command->options; o && o->name; o++)
		if (o->type == TO_OPTION_WORDS)
			free(((struct to_words *)((char *)args + o->offset))->list);
	free(call->set.list);
}
