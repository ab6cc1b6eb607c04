// SPDX-License-Identifier: GPL-2.0-or-later
/* Files that are replaced: what they keep, and that they outlive a power cut. */

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

static void keeps_its_owner(void **state)
{
	struct to_error err = {};
	struct stat st;

	(void)state;
	if (geteuid())
		skip();
	save("owner", "1");
	assert_int_equal(chown("owner", 65534, 12345), 0);
	save("owner", "2");
	save("owner.next", "3");
	assert_int_equal(to_file_replace("owner", "owner.next", &err), 0);
	assert_int_equal(stat("owner", &st), 0);
	assert_int_equal(st.st_uid, 65534);
	assert_int_equal(st.st_gid, 12345);
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
		"plain",
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(files) / sizeof(*files); i++)
		unlink(files[i]);
	rmdir("store");
	return rmdir(there);	/* nothing was left beside them */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(outlives_a_power_cut),
		cmocka_unit_test(a_full_disk_leaves_the_old),
		cmocka_unit_test(a_kill_leaves_nothing),
		cmocka_unit_test(a_plain_file_system_will_do),
		cmocka_unit_test(keeps_its_mode),
		cmocka_unit_test(keeps_its_owner),
		cmocka_unit_test(a_link_stays),
		cmocka_unit_test(a_file_is_bounded),
		cmocka_unit_test(a_pipe_is_bounded),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
