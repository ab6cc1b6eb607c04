// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/password.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define PASSWORD_LEN 32

static int password_check_line(char *line, const char *name, struct to_error *err)
{
	size_t len = strcspn(line, "\r\n");

	if (!line[len] && len + 1 == TO_PASSWORD_MAX)
		return to_error_set(err, -E2BIG, "%s: a password has at most %d characters", name,
				    TO_PASSWORD_MAX - 2);
	line[len] = '\0';
	return len ? 0 : to_error_set(err, -ENOKEY, "%s: no password in it", name);
}

static int password_read_file(char *password, FILE *in, const char *path, struct to_error *err)
{
	struct stat st;

	if (fstat(fileno(in), &st))
		return to_error_set(err, -errno, "%s: %s", path, strerror(errno));
	if (st.st_mode & (S_IRWXG | S_IRWXO))
		return to_error_set(err, -EPERM,
				    "%s: others may read this password; chmod 600 it", path);
	password[0] = '\0';
	if (!fgets(password, TO_PASSWORD_MAX, in) && ferror(in))
		return to_error_set(err, -EIO, "%s: cannot be read", path);
	return password_check_line(password, path, err);
}

int to_password_read(char password[TO_PASSWORD_MAX], const char *path, const char *variable,
		     struct to_error *err)
{
	const char *value;
	FILE *in;
	int ret;

	if (!path) {
		value = getenv(variable);
		if (!value)
			return to_error_set(err, -ENOKEY, "%s is not in the environment",
					    variable);
		snprintf(password, TO_PASSWORD_MAX, "%s", value);
		return password_check_line(password, variable, err);
	}
	in = fopen(path, "re");
	if (!in) {
		ret = -errno;
		return to_error_set(err, ret, "%s: %s", path, strerror(-ret));
	}
	ret = password_read_file(password, in, path, err);
	fclose(in);
	return ret;
}

int to_password_check_private(const char *path, struct to_error *err)
{
	struct stat st;

	if (stat(path, &st) || access(path, R_OK))
		return to_error_set(err, -errno, "%s: %s", path, strerror(errno));
	if (st.st_uid && st.st_uid != geteuid())
		return to_error_set(err, -EPERM, "%s: belongs to another user", path);
	if (st.st_mode & (S_IRWXG | S_IRWXO))
		return to_error_set(err, -EPERM, "%s: others may read this secret; chmod 600 it", path);
	return 0;
}

int to_password_make(char password[TO_PASSWORD_MAX], struct to_error *err)
{
	static const char letters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
	unsigned char bytes[PASSWORD_LEN];

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return to_error_set(err, -EIO, "no random numbers");
	for (unsigned int i = 0; i < PASSWORD_LEN; i++)
		password[i] = letters[bytes[i] % 64];
	password[PASSWORD_LEN] = '\0';
	return 0;
}

int to_password_write(const char *path, const char *password, struct to_error *err)
{
	int fd, ret = 0;

	/* whoever has an older file open, or owns it, would read the new password */
	unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0) {
		ret = -errno;
		return to_error_set(err, ret, "%s: %s", path, strerror(-ret));
	}
	if (fchmod(fd, 0600) || dprintf(fd, "%s\n", password) < 0 || fsync(fd))
		ret = -errno;
	close(fd);
	return ret ? to_error_set(err, ret, "%s: %s", path, strerror(-ret)) : 0;
}
