// SPDX-License-Identifier: GPL-2.0-or-later
/* fabric.conf: which file counts, whose it may be, and what its lines may be. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/limits.h"
#include "control/fabric_conf.h"

#define NOBODY 65534

static char there[] = "/tmp/test_fabric_conf.XXXXXX";
static struct to_fabric_conf conf;
static struct to_error err;

/* Path of @name below the test's directory, until eight calls later. */
static const char *at(const char *name)
{
	static char paths[8][PATH_MAX];
	static unsigned int n;
	char *path = paths[n++ % 8];

	snprintf(path, PATH_MAX, "%s/%s", there, name);
	return path;
}

static const char *put_bytes(const char *name, const char *bytes, size_t len, mode_t mode)
{
	const char *path = at(name);
	int fd;

	unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, len), len);
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
	return path;
}

static const char *put(const char *name, const char *text)
{
	return put_bytes(name, text, strlen(text), 0644);
}

static void make(const char *name, mode_t mode)
{
	assert_int_equal(mkdir(at(name), 0700), 0);
	assert_int_equal(chmod(at(name), mode), 0);
}

static int setup(void **state)
{
	(void)state;
	unsetenv("TOPOOPT_FABRIC");
	unsetenv("XDG_CONFIG_HOME");
	unsetenv("HOME");
	strcpy(there + strlen(there) - 6, "XXXXXX");
	err.text[0] = '\0';
	return mkdtemp(there) ? 0 : -1;
}

static int teardown(void **state)
{
	char command[PATH_MAX];

	(void)state;
	to_fabric_conf_free(&conf);
	snprintf(command, sizeof(command), "rm -rf %s", there);
	return system(command);
}

/* Load @config with one --set, or none. */
static int load(const char *config, const char *set)
{
	int ret;

	to_fabric_conf_free(&conf);
	ret = to_fabric_conf_load(&conf, config, &err);
	if (!ret && set)
		ret = to_fabric_conf_set(&conf, set, &err);
	if (ret)
		to_fabric_conf_free(&conf);
	return ret;
}

/* @path and @set are refused, and @why is all of the error behind the path. */
static void refused(const char *path, const char *set, int code, const char *why)
{
	const char *text = err.text;

	assert_int_equal(load(path, set), code);
	assert_null(conf.path);
	for (unsigned int i = 0; i < TO_FABRIC_CONF_N; i++)
		assert_null(conf.values[i]);
	if (path && !strncmp(text, path, strlen(path)))
		text += strlen(path);
	assert_string_equal(text, why);
}

static void refused_text(const char *text, const char *why)
{
	refused(put("text.conf", text), NULL, -EINVAL, why);
}

static void is(enum to_fabric_conf_id id, const char *value, enum to_fabric_conf_origin origin)
{
	assert_string_equal(to_fabric_conf_text(&conf, id), value);
	assert_int_equal(conf.origins[id], origin);
}

static const char all_keys[] =
	"# where the fabric is ; for # all\n"
	"[agents]\n"
	"command = ssh -o\t'User=root' {} '$HOME/toctl agent; ~/log'\n"
	"timeout = 700ms\n"
	"\n"
	"[etcd]\r\n"
	"\tendpoints=http://127.0.0.1:2379,http://127.0.0.1:2380\r\n"
	"  ; indented, as by git config\n"
	"\tprefix = /fabric-b\n"
	"\tcacert = /etc/topoopt/ca.pem\n"
	"\tcert = /etc/topoopt/cert.pem\n"
	"\tkey = /etc/topoopt/key.pem\n"
	"\tuser = operator\n"
	"\tpassword-file = /etc/topoopt/password\n"
	"[shards]\n"
	"state = /srv/cluster\n"
	"[switches]\n"
	"allow = /srv/allow";

static void test_defaults(void **state)
{
	(void)state;
	assert_int_equal(load(put("empty.conf", ""), NULL), 0);
	for (unsigned int i = 0; i < TO_FABRIC_CONF_N; i++) {
		assert_null(conf.values[i]);
		assert_int_equal(conf.origins[i], TO_FABRIC_CONF_DEFAULT);
	}
	is(TO_FABRIC_CONF_STATE, "/var/lib/topoopt/cluster", TO_FABRIC_CONF_DEFAULT);
	is(TO_FABRIC_CONF_USER, "", TO_FABRIC_CONF_DEFAULT);
	is(TO_FABRIC_CONF_COMMAND, TO_FABRIC_COMMAND, TO_FABRIC_CONF_DEFAULT);
	is(TO_FABRIC_CONF_TIMEOUT, "10s", TO_FABRIC_CONF_DEFAULT);
}

