# SPDX-License-Identifier: GPL-2.0-or-later
# The table that relay.sh prints, from relay.json; $unit is what it counts.

def cost: .["\($unit)_per_packet"];
def round: . * 10 | floor / 10;
def kind: if .path | endswith("-xdp") or startswith("xdp-") then "xdp" else "skb" end;

# The frame of a measurement, for finding its floor, its base and its rivals.
def frame: [.packet_bytes, .vlan, .family];
def like($path; $all): . as $m
	| $all | map(select(.path == $path and frame == ($m | frame))) | first // empty | cost;
def net($of; $all): . as $m
	| [like("\($of)-\(kind)"; $all)]
	| if . == [] then null else ($m | cost) - first end;
def text: if . == null then "-" else round | tostring end;

. as $all
| (["path", "bytes", "vlan", "routes", "next hops", "counting", $unit,
    "net of floor", "net of base", "ratio to topoopt", "growth with routes"]),
  (.[] | . as $m
   | (net("floor"; $all)) as $net
   | ($all | map(select(.path == "topoopt-\($m | kind)" and .routes == $m.routes
	and .next_hops == $m.next_hops and (.counting | not) and frame == ($m | frame))) | first) as $ours
   | ($all | map(select(.path == $m.path and .routes < $m.routes
	and frame == ($m | frame) and .next_hops == $m.next_hops
	and .counting == $m.counting)) | min_by(.routes)) as $fewer
   | [.path, .packet_bytes,
      (if .vlan then "yes" else "no" end) + (if .family == "ipv6" then " IPv6" else "" end),
      .routes, .next_hops, (if .counting then "yes" else "no" end), (cost | round), ($net | text),
      (net("base"; $all) | text),
      (if $net == null or $ours == null or (.path | test("^(floor|base|topoopt)-")) then "-"
       else ($ours | net("floor"; $all)) as $o | "\($net / $o * 10 | floor / 10) x" end),
      (if $fewer then "\(cost - ($fewer | cost) | round) since \($fewer.routes)" else "-" end)])
| @tsv
