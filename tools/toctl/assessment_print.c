// SPDX-License-Identifier: GPL-2.0-or-later
#include "assessment_print.h"

#include <inttypes.h>

#include "base/text.h"
#include "figures.h"
#include "verify/figure_list.h"
#include "verify/unprotected.h"

#define ASSESSMENT_CASES 5	/* failures that are named */
#define ASSESSMENT_CYCLE 12	/* servers of a cycle that are named */
#define ASSESSMENT_FAMILIES 5	/* families that one line names */

static void assessment_print_bounded(FILE *out, const char *name, const struct to_figures *f,
				     enum to_figure which)
{
	const double value = to_figure_value(f, which), bound = to_figure_bound(f, which);
	char texts[2][24];

	fprintf(out, "  %-16s %s, lower bound %s", name, to_figure_text(which, value, texts[0]),
		to_figure_text(which, bound, texts[1]));
	if (bound > 0)
		fprintf(out, ", ratio %.3f", value / bound);
	fputc('\n', out);
}

/* Whether a PCIe link or the cables bind, which is shown where servers have PCIe links. */
static void assessment_print_pcie(FILE *out, const struct to_cluster *c, const struct to_figures *f)
{
	const bool alone = f->allreduce_pcie.binds && !f->comm_pcie.binds;
	const struct to_pcie_load *load = alone ? &f->allreduce_pcie : &f->comm_pcie;
	char text[TO_PCIE_LOAD_TEXT_MAX], seconds[24];

	if (!(load->rate > 0))
		return;
	fprintf(out, "  %-16s %s, %.1f GB/s: ", "PCIe", to_pcie_load_text(c, &load->way, text),
		load->rate / 8e9);
	if (alone)
		fprintf(out, "binds AllReduce alone, cables bind with MP transfers\n");
	else if (load->binds)
		fprintf(out, "binds %s\n", f->allreduce_time >= f->comm_time ? "AllReduce" :
			f->allreduce_pcie.binds ? "communication and AllReduce alone" :
						  "communication, not AllReduce alone");
	else
		fprintf(out, "busy %s, cables bind\n", to_seconds_text(load->seconds, seconds));
}

static void assessment_print_pairs(FILE *out, const struct to_verify_report *r)
{
	const uint64_t pairs = r->addresses * (r->figures.servers - 1);

	fprintf(out, "  %-16s ", "reached pairs");
	if (r->violations)
		fprintf(out, "NOT ALL that should be: %lu violation%s\n", r->violations,
			r->violations == 1 ? "" : "s");
	else
		fprintf(out, "%" PRIu64 " of %" PRIu64 ", of a server and an address\n",
			pairs - r->unreachable, pairs);
}

static void assessment_print_rdma(FILE *out, const struct to_rdma_pairs *rdma)
{
	if (!rdma->pairs)
		return;
	fprintf(out, "  %-16s %" PRIu64 " of %" PRIu64 ", of a server and a port", "RDMA pairs",
		rdma->reached, rdma->pairs);
	if (rdma->reached < rdma->pairs)
		fprintf(out, "; TCP alone reaches the other %" PRIu64 ", by relays",
			rdma->pairs - rdma->reached);
	fputc('\n', out);
}

static bool assessment_print_class(FILE *out, const char *what, const struct to_failure_cases *c,
				   bool first)
{
	if (!c->cases)
		return first;
	fprintf(out, "%s%s %" PRIu64 " of %" PRIu64 " covered", first ? "" : "; ", what, c->covered,
		c->covered + c->uncovered);
	return false;
}

static void assessment_print_failures(FILE *out, const struct to_verify_report *r)
{
	bool first = true;

	fprintf(out, "  %-16s ", "single failures");
	first = assessment_print_class(out, "links", &r->links, first);
	first = assessment_print_class(out, "servers", &r->servers, first);
	first = assessment_print_class(out, "packet switches", &r->switches, first);
	fprintf(out, "%s\n", first ? "none meets a route" : "");
}