static void test_all_keys(void **state)
{
	const char *path = put("all.conf", all_keys);

	(void)state;
	assert_int_equal(load(path, NULL), 0);
	assert_string_equal(conf.path, path);
	assert_string_equal(conf.found_by, "--config");
	for (unsigned int i = 0; i < TO_FABRIC_CONF_N; i++)
		assert_int_equal(conf.origins[i], TO_FABRIC_CONF_FROM_FILE);
	is(TO_FABRIC_CONF_COMMAND, "ssh -o\t'User=root' {} '$HOME/toctl agent; ~/log'",
	   TO_FABRIC_CONF_FROM_FILE);
	is(TO_FABRIC_CONF_STATE, "/srv/cluster", TO_FABRIC_CONF_FROM_FILE);
	is(TO_FABRIC_CONF_ALLOW, "/srv/allow", TO_FABRIC_CONF_FROM_FILE);
	is(TO_FABRIC_CONF_TIMEOUT, "700ms", TO_FABRIC_CONF_FROM_FILE);
	is(TO_FABRIC_CONF_ENDPOINTS, "http://127.0.0.1:2379,http://127.0.0.1:2380",
	   TO_FABRIC_CONF_FROM_FILE);
	is(TO_FABRIC_CONF_PREFIX, "/fabric-b", TO_FABRIC_CONF_FROM_FILE);
	is(TO_FABRIC_CONF_CACERT, "/etc/topoopt/ca.pem", TO_FABRIC_CONF_FROM_FILE);
	is(TO_FABRIC_CONF_CERT, "/etc/topoopt/cert.pem", TO_FABRIC_CONF_FROM_FILE);
	is(TO_FABRIC_CONF_KEY, "/etc/topoopt/key.pem", TO_FABRIC_CONF_FROM_FILE);
	is(TO_FABRIC_CONF_USER, "operator", TO_FABRIC_CONF_FROM_FILE);
	is(TO_FABRIC_CONF_PASSWORD_FILE, "/etc/topoopt/password", TO_FABRIC_CONF_FROM_FILE);
}

static void test_set(void **state)
{
	const char *path = put("all.conf", all_keys);
	const char *const set[] = {
		"agents.timeout=1m", "etcd.endpoints=", "agents.timeout=2m",
		"agents.command=a=b {}", "etcd.key=key.pem", "shards.state=cluster",
	};

	(void)state;
	assert_int_equal(load(path, NULL), 0);
	for (unsigned int i = 0; i < sizeof(set) / sizeof(*set); i++)
		assert_int_equal(to_fabric_conf_set(&conf, set[i], &err), 0);
	is(TO_FABRIC_CONF_ENDPOINTS, "", TO_FABRIC_CONF_FROM_OPTION);
	is(TO_FABRIC_CONF_KEY, "key.pem", TO_FABRIC_CONF_FROM_OPTION);
	is(TO_FABRIC_CONF_STATE, "cluster", TO_FABRIC_CONF_FROM_OPTION);
	is(TO_FABRIC_CONF_PREFIX, "/fabric-b", TO_FABRIC_CONF_FROM_FILE);
	is(TO_FABRIC_CONF_COMMAND, "a=b {}", TO_FABRIC_CONF_FROM_OPTION);
	is(TO_FABRIC_CONF_TIMEOUT, "2m", TO_FABRIC_CONF_FROM_OPTION);
	assert_null(conf.values[TO_FABRIC_CONF_ENDPOINTS]);
}

