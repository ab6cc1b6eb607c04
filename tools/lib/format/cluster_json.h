/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_CLUSTER_JSON_H
#define TOPOOPT_CLUSTER_JSON_H

/* cluster.json, and the parts of it that plan.json has too. */

#include <stdio.h>

#include "base/json.h"
#include "data/cluster.h"

/* Why most commands refuse packet switches. */
#define TO_CLUSTER_CABLES_ONLY \
	"this command knows ports with one cable each, whose other end it can tell"

/**
 * to_cluster_refuse_shared() - refuse a cluster with packet switches
 * @path: its file
 * @why: what the command lacks for them
 *
 * For those who would take links, next hops and busy times of ports that are on several
 * links for those of cables.
 *
 * Return: 0 or -EOPNOTSUPP.
 */
int to_cluster_refuse_shared(const struct to_cluster *cluster, const char *path,
			     const char *why, struct to_error *err);

/** to_cluster_load() - cluster.json from a file; refuses packet switches as above */
struct to_cluster *to_cluster_load(const char *path, struct to_error *err);

/** to_cluster_load_shared() - load a cluster that may have packet switches */
struct to_cluster *to_cluster_load_shared(const char *path, struct to_error *err);

/** to_cluster_parse() - cluster.json from memory; @name is for errors */
struct to_cluster *to_cluster_parse(const char *data, size_t len,
				    const char *name, struct to_error *err);

/** to_cluster_parse_links() - other links for @cluster: an object with "links" alone */
int to_cluster_parse_links(struct to_cluster *cluster, const char *data, size_t len,
			   const char *name, struct to_error *err);

/** to_cluster_take_links() - the same from @links, which is that array */
int to_cluster_take_links(struct to_cluster *cluster, json_t *links, const char *name,
			  struct to_error *err);

/*
 * What cluster.json and plan.json share. The readers are for struct
 * to_json_field with a struct to_cluster at offset 0.
 */
int to_cluster_read_link_mode(const struct to_json *at, void *to);
int to_cluster_read_switches(const struct to_json *at, void *to);
int to_cluster_read_servers(const struct to_json *at, void *to);

/*
 * "s0:eth0" into a struct to_port_ref; to_json_doc.context is the cluster.
 */
int to_cluster_read_port_ref(const struct to_json *at, void *to);

/**
 * to_cluster_read_links() - read an array of links into @cluster
 * @fields: of one link; their structure is struct to_link
 *
 * Refuses ports on two links that no packet switch makes, and servers linked to themselves.
 */
int to_cluster_read_links(const struct to_json *at,
			  const struct to_json_field *fields,
			  struct to_cluster *cluster);

/** to_cluster_print() - link mode, switches and servers as JSON members */
void to_cluster_print(FILE *out, const struct to_cluster *cluster);

/* What stands before the links there, and begins a line. */
#define TO_CLUSTER_LINKS ",\n\"links\":["

/** to_cluster_print_file() - print a cluster with its links, as to_cluster_load() reads it */
void to_cluster_print_file(FILE *out, const struct to_cluster *cluster);

/** to_cluster_print_unchecked() - print a cluster with its links, but without "checks" */
void to_cluster_print_unchecked(FILE *out, const struct to_cluster *cluster);

#endif
