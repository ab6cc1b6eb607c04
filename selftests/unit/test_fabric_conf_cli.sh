#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Where the fabric is: toctl fabric show, use and check, and --set of other commands.

. selftests/unit/cli.sh

export HOME=$tmp/home XDG_CONFIG_HOME='' TOPOOPT_FABRIC=''
mkdir "$HOME"
chmod 755 "$tmp"
cat >"$tmp/b.conf" <<'CONF'
[agents]
timeout = 2s

[shards]
state = /srv/cluster
CONF
chmod 644 "$tmp/b.conf"

run 0 fabric show && [[ $(<"$tmp/out") == "no file: all keys have their defaults" ]]
result $? "fabric show without a file"
run 0 fabric show --config "$tmp/b.conf" --set etcd.prefix=/x &&
	diff - "$tmp/out" >"$tmp/err" <<TEXT
$tmp/b.conf (--config)
  agents.timeout       2s
  etcd.prefix          /x (--set)
  shards.state         /srv/cluster
TEXT
result $? "fabric show names the file and each key's origin"
run 0 fabric show --json -v --set etcd.prefix=/x && jq -e '.file == null and
	(.keys | map(select(.key == "etcd.prefix"))[0] == { key: "etcd.prefix", value: "/x", from: "--set" }) and
	(.keys | map(select(.key == "agents.timeout"))[0].from == "default")' "$tmp/out" >/dev/null
result $? "fabric show --json"

link=$HOME/.config/topoopt/fabric.conf
run 0 fabric use "$tmp/b.conf" && [[ $(readlink "$link") == "$(realpath "$tmp/b.conf")" ]] &&
	run 0 fabric show && grep -qxF "$link (user)" "$tmp/out"
result $? "fabric use makes a file the user's"
cp "$tmp/b.conf" "$tmp/c.conf"
run 0 fabric use "$tmp/c.conf" && [[ $(readlink "$link") == "$(realpath "$tmp/c.conf")" ]]
result $? "fabric use replaces a link"
echo 'endpoint = http://x' >"$tmp/bad.conf"
run 1 fabric use "$tmp/bad.conf" && grep -q 'bad.conf:1: ' "$tmp/err" &&
	[[ $(readlink "$link") == "$(realpath "$tmp/c.conf")" ]]
result $? "fabric use refuses a file that is not valid, and keeps the link"
rm "$link"
cp "$tmp/b.conf" "$link"
run 1 fabric use "$tmp/c.conf" && grep -q 'is a file, no link' "$tmp/err" && cmp -s "$tmp/b.conf" "$link"
result $? "fabric use keeps a file that is in its place"
rm "$link"

run 0 fabric check && grep -q '^ok   no file: found: ' "$tmp/out"
result $? "fabric check of nothing"
touch "$tmp/secret"
chmod 644 "$tmp/secret"
run 1 fabric check --set etcd.endpoints=http://127.0.0.1:1 --set etcd.password-file="$tmp/secret" &&
	grep -q '^FAIL etcd: files: etcd.password-file: .*others may read' "$tmp/out"
result $? "fabric check finds a secret that others may read"
# A proxy would get the password in clear.
python3 - "$tmp/proxy" <<'PY' &
import socket, sys
listener = socket.create_server(("127.0.0.1", 0))
with open(sys.argv[1] + ".new", "w") as file:
    file.write(str(listener.getsockname()[1]))
__import__("os").rename(sys.argv[1] + ".new", sys.argv[1])
listener.accept()
open(sys.argv[1] + ".asked", "w").close()
PY
proxy=$!
until [[ -e $tmp/proxy ]]; do sleep 0.1; done
http_proxy=http://127.0.0.1:$(<"$tmp/proxy") run 3 fabric check --set etcd.endpoints=http://127.0.0.1:1 &&
	[[ ! -e $tmp/proxy.asked ]] && kill -0 $proxy
result $? "etcd is asked without a proxy of the environment"
kill $proxy
run 1 fabric check --set etcd.cacert="$tmp/none" &&
	grep -q '^FAIL etcd: files: etcd.cacert: .*No such file' "$tmp/out"
