// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <libgen.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_LINKS_MAX 40	/* symbolic links that the kernel follows, at most */

static int file_too_large(const char *name, size_t most, struct to_error *err)
{
	return to_error_set(err, -EFBIG, "%s: more than %zu bytes", name, most);
}

static int file_read_fd(int fd, const char *name, size_t most, bool text, char **data,
			size_t *len, struct to_error *err)
{
	size_t size = 1 << 16, used = 0;
	struct stat st;
	char *buf, *more;
	ssize_t n;

	if (!fstat(fd, &st) && S_ISREG(st.st_mode)) {
		if ((uintmax_t)st.st_size > most)
			return file_too_large(name, most, err);
		size = st.st_size + 2;
	} else if (!text) {
		return to_error_set(err, -EINVAL, "%s: not a regular file", name);
	}
	buf = malloc(size);
	while (buf) {
		n = read(fd, buf + used, size - used - 1);
		if (n < 0) {
			if (errno == EINTR)
				continue;
			n = -errno;
			free(buf);
			return to_error_set(err, n, "%s: %s", name, strerror(-n));
		}
		if (!n) {
			buf[used] = '\0';
			*data = buf;
			*len = used;
			return 0;
		}
		if (text && memchr(buf + used, '\0', n)) {
			free(buf);
			return to_error_set(err, -EINVAL, "%s: not text: it has a zero byte", name);
		}
		used += n;
		if (used > most) {
			free(buf);
			return file_too_large(name, most, err);
		}
		if (used < size - 1)
			continue;
		size *= 2;
		more = realloc(buf, size);
		if (!more)
			free(buf);
		buf = more;
	}
	return to_error_set(err, -ENOMEM, "%s: out of memory", name);
}

static int file_failed(const char *path, struct to_error *err)
{
	int ret = -errno;

	return to_error_set(err, ret, "%s: %s", path, strerror(-ret));
}

int to_file_open_regular(const char *path, struct stat *st, struct to_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), ret;

	if (fd < 0)
		return file_failed(path, err);
	if (fstat(fd, st))
		ret = file_failed(path, err);
	else if (!S_ISREG(st->st_mode))
		ret = to_error_set(err, -EINVAL, "%s: not a regular file", path);
	else
		return fd;
	close(fd);
	return ret;
}

static int file_read(const char *path, size_t most, bool text, char **data, size_t *len,
		     struct to_error *err)
{
	struct stat st;
	int fd, ret;

	if (!strcmp(path, "-"))
		return file_read_fd(STDIN_FILENO, "<stdin>", most, text, data, len, err);
	fd = text ? open(path, O_RDONLY | O_CLOEXEC) : to_file_open_regular(path, &st, err);
	if (fd < 0)
		return text ? file_failed(path, err) : fd;
	ret = file_read_fd(fd, path, most, text, data, len, err);
	close(fd);
	return ret;
}

int to_file_read(const char *path, size_t most, char **data, size_t *len,
		 struct to_error *err)
{
	return file_read(path, most, true, data, len, err);
}

int to_file_read_fd(int fd, const char *name, size_t most, char **data, size_t *len,
		    struct to_error *err)
{
	return file_read_fd(fd, name, most, true, data, len, err);
}

int to_file_read_bytes(const char *path, size_t most, char **data, size_t *len,
		       struct to_error *err)
{
	return file_read(path, most, false, data, len, err);
}

static int file_write_stream(FILE *out, const char *name,
			     int (*write)(FILE *, const void *, struct to_error *),
			     const void *data, struct to_error *err)
{
	int ret = write(out, data, err);

	/* a full disk is the reason, whatever @write made of it */
	if (fflush(out) || ferror(out)) {
		ret = errno ? -errno : -EIO;
		to_error_set(err, ret, "%s: %s", name, strerror(-ret));
	}
	return ret;
}

/* Devices and pipes are written in place: renaming would replace them. */
static int file_write_device(const char *path,
			     int (*write)(FILE *, const void *, struct to_error *),
			     const void *data, struct to_error *err)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), ret;
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");

	if (!out) {
		ret = file_failed(path, err);
		if (fd >= 0)
			close(fd);
		return ret;
	}
	ret = file_write_stream(out, path, write, data, err);
	fclose(out);
	return ret;
}

