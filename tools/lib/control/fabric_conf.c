// SPDX-License-Identifier: GPL-2.0-or-later
#include "control/fabric_conf.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <ini.h>
#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/argv.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/password.h"
#include "base/quantity.h"
#include "base/text.h"
#include "switch/switch_allow.h"

#define CONF_KEY_MAX 128	/* bytes of "SECTION.KEY"; inih cuts each half at 50 */
#define CONF_SECTIONS "[agents], [etcd], [shards] or [switches]"

const struct to_fabric_conf_key to_fabric_conf_keys[TO_FABRIC_CONF_N] = {
	[TO_FABRIC_CONF_COMMAND] = {
		"agents.command", TO_FABRIC_CONF_ARGV, "COMMAND", TO_FABRIC_COMMAND,
		"command that starts the agent of server {}" },
	[TO_FABRIC_CONF_TIMEOUT] = {
		"agents.timeout", TO_FABRIC_CONF_DURATION, "TIME", "10s",
		"time for all servers to complete one step" },
	[TO_FABRIC_CONF_ENDPOINTS] = {
		"etcd.endpoints", TO_FABRIC_CONF_TEXT, "URL[,URL...]", NULL,
		"reach the agents through etcd" },
	[TO_FABRIC_CONF_PREFIX] = {
		"etcd.prefix", TO_FABRIC_CONF_TEXT, "PREFIX", TO_ETCD_PREFIX,
		"prefix of all keys in etcd" },
	[TO_FABRIC_CONF_CACERT] = {
		"etcd.cacert", TO_FABRIC_CONF_FILE, "FILE", NULL,
		"CA certificate to verify etcd with (https)" },
	[TO_FABRIC_CONF_CERT] = {
		"etcd.cert", TO_FABRIC_CONF_FILE, "FILE", NULL,
		"client certificate for etcd" },
	[TO_FABRIC_CONF_KEY] = {
		"etcd.key", TO_FABRIC_CONF_FILE, "FILE", NULL,
		"private key of the client certificate" },
	[TO_FABRIC_CONF_USER] = {
		"etcd.user", TO_FABRIC_CONF_TEXT, "NAME", NULL,
		"user of etcd" },
	[TO_FABRIC_CONF_PASSWORD_FILE] = {
		"etcd.password-file", TO_FABRIC_CONF_FILE, "FILE", NULL,
		"password of the user of etcd, which no other user may read" },
	[TO_FABRIC_CONF_STATE] = {
		"shards.state", TO_FABRIC_CONF_STORE, "DIR|etcd", "/var/lib/topoopt/cluster",
		"state of the cluster's shards: a directory, or etcd" },
	[TO_FABRIC_CONF_ALLOW] = {
		"switches.allow", TO_FABRIC_CONF_FILE, "FILE", TO_SWITCH_ALLOW,
		"what a plan may do on this machine" },
};

/* Whether @name, "SECTION.KEY", is in the section of @len letters. */
static bool conf_is_of(const char *name, const char *section, size_t len)
{
	return !strncmp(name, section, len) && name[len] == '.';
}

static bool conf_is_section(const char *section, size_t len)
{
	for (unsigned int i = 0; i < TO_FABRIC_CONF_N; i++)
		if (conf_is_of(to_fabric_conf_keys[i].name, section, len))
			return true;
	return false;
}

/* @name without its section */
static const char *conf_last(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot ? dot + 1 : name;
}

/* The key that @typed likely means, "SECTION.KEY" or only "KEY"; NULL: none is near. */
static const char *conf_nearest(const char *typed)
{
	const char *near = NULL;
	unsigned int best = TO_TEXT_NEAR;

	for (unsigned int i = 0; i < TO_FABRIC_CONF_N; i++) {
		const char *name = to_fabric_conf_keys[i].name;

		if (to_text_is_near(name, typed, &best) || !strcmp(conf_last(name), conf_last(typed)))
			near = name;
	}
	return near;
}

/* @where: begins the error; "FILE:LINE: SECTION.KEY" or "--set SECTION.KEY" */
static int conf_unknown(const char *where, const char *typed, struct to_error *err)
{
	const char *near = conf_nearest(typed);
	size_t section = strcspn(typed, "."), len = 0;
	char list[200] = "";

	if (!strcmp(conf_last(typed), "password"))
		return to_error_set(err, -EINVAL,
				    "%s: no place for a password; etcd.password-file names the file that has it",
				    where);
	if (near)
		return to_error_set(err, -EINVAL, "%s: unknown key; did you mean %s?", where, near);
	for (unsigned int i = 0; i < TO_FABRIC_CONF_N; i++)
		if (conf_is_of(to_fabric_conf_keys[i].name, typed, section))
			len += snprintf(list + len, sizeof(list) - len, "%s%s", len ? ", " : "",
					conf_last(to_fabric_conf_keys[i].name));
	if (len)
		return to_error_set(err, -EINVAL, "%s: unknown key; [%.*s] has %s", where,
				    (int)section, typed, list);
	return to_error_set(err, -EINVAL, "%s: unknown key; expected one of " CONF_SECTIONS, where);
}

