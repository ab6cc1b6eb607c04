#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""toctl clear --all through more agents than files may be open at first, which
a shell plays, and what becomes of agents that do not answer, or say more than they may.

	test_fabric_pipe.py			the test
	test_fabric_pipe.py replies LENGTH	an agent whose replies are so long
	test_fabric_pipe.py errors FILE		one that only writes to standard error; FILE has
						how many bytes it could
	test_fabric_pipe.py late DIR SERVER	one that hears s2 until DIR/silent is there, or s2
						itself, which answers when DIR/answer is there
"""

import json
import os
import resource
import shlex
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, "selftests/unit")
from tap import done, report  # noqa: E402

SELF = os.path.abspath(__file__)
TOCTL = os.path.abspath(os.environ.get("TOCTL", "build/toctl"))
MANY, FEW = 600, 40
SOFT = 1024
REPLY_MAX = 65536 * 64 + (64 << 10) + 80 * 2	# TO_REPLY_MAX of two servers
ERRORS_MAX = 1 << 20	# TO_AGENT_ERRORS_MAX
REPLY = r'{"id":\1,"ok":true,"generation":0,"staged":false,"live":[]}'
ANSWERS = rf"""exec sed -u "s/.*\"id\":\([0-9]*\).*/$1/" """


def shell(script):
    """A command that runs @script, which has the server's name in $0 and a reply in $1."""
    return f"sh -c {shlex.quote(script)} {{}} {shlex.quote(REPLY)}"


def plan(path, n):
    with open(path, "w", encoding="utf-8") as file:
        json.dump({
            "format": "topoopt-plan", "version": 1, "job": "test", "seed": 1,
            "link_mode": "duplex", "demand": {"servers": n}, "links": [], "cross_connects": [],
            "optical_switches": [{"name": "ocs0", "ports": n}],
            "servers": [{"name": f"s{i}", "ipv4": f"10.0.{i // 250}.{i % 250 + 1}", "ports": [
                {"name": "eth0", "mac": f"02:00:00:00:{i // 256:02x}:{i % 256:02x}",
                 "bandwidth": 10**9, "optical_switch": "ocs0", "optical_port": i + 1}]}
                        for i in range(n)],
            "tables": [{"server": f"s{i}", "groups": [], "routes": [], "pairs": []}
                       for i in range(n)]}, file)
    return path


def clear(path, command, timeout, hard=None):
    """toctl clear on all servers of a plan, which may have SOFT open files."""
    limits = (SOFT, hard or resource.getrlimit(resource.RLIMIT_NOFILE)[1])
    return subprocess.Popen(
        (TOCTL, "clear", "--all", "--set", f"agents.timeout={timeout}",
         "--set", f"agents.command={command}", path),
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, limits))


def lines(path):
    if not os.path.exists(path):
        return []
    with open(path, encoding="ascii") as file:
        return file.read().split()


def wait_for(condition):
    deadline = time.monotonic() + 60
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.05)
    return condition()


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def many(tmp):
    path = plan(f"{tmp}/many.json", MANY)
    run = clear(path, shell(f"ulimit -Sn >>{tmp}/limits; {ANSWERS}"), "60s")
    out = run.communicate()[0]
    report(run.returncode == 0 and out == f"cleared on all {MANY} servers\n",
           f"{MANY} agents, and {SOFT} open files at first", out)
    report(lines(f"{tmp}/limits") == [str(SOFT)] * MANY, "commands get the old limit",
           set(lines(f"{tmp}/limits")))
    run = clear(path, shell(ANSWERS), "60s", hard=SOFT)
    out = run.communicate()[0]
    report(run.returncode == 1 and out ==
           f"toctl clear: {MANY} agents need {2 * MANY + 32} open files, and {SOFT} are the hard "
           "limit (ulimit -Hn, LimitNOFILE= of a unit)\n", "a hard limit that is too low", out)


def lowered(tmp):
    """The limit falls while agents are waited for: no system call waits for them any more."""
    run = clear(plan(f"{tmp}/few.json", FEW),
                shell("(while echo wait >&2; do sleep 0.1; done) </dev/null >/dev/null & "
                      f"echo >>{tmp}/started $0; exec cat >/dev/null"), "60s")
    wait_for(lambda: len(lines(f"{tmp}/started")) == FEW)
    start = time.monotonic()
    resource.prlimit(run.pid, resource.RLIMIT_NOFILE, (16, 1024))
    out = run.communicate()[0]
    report(run.returncode == 1 and
           out == "toctl clear: waiting for the agents: Invalid argument\n",
           "waiting fails: told", out)
    report(time.monotonic() - start < 40, "and at once")