result $? "fabric check finds a file that is missing"
run 1 fabric check --set shards.state=etcd && grep -q '^FAIL shards: state: ' "$tmp/out"
result $? "fabric check finds a state in an etcd that nobody names"
run 3 fabric check --set etcd.endpoints=http://127.0.0.1:1 &&
	grep -q '^FAIL http://127.0.0.1:1: etcd: ' "$tmp/out"
result $? "fabric check finds an etcd that is away"
run 3 fabric check examples/chain-3/plan.json --set 'agents.command=true {}' &&
	[[ $(grep -c '^FAIL s[0-2]: agent: ' "$tmp/out") == 3 ]]
result $? "fabric check names the servers that do not answer"

for command in "status examples/chain-3/plan.json" "verify examples/chain-3/plan.json"; do
	# shellcheck disable=SC2086
	run 2 $command --set etcd.endpoint=http://x && [[ $(head -n 1 "$tmp/err") == \
		"toctl ${command%% *}: --set etcd.endpoint: unknown key; did you mean etcd.endpoints?" ]]
	result $? "${command%% *} --set with an unknown key"
done
echo 'x' >"$tmp/bad.conf"
run 3 clear --config "$tmp/bad.conf" --all examples/chain-3/plan.json &&
	grep -q "^toctl clear: $tmp/bad.conf:1: " "$tmp/err"
result $? "a command names the line of a file that is not valid"
run 3 shard show --set shards.state=etcd && grep -q 'etcd.endpoints is not set' "$tmp/err"
result $? "the state of shards is in etcd, and nobody says where that is"

# --- the example ---

install -m 644 examples/fabric.conf "$tmp/example.conf"
run 0 fabric show --json --config "$tmp/example.conf" &&
	jq -e '.keys | all(.from == "default")' "$tmp/out" >/dev/null
result $? "examples/fabric.conf sets nothing as it is"
sed -i 's/^;\([a-z-]* = \)/\1/' "$tmp/example.conf"
run 0 fabric show --json --config "$tmp/example.conf" &&
	jq -e '.keys | all(.from == "file")' "$tmp/out" >/dev/null
result $? "and has all keys to uncomment"
run 1 fabric init-etcd -o "$tmp/passwords" examples/ring-4/cluster.json &&
	grep -qxF 'toctl fabric init-etcd: etcd.endpoints is not set: see toctl fabric show' "$tmp/err"
result $? "users of an etcd that nobody names"
run 0 discover --set etcd.endpoints=http://127.0.0.1:1
result $? "discover without names looks at this machine, also where fabric.conf names etcd"

run 3 status --config "$tmp/none.conf" examples/chain-3/plan.json
result $? "status without its fabric.conf could not tell"
printf '[etcd]\nuser = \377\n' >"$tmp/bad.conf"
run 3 fabric show --config "$tmp/bad.conf" && grep -q "bad.conf:2: .*no UTF-8" "$tmp/err"
result $? "a value that is no UTF-8"

# files that say where the fabric is are not written
for option in "--config $tmp/b.conf" "--set switches.allow=$tmp/b.conf"; do
	cp "$tmp/b.conf" "$tmp/kept"
	# shellcheck disable=SC2086
	run 2 init ring a b c d --ports e0,e1 --offline -o "$tmp/b.conf" $option &&
		grep -q 'would overwrite' "$tmp/err" && cmp -s "$tmp/b.conf" "$tmp/kept"
	result $? "-o would overwrite the file of ${option%% *}"
done
cp "$tmp/b.conf" "$tmp/kept"
TOPOOPT_FABRIC=$(realpath "$tmp/b.conf") run 2 init ring a b c d --ports e0,e1 --offline -o "$tmp/b.conf" &&
	cmp -s "$tmp/b.conf" "$tmp/kept"
result $? "-o would overwrite the file of \$TOPOOPT_FABRIC"

if ((!EUID)); then
	mkdir -p "$tmp/other/.config" "$tmp/target"
	chown -R nobody "$tmp/other"
	ln -s "$tmp/target" "$tmp/other/.config/topoopt"
	HOME=$tmp/other run 1 fabric use "$tmp/c.conf" && grep -q 'belongs to another user' "$tmp/err" &&
		[[ -z $(ls -A "$tmp/target") ]]
	result $? "fabric use makes no link in the home of another user"
fi

echo "1..$count"
((!failed))
