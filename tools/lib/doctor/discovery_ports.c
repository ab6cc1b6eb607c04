// SPDX-License-Identifier: GPL-2.0-or-later
#include "doctor/discovery_ports.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/names.h"

/* Take one port; @word is cut at its colon. */
static int ports_add(struct to_discovery_ports *ports, char *word, const char *text,
		     struct to_error *err)
{
	struct to_discovery_port *port = &ports->list[ports->n];
	char *rdma = strchr(word, ':');

	if (ports->n == TO_PORTS_MAX)
		return to_error_set(err, -EINVAL, "a server has %u ports at most", TO_PORTS_MAX);
	if (rdma)
		*rdma++ = '\0';
	if (!to_names_is_interface(word) || (rdma && !to_names_is_interface(rdma)))
		return to_error_set(err, -EINVAL,
				    "expected names of interfaces like eth0,eth1, not \"%.200s\"",
				    text);
	for (unsigned int i = 0; i < ports->n; i++)
		if (!strcmp(ports->list[i].name, word))
			return to_error_set(err, -EINVAL, "%s is there twice", word);
	snprintf(port->name, sizeof(port->name), "%s", word);
	snprintf(port->rdma, sizeof(port->rdma), "%s", rdma ? rdma : "");
	ports->n++;
	return 0;
}

int to_discovery_ports_parse(struct to_discovery_ports *ports, const char *text,
			     struct to_error *err)
{
	char *words = strdup(text), *save = NULL;
	int ret = 0;

	*ports = (struct to_discovery_ports){ .names = strdup(text) };
	if (!words || !ports->names)
		ret = to_error_set(err, -ENOMEM, "out of memory");
	for (char *word = ret ? NULL : strtok_r(words, ",", &save); word && !ret;
	     word = strtok_r(NULL, ",", &save))
		ret = ports_add(ports, word, text, err);
	if (!ret && !ports->n)
		ret = to_error_set(err, -EINVAL, "no interface");
	for (char *c = ports->names; c && *c; c++)
		if (*c == ':')
			*c = ',';
	free(words);
	return ret;
}

void to_discovery_ports_free(struct to_discovery_ports *ports)
{
	free(ports->names);
}

char *to_discovery_ports_of(const struct to_cluster *cluster)
{
	size_t len = 0;
	char *text = NULL;
	FILE *out = open_memstream(&text, &len);

	for (unsigned int s = 0; out && s < cluster->n_servers; s++)
		for (unsigned int p = 0; p < cluster->servers[s].n_ports; p++)
			fprintf(out, "%s%s,%s", s || p ? "," : "", cluster->servers[s].ports[p].name,
				to_port_rdma(&cluster->servers[s].ports[p]));
	if (out && fclose(out)) {
		free(text);
		text = NULL;
	}
	return text;
}
