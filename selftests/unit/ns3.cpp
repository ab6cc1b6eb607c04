// SPDX-License-Identifier: GPL-2.0-or-later
/* When the last packets of flows arrive, by ns-3; for test_packets_ns3.py. */

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include <ns3/core-module.h>
#include <ns3/drop-tail-queue.h>
#include <ns3/network-module.h>
#include <ns3/point-to-point-channel.h>
#include <ns3/point-to-point-net-device.h>

using namespace ns3;

struct Flow {
	uint32_t packets, size, last, arrived;
	std::vector<uint32_t> links;
};

/* At the head of the payload. */
struct Place {
	uint32_t flow, hop;
};

static std::vector<Ptr<PointToPointNetDevice>> senders;
static std::vector<Flow> flows;

static Ptr<PointToPointNetDevice> device(uint64_t rate)
{
	auto made = CreateObject<PointToPointNetDevice>();
	auto queue = CreateObject<DropTailQueue<Packet>>();

	queue->SetMaxSize(QueueSize("1000000p"));
	made->SetQueue(queue);
	made->SetDataRate(DataRate(rate));
	made->SetAddress(Mac48Address::Allocate());
	CreateObject<Node>()->AddDevice(made);
	return made;
}

static void send(Place place, uint32_t size)
{
	std::vector<uint8_t> bytes(size);

	memcpy(bytes.data(), &place, sizeof(place));
	senders[flows[place.flow].links[place.hop]]->Send(Create<Packet>(bytes.data(), size),
							   Mac48Address::GetBroadcast(), 0x0800);
}

/* Over a link: on to the next, or the end. */
static bool receive(Ptr<NetDevice>, Ptr<const Packet> packet, uint16_t, const Address &)
{
	Place place;

	packet->CopyData(reinterpret_cast<uint8_t *>(&place), sizeof(place));
	Flow &flow = flows[place.flow];
	if (++place.hop < flow.links.size())
		send(place, packet->GetSize());
	else if (++flow.arrived == flow.packets)
		printf("%u %lld\n", place.flow,
		       static_cast<long long>(Simulator::Now().GetPicoSeconds()));
	return true;
}

static void begin(uint32_t index)
{
	const Flow &flow = flows[index];

	for (uint32_t i = 0; i < flow.packets; i++)
		send({ index, 0 }, i + 1 < flow.packets ? flow.size : flow.last);
}

/*
 * Reads lines "l BITS/S PICOSECONDS" for links and "f PACKETS SIZE LAST N LINK..." for flows
 * that all begin at once: payloads of SIZE bytes, the last one of LAST, to which a link adds 2.
 */
int main()
{
	unsigned long long rate, latency;
	char kind;

	Time::SetResolution(Time::PS);
	while (scanf(" %c", &kind) == 1) {
		if (kind == 'l' && scanf("%llu %llu", &rate, &latency) == 2) {
			auto channel = CreateObject<PointToPointChannel>();
			auto receiver = device(rate);

			channel->SetAttribute("Delay", TimeValue(PicoSeconds(latency)));
			senders.push_back(device(rate));
			senders.back()->Attach(channel);
			receiver->Attach(channel);
			receiver->SetReceiveCallback(MakeCallback(receive));
		} else if (kind == 'f') {
			Flow flow = {};
			uint32_t n, link;

			if (scanf("%u %u %u %u", &flow.packets, &flow.size, &flow.last, &n) != 4)
				return 1;
			while (n-- && scanf("%u", &link) == 1)
				flow.links.push_back(link);
			flows.push_back(flow);
			Simulator::Schedule(Seconds(0), begin, flows.size() - 1);
		}
	}
	Simulator::Run();
	Simulator::Destroy();
	return 0;
}
