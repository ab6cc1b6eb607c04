// SPDX-License-Identifier: GPL-2.0-or-later
/* When flows end, by SimGrid; for test_simgrid.py. */

#include <cstdio>
#include <string>
#include <vector>

#include <simgrid/s4u.hpp>

namespace sg4 = simgrid::s4u;

/*
 * Reads lines "l BYTES/S" for links and "f BYTES N LINK..." for flows that all begin at
 * once, each between hosts of its own; prints "FLOW SECONDS" when one ends.
 */
int main(int argc, char **argv)
{
	sg4::Engine engine(&argc, argv);
	auto *zone = sg4::create_full_zone("all");
	std::vector<sg4::Link *> links;
	int flows = 0;
	char kind;

	while (std::scanf(" %c", &kind) == 1) {
		std::vector<sg4::LinkInRoute> route;
		double value;
		int n, at;

		if (std::scanf("%lf", &value) != 1)
			return 1;
		if (kind == 'l') {
			links.push_back(zone->create_link("l" + std::to_string(links.size()), value)
					->set_latency(0)->seal());
			continue;
		}
		if (std::scanf("%d", &n) != 1)
			return 1;
		while (n-- > 0 && std::scanf("%d", &at) == 1)
			route.emplace_back(links.at(at));

		auto *from = zone->create_host("from" + std::to_string(flows), 1)->seal();
		auto *to = zone->create_host("to" + std::to_string(flows), 1)->seal();

		zone->add_route(from->get_netpoint(), to->get_netpoint(), nullptr, nullptr, route, false);
		sg4::Actor::create("flow", from, [flows, from, to, value]() {
			sg4::Comm::sendto(from, to, value);
			std::printf("%d %.12g\n", flows, sg4::Engine::get_clock());
		});
		flows++;
	}
	zone->seal();
	engine.run();
	return 0;
}