int to_file_check_shared(const char *path, const struct stat *st, struct to_error *err)
{
	char *copy = strdup(path);
	struct stat dir;
	int ret = 0;

	if (!copy)
		return to_error_set(err, -ENOMEM, "%s: out of memory", path);
	if (!stat(dirname(copy), &dir) && (dir.st_mode & S_ISVTX) &&
	    (dir.st_mode & (S_IWGRP | S_IWOTH)) && st->st_uid != dir.st_uid &&
	    st->st_uid != geteuid())
		ret = to_error_set(err, -EPERM,
				   "%s: belongs to another user, in a directory where others may write",
				   path);
	free(copy);
	return ret;
}

/* Apply to_file_check_shared() to @path and to each symbolic link on the way to its file. */
static int file_check_links(const char *path, struct to_error *err)
{
	char at[PATH_MAX], to[PATH_MAX];
	struct stat st;
	ssize_t len;
	int ret = 0;

	snprintf(at, sizeof(at), "%s", path);
	for (unsigned int links = 0; !ret && links <= FILE_LINKS_MAX && !lstat(at, &st); links++) {
		ret = to_file_check_shared(at, &st, err);
		if (ret || !S_ISLNK(st.st_mode))
			break;
		len = readlink(at, to, sizeof(to) - 1);
		if (len < 0)
			break;
		to[len] = '\0';
		len = to[0] == '/' || !strrchr(at, '/') ? 0 : strrchr(at, '/') + 1 - at;
		if (snprintf(at + len, sizeof(at) - len, "%s", to) >= (int)sizeof(at) - (int)len)
			ret = to_error_set(err, -ENAMETOOLONG, "%s: %s", path,
					   strerror(ENAMETOOLONG));
	}
	return ret;
}

/*
 * Give @fd the mode and the group of @old, a file of this user's, or NULL. A file of another
 * user's has no say: its mode would decide who reads and writes the new one.
 */
static int file_become(int fd, const struct stat *old)
{
	mode_t mask = umask(0), mode;

	umask(mask);
	if (!old || old->st_uid != geteuid())
		return fchmod(fd, 0666 & ~mask);
	mode = old->st_mode & (S_IRWXU | S_IRWXG | S_IRWXO);
	/* another group gets no more than others */
	if (fchown(fd, -1, old->st_gid))
		mode = (mode & ~S_IRWXG) | (mode & (mode & S_IRWXO) << 3);
	return fchmod(fd, mode);
}

/* What a rename changed is on the disk when its directory is. */
static int file_sync_directory(const char *path, struct to_error *err)
{
	char *copy = strdup(path);
	int fd, ret = 0;

	if (!copy)
		return to_error_set(err, -ENOMEM, "%s: out of memory", path);
	fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	/* who may not read it may still write there; some file systems have no fsync */
	if (fd >= 0 && fsync(fd) && errno != EINVAL)
		ret = file_failed(path, err);
	if (fd >= 0)
		close(fd);
	free(copy);
	return ret;
}

/*
 * A file beside @path that @name is for. It has no name yet, so that nothing is left of a
 * save that is killed; where the file system has no such files, it has one: @named.
 */
static int file_open_temporary(const char *path, char *name, bool *named)
{
	char *copy = strdup(path);
	int fd = copy ? open(dirname(copy), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600) : -1;

	free(copy);
	*named = fd < 0;
	if (*named)
		return mkostemp(name, O_CLOEXEC);
	sprintf(name, "%s.~toctl", path);	/* as long as the template, and nobody's else */
	return fd;
}

/*
 * A link replaces no file, a rename does. @name between the two is the same every time, so
 * that the next save removes what one that was killed there has left.
 */
static int file_link(int fd, const char *name, const char *path)
{
	char self[32];
	int ret;

	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	/* again when another save of the same file came between */
	do {
		ret = unlink(name);
		if (ret && errno != ENOENT)
			break;
		ret = linkat(AT_FDCWD, self, AT_FDCWD, name, AT_SYMLINK_FOLLOW);
		if (ret && errno != EEXIST)
			break;
		ret = ret ? ret : rename(name, path);
	} while (ret && (errno == EEXIST || errno == ENOENT));
	return ret;
}