def silent(tmp):
    """Agents that neither answer nor end are killed, with what they have started."""
    run = clear(plan(f"{tmp}/two.json", 2), shell(f"sleep 1000 & echo $! >>{tmp}/sleeps; wait"),
                "1s")
    out = run.communicate()[0]
    report(run.returncode == 1 and "s0: the agent does not answer" in out, "silent agents", out)
    pids = lines(f"{tmp}/sleeps")
    report(len(pids) == 2 and wait_for(lambda: not any(map(alive, pids))),
           "nothing of them is left", pids)


def mixed(tmp):
    """One server has a module without checks, one an agent that knows nothing of them."""
    path = plan(f"{tmp}/mixed.json", 4)
    with open(path, encoding="utf-8") as file:
        document = json.load(file) | {"checks": {"interval": "10ms", "unable": ["s3"]}}
    with open(path, "w", encoding="utf-8") as file:
        json.dump(document, file)
    for i, more in enumerate(('"protocol":2,"features":["checks"],',
                              '"protocol":2,"features":[],', "",
                              '"protocol":2,"features":[],')):
        with open(f"{tmp}/reply.s{i}", "w", encoding="utf-8") as file:
            file.write(REPLY.replace('"generation":0', f'{more}"generation":5'))
    agent = shell(f'tee -a {tmp}/asked.$0 | {ANSWERS.removeprefix("exec ")}'
                  .replace("/$1/", f"/$(cat {tmp}/reply.$0)/"))
    run = subprocess.run((TOCTL, "apply", "--all", "--set", f"agents.command={agent}", path),
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False,
                         env=os.environ | {"TOPOOPT_STATE": f"{tmp}/state"})
    report(run.returncode == 0 and "no continuity checks, links follow light: s1, s2; update toctl "
           "and the module there\n" in run.stderr, "servers without checks are named", run)
    for i in range(4):
        with open(f"{tmp}/asked.s{i}", encoding="utf-8") as file:
            staged = [r for r in map(json.loads, file) if r["op"] == "stage"]
        report(len(staged) == 1 and "checks" not in json.loads(staged[0]["cluster"]) and
               staged[0]["rest"] == {"checks": {"interval": "10ms", "unable": ["s1", "s2", "s3"]}},
               f"s{i} gets the plan as any agent reads it, and who has none", staged)


def processor_time():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def mute(tmp):
    """Agents that close what they say nothing on."""
    path = plan(f"{tmp}/mute.json", 2)
    before = processor_time()
    out = clear(path, shell("exec cat >/dev/null 2>&1"), "2s").communicate()[0]
    used = processor_time() - before
    report("s0: the agent does not answer" in out, "agents without standard error", out)
    report(used < 0.5, "cost no processor time", used)

    start = time.monotonic()
    run = clear(path, shell(f"echo $$ >>{tmp}/shells; exec >&- <&-; sleep 40"), "2s")
    out = run.communicate()[0]
    report(run.returncode == 1 and "s0: the agent closed its output and did not end" in out,
           "agents that close their output", out)
    report(time.monotonic() - start < 20, "are not waited for", time.monotonic() - start)
    pids = lines(f"{tmp}/shells")
    report(pids and wait_for(lambda: not any(map(alive, pids))), "and are killed", pids)


def agent_replies(length):
    for line in sys.stdin:
        reply = json.dumps({"id": json.loads(line)["id"], "ok": True, "generation": 0,
                            "staged": False, "live": [], "comment": ""})
        print(reply[:-2] + "x" * (length - len(reply) - 1) + '"}', flush=True)


def agent_errors(path):
    text, written = b"x" * 4095 + b"\n", 0
    with open(path, "w", encoding="ascii") as file:
        while True:
            written += os.write(2, text)
            os.pwrite(file.fileno(), b"%d" % written, 0)


def agent_late(path, server):
    """Notes the operations that it was asked for in DIR/ops-SERVER, and s2 its answers, too."""
    for line in sys.stdin:
        request = json.loads(line)
        with open(f"{path}/ops-{server}", "a", encoding="ascii") as file:
            file.write(f"{time.monotonic()} {request['op']}\n")
        reason = "silent" if os.path.exists(f"{path}/silent") else "heard"
        reply = {"id": request["id"], "ok": True, "generation": 1, "staged": False,
                 "live": ["eth0"], "peers": [
                     {"port": "eth0", "server": "s2", "server_port": "eth0", "reason": reason,
                      "mac": "02:00:00:00:00:02"}]}
        while server == "s2" and not os.path.exists(f"{path}/answer"):
            time.sleep(0.01)
        with open(f"{path}/answers-{server}", "a", encoding="ascii") as file:
            file.write(f"{time.monotonic()}\n")
        print(json.dumps(reply), flush=True)


