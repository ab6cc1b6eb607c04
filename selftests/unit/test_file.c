// SPDX-License-Identifier: GPL-2.0-or-later
/* Files that are replaced: what they keep, whose they are, and that they outlive a power cut. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/lock.h"
#include "base/password.h"

static char there[] = "/tmp/test_file.XXXXXX";

/* What has reached the disk: a letter per call, "d" for a directory, "f" for a file. */
static char calls[16];
static bool no_space;

static void note(char call)
{
	size_t len = strlen(calls);

	assert_true(len + 1 < sizeof(calls));
	calls[len] = call;
	calls[len + 1] = '\0';
}

int __wrap_fsync(int fd);
int __wrap_fsync(int fd)
{
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	note(S_ISDIR(st.st_mode) ? 'd' : 'f');
	if (no_space) {
		errno = ENOSPC;
		return -1;
	}
	return 0;
}

int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to)
{
	note('r');
	return __real_rename(from, to);
}

/* A file system that has no files without a name. */
static bool plain;

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list ap;

	va_start(ap, flags);
	if (flags & (O_CREAT | O_TMPFILE))
		mode = va_arg(ap, mode_t);
	va_end(ap);
	if (plain && (flags & O_TMPFILE) == O_TMPFILE) {
		errno = EOPNOTSUPP;
		return -1;
	}
	return __real_open(path, flags, mode);
}

static int print(FILE *out, const void *text, struct to_error *err)
{
	(void)err;
	fputs(text, out);
	return 0;
}

static void save(const char *path, const char *text)
{
	struct to_error err = {};

	calls[0] = '\0';
	assert_int_equal(to_file_write(path, print, text, &err), 0);
	assert_string_equal(err.text, "");
}

static void has(const char *path, const char *text)
{
	struct to_error err = {};
	char *data;
	size_t len;

	assert_int_equal(to_file_read(path, 64, &data, &len, &err), 0);
	assert_string_equal(data, text);
	free(data);
}

static void mode_is(const char *path, mode_t mode)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, mode);
}

