#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# make reproduce: figures that simulate, on a few servers: each claim has a line.

. selftests/unit/cli.sh

cp -r examples "$tmp"
sed -i 's/"servers": 128, "degree": 4/"servers": 4, "degree": 3/; s/"budget": 200/"budget": 4/; s/"25G", .*, "200G"/"200G"/' \
	"$tmp"/examples/papers/topoopt-*.json
sed -i 's/"servers": 432, "job-servers": 16, "degree": 8, "jobs": "5,10,15,20,27", "budget": 200/"servers": 16, "job-servers": 4, "degree": 3, "jobs": "2,4", "budget": 4/; s|("fig14-dlrm", 40), ||; s|("fig14-candle", 20), ||; s/^SHARED_SEEDS = .*/SHARED_SEEDS = (1,)/' \
	"$tmp/examples/papers/reproduce.py"
sed -i 's/^SIP_SERVERS = 64/SIP_SERVERS = 8/; s/in range(7, 14)/in (9, 10)/; s/"megatron")/"resnet50")/' \
	"$tmp/examples/papers/reproduce.py"
sed -i 's/in range(100, 1001, 100)/in (100,)/' "$tmp/examples/papers/reproduce.py"
export TOSIM=$tosim REPRODUCE=$tmp/kept

reproduces() { # FIGURE CLAIMS LINE
	"$tmp/examples/papers/reproduce.py" "$1" >"$tmp/out" 2>"$tmp/err" && [[ ! -s $tmp/err ]] &&
		(($(grep -cE ' (holds|does not hold)( |$)' "$tmp/out") == $2)) &&
		grep -qE "^  $3 " "$tmp/out"
	result $? "$1"
}

reproduces fig12 13 'DLRM: topoopt over ideal +1 +[0-9.]+'
before=$(stat -c %Y.%i "$tmp"/kept/fig12/*)
reproduces fig12 13 'BERT: reconfig over topoopt +> 1 +[0-9.]+'
[[ $(stat -c %Y.%i "$tmp"/kept/fig12/*) == "$before" ]]
result $? "points are kept"
reproduces fig14 6 'ideal over topoopt, mean +1.07 +[0-9.]+'
reproduces fig15 12 'BERT: ocs:1us over topoopt +1 +[0-9.]+'
reproduces themis 0 'transformer-1t: most +1.53 +1.53[0-9]*'
reproduces sip 5 'SiP-OCS over Elect-Flat of half the bandwidth, most +1 +[0-9.]+'

"$tmp/examples/papers/reproduce.py" fig99 >"$tmp/out" 2>"$tmp/err"
(($? == 1)) && grep -qx 'reproduce.py: which of fig11, .*?' "$tmp/err"
result $? "no such figure"

echo "1..$count"
exit $((failed > 0))