def late(tmp):
    """An agent that hangs is waited for while a neighbour hears its server, and no longer."""
    for word in ("silent", "answer"):
        path = f"{tmp}/late-{word}"
        os.mkdir(path)
        run = subprocess.Popen(
            (TOCTL, "run", "--dry-run", "--interval", "200ms", "--set", "agents.timeout=60s",
             "--set", f"agents.command={sys.executable} {SELF} late {path} {{}}",
             plan(f"{path}/plan.json", 3)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True)

        def first(server):
            """When SERVER was asked for something else than hello, 0: never."""
            times = [line.split() for line in open(f"{path}/ops-{server}", encoding="ascii")]
            return next((float(at) for at, op in times if op != "hello"), 0)

        wait_for(lambda: os.path.exists(f"{path}/ops-s2"))
        # others answer for some looks, and are asked again
        wait_for(lambda: len(lines(f"{path}/ops-s0")) >= 6)
        report(not first("s0"), "an agent whose server is heard is waited for", lines(f"{path}/ops-s0"))
        event = time.monotonic()
        open(f"{path}/{word}", "w", encoding="ascii").close()
        wait_for(lambda: first("s0"))
        took = first("s0") - event
        if word == "silent":
            report(0 < took < 30 and not lines(f"{path}/answers-s2"),
                   "one whose server nobody hears is not", f"{took} s")
        else:
            report(0 < float(lines(f"{path}/answers-s2")[0]) < first("s0"),
                   "until it answers", lines(f"{path}/answers-s2"))
        run.terminate()
        open(f"{path}/answer", "w", encoding="ascii").close()
        run.communicate()


def replies(tmp):
    """As long as they may be, and longer by one byte."""
    path = plan(f"{tmp}/replies.json", 2)
    run = clear(path, f"{sys.executable} {SELF} replies {REPLY_MAX} {{}}", "60s")
    out = run.communicate()[0]
    report(run.returncode == 0 and out == "cleared on all 2 servers\n",
           "replies as long as they may be", out)
    run = clear(path, f"{sys.executable} {SELF} replies {REPLY_MAX + 1} {{}}", "60s")
    out = run.communicate()[0]
    report(run.returncode == 1 and out.count("\n") == 1 and
           f"s0: faulty agent: it sent {REPLY_MAX} bytes that are no reply" in out,
           "longer by one byte: the agent is faulty", out)


def endless_errors(tmp):
    """Nobody reads them all, nor keeps more than a line."""
    path = plan(f"{tmp}/errors.json", 2)
    out = clear(path, f"{sys.executable} {SELF} errors {tmp}/written-{{}}",
                "3s").communicate()[0]
    written = int(lines(f"{tmp}/written-s0")[0])
    # of two requests, and what is in the pipe
    report(ERRORS_MAX < written <= 2 * ERRORS_MAX + 2 * 65536,
           "what an agent says on standard error is heard up to a bound", written)
    report("s0: the agent does not answer: xxx" in out and len(out) < 1000,
           "and the last line is told", out[:300])


def clean_environment(tmp):
    """Agents get no password of etcd, and what ssh needs."""
    path = plan(f"{tmp}/environment.json", 2)
    os.environ.update(TOPOOPT_ETCD_PASSWORD="secret", SSH_AUTH_SOCK="/agent")
    out = clear(path, shell(f"env >{tmp}/environment-$0; {ANSWERS}"), "60s").communicate()[0]
    del os.environ["TOPOOPT_ETCD_PASSWORD"], os.environ["SSH_AUTH_SOCK"]
    found = lines(f"{tmp}/environment-s0")
    report(found and not any("secret" in line for line in found), "an agent gets no secret", out)
    report("SSH_AUTH_SOCK=/agent" in found and any(line.startswith("PATH=") for line in found),
           "and what ssh needs", found)


def unasked(tmp):
    """An event that an agent tells in the breath of a reply leaves the next reply whole."""
    path = plan(f"{tmp}/unasked.json", 2)
    script = ANSWERS.replace("$1", r"""$1\n{\"event\":\"state\"}""")
    child = clear(path, shell(f"tee {tmp}/asked-$0 | {script}"), "2s")
    out = child.communicate()[0]
    asked = len(open(f"{tmp}/asked-s0", encoding="ascii").readlines())
    report(child.returncode == 0 and asked > 1, "events beside replies", f"{out}{asked} requests")


if sys.argv[1:2] == ["replies"]:
    sys.exit(agent_replies(int(sys.argv[2])))
if sys.argv[1:2] == ["errors"]:
    sys.exit(agent_errors(sys.argv[2]))
if sys.argv[1:2] == ["late"]:
    sys.exit(agent_late(*sys.argv[2:]))
with tempfile.TemporaryDirectory() as directory:
    many(directory)
    lowered(directory)
    silent(directory)
    mixed(directory)
    late(directory)
    mute(directory)
    replies(directory)
    endless_errors(directory)
    clean_environment(directory)
    unasked(directory)
done()
