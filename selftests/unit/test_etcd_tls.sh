#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# An etcd of three members with TLS, made as Documentation/etcd.md says, with the page's own
# commands and files, each in a network namespace of its own; and who speaks to it.

set -u
if ! command -v etcd >/dev/null || ! command -v openssl >/dev/null; then
	echo "1..0 # SKIP no etcd or no openssl here"
	exit
fi
if [[ -z ${TLS_INSIDE:-} ]]; then
	unshare --user --map-root-user --net --mount true 2>/dev/null || {
		echo "1..0 # SKIP no namespaces for this user"
		exit
	}
	TLS_INSIDE=1 exec unshare --user --map-root-user --net --mount --pid --fork --kill-child "$0"
fi

toctl=${TOCTL:-$PWD/build/toctl}
guide=Documentation/etcd.md
tmp=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null; wait; rm -rf "$tmp"' EXIT
ip link set lo up
printf '127.0.0.1 localhost\n' >"$tmp/hosts"
mount -t tmpfs tmpfs /run
mount -t proc proc /proc 2>/dev/null	# sanitizers look up their own process
ip link add br0 type bridge
ip link set br0 up
ip addr add 192.0.2.100/24 dev br0
for i in 1 2 3; do
	ip netns add "etcd$i"
	ip link add "port$i" type veth peer name eth0 netns "etcd$i"
	ip link set "port$i" master br0 up
	ip -n "etcd$i" addr add "192.0.2.$i/24" dev eth0
	ip -n "etcd$i" link set eth0 up
	ip -n "etcd$i" link set lo up
	printf '192.0.2.%s etcd%s\n' "$i" "$i" >>"$tmp/hosts"
done
mount --bind "$tmp/hosts" /etc/hosts
number=0 failed=0
check() { # NAME COMMAND...
	local name=$1 output

	shift
	if output=$("$@" 2>&1); then
		echo "ok $((++number)) - $name"
	else
		echo "not ok $((++number)) - $name"
		printf '%s\n' "$output" | tail -n 20 | sed 's/^/# /'
		failed=1
	fi
}
refuses() { # LINE COMMAND...
	local line=$1 output

	shift
	! output=$("$@" 2>&1) && printf '%s\n' "$output" && grep -q -- "$line" <<<"$output"
}