static void test_set_is_refused(void **state)
{
	const char *path = put("empty.conf", "");

	(void)state;
	refused(path, "etcd.endpoint=x", -EINVAL,
		"--set etcd.endpoint: unknown key; did you mean etcd.endpoints?");
	refused(path, "endpoints=x", -EINVAL,
		"--set endpoints: unknown key; did you mean etcd.endpoints?");
	refused(path, "etcd.colour=x", -EINVAL,
		"--set etcd.colour: unknown key; [etcd] has endpoints, prefix, cacert, cert, key, user, password-file");
	refused(path, "colour.x=x", -EINVAL,
		"--set colour.x: unknown key; expected one of [agents], [etcd], [shards] or [switches]");
	refused(path, "=x", -EINVAL,
		"--set : unknown key; expected one of [agents], [etcd], [shards] or [switches]");
	refused(path, "etcd.password=hush", -EINVAL,
		"--set etcd.password: no place for a password; etcd.password-file names the file that has it");
	refused(path, "etcd.user", -EINVAL, "--set etcd.user: expected SECTION.KEY=VALUE");
	refused(path, "agents.timeout=10", -EINVAL,
		"--set agents.timeout: expected a duration like 10s (ns, us, ms, s, m, h), above 0");
	refused(path, "agents.timeout=0s", -EINVAL,
		"--set agents.timeout: expected a duration like 10s (ns, us, ms, s, m, h), above 0");
	refused(path, "agents.command=a\nb", -EINVAL,
		"--set agents.command: a control character in the value");
	refused(path, "agents.command=ssh {} agent 2>log", -EINVAL,
		"--set agents.command: > is for a shell, and none runs the command: quote it, or use sh -c '...'");
	refused(path, "agents.command=ssh \"{} agent", -EINVAL,
		"--set agents.command: a \" without another one that ends the quote");
}

static void test_lines_are_refused(void **state)
{
	(void)state;
	refused_text("[etcd]\nuser = a\nuser = b\n", ":3: etcd.user: given twice; keep one of the lines");
	refused_text("[etcd]\nuser = a\n[etcd]\nuser = a\n",
		     ":4: etcd.user: given twice; keep one of the lines");
	refused_text("[etcd]\n\nendpoint = x\n",
		     ":3: etcd.endpoint: unknown key; did you mean etcd.endpoints?");
	refused_text("[agents]\nendpoints = x\n",
		     ":2: agents.endpoints: unknown key; did you mean etcd.endpoints?");
	refused_text("[shards]\ncolour = x\n", ":2: shards.colour: unknown key; [shards] has state");
	refused_text("[etcd]\npassword = hush\n",
		     ":2: etcd.password: no place for a password; etcd.password-file names the file that has it");
	refused_text("[colour]\n",
		     ":1: unknown section; expected [agents], [etcd], [shards] or [switches]");
	refused_text("[]\n", ":1: unknown section; expected [agents], [etcd], [shards] or [switches]");
	refused_text("\xef\xbb\xbf[colour]\n",
		     ":1: unknown section; expected [agents], [etcd], [shards] or [switches]");
	refused_text("user = a\n",
		     ":1: expected [agents], [etcd], [shards] or [switches] above the first key");
	refused_text("[etcd\nuser = a\n", ":1: expected [SECTION] alone on its line");
	refused_text("[etcd] user = a\n", ":1: expected [SECTION] alone on its line");
	refused_text("[etcd]user]\n", ":1: expected [SECTION] alone on its line");
	refused_text("[etcd]\nuser\n", ":2: expected [SECTION] or KEY = VALUE");
	refused_text("[etcd]\nuser\n[colour]\n", ":2: expected [SECTION] or KEY = VALUE");
	refused_text("[etcd]\ncolour = a\nuser = a ; b\n",
		     ":2: etcd.colour: unknown key; [etcd] has endpoints, prefix, cacert, cert, key, user, password-file");
	refused_text("[etcd]\n= a\n", ":2: expected [SECTION] or KEY = VALUE");
	refused_text("{\"etcd\": {}}\n",
		     ":1: expected [agents], [etcd], [shards] or [switches] above the first key");
	refused_text("[etcd]\nuser =\n",
		     ":2: etcd.user: expected NAME; without the line, the default counts");
	refused_text("[agents]\ncommand = ssh {} a ; b\n",
		     ":2: ; after a blank: a comment needs a line of its own");
	refused_text("[etcd]\nuser = a\t# b\n", ":2: # after a blank: a comment needs a line of its own");
	refused_text("[etcd] ; b\n", ":1: ; after a blank: a comment needs a line of its own");
	refused_text("[agents]\ntimeout = soon\n",
		     ":2: agents.timeout: expected a duration like 10s (ns, us, ms, s, m, h), above 0");
	refused_text("[etcd]\nkey = ~/key.pem\n",
		     ":2: etcd.key: the name of a file must begin with /");
	refused_text("[switches]\nallow = allow\n",
		     ":2: switches.allow: the name of a file must begin with /");
	refused_text("[shards]\nstate = cluster\n",
		     ":2: shards.state: expected etcd, or a directory that begins with /");
	refused_text("[etcd]\nuser = a\033[2Jb\n", ":2: etcd.user: a control character in the value");
	/* an indented line continues none: not that inih would append it */
	refused_text("[etcd]\nuser = a\n  b\n", ":3: expected [SECTION] or KEY = VALUE");
}