static void is_link(const char *path)
{
	struct stat st;

	assert_int_equal(lstat(path, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
}

/* The file before its name, its name before the answer. */
static void outlives_a_power_cut(void **state)
{
	struct to_error err = {};

	(void)state;
	save("new", "1");
	assert_string_equal(calls, "frd");
	save("next", "2");
	calls[0] = '\0';
	assert_int_equal(to_file_replace("new", "next", &err), 0);
	assert_string_equal(calls, "rd");
	has("new", "2");
	assert_int_equal(access("next", F_OK), -1);
}

static void a_full_disk_leaves_the_old(void **state)
{
	struct to_error err = {};

	(void)state;
	save("full", "old");
	no_space = true;
	assert_int_equal(to_file_write("full", print, "new", &err), -ENOSPC);
	no_space = false;
	assert_non_null(strstr(err.text, "/full: No space left on device"));
	has("full", "old");
}

/* More than a buffer of stdio, and then a failure that is no more than its consequence. */
static int print_and_fail(FILE *out, const void *data, struct to_error *err)
{
	for (unsigned int i = 0; i < 100000; i++)
		fputs(data, out);
	return to_error_set(err, -EINVAL, "no JSON");
}

static void a_full_disk_is_the_reason(void **state)
{
	struct to_error err = {};

	(void)state;
	assert_int_equal(to_file_write("/dev/full", print_and_fail, "text", &err), -ENOSPC);
	assert_string_equal(err.text, "/dev/full: No space left on device");
}

/* How many files there are. */
static unsigned int count(void)
{
	DIR *dir = opendir(".");
	unsigned int n = 0;

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

/* What is there while @text is written, see killed(). */
static unsigned int meanwhile;

static int print_and_count(FILE *out, const void *text, struct to_error *err)
{
	fflush(out);
	meanwhile = count();
	return print(out, text, err);
}

/*
 * A save has no name beside the old one until it is whole; what one left that was killed
 * when it had, the next one replaces.
 */
static void a_kill_leaves_nothing(void **state)
{
	const unsigned int before = count();
	struct to_error err = {};

	(void)state;
	assert_int_equal(to_file_write("killed", print_and_count, "1", &err), 0);
	assert_int_equal(meanwhile, before);
	save("killed.~toctl", "half");
	assert_int_equal(to_file_write("killed", print, "2", &err), 0);
	assert_int_equal(count(), before + 1);
	has("killed", "2");
	/* a failure, too */
	mkdir("killed.~toctl", 0777);
	assert_int_equal(to_file_write("killed", print, "3", &err), -EISDIR);
	assert_int_equal(rmdir("killed.~toctl"), 0);
	has("killed", "2");
}

/* Where there are no files without a name. */
static void a_plain_file_system_will_do(void **state)
{
	struct to_error err = {};

	(void)state;
	plain = true;
	save("plain", "1");
	assert_string_equal(calls, "frd");
	save("plain", "2");
	has("plain", "2");
	no_space = true;
	assert_int_equal(to_file_write("plain", print, "3", &err), -ENOSPC);
	no_space = plain = false;
	has("plain", "2");
}

static void keeps_its_mode(void **state)
{
	struct to_error err = {};

	(void)state;
	umask(022);
	save("mode", "1");
	mode_is("mode", 0644);
	chmod("mode", 0600);
	save("mode", "2");
	mode_is("mode", 0600);
	save("mode.next", "3");
	mode_is("mode.next", 0644);
	assert_int_equal(to_file_replace("mode", "mode.next", &err), 0);
	mode_is("mode", 0600);
	has("mode", "3");
}

enum { STRANGER = 65534 };	/* a user who is not the one that runs this */

static void belongs_to(const char *path, uid_t uid)
{
	struct stat st;

	assert_int_equal(lstat(path, &st), 0);
	assert_int_equal(st.st_uid, uid);
}

/* Make @path what a stranger would: a file for everybody, with @text in it. */
static void strange(const char *path, const char *text)
{
	FILE *out = fopen(path, "w");

	assert_non_null(out);
	fputs(text, out);
	fclose(out);
	assert_int_equal(chmod(path, 0666), 0);
	assert_int_equal(chown(path, STRANGER, STRANGER), 0);
}

/* What replaces a stranger's file is one's own, and the stranger's mode has no say. */
static void a_strangers_file_is_replaced(void **state)
{
	struct to_error err = {};
	FILE *out;

	(void)state;
	if (geteuid())
		skip();
	strange("owner", "1");
	save("owner", "2");
	belongs_to("owner", 0);
	mode_is("owner", 0644);
	strange("owner", "3");
	save("owner.next", "4");
	assert_int_equal(to_file_replace("owner", "owner.next", &err), 0);
	belongs_to("owner", 0);
	mode_is("owner", 0644);
	has("owner", "4");
	strange("owner", "5");
	out = to_file_stream("owner", false, &err);
	assert_non_null(out);
	fputs("6", out);
	fclose(out);
	belongs_to("owner", 0);
	mode_is("owner", 0644);
	has("owner", "6");
}

static void is_refused(const char *path)
{
	struct to_error err = {};
	char told[128];

	snprintf(told, sizeof(told), "%s: belongs to another user, in a directory where others may write",
		 path);
	assert_int_equal(to_file_write("shared/by", print, "x", &err), 0);
	assert_int_equal(to_file_replace(path, "shared/by", &err), -EPERM);
	assert_string_equal(err.text, told);
	unlink("shared/by");
	err.text[0] = '\0';
	assert_int_equal(to_file_write(path, print, "x", &err), -EPERM);
	assert_string_equal(err.text, told);
	err.text[0] = '\0';
	assert_null(to_file_stream(path, false, &err));
	assert_string_equal(err.text, told);
	err.text[0] = '\0';
	assert_null(to_file_stream(path, true, &err));
	assert_string_equal(err.text, told);
}

/* In /tmp and the like, what a stranger has put there is neither replaced nor followed. */
static void a_shared_directory_is_respected(void **state)
{
	struct to_error err = {};

	(void)state;
	if (geteuid())
		skip();
	assert_int_equal(mkdir("shared", 0), 0);
	assert_int_equal(chmod("shared", 01777), 0);
	strange("shared/file", "1");
	is_refused("shared/file");
	belongs_to("shared/file", STRANGER);
	has("shared/file", "1");

	save("target", "1");
	assert_int_equal(symlink("../target", "shared/link"), 0);
	assert_int_equal(lchown("shared/link", STRANGER, STRANGER), 0);
	is_refused("shared/link");
	has("target", "1");
	/* a link of one's own leads to it */
	assert_int_equal(symlink("shared/link", "way"), 0);
	assert_int_equal(to_file_write("way", print, "2", &err), -EPERM);
	has("target", "1");

	/* nobody waits for a reader */
	assert_int_equal(mkfifo("shared/fifo", 0666), 0);
	assert_int_equal(lchown("shared/fifo", STRANGER, STRANGER), 0);
	is_refused("shared/fifo");

	save("shared/own", "1");
	save("shared/own", "2");
	has("shared/own", "2");
}

static void lock_is_refused(const char *path, int code)
{
	struct to_error err = {};
	pid_t holder;

	assert_int_equal(to_lock_take(path, 0, &holder, &err), code);
	assert_non_null(strstr(err.text, path));
	assert_int_equal(to_lock_holder(path, &holder), 0);
}

/* A lock is a file of its own: its holder's number overwrites nothing, and nothing waits. */
static void a_lock_is_no_other_file(void **state)
{
	(void)state;
	save("target", "1");
	assert_int_equal(link("target", "lock"), 0);
	lock_is_refused("lock", -EINVAL);
	has("target", "1");
	assert_int_equal(unlink("lock"), 0);
	assert_int_equal(mkfifo("lock", 0666), 0);
	lock_is_refused("lock", -EINVAL);
	if (geteuid())
		skip();
	strange("shared/lock", "");
	lock_is_refused("shared/lock", -EPERM);
}

/* Whoever made the file before, or has it open, does not get the new password. */
static void a_password_is_in_a_new_file(void **state)
{
	struct to_error err = {};
	char text[8];
	int fd;

	(void)state;
	save("password", "");
	fd = open("password", O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	if (!geteuid())
		strange("password", "");
	assert_int_equal(to_password_write("password", "secret", &err), 0);
	assert_int_equal(read(fd, text, sizeof(text)), 0);
	close(fd);
	belongs_to("password", geteuid());
	mode_is("password", 0600);
	has("password", "secret\n");
}

/* Opening a FIFO or a device for reading waits for nobody. */
static void only_regular_files_are_bytes(void **state)
{
	struct to_error err = {};
	char *data;
	size_t len;

	(void)state;
	assert_int_equal(mkfifo("fifo", 0666), 0);
	assert_int_equal(to_file_read_bytes("fifo", 8, &data, &len, &err), -EINVAL);
	assert_string_equal(err.text, "fifo: not a regular file");
	assert_int_equal(to_file_read_bytes("/dev/zero", 8, &data, &len, &err), -EINVAL);
}

static void a_link_stays(void **state)
{
	struct to_error err = {};

	(void)state;
	mkdir("store", 0777);
	save("store/real", "1");
	assert_int_equal(symlink("store/real", "link"), 0);
	save("link", "2");
	is_link("link");
	has("store/real", "2");
	save("link.next", "3");
	assert_int_equal(to_file_replace("link", "link.next", &err), 0);
	is_link("link");
	has("store/real", "3");
}

/* Of at most @most bytes, all are read; one more, and a line says so. */
static void is_bounded_by(const char *path, size_t most, bool more)
{
	struct to_error err = {};
	char *data, told[64];
	size_t len;

	snprintf(told, sizeof(told), "%s: more than %zu bytes", path, most);
	assert_int_equal(to_file_read(path, most, &data, &len, &err), more ? -EFBIG : 0);
	assert_string_equal(err.text, more ? told : "");
	if (!more) {
		assert_int_equal(len, most);
		free(data);
	}
}

static void a_file_is_bounded(void **state)
{
	(void)state;
	save("bounded", "12345678");
	is_bounded_by("bounded", 8, false);
	is_bounded_by("bounded", 7, true);
	/* its size is known: none of it is read */
	assert_int_equal(truncate("bounded", (off_t)1 << 40), 0);
	is_bounded_by("bounded", (size_t)1 << 39, true);
}

/* What comes by a pipe shows its size at the end. */
static void a_pipe_is_bounded(void **state)
{
	enum { LEN = 200000 };
	char *bytes = malloc(LEN), path[32];
	int ends[2];

	(void)state;
	memset(bytes, 'x', LEN);
	for (size_t more = 0; more <= 1; more++) {
		assert_int_equal(pipe(ends), 0);
		assert_true(fcntl(ends[1], F_SETPIPE_SZ, LEN) >= LEN);
		assert_int_equal(write(ends[1], bytes, LEN), LEN);
		close(ends[1]);
		snprintf(path, sizeof(path), "/dev/fd/%d", ends[0]);
		is_bounded_by(path, LEN - more, more);
		close(ends[0]);
	}
	free(bytes);
}

static int begin(void **state)
{
	(void)state;
	return !mkdtemp(there) || chdir(there);
}

static int end(void **state)
{
	static const char *const files[] = {
		"new", "full", "mode", "owner", "link", "store/real", "bounded", "killed",
		"plain", "target", "way", "lock", "password", "fifo", "shared/file", "shared/link",
		"shared/fifo", "shared/own", "shared/lock",
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(files) / sizeof(*files); i++)
		unlink(files[i]);
	rmdir("store");
	rmdir("shared");
	return rmdir(there);	/* nothing was left beside them */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(outlives_a_power_cut),
		cmocka_unit_test(a_full_disk_leaves_the_old),
		cmocka_unit_test(a_full_disk_is_the_reason),
		cmocka_unit_test(a_kill_leaves_nothing),
		cmocka_unit_test(a_plain_file_system_will_do),
		cmocka_unit_test(keeps_its_mode),
		cmocka_unit_test(a_strangers_file_is_replaced),
		cmocka_unit_test(a_shared_directory_is_respected),
		cmocka_unit_test(a_lock_is_no_other_file),
		cmocka_unit_test(a_password_is_in_a_new_file),
		cmocka_unit_test(only_regular_files_are_bytes),
		cmocka_unit_test(a_link_stays),
		cmocka_unit_test(a_file_is_bounded),
		cmocka_unit_test(a_pipe_is_bounded),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
