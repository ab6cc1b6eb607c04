#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# toctl as its user meets it: exit statuses, help, completion, manual pages,
# and the commands that need no kernel. test_command_line holds the grammar.

. selftests/unit/cli.sh

# toctl exits with the status and says the line (and a hint when 2) only.
says() { # NAME STATUS LINE ARGUMENTS...
	local hint=''

	[[ $2 == 1 ]] || hint='^see toctl |^toctl: '
	run "$2" "${@:4}" && grep -qxF "$3" "$tmp/err" &&
		[[ ! -s $tmp/out ]] &&
		(($(grep -cvE "${hint:-^$}" "$tmp/err") <= 1))
	result $? "$1"
}

# --- calling it -----------------------------------------------------------

mapfile -t commands < <("$toctl" --json help | jq -r '.commands[].name')
mapfile -t families < <(printf '%s\n' "${commands[@]}" | sed -n 's/ .*//p' | sort -u)

run 2 && grep -q '^usage: toctl' "$tmp/err"
result $? "no command: usage on standard error"
run 0 --help && ((${#commands[@]} >= 40)) && grep -q ' heatmap ' "$tmp/out"
result $? "--help lists the commands"
for command in "${commands[@]}"; do
	# shellcheck disable=SC2086
	run 0 $command --help && grep -q "^usage: toctl $command" "$tmp/out" &&
		grep -q -- '--json' "$tmp/out" && cp "$tmp/out" "$tmp/help" &&
		run 0 help $command && cmp -s "$tmp/out" "$tmp/help"
	result $? "$command --help"
done
for family in "${families[@]}"; do
	run 0 "$family" --help && cp "$tmp/out" "$tmp/help" && run 0 help "$family" &&
		cmp -s "$tmp/out" "$tmp/help" && run 2 "$family" && cmp -s "$tmp/err" "$tmp/help" &&
		diff <(printf '%s\n' "${commands[@]}" | grep "^$family ") \
			<(sed -nE "s/^  ($family [a-z-]*)( .*|$)/\1/p" "$tmp/help") >"$tmp/out"
	result $? "$family alone and with --help lists its commands"
done
run 0 help --json tm record &&
	[[ $(jq -c '[.commands[] | .name, .group, (.options[] | select(.name == "interval") | .type)]' \
		"$tmp/out") == '["tm record","Measure","duration"]' ]]
result $? "help --json: a command as JSON"
run 0 -V && cp "$tmp/out" "$tmp/version" && run 0 --version && cmp -s "$tmp/out" "$tmp/version"
result $? "-V is --version"
for slip in "paln plan" "verfy verify" "tm-merge tm merge" "tm mrge tm merge" "jobb job"; do
	read -r -a words <<<"$slip"
	half=$(((${#words[@]} + 1) / 2))
	[[ $slip == tm-* ]] && half=1
	run 2 "${words[@]:0:half}" && grep -q "; did you mean ${words[*]:half}?\$" "$tmp/err"
	result $? "${words[*]:0:half}: did you mean ${words[*]:half}?"
done
script -qec "stty cols 60; $(printf "$toctl %s --help; " '' "${commands[@]}")" /dev/null \
	</dev/null >"$tmp/out" 2>"$tmp/err"
! tr -d '\r' <"$tmp/out" | grep -v '^usage:' | grep -E '.{60}' >"$tmp/err" &&
	(($(grep -c '^usage:' "$tmp/out") == ${#commands[@]} + 1))
result $? "the help of every command fits a terminal of 60 columns"
says "unknown command" 2 "toctl: unknown command fly; see toctl --help" fly
says "unknown option before the command" 2 \
	"toctl: unknown option --fly; options other than --json follow the command, see toctl --help" --fly
says "unknown option" 2 "toctl heatmap: unknown or ambiguous option --fly" heatmap --fly x
says "an option nearly right" 2 \
	"toctl plan: unknown or ambiguous option --jbo=x; did you mean --job?" plan --jbo=x
says "unknown letter" 2 "toctl heatmap: unknown option -z" heatmap -zh x
says "option with an argument too many" 2 "toctl heatmap: option --load takes no argument" heatmap --load=1 x
says "option without its argument" 2 "toctl heatmap: option --output needs an argument" heatmap x --output
says "operand missing" 2 "toctl heatmap: TM|JOB|PLAN expected" heatmap
says "operand too many" 2 'toctl heatmap: unexpected operand "b"' heatmap a b
says "duration without a unit" 2 \
	'toctl tm record: --interval: expected a duration like 50ms (ns, us, ms, s, m, h), not "50"' \
	tm record --interval 50 x
says "duration that does not fit" 2 \
	'toctl tm record: --interval: expected a duration like 50ms (ns, us, ms, s, m, h), not "99999999999999s"' \
	tm record --interval 99999999999999s x
says "an hour is a duration" 1 "toctl top: $tmp/none.json: No such file or directory" \
	top --interval 1h "$tmp/none.json"
says "more than an hour is too long for it" 2 \
	'toctl top: --interval: expected 100000000 to 3600000000000, not 61m' top --interval 61m x
run 0 plan --job examples/jobs/dlrm-16.json -d 4 --effort 1 --bandwidth 100G -o "$tmp/G.json" &&
	run 0 plan --job examples/jobs/dlrm-16.json -d 4 --effort 1 --bandwidth 100Gbit \
		-o "$tmp/Gbit.json" && cmp -s "$tmp/G.json" "$tmp/Gbit.json"
result $? "100Gbit is 100G"
says "number that is none" 2 \
	'toctl tm record: --count: expected a number, not "-1"' tm record --count -1 x
says "file that is not there" 1 \
	"toctl heatmap: $tmp/none.json: No such file or directory" heatmap "$tmp/none.json"
! "$toctl" version >/dev/full 2>"$tmp/err" && grep -q 'No space left' "$tmp/err"
result $? "full disk behind standard output is an error"
run 0 --json version && python3 -m json.tool <"$tmp/out" >/dev/null &&
	cp "$tmp/out" "$tmp/before" && run 0 version --json && cmp -s "$tmp/out" "$tmp/before"
result $? "--json before and after the command"

run 2 $'\033[31mfly' && ! grep -q $'\033' "$tmp/err"
result $? "an unknown command is printed without control characters"
run 0 help shard --json &&
	jq -e '[.commands[].name | startswith("shard ")] | all and length > 5' "$tmp/out" >/dev/null
result $? "help FAMILY --json has the commands of the family"
jq '.servers[0].ports[0].bandwidth = "1G"' examples/chain-3/plan.json >"$tmp/other.json"
"$toctl" diff examples/chain-3/plan.json "$tmp/other.json" >/dev/full 2>"$tmp/err"
[[ $? == 1 ]] && grep -q 'No space left' "$tmp/err"
result $? "output that is lost is an error also where the status is not 0"

# --- what is read is not overwritten --------------------------------------

cp examples/jobs/dlrm-16.json "$tmp/kept.json"
for input in - /dev/stdin; do
	# shellcheck disable=SC2094 # which is refused
	"$toctl" plan -j "$input" -d 2 -o "$tmp/kept.json" <"$tmp/kept.json" >"$tmp/out" 2>"$tmp/err"
	[[ $? == 2 ]] && cmp -s examples/jobs/dlrm-16.json "$tmp/kept.json"
	result $? "-o does not overwrite standard input, read as $input"
done
run 2 plan -j "$tmp/kept.json" -d 2 -o "$tmp/new" -r "$tmp/./new" && [[ ! -e $tmp/new ]] &&
	grep -q -- '--output and --report are both' "$tmp/err"
result $? "-o and -r are not one new file, by two names"

# --- completion -----------------------------------------------------------

completes() { # NAME WORDS... EXPECTED
	local expected=${*: -1}
	local -a words=("${@:2:$#-2}")

	(
		# shellcheck source=/dev/null
		source <("$toctl" completion bash)
		COMP_WORDS=("${words[@]}") COMP_CWORD=$((${#words[@]} - 1))
		_toctl toctl "${words[-1]}" "${words[-2]}"
		echo "${COMPREPLY[*]}"
	) >"$tmp/out" 2>"$tmp/err"
	[[ $(<"$tmp/out") == "$expected" && ! -s $tmp/err ]]
	result $? "completes $1"
}

completes "commands" toctl hea "heatmap"
completes "commands after an option" toctl --json hea "heatmap"
completes "families once" toctl t "top tm"
completes "words of a family" toctl tm rec "record"
completes "options" toctl heatmap --ou "--output"
completes "options of a family's command" toctl tm record --inter "--interval"
touch "$tmp/plan.json"
completes "files" toctl heatmap "$tmp/pl" "$tmp/plan.json"
completes "files of an option" toctl heatmap --output "$tmp/pl" "$tmp/plan.json"

# What fish offers for a line, without the explanations.
fish_offers() { # LINE EXPECTED
	"$toctl" completion fish >"$tmp/toctl.fish"
	HOME=$tmp fish -c "source $tmp/toctl.fish; complete -C '$1'" 2>"$tmp/err" |
		cut -f 1 >"$tmp/out"
	[[ $(paste -sd ' ' "$tmp/out") == "$2" && ! -s $tmp/err ]]
	result $? "fish completes \"$1\""
}

if command -v fish >/dev/null; then
	fish_offers "toctl hea" "heatmap"
	fish_offers "toctl t" "tm top"
	fish_offers "toctl tm rec" "record"
	fish_offers "toctl tm record --inter" "--interval"
	fish_offers "toctl plan --links s" "simplex"
	fish_offers "toctl verify $tmp/pl" "$tmp/plan.json"
else
	echo "ok $((++count)) - fish completes # SKIP no fish"
fi

# zsh completes at a prompt only, so it gets a terminal and the keys.
zsh_completes() { # NAME KEYS EXPECTED
	python3 - "$toctl" "$tmp" "$2" "$3" <<'PY' >"$tmp/out" 2>"$tmp/err"
import os, pty, re, select, sys, time
toctl, home, keys, expected = sys.argv[1:]
pid, terminal = pty.fork()
if not pid:
    os.environ.update(PS1="> ", HOME=home, TERM="dumb", PATH=os.path.abspath(os.path.dirname(toctl)) + ":" + os.environ["PATH"])
    os.execlp("zsh", "zsh", "-f")
said = b""
def shown():
    return re.sub(rb"\x1b\[[0-9;?]*[a-zA-Z]|\x1b[=>]|\r", b"", said)
def until(pattern):
    global said
    end = time.monotonic() + 60
    while not re.search(pattern, shown()) and time.monotonic() < end:
        if select.select([terminal], [], [], 1)[0]:
            said += os.read(terminal, 4096)
until(rb"> $")
os.write(terminal, b"unsetopt zle; autoload -Uz compinit && compinit -u -D; source <(toctl completion zsh); setopt zle; echo lo''aded\n")
until(rb"\nloaded[^>]*> $")
said = b""
os.write(terminal, keys.encode() + b"\t")
until(re.escape(expected).encode())
os.write(terminal, b"\x03")
print(shown().decode().strip())
os.close(terminal)
PY
	grep -qxF "$3" "$tmp/out"
	result $? "zsh completes $1"
}

if command -v zsh >/dev/null; then
	zsh_completes "commands" "toctl hea" "toctl heatmap"
	zsh_completes "options" "toctl tm record --inter" "toctl tm record --interval"
else
	echo "ok $((++count)) - zsh completes # SKIP no zsh"
fi

# --- manual pages ---------------------------------------------------------

echo 'toctl-fly(8)' >"$tmp/page.scd"
says "a manual page of no command" 1 "toctl help: $tmp/page.scd:1: no command has the page toctl-fly" \
	help --manual "$tmp/page.scd"
if command -v groff >/dev/null; then
	for page in "$(dirname "$toctl")"/man/*.8 "$(dirname "$toctl")"/*.json.5; do
		groff -man -Tutf8 -ww -z "$page" 2>&1
	done >"$tmp/err"
	[[ ! -s $tmp/err ]]
	result $? "manual pages are well-formed"
fi

# --- heatmap --------------------------------------------------------------

cat >"$tmp/job.json" <<'JSON'
{ "name": "a <b> & c", "servers": 4,
  "allreduce": [ { "group": "0-2", "bytes": 3072 } ],
  "mp": [ { "from": "3", "to": "0", "bytes": 16 } ] }
JSON
cat >"$tmp/expected" <<'TEXT'
a <b> & c: demand, bytes per iteration (rows send, columns receive)

      0   2   
   0    ##    
   1      ##  
   2  ##      
   3  ..      

16 B ..::--==++**oo%%## 4.00 KiB, logarithmic; 12.0 KiB in all
TEXT
run 0 heatmap "$tmp/job.json" && diff "$tmp/expected" "$tmp/out" >"$tmp/err"
result $? "heatmap draws rows as sources"
run 0 heatmap --json "$tmp/job.json" &&
	[[ $(jq -c .bytes "$tmp/out") == '[[0,4096,0,0],[0,0,4096,0],[4096,0,0,0],[16,0,0,0]]' ]]
result $? "heatmap --json has the bytes"
run 0 heatmap -o "$tmp/map.svg" "$tmp/job.json" &&
	python3 -c 'import sys, xml.dom.minidom as x
cells = x.parse(sys.argv[1]).getElementsByTagName("title")
assert [c.firstChild.data for c in cells] == [
    "0 to 1: 4.00 KiB", "1 to 2: 4.00 KiB", "2 to 0: 4.00 KiB", "3 to 0: 16 B"]' \
		"$tmp/map.svg" 2>"$tmp/err"
result $? "heatmap -o is XML with a title per cell"
run 0 heatmap --json selftests/unit/formats/tm.json &&
	[[ $(jq -c .bytes "$tmp/out") == '[[0,300,0],[200,0,0],[0,0,0]]' ]]
result $? "heatmap of a traffic matrix"
sed 's/\[200, 150, 50, -4\]/[200, 150, 40, 0]/; s/\[1, 0, 0, 2, 200\]/[1, 0, 0, 2, 190]/' \
	selftests/unit/formats/tm.json >"$tmp/tm.json"
run 0 heatmap --json --load "$tmp/tm.json" &&
	[[ $(jq -c .bytes "$tmp/out") == '[[0,300,0],[200,0,0],[0,0,0]]' ]]
result $? "heatmap --load of a traffic matrix is what links carried"
# A ring of four both ways, 2 * 3/4 of 1 GiB over two directions on each of 8;
# four transfers of 32 MiB over two links each.
run 0 plan --cluster examples/ring-4/cluster.json --job examples/ring-4/job.json \
	--fixed -o "$tmp/ring.json" && run 0 heatmap --json --load "$tmp/ring.json" &&
	[[ $(jq '[.bytes[][]] | add / 1048576' "$tmp/out") == $((8 * 768 + 8 * 32)) ]]
result $? "heatmap --load of a plan"
says "heatmap --load of a job" 1 \
	"toctl heatmap: $tmp/job.json: only a plan or a traffic matrix has link loads" \
	heatmap --load "$tmp/job.json"
says "heatmap --load of one server's recording" 1 \
	"toctl heatmap: selftests/unit/formats/tm-server.json: a recording of b alone has no link load: merge first" \
	heatmap --load selftests/unit/formats/tm-server.json
sed 's/"elapsed_ns": 50000100/"elapsed_ns": 20000000/' selftests/unit/formats/tm.json >"$tmp/tm.json"
run 0 heatmap "$tmp/tm.json" && grep -q 'bytes in 0.02 s' "$tmp/out"
result $? "heatmap of a sample that ended early says how long it was"
run 0 heatmap examples/chain-3/plan.json && grep -q 'nothing is sent' "$tmp/out"
result $? "heatmap of no demand"
run 0 heatmap examples/jobs/hybrid-1024.json && grep -q 'a cell is 15 x 15 servers' "$tmp/out"
result $? "heatmap of more servers than fit"
says "heatmap of a broken file" 1 \
	"toctl heatmap: $tmp/plan.json:1: the file ends early: '[' or '{' expected near end of file" \
	heatmap "$tmp/plan.json"
sed 's/"to": "0"/"to": "4"/' "$tmp/job.json" >"$tmp/bad.json"
says "heatmap of a wrong file" 1 \
	"toctl heatmap: $tmp/bad.json:3: mp[0].to: index 4 is outside 0 to 3" \
	heatmap "$tmp/bad.json"
"$toctl" heatmap - <"$tmp/job.json" >"$tmp/out" 2>"$tmp/err" && cmp -s "$tmp/expected" "$tmp/out"
result $? "heatmap of standard input"

# --- tm merge -------------------------------------------------------------

jq '.samples += [.samples[0] | .start_ns += 50000000 | .end_ns += 50000000]' \
	selftests/unit/formats/tm-server.json >"$tmp/b.tm"
jq '.server = "c" | .ports = [{ name: "eth1", to: "b:eth0", from: "b:eth0" }] |
	.samples[0] += { flows: [], ports: [[0, 0, 0, 0]] }' \
	selftests/unit/formats/tm-server.json >"$tmp/c.tm"
run 0 tm merge --partial -o "$tmp/tm.json" "$tmp/b.tm" "$tmp/c.tm" &&
	grep -q "1 of 2 samples lack a server's part" "$tmp/err"
result $? "tm merge warns of samples that lack a server's part"
run 0 tm merge --json --partial -o "$tmp/tm.json" "$tmp/b.tm" "$tmp/c.tm" &&
	jq -e '.samples == 2 and .absent == 1 and .stale == [] and .spread_ns == 0' \
		"$tmp/out" >/dev/null
result $? "tm merge --json has how many"

jq 'del(.missing)' "$tmp/tm.json" >"$tmp/whole.json"
run 0 tm demand "$tmp/whole.json" && cp "$tmp/out" "$tmp/expected" &&
	grep -q "1 of 2 samples of $tmp/whole.json lack a server's part and are left out" "$tmp/err" &&
	jq '.samples |= .[:1]' "$tmp/whole.json" >"$tmp/first.json" &&
	run 0 tm demand "$tmp/first.json" && cmp -s "$tmp/expected" "$tmp/out"
result $? "tm demand leaves them out"

# FILE, SERVER and sample are named.
jq '.samples += [.samples[0]]' selftests/unit/formats/tm-server.json >"$tmp/twice.tm"
run 1 tm merge -o "$tmp/none" "$tmp/twice.tm" "$tmp/c.tm" &&
	grep -Eqx "toctl tm merge: $tmp/twice.tm:[0-9]+: samples\[1\]: of b: it begins in the same interval as samples\[0\]" "$tmp/err"
result $? "tm merge names a sample that is there twice"
jq '.samples |= reverse' "$tmp/b.tm" >"$tmp/back.tm"
run 1 tm merge -o "$tmp/none" "$tmp/c.tm" "$tmp/back.tm" &&
	grep -Eqx "toctl tm merge: $tmp/back.tm:[0-9]+: samples\[1\]: of b: it begins before samples\[0\]" "$tmp/err"
result $? "tm merge names a sample that is in reverse"

# b and c send each other 1000 bytes an interval; their NICs tell so each tenth.
stale() { # SERVER PEER PORT PEER-PORT INDEX
	jq -n --arg server "$1" --arg peer "$2" --arg port "$3" --arg to "$2:$4" \
		--argjson at "$5" '{
		format: "topoopt-tm", version: 1, job: "j", plan: "0123456789abcdef",
		interval_ns: 50000000, classes: ["roce", "tcp", "other"], servers: ["b", "c"],
		server: $server, generation: 1, ports: [{ name: $port, to: $to, from: $to }],
		samples: [range(40) | { start_ns: (. * 50000000), end_ns: ((. + 1) * 50000000),
			elapsed_ns: 50000000, spread_ns: (. * 1000), lost: [0, 0],
			flows: [[-1, 0, $at, 1 - $at, 1, 1, 1000], [0, -1, 1 - $at, $at, 1, 1, 1000]],
			ports: [if . % 10 == 9 then [10, 10000, 10, 10000] else [0, 0, 0, 0] end] }] }'
}
stale b c eth0 eth1 0 >"$tmp/b.tm"
stale c b eth1 eth0 1 >"$tmp/c.tm"
run 0 tm merge -o "$tmp/tm.json" "$tmp/b.tm" "$tmp/c.tm" &&
	grep -qF "counters that stand still while bytes pass: b:eth0 c:eth1; 4 samples remain" "$tmp/err" &&
	grep -qF "counters of a server were read within 0.039 ms" "$tmp/out" &&
	jq -e '[.samples[] | .elapsed_ns == 500000000 and
		[.pairs[] | .[4]] == [10000, 10000]] == [true, true, true, true]' "$tmp/tm.json" >/dev/null
result $? "tm merge names NICs that are stale, and joins samples"
run 0 tm merge --json -o "$tmp/tm.json" "$tmp/b.tm" "$tmp/c.tm" &&
	jq -e '.stale == ["b:eth0", "c:eth1"] and .spread_ns == 39000' "$tmp/out" >/dev/null &&
	jq -e '.stale == ["b:eth0", "c:eth1"] and .samples[3].spread_ns == 39000' "$tmp/tm.json" >/dev/null &&
	run 0 tm show "$tmp/tm.json"
result $? "tm merge --json has them, and tm.json"

# --- tm compare -----------------------------------------------------------

fingerprint() { # FILE: FNV-1a, 64 bits
	local hash=$((0xcbf29ce484222325)) byte

	for byte in $(od -An -v -tu1 "$1"); do
		((hash = (hash ^ byte) * 0x100000001b3))
	done
	printf '%016x' "$hash"
}

# 1 MB from s0 to s1 and 2 MB from s1 to s2 are planned; so many are measured.
measured() { # BYTES BYTES [FINGERPRINT]
	jq -n --argjson a "$1" --argjson b "$2" --arg plan "${3:-$mark}" '{
		format: "topoopt-tm", version: 1, job: "chain-3", plan: $plan,
		interval_ns: 50000000, classes: ["roce", "tcp", "other"],
		servers: ["s0", "s1", "s2"], links: [],
		samples: [{ start_ns: 50000000, end_ns: 100000000, elapsed_ns: 50000000,
			absent: 0, lost: [0, 0], links: [],
			pairs: [[0, 1, 1, 9, $a], [1, 2, 1, 9, $b]] }] }' >"$tmp/tm.json"
}

jq -c '.demand.mp = [[0, 1000000, 0], [0, 0, 2000000], [0, 0, 0]]' examples/chain-3/plan.json \
	>"$tmp/chain.json"
mark=$(fingerprint "$tmp/chain.json")
measured 1100000 1800000
run 0 tm compare --slack 0 "$tmp/chain.json" "$tmp/tm.json" &&
	grep -qx 'every pair within 10 % and 0 bytes' "$tmp/out"
result $? "tm compare: what is tolerated"
run 0 tm compare --json --slack 0 "$tmp/chain.json" "$tmp/tm.json" &&
	jq -e '. == { planned: [[0, 1000000, 0], [0, 0, 2000000], [0, 0, 0]],
		measured: [[0, 1100000, 0], [0, 0, 1800000], [0, 0, 0]],
		pairs_beyond: 0 }' "$tmp/out" >/dev/null
result $? "tm compare --json"
jq '.servers = [range(40) | "s\(.)"] | .samples[].pairs = [range(40) | [., (. + 1) % 40, 0, 9, 123456789]]' \
	"$tmp/tm.json" >"$tmp/many.json"
script -qec "stty cols 60; $toctl tm show $tmp/many.json" /dev/null </dev/null >"$tmp/out" 2>"$tmp/err"
! tr -d '\r' <"$tmp/out" | grep -E '.{61}' >"$tmp/err" &&
	grep -q '^total 4938.3 MB in 50 ms, 790.1 Gbit/s' "$tmp/out"
result $? "tm show of forty servers fits a terminal of 60 columns"
run 0 tm show --json "$tmp/tm.json" &&
	jq -e '.bytes == [[0, 1100000, 0], [0, 0, 1800000], [0, 0, 0]]' "$tmp/out" >/dev/null
result $? "tm show --json"
run 1 tm compare --slack 0 --tolerance 5 "$tmp/chain.json" "$tmp/tm.json" &&
	grep -qx 'toctl tm compare: 2 pairs differ by more than 5 % and 0 bytes, most s1 -> s2: planned 2000000, measured 1800000' "$tmp/err"
result $? "tm compare: a pair out of tolerance"
measured 1100001 2000000
run 1 tm compare --slack 0 "$tmp/chain.json" "$tmp/tm.json" &&
	run 0 tm compare --slack 1 "$tmp/chain.json" "$tmp/tm.json"
result $? "tm compare: a byte out of tolerance, and slack for it"
measured 2000000 4000000
run 1 tm compare "$tmp/chain.json" "$tmp/tm.json" &&
	run 0 tm compare --iterations 2 "$tmp/chain.json" "$tmp/tm.json"
result $? "tm compare: iterations"
measured 20000 40000
run 0 tm compare --slack 0 --iterations 0.02 "$tmp/chain.json" "$tmp/tm.json"
result $? "tm compare: a fraction of an iteration"
measured 1000000 2000000 0123456789abcdef
says "tm compare: measured under another plan" 1 \
	"toctl tm compare: $tmp/tm.json was not measured under the plan $tmp/chain.json" \
	tm compare "$tmp/chain.json" "$tmp/tm.json"

echo "1..$count"
((!failed))