static void test_long_lines(void **state)
{
	char text[TO_FILE_SMALL_MAX + 2];
	int head;

	(void)state;
	/* 198 characters, which is what the refusal of one more says, and what the manual says */
	head = sprintf(text, "[etcd]\nuser = ");
	memset(text + head, 'a', 198);
	strcpy(text + head + 198 - 7, "\n");
	assert_int_equal(load(put("long.conf", text), NULL), 0);
	assert_int_equal(strlen(conf.values[TO_FABRIC_CONF_USER]), 191);
	strcpy(text + head + 198 - 7, "b\n[shards]\nstate = etcd\n");
	refused_text(text, ":2: a line has at most 198 characters");
	strcpy(text + head + 198 - 7, "b");
	refused_text(text, ":2: a line has at most 198 characters");
	memset(text + head, 'a', 1000);
	strcpy(text + head + 1000, "\n");
	refused_text(text, ":2: a line has at most 198 characters");
	text[7] = '#';
	refused_text(text, ":2: a line has at most 198 characters");

	memset(text, '\n', sizeof(text));
	assert_int_equal(load(put_bytes("full.conf", text, TO_FILE_SMALL_MAX, 0600), NULL), 0);
	refused(put_bytes("full.conf", text, TO_FILE_SMALL_MAX + 1, 0600), NULL, -EFBIG,
		": more than 65536 bytes");
}

static void test_bytes(void **state)
{
	const char *path = put("large.conf", "[etcd]\n");

	(void)state;
	assert_int_equal(truncate(path, 1 << 20), 0);
	refused(path, NULL, -EFBIG, ": more than 65536 bytes");
	refused(put_bytes("zero.conf", "[etcd]\nuser = a\0b\n", 18, 0600), NULL, -EINVAL,
		": not text: it has a zero byte");
}

static void test_no_regular_file(void **state)
{
	(void)state;
	make("directory", 0700);
	refused(at("directory"), NULL, -EINVAL, ": not a regular file");
	assert_int_equal(mkfifo(at("fifo"), 0600), 0);
	refused(at("fifo"), NULL, -EINVAL, ": not a regular file");
	refused("/dev/null", NULL, -EINVAL, ": not a regular file");
	snprintf(err.text, sizeof(err.text), "-");
	assert_int_equal(load("", NULL), -ENOENT);
	assert_int_equal(load(at("none"), NULL), -ENOENT);
	assert_non_null(strstr(err.text, "--config "));
	assert_non_null(strstr(err.text, "/none: No such file or directory"));
}

static void test_links(void **state)
{
	const char *path;

	(void)state;
	make("home", 0700);
	make("home/.config", 0700);
	make("home/.config/topoopt", 0700);
	make("open", 0777);
	setenv("HOME", at("home"), 1);
	put("b.conf", "[etcd]\nuser = b\n");
	path = at("home/.config/topoopt/fabric.conf");
	assert_int_equal(symlink(at("b.conf"), path), 0);
	assert_int_equal(load(NULL, NULL), 0);
	is(TO_FABRIC_CONF_USER, "b", TO_FABRIC_CONF_FROM_FILE);
	assert_string_equal(conf.path, path);
	/* directories are checked of the file, not of the link */
	assert_int_equal(unlink(path), 0);
	put("open/c.conf", "[etcd]\nuser = c\n");
	assert_int_equal(symlink(at("open/c.conf"), path), 0);
	assert_int_equal(load(NULL, NULL), -EPERM);
	assert_non_null(strstr(err.text, "/open: others may write to it"));
	/* a link to nothing is no reason to read another fabric's file */
	assert_int_equal(unlink(at("open/c.conf")), 0);
	assert_int_equal(load(NULL, NULL), -ENOENT);
	assert_non_null(strstr(err.text, "fabric.conf: No such file or directory"));
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink(path, path), 0);
	assert_int_equal(load(NULL, NULL), -ELOOP);
}