static void assessment_print_pfc(FILE *out, const struct to_assessment *a)
{
	fprintf(out, "  %-16s ", "PFC");
	if (a->report.violations)
		fprintf(out, "not checked\n");
	else if (!a->routes.n)
		fprintf(out, "no buffer cycle\n");
	else
		fprintf(out, "buffer cycle of %u links%s: can deadlock where hardware forwards\n",
			a->routes.n, a->job.n ? ", also for the job" : ", none for the job");
}

/* The family chosen, and how much longer the others take. */
static void assessment_print_families(FILE *out, const struct to_plan *plan,
				      const struct to_figures *f)
{
	const struct to_candidate *won = NULL;
	unsigned int shown = 1;

	for (unsigned int i = 0; i < plan->n_candidates; i++)
		if (plan->candidates[i].chosen)
			won = &plan->candidates[i];
	fprintf(out, "  %-16s %s", "families", won ? won->family : f->family);
	for (unsigned int i = 0; won && i < plan->n_candidates; i++) {
		const struct to_candidate *c = &plan->candidates[i];
		const bool routed = c->comm_time > 0 && won->comm_time > 0;

		if (c == won || shown++ >= ASSESSMENT_FAMILIES)
			continue;
		fprintf(out, "; %s", c->family);
		/* without traffic, all times are 0 */
		if (won->estimated_time > 0)
			fprintf(out, " %s%+.3g %%", routed ? "" : "about ",
				routed ? (c->comm_time / won->comm_time - 1) * 100 :
					 (c->estimated_time / won->estimated_time - 1) * 100);
	}
	fputc('\n', out);
}

static void assessment_print_cases(FILE *out, const char *what, const struct to_failure_cases *c)
{
	fprintf(out, "  any one %s down: %" PRIu64 " of %" PRIu64 " cases covered", what, c->covered,
		c->covered + c->uncovered);
	if (c->uncovered)
		fprintf(out, ", %" PRIu64 " NOT", c->uncovered);
	if (c->last_hops)
		fprintf(out, "; in %" PRIu64 " more the address is of a port that goes dark, as does its RDMA NIC",
			c->last_hops);
	if (c->disconnected)
		fprintf(out, "; in %" PRIu64 " more no path is left", c->disconnected);
	fputc('\n', out);
}

/* Explain the cases above this line. */
static void assessment_print_alone(FILE *out)
{
	fprintf(out, "    which its own server alone sees: what others send there is lost until they have another plan\n");
}

static void assessment_print_unprotected(FILE *out, const struct to_plan *plan,
					 const struct to_unprotected *list, unsigned int n,
					 uint64_t all)
{
	char text[TO_UNPROTECTED_TEXT_MAX];
	unsigned int i;

	for (i = 0; i < n && i < ASSESSMENT_CASES; i++)
		fprintf(out, "    %s\n", to_unprotected_text(plan, &list[i], text));
	if (all > i)
		fprintf(out, "    and %" PRIu64 " more\n", all - i);
}

static void assessment_print_cycle(FILE *out, const struct to_plan *plan, const char *which,
				   const struct to_buffer_cycle *cycle)
{
	fprintf(out, "    %s:", which);
	for (uint32_t i = 0; i < cycle->n && i < ASSESSMENT_CYCLE; i++)
		fprintf(out, " %s >", plan->cluster->servers[cycle->servers[i]].name);
	if (cycle->n > ASSESSMENT_CYCLE)
		fprintf(out, " %u more >", cycle->n - ASSESSMENT_CYCLE);
	fprintf(out, " %s\n", cycle->n ? plan->cluster->servers[cycle->servers[0]].name : "none");
}

