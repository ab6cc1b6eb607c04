# SPDX-License-Identifier: GPL-2.0-or-later
# The tables that relay.sh prints, in Markdown, from relay.json; $unit is what it counts.

def cost: .["\($unit)_per_packet"];
def text: if . == null then "" else round | tostring end;
def row: "| " + join(" | ") + " |";
def rule: "|" + (map("---|") | add);
def is_xdp: endswith("-xdp") or startswith("xdp-");
def plain: .vlan == false and .family == "ipv4" and .counting == false;

# What another path takes with frames as these.
def frame: [.driver, .packet_bytes, .vlan, .family];
def like($path; $all): . as $m
	| $all | map(select(.path == $path and frame == ($m | frame))) | first // null
	| if . then cost else null end;
def less($a; $b): if $a and $b then $a - $b else null end;

# From one server to the next. veth hands over otherwise what XDP sends.
def direct($all):
	like(if .driver == "veth" and (.path | is_xdp) then "direct-xdp" else "direct" end; $all);
def whole($all): less(cost; direct($all));
def bare($all): less(direct($all); like("generator"; $all));
# At XDP the driver does less than its share: it neither makes nor frees an skb. With a tag,
# the generator's device does more.
def net($all): if .vlan or (.path | is_xdp) then null else less(whole($all); bare($all)) end;

def names: {
	"topoopt-skb": "**topoopt**",
	"flowtable": "flowtable",
	"ip-forward": "kernel forwarding",
	"tc-flower": "tc flower, pedit, mirred",
	"ovs": "Open vSwitch kernel datapath",
	"nexthop": "kernel forwarding, nexthop group of two",
	"ip-forward-conntrack": "kernel forwarding with conntrack",
	"topoopt-xdp": "**topoopt, XDP**",
	"xdp-fib": "XDP with the kernel's FIB helper"};

. as $all
| (["veth", "virtio-net-pci", "e1000e", "igb"] | map(select(. as $d | $all | any(.driver == $d)))) as $drivers
| ("",
   (["\($unit) per packet of 64 bytes, without the driver's share"] + $drivers | row),
   ([""] + $drivers | rule),
   (["the driver's share: receiving and sending"] + [$drivers[] as $d
	| [$all[] | select(.path == "direct" and .driver == $d and .packet_bytes == 64 and plain)]
	| first // null | if . then bare($all) | text else "" end] | row),
   (names | to_entries[] as $e
    | [$e.value] + [$drivers[] as $d
	| [$all[] | select(.path == $e.key and .driver == $d and .packet_bytes == 64 and plain
		and .routes == 1000 and .next_hops == (if $e.key == "nexthop" then 2 else 1 end))]
	| first // null | if . then [whole($all), net($all) | values | text] | join(", ") else "" end]
    | select(.[1:] | any(. != "")) | row)),
  ("",
   (["\($unit) per packet of 1500, 4096 bytes"] + $drivers | row),
   ([""] + $drivers | rule),
   (names | to_entries[] as $e
    | [$e.value] + [$drivers[] as $d
	| [$all[] | select(.path == $e.key and .driver == $d and .packet_bytes > 1000)
		| whole($all) | text] | join(", ")]
    | select(.[1:] | any(. != "")) | row)),
  ("",
   (["topoopt, veth: \($unit) per packet", "whole", "without the driver's share", "net of the floor"] | row),
   ([range(4)] | rule),
   ($all[] | select(.driver == "veth" and (.path | startswith("topoopt-")) and .packet_bytes < 1000)
    | (if .path | is_xdp then "xdp" else "skb" end) as $kind
    | [(["\($kind), routes: \(.routes)", if .vlan then "VLAN tag" else empty end,
	 if .family == "ipv6" then "IPv6" else empty end,
	 if .next_hops > 1 then "two next hops" else empty end,
	 if .counting then "counting" else empty end] | join(", ")),
       (whole($all) | text), (net($all) | text),
       (less(cost; like("floor-\($kind)"; $all)) | text)] | row))