static void test_who_may_write(void **state)
{
	const char *path = put("a.conf", "");
	static const mode_t modes[] = { 0664, 0646, 0620, 0602 };

	(void)state;
	for (unsigned int i = 0; i < 4; i++) {
		assert_int_equal(chmod(path, modes[i]), 0);
		refused(path, NULL, -EPERM,
			": others may write to it, and so say where the fabric is; chmod go-w it");
	}
	assert_int_equal(chmod(path, 0644), 0);
	assert_int_equal(load(path, NULL), 0);
	make("d", 0700);
	make("d/e", 0700);
	path = put("d/e/a.conf", "");
	assert_int_equal(load(path, NULL), 0);
	assert_int_equal(chmod(at("d"), 0770), 0);
	assert_int_equal(load(path, NULL), -EPERM);
	assert_non_null(strstr(err.text, "/d: others may write to it"));
	assert_int_equal(chmod(at("d"), 01777), 0);
	assert_int_equal(load(path, NULL), 0);
	assert_int_equal(chmod(at("d/e"), 0702), 0);
	assert_int_equal(load(path, NULL), -EPERM);
	assert_non_null(strstr(err.text, "/d/e: others may write to it"));
}

/* Run @test in a child; @as: its user, when this is root. Its assertions count here. */
static void in_child(void (*test)(void), uid_t as, bool of_its_own)
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		if (of_its_own && (unshare(CLONE_NEWNS) ||
				   mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
				   mount("none", "/etc", "tmpfs", 0, "mode=755")))
			_exit(77);
		if (as && (setgid(as) || setuid(as)))
			_exit(77);
		test();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* In a child, which has no test of cmocka to fail. */
