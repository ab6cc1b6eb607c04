// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/user.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

static const struct passwd *user_find(const char *name)
{
	char *end;
	const unsigned long number = strtoul(name, &end, 10);

	if (name[0] >= '0' && name[0] <= '9' && !*end && number < (uid_t)-1)
		return getpwuid(number);
	return getpwnam(name);
}

int to_user_become(const char *name, uid_t *uid, struct to_error *err)
{
	const struct passwd *user = user_find(name);
	int ret;

	if (!user)
		return to_error_set(err, -ENOENT, "%.80s: no such user on this host", name);
	*uid = user->pw_uid;
	if (geteuid() || !user->pw_uid)
		return 0;
	if (!initgroups(user->pw_name, user->pw_gid) &&
	    !setresgid(user->pw_gid, user->pw_gid, user->pw_gid) &&
	    !setresuid(user->pw_uid, user->pw_uid, user->pw_uid))
		return 0;
	ret = -errno;
	return to_error_set(err, ret, "cannot become the user %.80s: %s", name, strerror(-ret));
}

int to_user_read(const char *path, uid_t uid, size_t most, char **data, size_t *len,
		 struct to_error *err)
{
	struct stat st;
	int fd = to_file_open_regular(path, &st, err), ret;

	if (fd < 0)
		return fd;
	/* its mode would not do: directories above it may keep the user out */
	if (geteuid() != uid && st.st_uid != uid)
		ret = to_error_set(err, -EACCES, "%s: does not belong to the user who wants it read",
				   path);
	else
		ret = to_file_read_fd(fd, path, most, data, len, err);
	close(fd);
	return ret;
}