static void assessment_print_details(FILE *out, const struct to_plan *plan,
				     const struct to_assessment *a)
{
	const struct to_verify_report *r = &a->report;

	to_figures_print(out, plan, &r->figures);
	fprintf(out, "  %" PRIu64 " addresses from %u servers\n", r->addresses, r->figures.servers);
	if (r->unreachable)
		fprintf(out, "  for %" PRIu64 " pairs of a server and a port, no %s\n", r->unreachable,
			plan->no_buffer_cycles ?
				"route: it would close a buffer cycle, or there is no path" :
				"path enters through the port");
	assessment_print_cases(out, "link", &r->links);
	assessment_print_cases(out, "server", &r->servers);
	if (plan->cluster->n_packet_switches) {
		assessment_print_cases(out, "packet switch", &r->switches);
		assessment_print_cases(out, "port on a packet switch", &r->ports);
		assessment_print_alone(out);
	}
	if (to_cluster_shares_cables(plan->cluster)) {
		assessment_print_cases(out, "function of a shared cable", &r->functions);
		assessment_print_alone(out);
	}
	if (r->links.uncovered || r->switches.uncovered) {
		fprintf(out, "  NOT PROTECTED against every single link%s:\n",
			plan->cluster->n_packet_switches ? " and packet switch" : "");
		assessment_print_unprotected(out, plan, r->unprotected, r->n_unprotected,
					     r->links.uncovered + r->switches.uncovered);
	}
	if (r->violations || !a->routes.n)
		return;
	fprintf(out, "  buffer cycles, in which each link waits for the next:\n");
	assessment_print_cycle(out, plan, "on routes", &a->routes);
	assessment_print_cycle(out, plan, "on routes of the job", &a->job);
}

void to_assessment_print(FILE *out, const struct to_plan *plan, const struct to_assessment *a,
			 bool verbose)
{
	const struct to_cluster *c = plan->cluster;
	const struct to_verify_report *r = &a->report;

	if (!r->figures.servers)
		return;
	fprintf(out, "%s: %u servers, %u %s links", plan->demand->name, c->n_servers, c->n_links,
		c->link_mode == TO_LINKS_DUPLEX ? "duplex" : "simplex");
	if (to_cluster_shares_cables(c))
		fprintf(out, " on %u cables", to_cluster_cables(c));
	fputc('\n', out);
	assessment_print_bounded(out, "communication", &r->figures, TO_FIGURE_COMM_TIME);
	assessment_print_bounded(out, "busiest link", &r->figures, TO_FIGURE_LINK_LOAD);
	assessment_print_pcie(out, c, &r->figures);
	assessment_print_pairs(out, r);
	assessment_print_rdma(out, &r->rdma);
	assessment_print_failures(out, r);
	assessment_print_pfc(out, a);
	assessment_print_families(out, plan, &r->figures);
	if (verbose)
		assessment_print_details(out, plan, a);
}

void to_assessment_print_verdict(FILE *out, const struct to_plan *plan,
				 const struct to_assessment *a)
{
	const struct to_verify_report *r = &a->report;
	const uint64_t uncovered = r->links.uncovered + r->switches.uncovered;

	if (r->violations)
		fprintf(out, "invalid: %lu violation%s\n", r->violations,
			r->violations == 1 ? "" : "s");
	else if (uncovered)
		fprintf(out, "valid: no loop, but NOT protected in %" PRIu64 " cases of a single failure\n",
			uncovered);
	else
		fprintf(out, "valid: no loop, protected against every single link%s\n",
			plan->cluster->n_packet_switches ? " and packet switch" : "");
}

/* A queue pair uses its own port, so no table helps the RDMA NIC of a dark port. */
static void assessment_print_nics(FILE *out, const struct to_cluster *c, const struct to_down *down)
{
	char name[TO_DOWN_NAME_MAX];
	struct to_port_ref at;
	unsigned int n = 0;

	for (at.server = 0; at.server < c->n_servers; at.server++)
		for (at.port = 0; at.port < c->servers[at.server].n_ports; at.port++)
			if (to_verify_down_takes_nic(c, down, at))
				fprintf(out, "%s %s", n++ ? "" : "  RDMA NICs that go dark with it:",
					to_down_name(c, at, name));
	if (n)
		fprintf(out, "\n    restart jobs without these: NCCL_IB_HCA, UCX_NET_DEVICES, as toctl doctor prints them\n");
}