#define expect(condition) \
	do { \
		if (!(condition)) { \
			print_error("%d: %s: %s\n", __LINE__, #condition, err.text); \
			_exit(1); \
		} \
	} while (0)

static void as_user(void)
{
	/* root's file is everybody's to read */
	expect(!load(at("root.conf"), NULL));
	expect(!load(at("user.conf"), NULL));
	expect(load(at("other.conf"), NULL) == -EPERM);
	expect(strstr(err.text, "belongs to another user; what says where the fabric is must be root's or yours"));
	expect(load(at("other/root.conf"), NULL) == -EPERM);
	expect(load(at("secret.conf"), NULL) == -EACCES);
	expect(load(at("closed/root.conf"), NULL) == -EACCES);
	/* a home that cannot be searched may have a file */
	setenv("HOME", at("closed"), 1);
	expect(load(NULL, NULL) == -EACCES);
}

static void test_owner(void **state)
{
	(void)state;
	if (geteuid())
		skip();
	assert_int_equal(chmod(there, 0755), 0);
	put("root.conf", "");
	assert_int_equal(chown(put("user.conf", ""), NOBODY, NOBODY), 0);
	assert_int_equal(chown(put("other.conf", ""), NOBODY - 1, NOBODY), 0);
	put_bytes("secret.conf", "", 0, 0600);
	make("closed", 0700);
	put("closed/root.conf", "");
	make("other", 0755);
	put("other/root.conf", "");
	assert_int_equal(chown(at("other"), NOBODY - 1, -1), 0);
	in_child(as_user, NOBODY, false);

	/* root in the environment of a user, as by sudo */
	refused(at("user.conf"), NULL, -EPERM,
		": belongs to another user; what says where the fabric is must be root's");
	make("home", 0755);
	make("home/.config", 0755);
	make("home/.config/topoopt", 0755);
	put("home/.config/topoopt/fabric.conf", "");
	setenv("HOME", at("home"), 1);
	assert_int_equal(load(NULL, NULL), 0);
	assert_int_equal(chown(at("home"), NOBODY, NOBODY), 0);
	assert_int_equal(load(NULL, NULL), -EPERM);
	assert_non_null(strstr(err.text, "/home: belongs to another user"));
	assert_int_equal(chown(at("home"), 0, 0), 0);
	assert_int_equal(chown(at("home/.config/topoopt/fabric.conf"), NOBODY, NOBODY), 0);
	assert_int_equal(load(NULL, NULL), -EPERM);
}

/* Whether the file that is found is the one that says so itself. */
static bool found(const char *config, const char *user, const char *by)
{
	return !load(config, NULL) && !strcmp(conf.found_by, by) &&
	       !strcmp(to_fabric_conf_text(&conf, TO_FABRIC_CONF_USER), user) &&
	       !conf.values[TO_FABRIC_CONF_PREFIX] == !!strcmp(user, "option");
}

static void put_system(const char *text)
{
	FILE *out;

	expect(!mkdir("/etc/topoopt", 0755) || errno == EEXIST);
	out = fopen("/etc/topoopt/fabric.conf", "we");
	expect(out && fputs(text, out) >= 0 && !fclose(out));
	expect(!chmod("/etc/topoopt/fabric.conf", 0644));
}

/* With an /etc of its own. From the last place to the first. */
static void precedence(void)
{
	char path[PATH_MAX];

	expect(!load(NULL, NULL));
	expect(!conf.path && !conf.found_by);
	expect(!load(NULL, "etcd.user=set"));
	expect(!strcmp(to_fabric_conf_text(&conf, TO_FABRIC_CONF_USER), "set"));

	/* what lies in the working directory is nobody's fabric */
	expect(!chdir(at("cwd")));
	setenv("HOME", "", 1);
	setenv("XDG_CONFIG_HOME", ".", 1);
	expect(!load(NULL, NULL) && !conf.path);
	setenv("HOME", ".", 1);
	setenv("XDG_CONFIG_HOME", "", 1);
	expect(!load(NULL, NULL) && !conf.path);

	put_system("[etcd]\nuser = system\n");
	expect(found(NULL, "system", "system"));
	setenv("HOME", at("home"), 1);
	expect(found(NULL, "home", "user"));
	/* a relative one is ignored */
	setenv("XDG_CONFIG_HOME", "xdg", 1);
	expect(found(NULL, "home", "user"));
	/* in the place of ~/.config, also when it has no file */
	setenv("XDG_CONFIG_HOME", at("none"), 1);
	expect(found(NULL, "system", "system"));
	setenv("XDG_CONFIG_HOME", at("cwd/text"), 1);
	expect(found(NULL, "system", "system"));
	setenv("XDG_CONFIG_HOME", at("xdg"), 1);
	expect(found(NULL, "xdg", "user"));
	setenv("TOPOOPT_FABRIC", "", 1);
	expect(found(NULL, "xdg", "user"));
	setenv("TOPOOPT_FABRIC", at("variable.conf"), 1);
	expect(found(NULL, "variable", "$TOPOOPT_FABRIC"));
	snprintf(path, sizeof(path), "%s", at("option.conf"));
	expect(found(path, "option", "--config"));

	setenv("TOPOOPT_FABRIC", at("none"), 1);
	expect(found(path, "option", "--config"));
	expect(load(NULL, NULL) == -ENOENT);
	expect(!strncmp(err.text, "$TOPOOPT_FABRIC /", 17));
	setenv("TOPOOPT_FABRIC", "variable.conf", 1);
	expect(load(NULL, NULL) == -EINVAL);
	expect(!strcmp(err.text, "$TOPOOPT_FABRIC variable.conf: must begin with /"));
	/* an option's file is relative to the working directory, as any */
	expect(found("fabric.conf", "cwd", "--config"));

	/* a file that is refused is none that is skipped */
	unsetenv("TOPOOPT_FABRIC");
	expect(!chmod(at("xdg/topoopt/fabric.conf"), 0666));
	expect(load(NULL, NULL) == -EPERM);
	unsetenv("XDG_CONFIG_HOME");
	unsetenv("HOME");
	put_system("[etcd]\ncolour = x\n");
	expect(load(NULL, NULL) == -EINVAL);
	expect(!strncmp(err.text, "/etc/topoopt/fabric.conf:2: ", 28));
}

static void test_precedence(void **state)
{
	(void)state;
	if (geteuid())
		skip();
	make("home", 0700);
	make("home/.config", 0700);
	make("home/.config/topoopt", 0700);
	put("home/.config/topoopt/fabric.conf", "[etcd]\nuser = home\n");
	make("xdg", 0700);
	make("xdg/topoopt", 0700);
	put("xdg/topoopt/fabric.conf", "[etcd]\nuser = xdg\n");
	put("variable.conf", "[etcd]\nuser = variable\n");
	put("option.conf", "[etcd]\nuser = option\nprefix = /option\n");
	make("cwd", 0700);
	put("cwd/fabric.conf", "[etcd]\nuser = cwd\n");
	put("cwd/variable.conf", "[etcd]\nuser = cwd\n");
	put("cwd/text", "");
	make("cwd/topoopt", 0700);
	put("cwd/topoopt/fabric.conf", "[etcd]\nuser = cwd\n");
	make("cwd/.config", 0700);
	make("cwd/.config/topoopt", 0700);
	put("cwd/.config/topoopt/fabric.conf", "[etcd]\nuser = cwd\n");
	in_child(precedence, 0, true);
}

static void checked(const char *set, int code, const char *why)
{
	assert_int_equal(load(NULL, set), 0);
	assert_int_equal(to_fabric_conf_check_files(&conf, &err), code);
	if (code)
		assert_non_null(strstr(err.text, why));
}

static void test_files(void **state)
{
	char set[PATH_MAX];

	(void)state;
	setenv("TOPOOPT_FABRIC", put("etcd.conf", "[etcd]\nendpoints = https://127.0.0.1:2379\n"), 1);
	put("public", "");
	put_bytes("private", "", 0, 0600);
	make("directory", 0700);
	checked(NULL, 0, NULL);
	snprintf(set, sizeof(set), "etcd.cacert=%s", at("none"));
	checked(set, -ENOENT, "etcd.cacert: /tmp/");
	snprintf(set, sizeof(set), "etcd.cacert=%s", at("directory"));
	checked(set, -EISDIR, ": is a directory");
	snprintf(set, sizeof(set), "etcd.cert=%s", at("public"));
	checked(set, 0, NULL);
	snprintf(set, sizeof(set), "etcd.key=%s", at("private"));
	checked(set, 0, NULL);
	snprintf(set, sizeof(set), "etcd.key=%s", at("public"));
	checked(set, -EPERM, ": others may read this secret; chmod 600 it");
	snprintf(set, sizeof(set), "etcd.password-file=%s", at("public"));
	checked(set, -EPERM, "etcd.password-file: /tmp/");
	assert_int_equal(chmod(at("public"), 0640), 0);
	checked(set, -EPERM, ": others may read this secret; chmod 600 it");
	snprintf(set, sizeof(set), "etcd.password-file=%s", at("private"));
	checked(set, 0, NULL);
	if (!geteuid()) {
		assert_int_equal(chown(at("private"), NOBODY, NOBODY), 0);
		checked(set, -EPERM, ": belongs to another user");
	}
	/* a file that is named is to be there, also where etcd is not used */
	setenv("TOPOOPT_FABRIC", put("pipes.conf", "[agents]\ntimeout = 1s\n"), 1);
	snprintf(set, sizeof(set), "etcd.key=%s", at("none"));
	checked(set, -ENOENT, "etcd.key: /tmp/");
}

/* Every key is in the manual page, below its section, with its argument and fallback. */
static void test_manual(void **state)
{
	char section[64], key[128], *text;
	size_t len;

	(void)state;
	assert_int_equal(to_file_read("Documentation/man/fabric.conf.5.scd", TO_FILE_SMALL_MAX,
				      &text, &len, &err), 0);
	for (unsigned int i = 0; i < TO_FABRIC_CONF_N; i++) {
		const struct to_fabric_conf_key *k = &to_fabric_conf_keys[i];
		const char *dot = strchr(k->name, '.'), *at_section, *at_key, *end;

		snprintf(section, sizeof(section), "\n## [%.*s]\n", (int)(dot - k->name), k->name);
		at_section = strstr(text, section);
		assert_non_null(at_section);
		snprintf(key, sizeof(key), "\n*%s* = _", dot + 1);
		at_key = strstr(at_section, key);
		end = strpbrk(at_section + 3, "#");
		assert_true(at_key && at_key < end);
	}
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_defaults, setup, teardown),
		cmocka_unit_test_setup_teardown(test_all_keys, setup, teardown),
		cmocka_unit_test_setup_teardown(test_set, setup, teardown),
		cmocka_unit_test_setup_teardown(test_set_is_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(test_lines_are_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(test_long_lines, setup, teardown),
		cmocka_unit_test_setup_teardown(test_bytes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_regular_file, setup, teardown),
		cmocka_unit_test_setup_teardown(test_links, setup, teardown),
		cmocka_unit_test_setup_teardown(test_who_may_write, setup, teardown),
		cmocka_unit_test_setup_teardown(test_owner, setup, teardown),
		cmocka_unit_test_setup_teardown(test_precedence, setup, teardown),
		cmocka_unit_test_setup_teardown(test_files, setup, teardown),
		cmocka_unit_test_setup_teardown(test_manual, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