static bool conf_is_line(const char *text)
{
	for (; *text; text++)
		if (iscntrl((unsigned char)*text) && *text != '\t')
			return false;
	return true;
}

/* jansson makes strings of UTF-8 alone. */
static bool conf_is_utf8(const char *text)
{
	json_t *string = json_string(text);

	json_decref(string);
	return string;
}

/* Whether @value is one that @key takes; of a path that @must_be_absolute, "/..." */
static int conf_check_value(const struct to_fabric_conf_key *key, const char *value,
			    bool must_be_absolute, const char *where, struct to_error *err)
{
	struct to_argv argv;
	struct to_error why;
	uint64_t ns;

	if (!conf_is_line(value))
		return to_error_set(err, -EINVAL, "%s: a control character in the value", where);
	if (!conf_is_utf8(value))
		return to_error_set(err, -EINVAL, "%s: the value is no UTF-8", where);
	switch (key->kind) {
	case TO_FABRIC_CONF_DURATION:
		if (!to_quantity_duration(value, &ns) || !ns || ns > INT64_MAX)
			return to_error_set(err, -EINVAL,
					    "%s: expected a duration like 10s (ns, us, ms, s, m, h), above 0",
					    where);
		return 0;
	case TO_FABRIC_CONF_STORE:
		if (!strcmp(value, "etcd"))
			return 0;
		if (must_be_absolute && value[0] != '/')
			return to_error_set(err, -EINVAL,
					    "%s: expected etcd, or a directory that begins with /",
					    where);
		return 0;
	case TO_FABRIC_CONF_FILE:
		if (must_be_absolute && value[0] != '/')
			return to_error_set(err, -EINVAL, "%s: the name of a file must begin with /",
					    where);
		return 0;
	case TO_FABRIC_CONF_ARGV:
		if (to_argv_split(&argv, value, &why))
			return to_error_set(err, -EINVAL, "%s: %s", where, why.text);
		to_argv_free(&argv);
		return 0;
	default:
		return 0;
	}
}

/* Give the key @name its @value, "" for the default. @where: as of conf_unknown() */
static int conf_give(struct to_fabric_conf *conf, const char *name, const char *value,
		     enum to_fabric_conf_origin origin, const char *where, struct to_error *err)
{
	const bool from_file = origin == TO_FABRIC_CONF_FROM_FILE;
	unsigned int id = 0;
	int ret;

	while (id < TO_FABRIC_CONF_N && strcmp(to_fabric_conf_keys[id].name, name))
		id++;
	if (id == TO_FABRIC_CONF_N)
		return conf_unknown(where, name, err);
	if (from_file && conf->origins[id] == origin)
		return to_error_set(err, -EINVAL, "%s: given twice; keep one of the lines", where);
	if (from_file && !value[0])
		return to_error_set(err, -EINVAL,
				    "%s: expected %s; without the line, the default counts", where,
				    to_fabric_conf_keys[id].argument);
	ret = value[0] ? conf_check_value(&to_fabric_conf_keys[id], value, from_file, where, err) : 0;
	if (ret)
		return ret;
	free(conf->values[id]);
	conf->values[id] = value[0] ? strdup(value) : NULL;
	if (value[0] && !conf->values[id])
		return to_error_set(err, -ENOMEM, "%s: out of memory", where);
	conf->origins[id] = origin;
	return 0;
}

/* @text: "SECTION.KEY=VALUE" */
int to_fabric_conf_set(struct to_fabric_conf *conf, const char *text, struct to_error *err)
{
	char name[CONF_KEY_MAX], where[CONF_KEY_MAX + 8];
	size_t len = strcspn(text, "=");

	if (!text[len] || len >= sizeof(name))
		return to_error_set(err, -EINVAL, "--set %.*s: expected SECTION.KEY=VALUE",
				    CONF_KEY_MAX, text);
	snprintf(name, sizeof(name), "%.*s", (int)len, text);
	snprintf(where, sizeof(where), "--set %s", name);
	return conf_give(conf, name, text + len + 1, TO_FABRIC_CONF_FROM_OPTION, where, err);
}

