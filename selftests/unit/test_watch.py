#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""toctl watch on six servers whose agents say what the test has them say: the page over
HTTP, its events, who may ask, and, where there is Chromium, what people see."""

import atexit
import base64
import contextlib
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

sys.path.insert(0, "selftests/unit")
from events import PATIENCE, Stream, free_port  # noqa: E402
from tap import done, report, wait_for  # noqa: E402

TOCTL = os.environ.get("TOCTL", "build/toctl")
TOKEN = "correct-horse"

# Each look finds the server a second later, and s1 has sent 10 GB more by eth0 in that time.
AGENT = r"""looks=0
while IFS= read -r request; do
	id=${request##*'"id":'} id=${id%%[,\}]*} looks=$((looks + 1))
	[[ -e DIR/gone-$1 ]] && exit
	printf '{"id":%s,"ok":true,"protocol":2,"generation":7,"staged":false,"live":[],' "$id"
	printf '"time_ns":%s000000000,"device":4,"backups":0,"counters":{},"ports":[' $looks
	for i in 0 1 2 3; do
		sent=$looks live=true
		[[ $1 == s1 && $i == 0 ]] && sent=$((looks * 10000000000))
		[[ -e DIR/dark-$1-$i ]] && live=false
		printf '%s{"name":"eth%s","live":%s,"rx_bytes":1,"tx_bytes":%s,"counters":{}}' \
			"$([[ $i == 0 ]] || echo ,)" $i $live $sent
	done
	printf ']}\n'
done
"""

tmp = tempfile.TemporaryDirectory()	# pylint: disable=consider-using-with
DIR = tmp.name
PLAN, OTHER, LOG = f"{DIR}/plan.json", f"{DIR}/other.json", f"{DIR}/run.jsonl"


def make(path, heavy):
    """A plan for the six servers of panel-6, whose links are for these transfers."""
    job = {"format": "topoopt-job", "version": 1, "name": "<b>six", "servers": 6, "allreduce": [],
           "mp": [{"from": str(a), "to": str(b), "bytes": 1 << 30} for a, b in heavy]}
    with open(f"{DIR}/job.json", "w", encoding="utf-8") as file:
        json.dump(job, file)
    subprocess.run((TOCTL, "plan", "--cluster", "examples/panel-6/cluster.json", "--job",
                    f"{DIR}/job.json", "--effort", "1", "-o", path), check=True,
                   stdout=subprocess.DEVNULL)
    with open(path, encoding="utf-8") as file:
        return {tuple(sorted((link["a"], link["b"]))) for link in json.load(file)["links"]}


def touch(name, there=True):
    if there:
        with open(f"{DIR}/{name}", "w", encoding="utf-8"):
            pass
    else:
        os.unlink(f"{DIR}/{name}")


def replace(path, text):
    with open(path + ".tmp", "w", encoding="utf-8") as file:
        file.write(text)
    os.rename(path + ".tmp", path)


class Watch:
    """toctl watch at work, on a port that was free."""

    def __init__(self, *options, plan=PLAN, agent=f"bash {DIR}/agent {{}}"):
        self.port = free_port()
        self.process = subprocess.Popen(	# pylint: disable=consider-using-with
            (TOCTL, "watch", plan, "--listen", str(self.port), "--interval", "100ms", "--set",
             f"agents.command={agent}", *options), stderr=subprocess.PIPE, text=True)
        atexit.register(self.process.kill)
        self.said = self.process.stderr.readline()

    def get(self, path="/", method="GET", **headers):
        """Status, headers and body of one answer."""
        client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        client.request(method, path, headers={k.replace("_", "-"): v for k, v in headers.items()})
        answer = client.getresponse()
        return answer.status, answer.headers, answer.read().decode()

    def stream(self, **headers):
        return Stream(self.port, headers)

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(PATIENCE)
        self.process.stderr.close()
        return status


def refused(words, *options, status=1):
    """It says why, and does not begin."""
    ran = subprocess.run((TOCTL, "watch", *options), capture_output=True, text=True,
                         timeout=PATIENCE, check=False)
    report(ran.returncode == status and words in ran.stderr and "serving" not in ran.stderr,
           f"refused: {words}", f"{ran.returncode}: {ran.stderr}")


def bad_calls():
    with open(f"{DIR}/open", "w", encoding="utf-8") as file:
        file.write("secret\n")
    os.chmod(f"{DIR}/open", 0o644)
    with open(f"{DIR}/token", "w", encoding="utf-8") as file:
        file.write(TOKEN + "\n")
    os.chmod(f"{DIR}/token", 0o600)
    refused("status --json looks once", PLAN, "--json", status=2)
    refused("others reach this address, so --token-file is needed", PLAN, "--listen", "0.0.0.0:1")
    refused("others reach this address", PLAN, "--listen", "[::]:1")
    refused("expected PORT, ADDRESS:PORT or [ADDRESS]:PORT", PLAN, "--listen", "localhost:80")
    refused("others may read this password", PLAN, "--token-file", f"{DIR}/open")
    refused("No such file", PLAN, "--token-file", f"{DIR}/none")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        refused("Address already in use", PLAN, "--listen", str(taken.getsockname()[1]))


def page(watch):
    status, headers, body = watch.get()
    policy = body.split('http-equiv="Content-Security-Policy" content="')[1].split('"')[0]
    report(status == 200 and headers["Content-Type"] == "text/html; charset=utf-8" and
           "default-src 'none'" in policy and "connect-src 'self'" in policy and
           not [word for word in policy.split() if "http" in word or "*" in word] and
           headers["X-Content-Type-Options"] == "nosniff" and headers["Cache-Control"] == "no-store",
           "a page that may ask its own server alone", policy)
    report(" src=" not in body and "<link" not in body and "@import" not in body,
           "it is one file")
    status, _, body = watch.get(method="HEAD")
    report((status, body) == (200, ""), "HEAD")
    report(watch.get("/plan.json")[0] == 404 and watch.get(method="POST")[0] == 405,
           "no other files, no other methods")
    report(watch.get(Host="evil.example:80")[0] == 403 and
           watch.get("/events", Host="127.0.0.1.evil.example")[0] == 403 and
           watch.get(Host=f"localhost:{watch.port}")[0] == 200 and
           watch.get(Host="[::1]:1")[0] == 200, "a name that was made to lead here is refused")


def events(watch, links):
    stream = watch.stream()
    report(stream.answer.headers["Content-Type"] == "text/event-stream", "a stream of events")
    data, _ = stream.find("plan")
    report(data["job"] == "<b>six" and len(data["links"]) == len(links), "it begins with the plan")
    data, _ = stream.find("status", lambda data: "seconds" in data)
    busiest = max(data["links"], key=lambda link: link["utilisation"])
    report(data["health"] == "healthy" and busiest["from"] == "s1:eth0" and
           abs(busiest["bps"] - 8e10) < 1, "then come looks, with the rate of each link", data)

    touch("dark-s1-0")
    data, others = stream.find("status", lambda data: data["health"] != "healthy")
    report(others <= 2 and sum(not link["lit"] for link in data["links"]) == 2,
           "a link that is cut is dark within two looks", others)
    with contextlib.closing(watch.stream()) as late:
        data, _ = late.find("happened", lambda line: line.get("check") == "carrier")
    report(data["subject"] == "s1:eth0" and data["text"] == "no light",
           "who comes late is told what happened", data)
    touch("dark-s1-0", False)
    data, _ = stream.find("happened", lambda line: line.get("text") == "well again")
    report(data["subject"] == "s1:eth0", "and when it is well again")

    with open(PLAN, encoding="utf-8") as file:
        first = file.read()
    replace(PLAN, "{")
    data, _ = stream.find("happened", lambda line: line["event"] == "trouble")
    report(PLAN in data["text"], "a plan that cannot be read is told", data)
    with open(OTHER, encoding="utf-8") as file:
        replace(PLAN, file.read())
    data, _ = stream.find("happened", lambda line: line["event"] == "plan")
    cut = {tuple(sorted(name.split(" - "))) for name in data["cut"]}
    report(cut and cut <= links and len(data["cut"]) == len(cut), "a rewire: links that were cut", data)
    made = {tuple(sorted(name.split(" - "))) for name in data["made"]}
    data, _ = stream.find("plan")
    now = {tuple(sorted(f"s{s}:eth{p}" for s, p in ((link[0], link[1]), (link[2], link[3]))))
           for link in data["links"]}
    report(now == links - cut | made, "and the links that there are now", data["links"])
    replace(PLAN, first)
    stream.close()


def log(watch):
    """Lines of a toctl run, also when they come in parts, and in a new file."""
    stream = watch.stream()
    first, _ = stream.find("happened", lambda line: line["event"] == "decision")
    report(first["price_s"] == 0.5, "decisions that the log has already", first)
    with open(LOG, "a", encoding="utf-8") as file:
        file.write('no JSON\n{"time": 2, "event"')
        file.flush()
        stream.find("status")
        stream.find("status")
        file.write(': "refused", "error": "why"}\n')
    data, _ = stream.find("happened", lambda line: line["event"] == "refused")
    report(data == {"time": 2, "event": "refused", "error": "why"}, "a line in two parts", data)
    replace(LOG, '{"time": 3, "event": "end"}\n')
    data, _ = stream.find("happened", lambda line: line["event"] == "end")
    report(data["time"] == 3, "a log that was replaced")
    stream.close()


def crowd(watch):
    """More than may watch; and those that ask nothing."""
    with contextlib.ExitStack() as stack:
        streams = []

        def another():
            """Those who left are noticed when something is sent to them."""
            stream = stack.enter_context(contextlib.closing(watch.stream()))
            if stream.answer.status == 200:
                streams.append(stream)
            return len(streams) == 32
        report(wait_for(another, PATIENCE) and watch.stream().answer.status == 503,
               "32 may watch at a time", len(streams))
        for _ in range(80):
            silent = stack.enter_context(socket.create_connection(("127.0.0.1", watch.port)))
            with contextlib.suppress(OSError):
                silent.sendall(b"GET /ev")
        report(watch.get()[0] == 200, "the silent keep nobody out")
        streams[0].find("status")
        report(True, "nor end streams")

    def again():
        with contextlib.closing(watch.stream()) as stream:
            return stream.answer.status == 200
    report(wait_for(again, PATIENCE), "when they are gone others may")


def token():
    watch = Watch("--token-file", f"{DIR}/token")
    status, headers, body = watch.get()
    report(status == 401 and headers["WWW-Authenticate"].startswith("Basic ") and "<" not in body,
           "without the token there is nothing", status)
    report(watch.get("/events", Authorization="Bearer wrong")[0] == 401 and
           watch.get(Authorization=f"Bearer {TOKEN}x")[0] == 401 and
           watch.get(Authorization=f"Bearer {TOKEN[:-1]}")[0] == 401, "nor with another")
    report(watch.get(Authorization=f"Bearer {TOKEN}")[0] == 200, "as a bearer token")
    basic = base64.b64encode(f"anybody:{TOKEN}".encode()).decode()
    report(watch.get(Authorization=f"Basic {basic}", Host="fabric.example")[0] == 200,
           "as a password, by any name of the host")
    with contextlib.closing(watch.stream(Authorization=f"Basic {basic}")) as stream:
        report(stream.find("plan")[0]["job"] == "<b>six", "events, too")
    report(watch.end() == 0, "SIGTERM ends it")


def pairs():
    """Which server sends to which, where it is asked for."""
    refused("not through etcd", PLAN, "--pairs", "--set", "etcd.endpoints=http://127.0.0.1:1", status=2)
    plan = f"{DIR}/ring.json"
    subprocess.run((TOCTL, "plan", "--cluster", "examples/ring-4/cluster.json", "--job",
                    "examples/ring-4/job.json", "--fixed", "-o", plan), check=True,
                   stdout=subprocess.DEVNULL)
    watch = Watch("--pairs", plan=plan, agent=f"python3 selftests/unit/ring_agent.py {DIR}/ring {{}}")
    with contextlib.closing(watch.stream()) as stream:
        data, _ = stream.find("traffic")
    cells = [value for value, count in zip(data["bytes"][::2], data["bytes"][1::2]) for _ in range(count)]
    rates = {divmod(i, 4): 8 * value / data["seconds"] for i, value in enumerate(cells) if value}
    report(rates.keys() == {(1, 2), (0, 3)} and abs(rates[1, 2] / 40e9 - 1) < 1e-3 and
           abs(rates[0, 3] / 10e9 - 1) < 1e-3, "who sends to whom", data)
    report(watch.end() == 0, "SIGTERM ends it")


def switches(browser):
    """Servers on packet switches, which no agent speaks for."""
    plan, job = f"{DIR}/switches.json", f"{DIR}/job.json"
    with open(job, "w", encoding="utf-8") as file:
        json.dump({"name": "four", "servers": 4, "allreduce": [{"group": "all", "bytes": 10**9}], "mp": []}, file)
    subprocess.run((TOCTL, "plan", "--job", job, "--topology", "bcube:2,2", "-o", plan), check=True,
                   stdout=subprocess.DEVNULL)
    agent = f"python3 selftests/unit/ring_agent.py {DIR}/four {{}}"
    watch = Watch(plan=plan, agent=agent)
    with contextlib.closing(watch.stream()) as stream:
        data, _ = stream.find("status", lambda data: "seconds" in data)
        arcs = {(link["from"], link["to"]): link for link in data["links"]}
        report(data["health"] == "healthy" and len(arcs) == 16 and ("sw1.1", "s3:eth1") in arcs and
               abs(arcs["s1:eth0", "sw0.0"]["utilisation"] / 0.8 - 1) < 1e-6,
               "ports on packet switches, out and back", data)
        touch("four.dark-s2")
        data, _ = stream.find("status", lambda data: data["health"] != "healthy")
        report({(link["from"], link["to"]) for link in data["links"] if not link["lit"]} ==
               {("s2:eth0", "sw0.1"), ("sw0.1", "s2:eth0")}, "one of them goes dark", data)
        touch("four.dark-s2", False)
    if browser:
        matrix = "document.getElementById('matrix').textContent"
        pictures = "document.querySelectorAll('#matrix svg image').length"
        browser.open(f"http://127.0.0.1:{watch.port}/")
        report(browser.becomes(f"{matrix}.includes('Links lead to packet switches here.')") and
               browser.run(pictures) == 0, "such links say nothing of who sends to whom", browser.run(matrix))
        report(browser.becomes("document.querySelector('#links tbody').textContent.startsWith('s1:eth0sw0.080.0 %')"),
               "the busiest link leads to a switch")
        watch.end()
        watch = Watch("--pairs", plan=plan, agent=agent)
        browser.open(f"http://127.0.0.1:{watch.port}/")
        report(browser.becomes(pictures, 2) and browser.run("document.querySelector('#matrix .choice').hidden"),
               "where pairs are counted they are shown", browser.run(matrix))
    report(watch.end() == 0, "SIGTERM ends it")


def stroke(link):
    return f"""(() => {{ const at = [...document.querySelectorAll("#topology .drawing .link")].find((at) =>
        links[at.dataset.link].ends.includes("{link}"));
        return at ? getComputedStyle(at).stroke + getComputedStyle(at).strokeDasharray : "none"; }})()"""


def seen(watch):
    """In Chromium."""
    from browser import SHOTS, Browser	# pylint: disable=import-outside-toplevel

    os.makedirs(SHOTS, exist_ok=True)
    browser = Browser(DIR + "/home")
    try:
        browser.open(f"http://127.0.0.1:{watch.port}/")
        state = "document.getElementById('state').textContent"
        healthy = f"{state}.startsWith('Healthy: 6 of 6 servers')"
        report(browser.becomes(healthy), "the page: it says how the fabric is", browser.run(state))
        report(browser.run("document.querySelector('h1').textContent + document.title") ==
               "<b>six<b>six: live", "names are text")
        report(browser.becomes("document.querySelector('#links tbody th').textContent", "s1:eth0"),
               "the busiest link is first")
        calm = browser.run(stroke("s1:eth0"))
        report(calm != browser.run(stroke("s3:eth0")), "links have the colour of their utilisation", calm)

        touch("dark-s1-0")
        red = "rgb(212, 0, 42)10px, 6px"
        report(browser.becomes(stroke("s1:eth0"), red), "a cut link turns red, and dashed",
               browser.run(stroke("s1:eth0")))
        report(browser.run(f"{state}.startsWith('Degraded')") and browser.run(
            "document.getElementById('checks').textContent.includes('s1:eth0 carrier: no light')"),
            "words say so, too", browser.run("document.body.innerText"))
        browser.look("dark")
        report(browser.becomes(stroke("s1:eth0"), "rgb(255, 77, 94)10px, 6px"), "also on a dark page")
        report(len(browser.shot("watch-dark").getcolors(1 << 24)) > 100, "a picture of it")
        browser.look("light")
        touch("dark-s1-0", False)
        report(browser.becomes(f"{stroke('s1:eth0')} !== '{red}' && {healthy}"), "and back")

        browser.run("document.querySelector('.server[data-server=\"1\"]').focus()")
        browser.press("Enter")
        about = "document.querySelector('.about').textContent"
        report(browser.run(f"{about}.includes('eth3')") and browser.run(
            """document.querySelectorAll(".about tbody tr").length""") == 4,
            "a server's ports, by keyboard", browser.run(about))
        stops = []
        for _ in range(40):
            browser.press("Tab")
            stops.append(browser.run("""(() => { const at = document.activeElement;
                return at.dataset.server ? "s" + at.dataset.server : at.getAttribute("aria-label") || at.type; })()"""))
        report(stops[:6] == ["s2", "s3", "s4", "s5", "search", "Busiest links"] and
               "s0" in stops, "Tab leads everywhere and round", stops)
        report(browser.nameless() == [], "everything has a name", browser.nameless())
        report(browser.run("""[...document.querySelectorAll("table")].every((at) =>
            at.querySelectorAll("thead th[scope=col]").length)"""), "tables have heads")

        with open(OTHER, encoding="utf-8") as file:
            replace(PLAN, file.read())
        report(browser.becomes("document.querySelectorAll('#topology .drawing .made').length > 0") and
               browser.becomes("document.querySelector('#timeline').textContent.includes('links cut: ')"),
               "a rewire shows: links that were made, and the timeline says which",
               browser.run("document.querySelector('#timeline').textContent"))
        report(browser.becomes("document.querySelectorAll('#timeline .decision').length", 1) and
               browser.run("document.querySelector('#timeline').textContent.includes('because')"),
               "a decision with its price")
        for scheme, width in ("dark", 1280), ("dark", 390), ("light", 390), ("light", 1280):
            browser.look(scheme, width=width)
            browser.becomes(f"innerWidth === {width}")
            report(browser.run("document.documentElement.scrollWidth <= innerWidth") and
                   len(browser.shot(f"watch-{scheme}-{width}").getcolors(1 << 24)) > 100,
                   f"nothing is cut off at {width} pixels, {scheme}")
        report(browser.run("document.querySelectorAll('#matrix svg image').length") == 2,
               "traffic beside the plan")
        asked = {url for url in browser.fetched() if not url.startswith("data:")}
        report(asked == {f"http://127.0.0.1:{watch.port}/{path}" for path in ("", "events")},
               "nothing else was fetched", asked)
        watch.end()
        report(browser.becomes(f"{state}.startsWith('toctl does not answer')"),
               "when toctl ends, the page says so")
        switches(browser)
        said = [line for line in browser.said() if "entry" not in line]
        report(said == [], "no complaint of the script", said)
    finally:
        browser.stop()


with open(f"{DIR}/agent", "w", encoding="utf-8") as out:
    out.write(AGENT.replace("DIR", DIR))
LINKS = make(PLAN, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0)])
make(OTHER, [(0, 3), (3, 1), (1, 4), (4, 2), (2, 5), (5, 0)])
with open(LOG, "w", encoding="utf-8") as out:
    json.dump({"time": 1, "event": "decision", "action": "rewire", "reason": "because", "dry_run": False,
               "candidate": 1, "regret_s": 0.7, "price_s": 0.5, "saves": 0.25, "candidates": []}, out)
    out.write("\n")

bad_calls()
ran = Watch(plan=f"{DIR}/none.json")
report(ran.process.wait(PATIENCE) == 1 and "none.json" in ran.process.stderr.read(), "no plan")
ran.process.stderr.close()
ran = Watch("--log", LOG)
report(ran.said == f"serving http://127.0.0.1:{ran.port}/\n", "it says where", ran.said)
page(ran)
events(ran, LINKS)
log(ran)
crowd(ran)
last = ran.stream()
report(ran.end() == 0, "SIGTERM ends it, and its streams")
last.close()
token()
pairs()
if shutil.which("chromium"):
    replace(LOG, '{"time": 1, "event": "decision", "action": "rewire", "reason": "because", "dry_run": false,'
                 '"candidate": 1, "regret_s": 0.7, "price_s": 0.5, "saves": 0.25, "candidates": []}\n')
    seen(Watch("--log", LOG))
else:
    switches(None)
done()
