// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Maximum-weight matchings of our own beside LEMON's MaxWeightedMatching: CPU
 * time of both on the same graphs, and that the totals are equal.
 *
 * Prints a JSON object per graph: graph, vertices, edges, ours_s, lemon_s (the
 * least of three runs, of one where that takes a second), ratio and weight. Exit
 * status 1 when the totals differ.
 */

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <vector>

#include <lemon/matching.h>
#include <lemon/smart_graph.h>

extern "C" {
#include "base/random.h"
#include "graph/matching.h"
}

typedef std::vector<to_matching_edge> edges;

static double cpu_seconds()
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

static int64_t ours(unsigned int n, const edges &list)
{
	std::vector<uint32_t> mate(n);
	int64_t twice = 0;

	if (to_matching_solve(n, list.data(), list.size(), mate.data()))
		return -1;
	for (const to_matching_edge &edge : list)
		if (mate[edge.a] == edge.b)
			twice += edge.weight;
	return twice;
}

/* The graph is built outside the time that is measured. */
static int64_t lemons(unsigned int n, const edges &list, double *seconds)
{
	lemon::SmartGraph graph;
	lemon::SmartGraph::EdgeMap<int64_t> weight(graph);
	double start;

	for (unsigned int v = 0; v < n; v++)
		graph.addNode();
	for (const to_matching_edge &edge : list)
		weight[graph.addEdge(graph.nodeFromId(edge.a), graph.nodeFromId(edge.b))] =
			edge.weight;
	lemon::MaxWeightedMatching<lemon::SmartGraph, lemon::SmartGraph::EdgeMap<int64_t>>
		matching(graph, weight);
	start = cpu_seconds();
	matching.run();
	*seconds = std::min(*seconds, cpu_seconds() - start);
	return matching.matchingWeight();
}

static int compare(const char *name, unsigned int n, const edges &list)
{
	double our_time = 1e9, lemon_time = 1e9, start;
	int64_t weight = 0, other = 0;

	for (int i = 0; i < 3 && (!i || lemon_time < 1); i++) {
		start = cpu_seconds();
		weight = ours(n, list);
		our_time = std::min(our_time, cpu_seconds() - start);
		other = lemons(n, list, &lemon_time);
	}
	printf("{\"graph\": \"%s\", \"vertices\": %u, \"edges\": %zu, \"ours_s\": %.6f, "
	       "\"lemon_s\": %.6f, \"ratio\": %.4f, \"weight\": %lld}\n",
	       name, n, list.size(), our_time, lemon_time, our_time / lemon_time,
	       (long long)weight);
	fflush(stdout);
	if (weight != other)
		fprintf(stderr, "matching: %s %u: %lld, but LEMON finds %lld\n", name, n,
			(long long)weight, (long long)other);
	return weight != other;
}

static edges complete(unsigned int n, uint32_t weights, uint64_t *random)
{
	edges list;

	for (uint32_t a = 0; a < n; a++)
		for (uint32_t b = a + 1; b < n; b++)
			list.push_back({ a, b, 1 + to_random_below(random, weights) });
	return list;
}

/* Servers with embedding tables that talk to all, as in the hybrid jobs. */
static edges hubs(unsigned int n, unsigned int n_hubs)
{
	std::vector<bool> hub(n);
	edges list;

	for (unsigned int t = 0; t < n_hubs; t++)
		hub[(37 * t + 11) % n] = true;
	for (uint32_t a = 0; a < n; a++)
		for (uint32_t b = a + 1; b < n; b++)
			if (hub[a] || hub[b])
				list.push_back({ a, b, 64 << 20 });
	return list;
}

int main()
{
	uint64_t random = 1;
	int differ = 0;

	for (unsigned int n = 256; n <= 2048; n *= 2)
		differ |= compare("complete", n, complete(n, 1000000000, &random));
	differ |= compare("complete, few weights", 1024, complete(1024, 10, &random));
	differ |= compare("complete, odd", 1023, complete(1023, 1000000000, &random));
	differ |= compare("hubs", 1024, hubs(1024, 64));
	return differ;
}