/* The packet switch that port @at is on, NULL for none, and for a server. */
static const struct to_packet_switch *assessment_on(const struct to_cluster *c,
						    struct to_port_ref at)
{
	return at.port == TO_DOWN_SERVER ? NULL :
	       to_port_packet_switch(c, &c->servers[at.server].ports[at.port]);
}

static void assessment_print_dark(FILE *out, const struct to_cluster *c, const struct to_down *down)
{
	char name[TO_DOWN_NAME_MAX], link[TO_UNPROTECTED_LINK_MAX];

	fprintf(out, "with");
	for (unsigned int i = 0; i < down->n; i++)
		fprintf(out, "%s%s", i ? ", " : " ", to_down_name(c, down->list[i], name));
	fprintf(out, " down:\n");
	for (unsigned int i = 0; i < c->n_links; i++)
		if (down->links[i] && !assessment_on(c, c->links[i].a))
			fprintf(out, "  dark: %s\n", to_unprotected_link(c, &c->links[i], link));
	for (unsigned int i = 0; c->n_packet_switches && i < down->n; i++) {
		const struct to_packet_switch *on = assessment_on(c, down->list[i]);

		if (on)
			fprintf(out, "  dark: %s on %s\n", to_down_name(c, down->list[i], name), on->name);
	}
}

static void assessment_print_met(FILE *out, uint64_t n, const char *which)
{
	if (n)
		fprintf(out, "  %10" PRIu64 " %s\n", n, which);
}

void to_assessment_print_down(FILE *out, const struct to_plan *plan,
			      const struct to_figures *before, const struct to_down *down,
			      const struct to_verify_down *f)
{
	const struct to_failure_cases *k = &f->cases;
	const struct to_cluster *c = plan->cluster;
	char name[TO_DOWN_NAME_MAX], pcie[TO_PCIE_LOAD_TEXT_MAX], was[16], then[16];

	assessment_print_dark(out, c, down);
	fprintf(out, "  of %" PRIu64 " pairs of a server and another's address:\n", f->pairs);
	assessment_print_met(out, f->pairs - k->cases, "whose packets do not meet it");
	assessment_print_met(out, k->covered, "that the kernel leads around it");
	assessment_print_met(out, k->last_hops, "cut off: the address is of a port that is dark");
	assessment_print_met(out, k->disconnected, "cut off: no path is left");
	assessment_print_met(out, k->uncovered, "that can LOSE packets, though a path is left");
	assessment_print_unprotected(out, plan, f->unprotected, f->n_unprotected, k->uncovered);
	if (f->looping)
		fprintf(out, "    packets of %" PRIu64 " of the pairs that lose them go round until their TTL ends\n",
			f->looping);
	assessment_print_nics(out, c, down);
	fprintf(out, "  %-18s %12s %12s\n", "", "before", "then");
	fprintf(out, "  %-18s %12s %12s\n", "max MP link load",
		to_bytes_text(before->max_mp_link_load, was),
		to_bytes_text(f->max_mp_link_load, then));
	fprintf(out, "  %-18s %12s %12s\n", "max link load",
		to_bytes_text(before->max_link_load, was), to_bytes_text(f->max_link_load, then));
	fprintf(out, "  %-18s %12s %12s\n", "communication time",
		to_seconds_text(before->comm_time, was), to_seconds_text(f->comm_time, then));
	if (f->pcie_binds)
		fprintf(out, "  busiest then: PCIe of %s\n", to_pcie_load_text(c, &f->pcie, pcie));
	else if (f->comm_time > 0)
		fprintf(out, "  busiest then: what %s %s\n", to_down_name(c, f->busiest, name),
			f->receives ? "receives" : "sends");
	if (f->left_out > 0)
		fprintf(out, "  without %s of the demand, which cannot be sent\n",
			to_bytes_text(f->left_out, then));
}