mapfile -d '' -t commands < <(selftests/doc_commands.py etcd "$guide")
mapfile -d '' -t settings < <(selftests/doc_commands.py etcdenv "$guide")
certificates() {
	(cd "$tmp" && bash -eu -c "${commands[0]}" &&
		ls ca.pem {etcd{1,2,3},controller,agent,observer}.{pem,key})
}
member() { # NUMBER
	local -a env

	mapfile -t env < <(sed "/^ETCD_/!d; /^ETCD_INITIAL_CLUSTER=/!s/etcd1/etcd$1/; s/192.0.2.1/192.0.2.$1/
		s|/etc/etcd/|$tmp/|; s|/var/lib/etcd/|$tmp/data-$1-|" <<<"${settings[0]}")
	nsenter --net="/run/netns/etcd$1" env "${env[@]}" etcd >>"$tmp/log-$1" 2>&1 &
}
healthy() {
	(($(ETCDCTL_API=3 etcdctl --cacert "$tmp/ca.pem" --cert "$tmp/controller.pem" \
		--key "$tmp/controller.key" --endpoints https://etcd1:2379 \
		endpoint health --cluster 2>&1 | grep -c 'is healthy') == 3))
}
wait_healthy() {
	for _ in {1..60}; do
		healthy && return
		[[ $(jobs -pr) ]] || break
		sleep .2
	done
	tail -n 5 "$tmp"/log-*
	return 1
}
export TOPOOPT_FABRIC=$tmp/fabric.conf
cat >"$TOPOOPT_FABRIC" <<END
[agents]
timeout = 5s
[shards]
state = etcd
[etcd]
endpoints = https://etcd1:2379,https://etcd2:2379,https://etcd3:2379
cacert = $tmp/ca.pem
cert = $tmp/controller.pem
key = $tmp/controller.key
END
init() { # [OPTION...]
	"$toctl" fabric init-etcd -o "$tmp/passwords" examples/ring-4/cluster.json "$@"
}

check "certificates, as the guide makes them" certificates
for i in 1 2 3; do
	member "$i"
done
check "three members with the guide's settings" wait_healthy
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=other \
	-keyout "$tmp/other.key" -out "$tmp/other.pem" 2>/dev/null
check "another authority's certificates are refused" refuses certificate init --set "etcd.cacert=$tmp/other.pem"
check "so are those that no file names" refuses certificate init --set etcd.cacert=
anybody() { # what a process without the certificate can do to etcd
	curl -sS -m 10 --cacert "$tmp/ca.pem" https://etcd1:2379/v3/maintenance/alarm \
		-d '{"action": "ACTIVATE", "alarm": "NOSPACE", "memberID": "1"}'
}
stranger() { # COMMAND...: fails, as some member says that TLS let nobody in
	local output

	truncate -s 0 "$tmp"/log-{1,2,3}
	! output=$("$@" 2>&1) && printf '%s\n' "$output" &&
		grep -q "client didn't provide a certificate" "$tmp"/log-*
}
check "a process without a certificate raises no alarm" stranger anybody
check "nor does it reach the users" stranger init --set etcd.cert= --set etcd.key=
chmod 644 "$tmp/controller.key"
check "a key that others may read is refused" refuses \
	"etcd.key: $tmp/controller.key: others may read this secret" init
chmod 600 "$tmp/controller.key"
content() { # COMMAND...: no finding
	local output

	output=$("$@" 2>&1)
	local status=$?

	printf '%s\n' "$output"
	((status == 0)) && ! grep -qE 'FAIL|warn' <<<"$output"
}
check "etcd without users: fabric check says so" refuses 'FAIL .*: users: ' "$toctl" fabric check
check "users are made over TLS, and etcd is closed" content init
echo "password-file = $tmp/passwords/controller" >>"$TOPOOPT_FABRIC"
"$toctl" plan --cluster examples/ring-4/cluster.json --job examples/ring-4/job.json --fixed \
	-o "$tmp/plan.json" >/dev/null
look() {
	TOPOOPT_STATE=$tmp/state "$toctl" status "$tmp/plan.json" "$@"
}
check "a fabric is looked at over TLS: nobody is there yet" refuses '0 of 4 reached' look
check "the password goes over TLS alone" refuses 'https' look --set etcd.endpoints=http://etcd1:2379
kept() {
	"$toctl" shard init examples/ring-4/cluster.json &&
		"$toctl" shard add --job examples/ring-4/job.json --fixed one &&
		"$toctl" shard show --json one >"$tmp/shard" &&
		jq -e '.name == "one" and .state == "planned" and (.servers | length == 4)' "$tmp/shard"
}
check "a shard is kept over TLS" kept
check "and shown to nobody behind another authority's certificate" refuses certificate \
	"$toctl" shard show --set "etcd.cacert=$tmp/other.pem"
check "fabric check is content" content "$toctl" fabric check
as_observer() { # COMMAND...
	"$@" --set etcd.user=topoopt/observer --set "etcd.password-file=$tmp/passwords/observer" \
		--set "etcd.cert=$tmp/observer.pem" --set "etcd.key=$tmp/observer.key"
}
check "with an observer, too" content as_observer "$toctl" fabric check
check "who looks" refuses '0 of 4 reached' as_observer look
root() {
	refuses 'FAIL root: user: ' "$toctl" fabric check --set etcd.user=root \
		--set "etcd.password-file=$tmp/passwords/root"
}
check "root is too much for a fabric" root
alarm() { # as anybody can who has a certificate
	curl -sS -m 10 --cacert "$tmp/ca.pem" --cert "$tmp/observer.pem" --key "$tmp/observer.key" \
		https://etcd1:2379/v3/maintenance/alarm \
		-d '{"action": "ACTIVATE", "alarm": "NOSPACE", "memberID": "1"}'
}
check "an observer's certificate is enough for an alarm" alarm
check "fabric check finds it" refuses 'FAIL .*: alarm: NOSPACE of member 1: ' "$toctl" fabric check
check "that of a plan does not end there" refuses 'FAIL .*: alarm: NOSPACE of member 1: ' \
	"$toctl" fabric check "$tmp/plan.json"
check "and a controller names it" refuses 'etcd is full (NOSPACE): toctl fabric check' \
	"$toctl" apply --all "$tmp/plan.json"
disarm() {
	(cd "$tmp" && bash -eu -c "${commands[1]}")
}
check "the guide's commands disarm it" disarm
check "fabric check is content again" content "$toctl" fabric check
echo "1..$number"
exit "$failed"
