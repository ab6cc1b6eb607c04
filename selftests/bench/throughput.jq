# SPDX-License-Identifier: GPL-2.0-or-later
# The table that throughput.sh prints, from throughput.json.

def round($n): . * $n | floor / $n;
def of($path; $relays; $all): . as $m
	| $all | map(select(.measure == $m.measure and .path == $path and .relays == $relays
		and (.commits | not))) | first // empty | .value;
def ratio(f): . as $m | [f] | if . == [] or .[0] == 0 then "-" else $m.value / .[0] | round(100) end;

. as $all
| (["measure", "path", "relays", "commits", "median", "lowest", "highest", "unit",
    "of direct", "of ip-forward", "of none committed", "added per relay", "lost", "reordered"]),
  (.[] | . as $m
   | [.measure, .path, .relays, (if .commits then "every 10 ms" else "no" end),
      (.value | round(10)), (.runs | min | round(10)), (.runs | max | round(10)), .unit,
      ratio(of("direct"; 0; $all)),
      (if .path == "topoopt" then ratio(of("ip-forward"; $m.relays; $all)) else "-" end),
      (if .commits then ratio(of($m.path; $m.relays; $all)) else "-" end),
      (if .relays > 0 and .unit == "us" then
	([of("direct"; 0; $all)] | if . == [] then "-" else ($m.value - .[0]) / $m.relays | round(10) end)
       else "-" end),
      .lost, .reordered])
| @tsv
