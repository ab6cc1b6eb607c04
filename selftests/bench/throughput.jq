# SPDX-License-Identifier: GPL-2.0-or-later
# The table that throughput.sh prints, from throughput.json.

def decimals($n): . * pow(10; $n) | round / pow(10; $n);
def ratio($to): if ($to // 0) == 0 then "-" else .value / $to | decimals(3) end;

. as $all
| def of($m; $path; $relays): first($all[]
	| select(.measure == $m.measure and .path == $path and .relays == $relays
		 and (.commits | not)) | .value) // null;
(["measure", "path", "relays", "commits", "median", "lowest", "highest", "unit",
  "of direct", "of ip-forward", "of none committed", "added per relay", "lost", "reordered"]),
(.[] | . as $m
 | (of($m; .path; 0) // of($m; "topoopt"; 0)) as $direct
 | [.measure, .path, .relays, (if .commits then "every 10 ms" else "no" end),
    (.value, (.runs | min, max) | decimals(1)), .unit,
    ratio($direct),
    (if .path == "ip-forward" then "-" else ratio(of($m; "ip-forward"; .relays)) end),
    (if .commits then ratio(of($m; .path; .relays)) else "-" end),
    (if .relays > 0 and .unit == "us" and $direct
     then (.value - $direct) / .relays | decimals(1) else "-" end),
    .lost, .reordered])
| @tsv
