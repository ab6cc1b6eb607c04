/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_FILE_H
#define TOPOOPT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/error.h"

/**
 * to_file_read() - read all of @path ("-" = standard input), which is text
 * @most: bytes that it may have, of base/limits.h
 * @data: the bytes, with a NUL after the last; for free()
 * @len: how many, without the NUL
 *
 * Return: 0 or a negative errno; -EFBIG when there are more than @most, of which
 * no more than twice that is ever in memory; -EINVAL at its first zero byte, as of /dev/zero.
 */
int to_file_read(const char *path, size_t most, char **data, size_t *len,
		 struct to_error *err);

/**
 * to_file_read_fd() - read the rest of an open file as to_file_read() does
 * @fd: stays open
 * @name: stands for the file in @err
 */
int to_file_read_fd(int fd, const char *name, size_t most, char **data, size_t *len,
		    struct to_error *err);

/** to_file_read_bytes() - read a regular file, and no other, which need not be text */
int to_file_read_bytes(const char *path, size_t most, char **data, size_t *len,
		       struct to_error *err);

/**
 * to_file_open_regular() - open a regular file for reading, and no other
 * @st: gets what the file is
 *
 * Never waits: neither for the writer of a FIFO nor for a terminal.
 *
 * Return: a file descriptor, or a negative errno with @err set; -EINVAL for what is not a
 * regular file.
 */
int to_file_open_regular(const char *path, struct stat *st, struct to_error *err);

/**
 * to_file_check_shared() - refuse a file or link that another user put in a shared directory
 * @st: what @path is, not what it leads to
 *
 * A shared directory has the sticky bit, and its group or others may write there, as in /tmp.
 * A file of the directory's owner is accepted. So do the kernel's protected_regular and
 * protected_symlinks where they are on.
 *
 * Return: 0, or -EPERM with @err set.
 */
int to_file_check_shared(const char *path, const struct stat *st, struct to_error *err);

/**
 * to_file_write() - write @path ("-" = standard output) by @write
 * @write: prints to @out; returns 0 or a negative errno with @err set
 *
 * A regular file is written beside @path and renamed, so that a reader never
 * sees half of it and a failure leaves the old one; 0 says that it outlives a power
 * cut. What a save leaves that is killed (@path.~toctl, or nothing), the next one removes,
 * unless the file system has no files without a name (O_TMPFILE).
 *
 * The file belongs to the user who writes it. Where it replaces a file of that user's, it
 * keeps the mode and the group; where it replaces another user's, it is a new file with the
 * default mode. A symbolic link stays: the file that it leads to is replaced. A file or link
 * that to_file_check_shared() refuses is left alone.
 */
int to_file_write(const char *path,
		  int (*write)(FILE *out, const void *data, struct to_error *err),
		  const void *data, struct to_error *err);

/**
 * to_file_hide() - let nobody but its owner read a file that is being written
 * @out: a stream; only regular files are changed
 */
void to_file_hide(FILE *out);

/**
 * to_file_stream() - open a file that is written line by line
 * @append: add to an older file instead of replacing it by a new one
 *
 * A file or link that to_file_check_shared() refuses is left alone.
 *
 * Return: the stream, for fclose(), or NULL with @err set.
 */
FILE *to_file_stream(const char *path, bool append, struct to_error *err);

/**
 * to_file_is_same() - tell whether two paths lead to one regular file, by whatever names
 * @output: file to write; "-" is standard output, which is never a file
 * @other: file that is read or written, too; "-" is standard input
 *
 * Two files that do not exist are one if their directories and last names are.
 */
bool to_file_is_same(const char *output, const char *other);

/**
 * to_file_replace() - make the file @with the one that @path leads to
 * @path: keeps what a file keeps that to_file_write() replaces
 * @with: written by to_file_write(), on the same file system
 */
int to_file_replace(const char *path, const char *with, struct to_error *err);

#endif
