/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_FABRIC_CONF_H
#define TOPOOPT_FABRIC_CONF_H

/*
 * Where the fabric is: fabric.conf(5), an ini file whose values are defaults of toctl's
 * options, and values that a command line sets over the file's.
 *
 *	[etcd]
 *	endpoints = https://etcd1:2379,https://etcd2:2379
 *	cacert = /etc/topoopt/ca.pem
 *
 * One file counts, the first that exists of: the one that the caller names,
 * $TOPOOPT_FABRIC, $XDG_CONFIG_HOME/topoopt/fabric.conf (without $XDG_CONFIG_HOME:
 * ~/.config/topoopt/fabric.conf), /etc/topoopt/fabric.conf. The working directory is never
 * searched: an empty variable counts as unset, a relative $TOPOOPT_FABRIC is an error, and
 * a relative $XDG_CONFIG_HOME or $HOME is ignored.
 *
 * The file names a command to run, so nobody but root and the effective user may write to it
 * or replace it. Values are data: neither ~ nor $ is expanded, and no shell runs the command.
 */

#include <stdint.h>

#include "base/error.h"
#include "control/fabric.h"

#define TO_FABRIC_CONF_SYSTEM "/etc/topoopt/fabric.conf"
#define TO_FABRIC_CONF_VARIABLE "TOPOOPT_FABRIC"	/* environment variable with a path */

/** enum to_fabric_conf_id - keys of the file, as indices of to_fabric_conf_keys */
enum to_fabric_conf_id {
	TO_FABRIC_CONF_COMMAND,
	TO_FABRIC_CONF_TIMEOUT,
	TO_FABRIC_CONF_ENDPOINTS,
	TO_FABRIC_CONF_PREFIX,
	TO_FABRIC_CONF_CACERT,
	TO_FABRIC_CONF_CERT,
	TO_FABRIC_CONF_KEY,
	TO_FABRIC_CONF_USER,
	TO_FABRIC_CONF_PASSWORD_FILE,
	TO_FABRIC_CONF_STATE,
	TO_FABRIC_CONF_ALLOW,
	TO_FABRIC_CONF_N		/* number of keys */
};

/** enum to_fabric_conf_kind - what a value is */
enum to_fabric_conf_kind {
	TO_FABRIC_CONF_TEXT,
	TO_FABRIC_CONF_ARGV,		/* command, as of to_argv_split() */
	TO_FABRIC_CONF_DURATION,	/* as of to_quantity_duration(), above 0 */
	TO_FABRIC_CONF_FILE,		/* path of a file, absolute when it is from fabric.conf */
	TO_FABRIC_CONF_STORE,		/* "etcd", or path of a directory, absolute as of a file */
};

/** struct to_fabric_conf_key - a key of the file */
struct to_fabric_conf_key {
	const char *name;		/* "SECTION.KEY" */
	enum to_fabric_conf_kind kind;
	const char *argument;		/* placeholder of the value in help, "URL[,URL...]" */
	const char *fallback;		/* value when none is given, as text; NULL: none */
	const char *help;		/* one line, without its fallback */
};

/** to_fabric_conf_keys - all keys, sections one after the other */
extern const struct to_fabric_conf_key to_fabric_conf_keys[TO_FABRIC_CONF_N];

/** enum to_fabric_conf_origin - who gave a value */
enum to_fabric_conf_origin {
	TO_FABRIC_CONF_DEFAULT,		/* nobody */
	TO_FABRIC_CONF_FROM_FILE,
	TO_FABRIC_CONF_FROM_OPTION,	/* --set */
};

/** struct to_fabric_conf - values of all keys and where each is from */
struct to_fabric_conf {
	char *path;			/* file that was read, by the name it was found; NULL: none */
	const char *found_by;		/* "--config", "$TOPOOPT_FABRIC", "user", "system"; NULL: no file */
	char *values[TO_FABRIC_CONF_N];	/* by enum to_fabric_conf_id; NULL: the default */
	enum to_fabric_conf_origin origins[TO_FABRIC_CONF_N];	/* by enum to_fabric_conf_id */
};

/**
 * to_fabric_conf_load() - find and read the file
 * @conf: for to_fabric_conf_free(); empty on failure
 * @config: file to read in place of all others; must exist. NULL: search for one
 *
 * Return: 0, also when no file exists; a negative errno with @err, which names the line:
 * -ENOENT: @config or $TOPOOPT_FABRIC does not exist; -EPERM: somebody else could write to
 * the file or to a directory above it; -EINVAL: an unknown key, a key that the file has
 * twice, a value that its key does not take, a line that is no ini or too long; -EFBIG: more
 * than TO_FILE_SMALL_MAX bytes.
 */
int to_fabric_conf_load(struct to_fabric_conf *conf, const char *config, struct to_error *err);

/**
 * to_fabric_conf_set() - override a key of the file
 * @text: "SECTION.KEY=VALUE", as of --set; an empty value stands for the default
 *
 * Return: 0, or -EINVAL with @err: an unknown key, or a value that its key does not take.
 */
int to_fabric_conf_set(struct to_fabric_conf *conf, const char *text, struct to_error *err);

/** to_fabric_conf_free() - free all that @conf owns, and leave it empty */
void to_fabric_conf_free(struct to_fabric_conf *conf);

/** to_fabric_conf_text() - return the value of a key or its fallback, "" without one */
const char *to_fabric_conf_text(const struct to_fabric_conf *conf, enum to_fabric_conf_id id);

/**
 * to_fabric_conf_use() - make a file the user's fabric.conf by a symbolic link to it
 * @path: file that to_fabric_conf_load() accepts as @config
 * @link: set to the path of the link, to be freed; NULL on failure
 *
 * Replaces a link at the user's place, but no file.
 *
 * Return: 0, or a negative errno with @err: -EEXIST: a file is in the place of the link;
 * -ENOENT: neither $XDG_CONFIG_HOME nor $HOME tells the user's place; as
 * to_fabric_conf_load() for @path.
 */
int to_fabric_conf_use(const char *path, char **link, struct to_error *err);

/**
 * to_fabric_conf_check_files() - check that the files for etcd exist and keep their secrets
 *
 * Looks at etcd.cacert, cert, key and password-file. A key or a password must belong to root or the effective user, and nobody else may read it.
 *
 * Return: 0; -EPERM or another negative errno with @err, which names the key and the file.
 */
int to_fabric_conf_check_files(const struct to_fabric_conf *conf, struct to_error *err);

#endif
