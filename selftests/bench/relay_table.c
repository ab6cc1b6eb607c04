// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Load the table that the relay benchmark looks its destinations up in; or,
 * until killed, count what is relayed, or replace the table by its like again
 * and again.
 *
 *	relay_table DEVICE ROUTES PORT=MAC...	one group of all next hops given
 *	relay_table DEVICE count
 *	relay_table DEVICE swap MILLISECONDS
 *	relay_table DEVICE xdp			RoCEv2 at XDP from now on
 */

#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../../tools/lib/kernel/genl.h"
#include "../../tools/lib/measure/traffic_programs.h"
#include "../../tools/lib/kernel/xdp.h"

#define SERVERS 1024
#define PAIRS 65536

static _Noreturn void die(const struct to_error *err, const char *what)
{
	fprintf(stderr, "relay_table: %s\n", err ? err->text : what);
	exit(1);
}

static void put32(uint8_t *to, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		to[i] = value >> (24 - 8 * i);
}

/* The sender, as an address of server 0, then what relay_bench sends to. */
static void fill(struct to_kernel_route *route, unsigned int index, bool v6)
{
	route->family = v6 ? AF_INET6 : AF_INET;
	route->dst_len = v6 ? 128 : 32;
	route->type = TOPOOPT_ROUTE_TYPE_UNICAST;
	route->server = index ? 1 + index % SERVERS : 0;
	if (v6) {
		put32(route->dst, index ? 0xfd002000 : 0xfd001000);
		put32(route->dst + 12, index ? index : 1);
	} else {
		put32(route->dst, index ? 0x0a800000 + index : 0x0a000001);
	}
}

static void nexthop(struct to_kernel_nexthop *to, const char *word)
{
	char name[IFNAMSIZ];
	uint8_t *m = to->mac;

	to->weight = 1;
	if (sscanf(word, "%15[^=]=%hhx:%hhx:%hhx:%hhx:%hhx:%hhx", name, m, m + 1,
		   m + 2, m + 3, m + 4, m + 5) != 7 ||
	    !(to->port = if_nametoindex(name)))
		die(NULL, "a next hop is PORT=MAC");
}

static void load(struct to_genl *genl, uint32_t ifindex, unsigned int routes,
		 char **words, unsigned int n_words)
{
	struct to_kernel_group group = { .n = n_words };
	struct to_kernel_table table = { .n_groups = 1, .groups = &group };
	struct to_device device;
	struct to_error err;

	group.nexthops = calloc(n_words, sizeof(*group.nexthops));
	table.routes = calloc(2 * (routes + 1), sizeof(*table.routes));
	if (!group.nexthops || !table.routes)
		die(NULL, "no memory");
	for (unsigned int i = 0; i < n_words; i++)
		nexthop(&group.nexthops[i], words[i]);
	for (unsigned int i = 0; i <= routes; i++) {
		fill(&table.routes[table.n_routes++], i, false);
		fill(&table.routes[table.n_routes++], i, true);
	}
	if (to_genl_device(genl, ifindex, &device, &err) ||
	    to_genl_stage(genl, ifindex, &table, &err) ||
	    to_genl_commit(genl, ifindex, device.generation, NULL, &err))
		die(&err, NULL);
	free(group.nexthops);
	free(table.routes);
}

static void count(uint32_t ifindex)
{
	struct to_server server = {};
	struct to_cluster cluster = { .servers = &server, .n_servers = 1 };
	struct to_plan plan = { .cluster = &cluster };
	struct to_traffic_config config = {
		.source = TO_TRAFFIC_MODULE, .device = ifindex,
		.entries = PAIRS, .plan = &plan,
	};
	struct to_error err;

	if (!to_traffic_programs_open(&config, &err))
		die(&err, NULL);
	puts("counting");
	fflush(stdout);
	pause();
}

static _Noreturn void swap(struct to_genl *genl, uint32_t ifindex,
			   unsigned int milliseconds)
{
	struct to_kernel_table table;
	struct to_device device;
	struct timespec next;
	struct to_error err;

	if (to_genl_table(genl, ifindex, false, &table, &err))
		die(&err, NULL);
	clock_gettime(CLOCK_MONOTONIC, &next);
	for (;;) {
		if (to_genl_device(genl, ifindex, &device, &err) ||
		    to_genl_stage(genl, ifindex, &table, &err) ||
		    to_genl_commit(genl, ifindex, device.generation, NULL, &err))
			die(&err, NULL);
		next.tv_nsec += milliseconds * 1000000L;
		if (next.tv_nsec >= 1000000000) {
			next.tv_sec++;
			next.tv_nsec -= 1000000000;
		}
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
	}
}

static void xdp(struct to_genl *genl, uint32_t ifindex)
{
	struct to_kernel_port *ports;
	unsigned int n;
	struct to_error err;

	if (to_genl_ports(genl, ifindex, &ports, &n, &err))
		die(&err, NULL);
	struct to_xdp_port at[n];

	for (unsigned int i = 0; i < n; i++) {
		at[i].ifindex = ports[i].ifindex;
		at[i].transmit = ports[i].tx_ifindex;
		strcpy(at[i].name, ports[i].name);
		strcpy(at[i].transmit_name, ports[i].tx_name);
	}
	if (to_xdp_attach(ifindex, at, n, TO_XDP_AUTO, &err))
		die(&err, NULL);
	for (unsigned int i = 0; i < n; i++)
		if (to_xdp_path(at[i].ifindex) != TO_XDP_NATIVE)
			die(NULL, at[i].why);
	free(ports);
}

int main(int argc, char **argv)
{
	uint32_t ifindex = argc > 2 ? if_nametoindex(argv[1]) : 0;
	struct to_genl genl;
	struct to_error err;

	if (!ifindex)
		die(NULL, "usage: relay_table DEVICE ROUTES PORT=MAC... | DEVICE count | DEVICE swap MS | DEVICE xdp");
	if (!strcmp(argv[2], "count")) {
		count(ifindex);
		return 0;
	}
	if (to_genl_open(&genl, &err))
		die(&err, NULL);
	if (!strcmp(argv[2], "swap") && argc > 3)
		swap(&genl, ifindex, strtoul(argv[3], NULL, 10));
	if (!strcmp(argv[2], "xdp"))
		xdp(&genl, ifindex);
	else
		load(&genl, ifindex, strtoul(argv[2], NULL, 10), argv + 3, argc - 3);
	to_genl_close(&genl);
	return 0;
}
