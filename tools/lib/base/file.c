// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int file_read_fd(int fd, const char *name, char **data, size_t *len,
			struct to_error *err)
{
	size_t size = 1 << 16, used = 0;
	struct stat st;
	char *buf, *more;
	ssize_t n;

	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		size = st.st_size + 2;
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
		used += n;
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

int to_file_read(const char *path, char **data, size_t *len,
		 struct to_error *err)
{
	int fd, ret;

	if (!strcmp(path, "-"))
		return file_read_fd(STDIN_FILENO, "<stdin>", data, len, err);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		ret = -errno;
		return to_error_set(err, ret, "%s: %s", path, strerror(-ret));
	}
	ret = file_read_fd(fd, path, data, len, err);
	close(fd);
	return ret;
}

static int file_write_stream(FILE *out, const char *name,
			     int (*write)(FILE *, const void *, struct to_error *),
			     const void *data, struct to_error *err)
{
	int ret = write(out, data, err);

	if (!ret && (fflush(out) || ferror(out))) {
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
	FILE *out = fopen(path, "we");
	int ret;

	if (!out) {
		ret = -errno;
		return to_error_set(err, ret, "%s: %s", path, strerror(-ret));
	}
	ret = file_write_stream(out, path, write, data, err);
	fclose(out);
	return ret;
}

static int file_write_regular(const char *path,
			      int (*write)(FILE *, const void *, struct to_error *),
			      const void *data, struct to_error *err)
{
	char *temporary;
	mode_t mask;
	FILE *out;
	int fd, ret;

	if (asprintf(&temporary, "%s.XXXXXX", path) < 0)
		return to_error_set(err, -ENOMEM, "%s: out of memory", path);
	fd = mkostemp(temporary, O_CLOEXEC);
	out = fd < 0 ? NULL : fdopen(fd, "w");
	if (!out) {
		ret = -errno;
		to_error_set(err, ret, "%s: %s", path, strerror(-ret));
		if (fd >= 0) {
			close(fd);
			unlink(temporary);
		}
		free(temporary);
		return ret;
	}
	mask = umask(0);
	umask(mask);
	fchmod(fd, 0666 & ~mask);
	ret = file_write_stream(out, path, write, data, err);
	if (!ret && fsync(fd)) {
		ret = -errno;
		to_error_set(err, ret, "%s: %s", path, strerror(-ret));
	}
	fclose(out);
	if (!ret && rename(temporary, path)) {
		ret = -errno;
		to_error_set(err, ret, "%s: %s", path, strerror(-ret));
	}
	if (ret)
		unlink(temporary);
	free(temporary);
	return ret;
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
	if (stat(path, &st))
		return file_write_regular(path, write, data, err);
	if (!S_ISREG(st.st_mode))
		return file_write_device(path, write, data, err);
	target = realpath(path, NULL);	/* replace the file, not a link to it */
	ret = file_write_regular(target ? target : path, write, data, err);
	free(target);
	return ret;
}