/* @old: what is there, NULL when there is nothing */
static int file_write_regular(const char *path, const struct stat *old,
			      int (*write)(FILE *, const void *, struct to_error *),
			      const void *data, struct to_error *err)
{
	char *temporary;
	bool named;
	FILE *out;
	int fd, ret;

	if (asprintf(&temporary, "%s.XXXXXX", path) < 0)
		return to_error_set(err, -ENOMEM, "%s: out of memory", path);
	fd = file_open_temporary(path, temporary, &named);
	out = fd < 0 ? NULL : fdopen(fd, "w");
	if (!out) {
		ret = file_failed(path, err);
		if (fd >= 0) {
			close(fd);
			unlink(temporary);
		}
		free(temporary);
		return ret;
	}
	ret = file_become(fd, old) ? file_failed(path, err) : file_write_stream(out, path, write, data, err);
	if (!ret && fsync(fd))
		ret = file_failed(path, err);
	if (!ret && (named ? rename(temporary, path) : file_link(fd, temporary, path)))
		ret = file_failed(path, err);
	fclose(out);
	if (ret)
		unlink(temporary);
	free(temporary);
	return ret ? ret : file_sync_directory(path, err);
}

int to_file_write(const char *path,
		  int (*write)(FILE *out, const void *data, struct to_error *err),
		  const void *data, struct to_error *err)
{
	struct stat st;
	char *target;
	int ret;

	if (!strcmp(path, "-"))
		return file_write_stream(stdout, "standard output", write, data, err);
	ret = file_check_links(path, err);
	if (ret)
		return ret;
	if (stat(path, &st))
		return file_write_regular(path, NULL, write, data, err);
	if (!S_ISREG(st.st_mode))
		return file_write_device(path, write, data, err);
	target = realpath(path, NULL);	/* replace the file, not a link to it */
	ret = file_write_regular(target ? target : path, &st, write, data, err);
	free(target);
	return ret;
}

void to_file_hide(FILE *out)
{
	const int fd = fileno(out);
	struct stat st;

	if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode))
		fchmod(fd, 0600);
}

FILE *to_file_stream(const char *path, bool append, struct to_error *err)
{
	int flags = O_WRONLY | O_CLOEXEC | O_CREAT | (append ? O_APPEND : O_EXCL), fd;
	char *target = NULL;
	FILE *out = NULL;
	struct stat st;

	if (file_check_links(path, err))
		return NULL;
	if (!append && !stat(path, &st)) {
		target = S_ISREG(st.st_mode) ? realpath(path, NULL) : NULL;
		if (target)
			unlink(target);
		else
			flags &= ~(O_CREAT | O_EXCL);
	}
	fd = open(target ? target : path, flags, 0666);
	if (fd >= 0)
		out = fdopen(fd, append ? "a" : "w");
	if (!out)
		file_failed(path, err);
	if (!out && fd >= 0)
		close(fd);
	free(target);
	return out;
}

/* Whether two files that are not there would be one: a name in a directory. */
static bool file_is_same_place(const char *a, const char *b)
{
	const char *name_a = strrchr(a, '/'), *name_b = strrchr(b, '/');
	char directory[2][PATH_MAX];
	struct stat sa, sb;

	snprintf(directory[0], PATH_MAX, "%.*s", name_a ? (int)(name_a - a) + 1 : 1, name_a ? a : ".");
	snprintf(directory[1], PATH_MAX, "%.*s", name_b ? (int)(name_b - b) + 1 : 1, name_b ? b : ".");
	return !strcmp(name_a ? name_a + 1 : a, name_b ? name_b + 1 : b) &&
	       !stat(directory[0], &sa) && !stat(directory[1], &sb) &&
	       sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino;
}

bool to_file_is_same(const char *output, const char *other)
{
	struct stat sa, sb;
	int ret;

	if (!strcmp(output, "-"))
		return false;
	ret = strcmp(other, "-") ? stat(other, &sb) : fstat(STDIN_FILENO, &sb);
	if (stat(output, &sa))
		return ret && strcmp(other, "-") && file_is_same_place(output, other);
	return !ret && S_ISREG(sa.st_mode) && sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino;
}

int to_file_replace(const char *path, const char *with, struct to_error *err)
{
	char *target = realpath(path, NULL);
	struct stat st;
	int fd, ret = file_check_links(path, err);

	if (!ret && target && !stat(target, &st)) {
		fd = open(with, O_RDONLY | O_CLOEXEC);
		if (fd < 0 || file_become(fd, &st))
			ret = file_failed(with, err);
		if (fd >= 0)
			close(fd);
	}
	if (!ret && rename(with, target ? target : path))
		ret = file_failed(path, err);
	ret = ret ? ret : file_sync_directory(target ? target : path, err);
	free(target);
	return ret;
}
