// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/argv.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARGV_BLANKS " \t"
#define ARGV_SHELL "|&;<>()$`\n"	/* outside quotes, what a shell acts upon */
#define ARGV_EXPANDED "$`"		/* within "...", what a shell acts upon */
#define ARGV_ESCAPED "\"\\$`"		/* within "...", what a backslash takes */
#define ARGV_PLAIN \
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-"

/* Whether @c is one of @set; the end of a string is not. */
static bool argv_has(const char *set, char c)
{
	return c && strchr(set, c);
}

/* Append @word, which becomes the vector's. */
static int argv_take(struct to_argv *argv, char *word)
{
	char **grown = word ? realloc(argv->argv, (argv->n + 2) * sizeof(*grown)) : NULL;

	if (!grown) {
		free(word);
		return -ENOMEM;
	}
	grown[argv->n++] = word;
	grown[argv->n] = NULL;
	argv->argv = grown;
	return 0;
}

/* Copy the word at *@at without its quotes to @to, and move *@at behind it. */
static int argv_copy(const char **at, char *to, struct to_error *err)
{
	char quote = '\0';
	const char *c;

	for (c = *at; *c && (quote || !argv_has(ARGV_BLANKS, *c)); c++) {
		if (*c == quote) {
			quote = '\0';
		} else if (!quote && (*c == '\'' || *c == '"')) {
			quote = *c;
		} else if (*c == '\\' && (!quote || (quote == '"' && argv_has(ARGV_ESCAPED, c[1])))) {
			if (!*++c)
				return to_error_set(err, -EINVAL, "a backslash at the end");
			*to++ = *c;
		} else if (quote != '\'' && argv_has(quote ? ARGV_EXPANDED : ARGV_SHELL, *c)) {
			return to_error_set(err, -EINVAL,
					    "%s is for a shell, and none runs the command: quote it, or use sh -c '...'",
					    *c == '\n' ? "a newline" : (char[]){ *c, '\0' });
		} else {
			*to++ = *c;
		}
	}
	if (quote)
		return to_error_set(err, -EINVAL, "a %c without another one that ends the quote",
				    quote);
	*to = '\0';
	*at = c;
	return 0;
}

int to_argv_split(struct to_argv *argv, const char *text, struct to_error *err)
{
	char *word = malloc(strlen(text) + 1);
	int ret = word ? 0 : -ENOMEM;

	*argv = (struct to_argv){};
	while (!ret && *(text += strspn(text, ARGV_BLANKS))) {
		ret = argv_copy(&text, word, err);
		ret = ret ? ret : argv_take(argv, strdup(word));
	}
	free(word);
	if (ret == -ENOMEM)
		to_error_set(err, ret, "out of memory");
	else if (!ret && !argv->n)
		ret = to_error_set(err, -EINVAL, "expected a program and its arguments");
	if (ret)
		to_argv_free(argv);
	return ret;
}

int to_argv_add(struct to_argv *argv, const char *fmt, ...)
{
	va_list ap;
	char *word;
	int len;

	va_start(ap, fmt);
	len = vasprintf(&word, fmt, ap);
	va_end(ap);
	return argv_take(argv, len < 0 ? NULL : word);
}

/* @word with @name in place of each {}, to be freed; or NULL */
static char *argv_fill(const char *word, const char *name)
{
	size_t len = 0;
	char *text = NULL;
	FILE *out = open_memstream(&text, &len);
	const char *at;

	if (!out)
		return NULL;
	while ((at = strstr(word, "{}"))) {
		fprintf(out, "%.*s%s", (int)(at - word), word, name);
		word = at + 2;
	}
	fputs(word, out);
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}

int to_argv_fill(struct to_argv *argv, const struct to_argv *template, const char *name)
{
	int ret = 0;

	for (unsigned int i = 0; !ret && i < template->n; i++)
		ret = argv_take(argv, argv_fill(template->argv[i], name));
	return ret;
}

void to_argv_free(struct to_argv *argv)
{
	for (unsigned int i = 0; i < argv->n; i++)
		free(argv->argv[i]);
	free(argv->argv);
	*argv = (struct to_argv){};
}

char *to_argv_quote(const char *text)
{
	/* a quote in the text takes four characters */
	char *word = malloc(4 * strlen(text) + 3), *to = word;

	if (!word)
		return NULL;
	if (*text && strspn(text, ARGV_PLAIN) == strlen(text))
		return strcpy(word, text);
	*to++ = '\'';
	for (; *text; text++) {
		if (*text == '\'')
			to = stpcpy(to, "'\\'");
		*to++ = *text;
	}
	strcpy(to, "'");
	return word;
}