/*
 * The text of the file, which inih reads line by line. How long a line inih takes, whether
 * it cuts a longer one, begins a comment within a line or joins an indented line to the one
 * before depends on how inih was built. So inih gets only lines that mean one thing.
 */
struct conf_text {
	struct to_fabric_conf *conf;
	const char *next;		/* what is left to read */
	unsigned int line;		/* number of the last line that was read */
	unsigned int wrong;		/* number of the line that @err is about; 0: none */
	int code;			/* negative errno of @err */
	struct to_error *err;
};

/* Refuse the last line. */
#define conf_wrong(t, fmt, ...) \
	((t)->wrong = (t)->line, (t)->code = to_error_set((t)->err, -EINVAL, "%s:%u: " fmt, \
							  (t)->conf->path, (t)->line, ##__VA_ARGS__))

/* What inih would take for something else, or leave out. @line: without blanks at its ends */
static int conf_check_line(struct conf_text *t, const char *line, int len)
{
	if (!len || line[0] == ';' || line[0] == '#')
		return 0;
	for (int i = 1; i < len; i++)
		if ((line[i] == ';' || line[i] == '#') && isblank((unsigned char)line[i - 1]))
			return conf_wrong(t, "%c after a blank: a comment needs a line of its own",
					  line[i]);
	if (line[0] != '[')
		return 0;
	if (line[len - 1] != ']' || memchr(line, ']', len - 1))
		return conf_wrong(t, "expected [SECTION] alone on its line");
	if (!conf_is_section(line + 1, len - 2))
		return conf_wrong(t, "unknown section; expected " CONF_SECTIONS);
	return 0;
}

/* fgets() of @stream, a struct conf_text; ends at the first line that is wrong. */
static char *conf_read_line(char *line, int size, void *stream)
{
	struct conf_text *t = stream;
	const char *begin = t->next, *end = begin + strcspn(begin, "\n");

	if (t->wrong || !*begin)
		return NULL;
	t->line++;
	t->next = end + (*end == '\n');
	begin += strspn(begin, " \t");
	while (end > begin && isspace((unsigned char)end[-1]))
		end--;
	/* besides the text, @line has a newline and a NUL */
	if (end - begin > size - 2) {
		conf_wrong(t, "a line has at most %d characters", size - 2);
		return NULL;
	}
	if (conf_check_line(t, begin, end - begin))
		return NULL;
	snprintf(line, size, "%.*s\n", (int)(end - begin), begin);
	return line;
}

/* inih's handler. Return: 0: the line is wrong */
static int conf_take(void *user, const char *section, const char *name, const char *value)
{
	char key[CONF_KEY_MAX], where[PATH_MAX + CONF_KEY_MAX + 16];
	struct conf_text *t = user;

	if (!value || !name[0])
		return 0;
	if (!section[0])
		return conf_wrong(t, "expected " CONF_SECTIONS " above the first key"), 0;
	snprintf(key, sizeof(key), "%s.%s", section, name);
	snprintf(where, sizeof(where), "%s:%u: %s", t->conf->path, t->line, key);
	t->code = conf_give(t->conf, key, value, TO_FABRIC_CONF_FROM_FILE, where, t->err);
	if (t->code)
		t->wrong = t->line;
	return !t->code;
}

static int conf_parse(struct to_fabric_conf *conf, const char *text, struct to_error *err)
{
	struct conf_text t = { .conf = conf, .next = text, .err = err };
	int ret;

	/* the byte order mark of UTF-8, which inih skips, too, but conf_check_line() does not */
	if (!strncmp(text, "\xef\xbb\xbf", 3))
		t.next += 3;
	ret = ini_parse_stream(conf_read_line, &t, conf_take, &t);
	if (ret < 0)
		return to_error_set(err, -ENOMEM, "%s: out of memory", conf->path);
	/* the first line that inih did not understand, unless it is the one that @err is about */
	if (ret && (unsigned int)ret != t.wrong)
		return to_error_set(err, -EINVAL, "%s:%d: expected [SECTION] or KEY = VALUE",
				    conf->path, ret);
	return t.code;
}

static int conf_failed(const char *path, struct to_error *err)
{
	int ret = -errno;

	return to_error_set(err, ret, "%s: %s", path, strerror(-ret));
}

/* Whether nobody but root and the user can change @path, a file or a directory. */
static int conf_trust(const char *path, const struct stat *st, struct to_error *err)
{
	/* where everybody may write but only remove what is theirs, the entry's owner counts */
	const bool sticky = S_ISDIR(st->st_mode) && (st->st_mode & S_ISVTX);

	if (st->st_uid && st->st_uid != geteuid())
		return to_error_set(err, -EPERM,
				    "%s: belongs to another user; what says where the fabric is must be %s",
				    path, geteuid() ? "root's or yours" : "root's");
	if ((st->st_mode & (S_IWGRP | S_IWOTH)) && !sticky)
		return to_error_set(err, -EPERM,
				    "%s: others may write to it, and so say where the fabric is; chmod go-w it",
				    path);
	return 0;
}

/* conf_trust() of all directories above @path, which is absolute and has no symbolic link. */
static int conf_trust_above(const char *path, struct to_error *err)
{
	char above[PATH_MAX];
	struct stat st;
	int ret = 0;

	for (const char *slash = path; !ret && slash; slash = strchr(slash + 1, '/')) {
		snprintf(above, sizeof(above), "%.*s", slash == path ? 1 : (int)(slash - path), path);
		ret = stat(above, &st) ? conf_failed(above, err) : conf_trust(above, &st, err);
	}
	return ret;
}

/* Return: a descriptor of the file that @path leads to, or a negative errno with @err. */
static int conf_open(const char *path, struct to_error *err)
{
	char real[PATH_MAX];
	struct stat st;
	int fd, ret;

	if (!realpath(path, real))
		return conf_failed(path, err);
	ret = conf_trust_above(real, err);
	if (ret)
		return ret;
	/* a FIFO without a writer does not block */
	fd = open(real, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return conf_failed(real, err);
	if (fstat(fd, &st))
		ret = conf_failed(real, err);
	else if (!S_ISREG(st.st_mode))
		ret = to_error_set(err, -EINVAL, "%s: not a regular file", real);
	else
		ret = conf_trust(real, &st, err);
	if (!ret)
		return fd;
	close(fd);
	return ret;
}

static int conf_read(struct to_fabric_conf *conf, struct to_error *err)
{
	int fd = conf_open(conf->path, err), ret;
	char *text;
	size_t len;

	if (fd < 0)
		return fd;
	ret = to_file_read_fd(fd, conf->path, TO_FILE_SMALL_MAX, &text, &len, err);
	close(fd);
	if (ret)
		return ret;
	ret = conf_parse(conf, text, err);
	free(text);
	return ret;
}

/* Choose the file @directory/@name. @must_exist: without it, another one is tried next */
static int conf_choose(struct to_fabric_conf *conf, const char *directory, const char *name,
		       const char *by, bool must_exist, struct to_error *err)
{
	struct stat st;
	int ret = 0;

	if (asprintf(&conf->path, "%s%s", directory, name) < 0) {
		conf->path = NULL;
		return to_error_set(err, -ENOMEM, "%s%s: out of memory", directory, name);
	}
	conf->found_by = by;
	/* a symbolic link that leads nowhere is there, so that its loss is seen */
	if (!lstat(conf->path, &st))
		return 0;
	if (must_exist || (errno != ENOENT && errno != ENOTDIR))
		ret = to_error_set(err, -errno, "%s%s%s: %s", must_exist ? by : "",
				   must_exist ? " " : "", conf->path, strerror(errno));
	free(conf->path);
	conf->path = NULL;
	conf->found_by = NULL;
	return ret;
}

/* Directory of the user, and the path of fabric.conf below it; NULL if nobody tells it. */
static const char *conf_user_directory(const char **below)
{
	const char *xdg = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");

	*below = xdg && xdg[0] == '/' ? "/topoopt/fabric.conf" : "/.config/topoopt/fabric.conf";
	if (xdg && xdg[0] == '/')
		return xdg;
	return home && home[0] == '/' ? home : NULL;
}

static int conf_find(struct to_fabric_conf *conf, const char *config, struct to_error *err)
{
	const char *given = getenv(TO_FABRIC_CONF_VARIABLE), *below;
	const char *directory = conf_user_directory(&below);
	int ret = 0;

	if (config)
		return conf_choose(conf, config, "", "--config", true, err);
	if (given && given[0] && given[0] != '/')
		return to_error_set(err, -EINVAL, "$" TO_FABRIC_CONF_VARIABLE " %s: must begin with /",
				    given);
	if (given && given[0])
		return conf_choose(conf, given, "", "$" TO_FABRIC_CONF_VARIABLE, true, err);
	if (directory)
		ret = conf_choose(conf, directory, below, "user", false, err);
	if (ret || conf->path)
		return ret;
	return conf_choose(conf, TO_FABRIC_CONF_SYSTEM, "", "system", false, err);
}

int to_fabric_conf_load(struct to_fabric_conf *conf, const char *config, struct to_error *err)
{
	int ret;

	*conf = (struct to_fabric_conf){};
	ret = conf_find(conf, config, err);
	if (!ret && conf->path)
		ret = conf_read(conf, err);
	if (ret)
		to_fabric_conf_free(conf);
	return ret;
}

void to_fabric_conf_free(struct to_fabric_conf *conf)
{
	for (unsigned int i = 0; i < TO_FABRIC_CONF_N; i++)
		free(conf->values[i]);
	free(conf->path);
	*conf = (struct to_fabric_conf){};
}

const char *to_fabric_conf_text(const struct to_fabric_conf *conf, enum to_fabric_conf_id id)
{
	const char *fallback = to_fabric_conf_keys[id].fallback;

	return conf->values[id] ? conf->values[id] : fallback ? fallback : "";
}

/* Make the directories above @path. Nobody else may be able to change where they lead. */
static int conf_make_directories(char *path, struct to_error *err)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		struct stat st;
		int ret = 0;

		*slash = '\0';
		if ((mkdir(path, 0755) && errno != EEXIST) || stat(path, &st))
			ret = conf_failed(path, err);
		else
			ret = conf_trust(path, &st, err);
		*slash = '/';
		if (ret)
			return ret;
	}
	return 0;
}

/* Put a link to @target in the place of the one at @link. */
static int conf_link(const char *target, const char *link, struct to_error *err)
{
	char *beside;
	struct stat st;
	int ret = 0;

	if (!lstat(link, &st) && !S_ISLNK(st.st_mode))
		return to_error_set(err, -EEXIST, "%s: is a file, no link: move it away first", link);
	if (asprintf(&beside, "%s.%d", link, (int)getpid()) < 0)
		return to_error_set(err, -ENOMEM, "out of memory");
	if (symlink(target, beside)) {
		ret = conf_failed(beside, err);
	} else if (rename(beside, link)) {
		ret = conf_failed(link, err);
		unlink(beside);
	}
	free(beside);
	return ret;
}

int to_fabric_conf_use(const char *path, char **link, struct to_error *err)
{
	const char *below, *directory = conf_user_directory(&below);
	struct to_fabric_conf conf;
	char *target;
	int ret;

	*link = NULL;
	if (!directory)
		return to_error_set(err, -ENOENT, "neither $XDG_CONFIG_HOME nor $HOME begins with /");
	ret = to_fabric_conf_load(&conf, path, err);
	if (ret)
		return ret;
	to_fabric_conf_free(&conf);
	target = realpath(path, NULL);
	if (!target)
		return conf_failed(path, err);
	if (asprintf(link, "%s%s", directory, below) < 0) {
		*link = NULL;
		ret = to_error_set(err, -ENOMEM, "out of memory");
	}
	if (!ret)
		ret = conf_make_directories(*link, err);
	if (!ret)
		ret = conf_link(target, *link, err);
	free(target);
	if (ret) {
		free(*link);
		*link = NULL;
	}
	return ret;
}

static int conf_check_file(const struct to_fabric_conf *conf, enum to_fabric_conf_id id,
			   bool secret, struct to_error *err)
{
	const char *name = to_fabric_conf_keys[id].name, *path = conf->values[id];
	struct to_error why;
	struct stat st;
	int ret;

	if (!path)
		return 0;
	if (stat(path, &st) || access(path, R_OK))
		return to_error_set(err, -errno, "%s: %s: %s", name, path, strerror(errno));
	if (S_ISDIR(st.st_mode))
		return to_error_set(err, -EISDIR, "%s: %s: is a directory", name, path);
	ret = secret ? to_password_check_private(path, &why) : 0;
	return ret ? to_error_set(err, ret, "%s: %s", name, why.text) : 0;
}

int to_fabric_conf_check_files(const struct to_fabric_conf *conf, struct to_error *err)
{
	int ret;

	ret = conf_check_file(conf, TO_FABRIC_CONF_CACERT, false, err);
	ret = ret ? ret : conf_check_file(conf, TO_FABRIC_CONF_CERT, false, err);
	ret = ret ? ret : conf_check_file(conf, TO_FABRIC_CONF_KEY, true, err);
	return ret ? ret : conf_check_file(conf, TO_FABRIC_CONF_PASSWORD_FILE, true, err);
}
