#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""toctl report in a real browser."""

import json
import math
import os
import re
import subprocess
import sys
import tempfile
import traceback

sys.path.insert(0, "selftests/unit")
from browser import Browser, need_chromium  # noqa: E402

TOCTL = os.environ.get("TOCTL", "build/toctl")
TOSIM = os.environ.get("TOSIM", "build/tosim")


def toctl(*arguments):
    return subprocess.run([TOCTL, *arguments], check=True, capture_output=True, text=True).stdout


def tosim(*arguments):
    return subprocess.run([TOSIM, *arguments], check=True, capture_output=True, text=True).stdout


def plan(name, *arguments):
    path = f"{work}/{name}.json"
    toctl("plan", *arguments, "-o", path, "--report", f"{work}/{name}.html")
    with open(path) as file:
        return path, json.load(file)


def near(pixels, color):
    return sum(count for count, pixel in pixels
               if sum(abs(a - b) for a, b in zip(pixel, color)) < 60)


def at_all_sizes(name):
    """Nothing is cut off, and something is drawn; the last one stays open."""
    for scheme, width in ("dark", 390), ("dark", 1280), ("light", 390), ("light", 1280):
        browser.open(f"{work}/{name}.html", scheme, width=width)
        assert browser.run("document.documentElement.scrollWidth <= innerWidth"), (name, scheme, width)
        assert len(browser.shot(f"{name}-{scheme}-{width}").getcolors(1 << 24)) > 100, "a blank picture"


def check_page(name, job, degree):
    """Everything that a page of servers drawn one by one has to have."""
    path, made = plan(name, "--job", job, "--degree", str(degree), "--effort", "1")
    truth = json.loads(toctl("verify", "--json", path))
    n = len(made["servers"])

    browser.open(f"{work}/{name}.html")
    assert browser.said() == [], browser.said()
    assert [url for url in browser.fetched() if not url.startswith("data:")] == [
        f"file://{work}/{name}.html"], browser.fetched()
    with open(f"{work}/{name}.html") as file:
        urls = set(re.findall(r"\b[a-z]+://[^\s\"']*", file.read()))
    assert urls <= {"http://www.w3.org/2000/svg"}, urls

    counts = browser.run("""Object.fromEntries(Object.entries({
        servers: "#topology .server", links: "#topology .link[d^=M]", figures: "#figures tbody tr",
        rings: "#allreduce tbody tr", candidates: "#candidates tbody tr", maps: "svg image",
        hops: "#hops rect", patches: "#patches tbody tr" }).map(([key, at]) =>
            [key, document.querySelectorAll(at).length]))""")
    assert counts == {
        "servers": n, "links": len(made["links"]), "figures": 7,
        "rings": len(made["rings"]) + len(made.get("trees", [])),
        "candidates": len(made.get("candidates", [])), "maps": 2,
        "hops": 2 * truth["diameter"], "patches": len(made["cross_connects"])}, counts

    rows = browser.run("""[...document.querySelectorAll("#figures tbody tr")].map((row) =>
        [...row.querySelectorAll("td")].map((cell) => cell.textContent))""")
    for row, key in zip(rows, ("comm_time_s", "allreduce_time_s", "max_link_load_bytes",
                               "mp_max_load_bytes", "bandwidth_tax", "mean_hops", "diameter")):
        bound = truth[re.sub(r"(_s|_bytes)?$", r"_bound\1", key, count=1)]
        assert row[2] == f"{truth[key] / bound:.3f}", (key, row)

    overlap = browser.run("""(() => {
        const boxes = [...document.querySelectorAll("section")].map((at) =>
            at.getBoundingClientRect());
        return document.documentElement.scrollWidth > innerWidth ||
            [...document.querySelectorAll(".scroll")].some((at) =>
                at.scrollWidth > at.clientWidth) ||
            boxes.some((a, i) => boxes.some((b, k) => i < k && a.left < b.right - 1 &&
                b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1)); })()""")
    assert overlap is False, "sections overlap, or something is cut off"

    box = browser.run("""(() => {
        const box = document.querySelector("#topology .drawing").getBoundingClientRect();
        return [box.left, box.top, box.right, box.bottom].map(Math.round); })()""")
    pixels = browser.shot(name).crop(box).getcolors(1 << 24)
    assert len(pixels) > 200, "a blank picture"
    for use in range(min(6, counts["rings"])):
        color = browser.run(f"""getComputedStyle(document.querySelectorAll("#allreduce .swatch")[{use}])
            .backgroundColor.match(/\\d+/g).map(Number)""")
        seen = near(pixels, [0.8 * part + 0.2 * 255 for part in color])  # opacity of .link
        assert seen > 200, f"ring or tree {use} cannot be seen: {seen} pixels"
    return path, made


def prototype():
    _, made = check_page("prototype-12", "examples/prototype-12/job.json", 4)
    links = [{a["a"].split(":")[0], a["b"].split(":")[0]} for a in made["links"]]

    browser.mouse("move", '.server[data-server="3"] circle')
    on = browser.run("""[...document.querySelectorAll(".link.on")].map((at) => +at.dataset.link)""")
    assert sorted(on) == [i for i, ends in enumerate(links) if "s3" in ends], on
    browser.mouse("click", '.server[data-server="3"] circle')
    browser.mouse("move", '.server[data-server="6"] circle')
    told = browser.run("""[...document.querySelectorAll(".about li")].map((at) =>
        at.textContent)""")
    share = 0
    for path in told:
        servers = re.sub(r" \(.*", "", path).split(" → ")
        assert servers[0] == "s3" and servers[-1] == "s6", path
        assert all({a, b} in links for a, b in zip(servers, servers[1:])), path
        share += float(re.search(r"\(([\d.]+) %\)", path)[1])
    assert 98 <= share <= 102, told
    browser.shot("prototype-12-path")
    browser.run("""document.querySelector("#topology input").click()""")
    assert browser.run("""[...document.querySelectorAll(".link")].filter((at) =>
        at.style.display === "none").length""") == 12, "links cannot be switched off"
    assert browser.said() == [], browser.said()


def hybrid():
    check_page("hybrid-128", "examples/jobs/hybrid-128.json", 8)


def dark():
    path = f"{work}/prototype-12.html"
    bright = {}
    for scheme in "light", "dark":
        browser.open(path, scheme)
        image = browser.shot("prototype-12-" + scheme).convert("L")
        bright[scheme] = sum(i * count for i, count in enumerate(image.histogram())) / (
            image.width * image.height)
    assert bright["light"] > 200 and bright["dark"] < 70, bright


def keyboard():
    """Tab leads through all controls and on; what is drawn has a name."""
    browser.open(f"{work}/prototype-12.html")
    seen = []
    for _ in range(40):
        browser.press("Tab")
        seen.append(browser.run("""(() => { const at = document.activeElement;
            return at.dataset.server ? "s" + at.dataset.server : at.textContent || at.type; })()"""))
    assert seen[:12] == [f"s{i}" for i in range(12)], seen
    assert [word for word in seen if word in ("by use", "search", "+", "MP transfers")] == [
        "by use", "search", "+", "MP transfers", "MP transfers"], seen
    browser.run("""document.querySelector('.server[data-server="3"]').focus()""")
    browser.press("Enter")
    assert browser.run("""[...document.querySelectorAll('.server[aria-pressed=true]')].map((at) =>
        at.getAttribute("aria-label")).join()""") == "s3"
    assert browser.nameless() == [], browser.nameless()
    assert browser.run("document.querySelectorAll('[role=img]').length") == 6


def search():
    """A server is found by its name, and zoomed at."""
    browser.open(f"{work}/prototype-12.html")
    box = "document.querySelector('#topology .drawing svg').viewBox.baseVal"
    whole = browser.run(f"{box}.width")
    browser.run("""(() => { const input = document.querySelector("input[type=search]");
        input.value = "s7"; input.dispatchEvent(new Event("input"));
        document.querySelector("[aria-label='Zoom in']").click(); })()""")
    assert browser.run("document.querySelector('.about b').textContent") == "s7"
    assert browser.run(f"{box}.width") == whole / 2
    assert browser.run("""(() => {
        const all = document.querySelector("#topology .drawing svg").getBoundingClientRect();
        const one = document.querySelector('.server[data-server="7"]').getBoundingClientRect();
        return one.left >= all.left && one.right <= all.right && one.top >= all.top &&
            one.bottom <= all.bottom; })()"""), "s7 is out of sight"
    browser.run("document.querySelector(\"[aria-label='Show all']\").click()")
    assert browser.run(f"{box}.width") == whole
    assert browser.said() == [], browser.said()


def narrow():
    """On a telephone nothing is cut off, and names of few servers can be read."""
    plan("ring-4", "--cluster", "examples/ring-4/cluster.json", "--job", "examples/ring-4/job.json")
    for name in "ring-4", "prototype-12":
        browser.open(f"{work}/{name}.html", width=390)
        assert browser.run("document.documentElement.scrollWidth <= innerWidth"), name
        browser.shot(f"{name}-390")
        browser.open(f"{work}/{name}.html")
    height = browser.open(f"{work}/ring-4.html") or browser.run(
        "document.querySelector('.server text').getBoundingClientRect().height")
    assert height >= 12, height


def utilisation():
    """The curve of shares ends at the busiest link, which is busy all the time."""
    browser.open(f"{work}/prototype-12.html")
    ends = browser.run("""(() => { const box = document.querySelector(".cdf").getBBox();
        return [box.width, box.height]; })()""")
    assert ends[0] == 454 and ends[1] > 140, ends
    assert browser.run("[[2, 3], [1, 3], [3, 3], []].map(scaleStart)") == [2, 0, 0, 0]
    used = browser.run("plan.arcs.map((arc) => arc[3] + arc[4])")
    speed = browser.run("plan.links[0][7]")
    assert abs(max(used) * 8 / speed / browser.run("plan.comm_time") - 1) < 1e-6


def many():
    job = {"format": "topoopt-job", "version": 1, "name": "many", "servers": 300,
           "allreduce": [{"group": "all", "bytes": 1 << 30}],
           "mp": [{"from": "7", "to": "all", "bytes": 1 << 20}]}
    with open(f"{work}/job.json", "w") as out:
        json.dump(job, out)
    plan("many", "--job", f"{work}/job.json", "--degree", "4", "--effort", "1")
    assert os.path.getsize(f"{work}/many.html") < 1 << 20
    browser.open(f"{work}/many.html")
    assert browser.said() == [], browser.said()
    assert browser.run("document.querySelectorAll('svg *').length") < 2000
    browser.shot("many-300")
    assert browser.run("""(() => {
        const canvas = document.querySelector("#topology canvas");
        const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        return data.filter((value, i) => i % 4 === 3 && value).length; })()""") > 10000, "blank canvas"


def names():
    evil = "</script><script>document.title='x'</script><b>&amp;\""
    job = {"format": "topoopt-job", "version": 1, "name": evil, "servers": 4,
           "allreduce": [{"group": "all", "bytes": 1024}]}
    with open(f"{work}/job.json", "w") as out:
        json.dump(job, out)
    plan("names", "--job", f"{work}/job.json", "--degree", "2")
    browser.open(f"{work}/names.html")
    assert browser.said() == [], browser.said()
    assert browser.run("document.querySelector('h1').textContent") == evil
    assert browser.run("document.title") == evil + ": plan"


def panel():
    _, made = plan("panel", "--cluster", "examples/panel-6/cluster.json",
                   "--job", "examples/panel-6/job.json")
    browser.open(f"{work}/panel.html")
    assert browser.said() == [], browser.said()
    rows = browser.run("""[...document.querySelectorAll("#patches tbody tr")].map((row) =>
        [...row.children].map((cell) => cell.textContent))""")
    behind = {f"s{s}:eth{q}": str(4 * s + q + 1) for s in range(6) for q in range(4)}
    assert len(rows) == 12 and all(
        row == ["panel", behind[row[2]], row[2], behind[row[4]], row[4]] for row in rows), rows
    assert {frozenset((row[1], row[3])) for row in rows} == {
        frozenset((str(x["a"]), str(x["b"]))) for x in made["cross_connects"]}, rows


def broken():
    with open(f"{work}/prototype-12.json") as file:
        made = json.load(file)
    table = made["tables"][3]
    table["routes"] = [route for route in table["routes"] if not route.get("nodes")]
    with open(f"{work}/broken.json", "w") as out:
        json.dump(made, out)
    toctl("report", f"{work}/broken.json", "-o", f"{work}/broken.html")
    browser.open(f"{work}/broken.html")
    assert browser.said() == [], browser.said()
    said = browser.run("document.querySelector('.verdict.bad').textContent")
    assert "s3 has no route to s0" in said, said
    made["links"] = []
    with open(f"{work}/broken.json", "w") as out:
        json.dump(made, out)
    toctl("report", f"{work}/broken.json", "-o", f"{work}/broken.html")
    browser.open(f"{work}/broken.html")
    browser.mouse("move", '.server[data-server="3"] circle')
    assert browser.said() == [], browser.said()
    assert not re.search("NaN|Infinity|undefined", browser.run("document.body.innerText"))
    browser.shot("no-links")


def schedule():
    """A bar for each stage of each chunk, two charts of three curves, and no script."""
    tosim("schedule", "--network", "examples/papers/dims-3D-FC_Ring_SW.json", "--size", "1GB",
          "--report", f"{work}/schedule.html")
    with open(f"{work}/schedule.html") as file:
        text = file.read()
    assert "<script" not in text and "script-src" not in text
    browser.open(f"{work}/schedule.html", height=1000)
    assert browser.said() == [], browser.said()
    assert [url for url in browser.fetched() if not url.startswith("data:")] == [
        f"file://{work}/schedule.html"], browser.fetched()
    counts = browser.run("""["rect.stage-reduce-scatter", "rect.stage-allgather", "#by-size .curve",
        "#by-chunks .curve"].map((at) => document.querySelectorAll(at).length)""")
    assert counts == [192, 192, 3, 3], counts
    assert "91.74" in browser.run("document.querySelector('header').textContent")
    outside = browser.run("""[...document.querySelectorAll("svg")].filter((root) => {
        const all = root.getBoundingClientRect();
        return [...root.querySelectorAll("text, rect")].some((at) => {
            const box = at.getBoundingClientRect();
            return box.left < all.left - 1 || box.right > all.right + 1 || box.bottom > all.bottom + 1;
        }); }).length""")
    assert outside == 0, f"{outside} drawings are cut off"
    assert not re.search("NaN|inf", text), "a number that is none"
    assert len(browser.shot("schedule").getcolors(1 << 24)) > 100, "a blank picture"


def comparison():
    """Two plans: their figures, what is cut and made, both drawn; keys, names, sizes."""
    job = {"format": "topoopt-job", "version": 1, "name": "<i>two", "servers": 12, "allreduce": [],
           "mp": [{"from": str(i), "to": str((i + 5) % 12), "bytes": 1 << 30} for i in range(12)]}
    with open(f"{work}/job.json", "w") as out:
        json.dump(job, out)
    plans = [plan("prototype-12", "--job", "examples/prototype-12/job.json", "--degree", "4", "--effort", "1"),
             plan("apart", "--job", f"{work}/job.json", "--degree", "4", "--effort", "1")]
    toctl("report", plans[0][0], plans[1][0], "-o", f"{work}/two.html")
    links = [{tuple(sorted((link["a"], link["b"]))) for link in made["links"]} for _, made in plans]
    cut, new = links[0] - links[1], links[1] - links[0]
    assert cut and new, links
    browser.open(f"{work}/two.html")
    assert browser.said() == [], browser.said()
    assert [url for url in browser.fetched() if not url.startswith("data:")] == [
        f"file://{work}/two.html"], browser.fetched()
    rows = browser.run("""[...document.querySelectorAll("#patches tbody tr")].map((row) =>
        [...row.children].map((cell) => cell.textContent))""")
    assert {tuple(sorted(row[1:])) for row in rows if row[0] == "cut"} == cut, rows
    assert {tuple(sorted(row[1:])) for row in rows if row[0] == "made"} == new, rows
    counts = browser.run("""[...document.querySelectorAll("#topologies .drawing")].map((at) =>
        [".server", ".link", ".link.dark", ".link.made"].map((what) => at.querySelectorAll(what).length))""")
    assert counts == [[12, len(links[0]), len(cut), 0], [12, len(links[1]), 0, len(new)]], counts
    truth = [json.loads(toctl("verify", "--json", path)) for path, _ in plans]
    row = browser.run("""[...document.querySelectorAll("#compared tbody tr")].map((row) =>
        row.lastElementChild.textContent)""")
    assert len(row) == 8, row
    change = 100 * (truth[1]["comm_time_s"] / truth[0]["comm_time_s"] - 1)
    assert row[0].startswith(f"{change:+.1f}"), (row, change)
    browser.run("document.querySelector('#topologies .server[data-server=\"3\"]').focus()")
    browser.press("Enter")
    assert browser.run("""[...document.querySelectorAll(".server[aria-pressed=true]")].map((at) =>
        at.getAttribute("aria-label")).join()""") == "s3,s3", "a server is not selected in both"
    assert browser.nameless() == [], browser.nameless()
    assert browser.run("document.querySelectorAll('#loads svg image').length") == 2
    at_all_sizes("two")
    toctl("report", plans[1][0], plans[0][0], "-o", f"{work}/two.html")
    browser.open(f"{work}/two.html")
    assert browser.run("document.querySelector('h1').textContent") == "<i>two", "a name that is no text"
    other = subprocess.run([TOCTL, "report", plans[0][0], f"{work}/ring-4.json"], capture_output=True,
                           text=True, check=False)
    assert other.returncode == 1 and "has other servers than" in other.stderr, other.stderr
    other = subprocess.run([TOCTL, "report", plans[0][0], plans[1][0], "-o", plans[1][0]],
                           capture_output=True, text=True, check=False)
    assert other.returncode == 2 and os.path.getsize(plans[1][0]) > 1000, other.stderr


def shared_ports():
    """Of two plans with packet switches, the busiest port is that of toctl verify."""
    with open(f"{work}/nine.json", "w") as out:
        json.dump({"format": "topoopt-job", "version": 1, "name": "nine", "servers": 9,
                   "allreduce": [{"group": "all", "bytes": 1 << 20}],
                   "mp": [{"from": "1-8", "to": "0", "bytes": 1 << 20}]}, out)
    plans = [plan(name, "--job", f"{work}/nine.json", "--topology", name)[0] for name in ("bcube:3,2", "rail:2")]
    toctl("report", *plans, "-o", f"{work}/shared.html")
    browser.open(f"{work}/shared.html")
    assert browser.said() == [], browser.said()
    most = browser.run("sides.map((side) => Math.max(...portLoads(side)))")
    truth = [json.loads(toctl("verify", "--json", path))["max_link_load_bytes"] for path in plans]
    assert all(abs(a - b) < 10 for a, b in zip(most, truth)), (most, truth)


def replay():
    """The log of a toctl run, line by line."""
    def candidates(force):
        return [{"id": i, "source": ("first", "reconfig")[i], "in_force": i == force, "regret_s": 0.5 * i,
                 "price_s": 0.25, "saves": 0.125} for i in range(2)]
    lines = [{"time": 100.0, "event": "start", "plan": "</script>p.json", "servers": 4, "interval_ms": 50, "dry_run": False},
             {"time": 101.0, "event": "decision", "action": "rewire", "reason": "it pays", "dry_run": False,
              "candidate": 1, "regret_s": 0.5, "price_s": 0.25, "saves": 0.125, "candidates": candidates(0)},
             {"time": 102.0, "event": "changed", "action": "rewire", "generation": 2, "shift_ms": 1.0, "ms": 20.0},
             {"time": 103.0, "event": "shift", "kind": "busy", "promised": 1.0, "busy": 2.0, "excess_s": 0.1,
              "new": 0, "ms": 3.0, "candidates": candidates(1)},
             {"time": 104.0, "event": "of another version"},
             {"time": 105.0, "event": "lossy", "from": "s0:eth0", "to": "s1:eth1", "held": True,
              "text": "loses 5 % of 20000 packets", "hold_s": 30.0},
             {"time": 106.0, "event": "slow", "port": "s2:eth0", "held": True, "bandwidth": 25 * 10**9,
              "planned": 10**11, "hold_s": 30.0},
             {"time": 107.0, "event": "slow", "port": "s2:eth0", "held": True, "bandwidth": 5 * 10**10,
              "planned": 10**11, "hold_s": 30.0},
             {"time": 140.0, "event": "lossy", "from": "s0:eth0", "to": "s1:eth1", "held": False,
              "text": "loses 5 % of 20000 packets", "hold_s": 30.0}]
    with open(f"{work}/run.jsonl", "w") as out:
        out.write("".join(json.dumps(line) + "\n" for line in lines) + '{"time": 10')
    toctl("report", "--log", f"{work}/run.jsonl", "-o", f"{work}/run.html")
    browser.open(f"{work}/run.html")
    assert browser.said() == [], browser.said()
    shown = """[document.querySelector("output").textContent.replace(/, .*;/, ";"),
        document.querySelectorAll("#timeline tbody tr").length, document.querySelectorAll(".decision").length,
        [...document.querySelectorAll("#candidates tbody th")].map((at) => at.textContent).join()]"""
    assert browser.run(shown) == ["line 9 of 9; changes so far: 1", 8, 1, "1: reconfigin force,0: first"], browser.run(shown)
    grays = """[...document.querySelectorAll("#gray tbody tr")].map((at) =>
        [...at.children].slice(0, 3).map((cell) => cell.textContent).join() + (at.lastChild.textContent === "still" ? ",still" : ""))"""
    assert browser.run(grays) == ["s2:eth0,slow,50 of 100 Gbit/s,still", "s2:eth0,slow,25 of 100 Gbit/s",
                                  "s0:eth0 to s1:eth1,lossy,loses 5 % of 20000 packets"], browser.run(grays)
    browser.run("""(() => { const at = document.querySelector("input[type=range]");
        at.value = 1; at.dispatchEvent(new Event("input")); })()""")
    assert browser.run(shown) == ["line 1 of 9; changes so far: 0", 1, 0, ""], browser.run(shown)
    assert browser.run(grays) == [] and browser.run("!document.querySelector('#gray p').hidden"), browser.run(grays)
    assert "</script>p.json" in browser.run("document.querySelector('#timeline tbody').textContent")
    browser.run("document.querySelector('button').click()")
    assert browser.becomes("document.querySelector('input[type=range]').value", "9"), "it does not play"
    assert browser.run(shown)[1:3] == [8, 1], browser.run(shown)
    assert browser.becomes("document.querySelector('button').getAttribute('aria-pressed')", "false"), "nor end"
    assert browser.nameless() == [], browser.nameless()
    at_all_sizes("run")
    for text, said in ('{"time": 1}\n', "bad.jsonl:1: expected a line of toctl run's log"), ("", "has no line"):
        with open(f"{work}/bad.jsonl", "w") as out:
            out.write(text)
        bad = subprocess.run([TOCTL, "report", "--log", f"{work}/bad.jsonl"], capture_output=True, text=True, check=False)
        assert bad.returncode == 1 and said in bad.stderr and not bad.stdout, bad.stderr
    for call in [], ["x", "--log", "y"]:
        bad = subprocess.run([TOCTL, "report", *call], capture_output=True, text=True, check=False)
        assert bad.returncode == 2 and "expected one or two plans, --log or --simulation" in bad.stderr, bad.stderr


def iteration():
    """The timeline of a simulated iteration."""
    tosim("simulate", "--model", "examples/models/dlrm.json", "--servers", "8", "--degree", "4",
          "--iterations", "1", "--budget", "50", "-o", f"{work}/simulation.json")
    with open(f"{work}/simulation.json") as file:
        made = json.load(file)
    toctl("report", "--simulation", f"{work}/simulation.json", "-o", f"{work}/iteration.html")
    at_all_sizes("iteration")
    assert browser.said() == [], browser.said()
    finish = max(task["finish_s"] for task in made["tasks"])
    for kind, spans in (("compute", [t for t in made["tasks"] if t["kind"] == "compute"]),
                        ("mp", made["transfers"]), ("allreduce", [t for t in made["tasks"] if t["kind"] == "allreduce"])):
        right = browser.run(f"""Math.max(...[...document.querySelectorAll("#gantt .scroll .span-{kind}")].map((at) =>
            +at.getAttribute("x") + +at.getAttribute("width")))""")
        last = max(span["finish_s"] for span in spans)
        assert abs((right - 120) / 1060 - last / finish) < 0.002, (kind, right, last / finish)
    path = browser.run("""(() => { const text = [...document.querySelectorAll("#gantt text")].map((at) => at.textContent);
        return text.filter((word) => /^(critical path|s\\d|AllReduce)$/.test(word)); })()""")
    assert path == ["critical path"] + [f"s{i}" for i in range(8)] + ["AllReduce"], path
    rows = browser.run("""[...document.querySelectorAll("#shares tbody tr")].map((row) =>
        [...row.children].map((cell) => cell.textContent))""")
    assert [row[0] for row in rows] == [f"s{i}" for i in range(8)], rows
    busy = sum(task["finish_s"] - task["start_s"] for task in made["tasks"] if task.get("server") == "s3")
    assert abs(float(rows[3][1].split()[0]) - 100 * busy / finish) < 3, (rows[3], busy / finish)
    assert browser.nameless() == [], browser.nameless()

    # beside another fabric, on one scale
    tosim("simulate", "--model", "examples/models/dlrm.json", "--servers", "8", "--degree", "4", "--fabric",
          "cost-equivalent", "--budget", "50", "-o", f"{work}/other.json", "--report", f"{work}/other.html")
    with open(f"{work}/other.json") as file:
        other = json.load(file)
    toctl("report", "--simulation", f"{work}/simulation.json", f"{work}/other.json", "-o", f"{work}/iteration.html")
    browser.open(f"{work}/iteration.html")
    assert browser.said() == [], browser.said()
    browser.shot("iteration-two")
    said = browser.run("""[...document.querySelectorAll("#figures tbody tr")].map((row) =>
        [...row.children].slice(0, 2).map((cell) => cell.textContent))""")
    assert said == [[run["fabric"], f"{1000 * run['iteration_time_s']['mean']:.4g} ms"] for run in (made, other)], said
    for run, right in zip((made, other), browser.run("""[...document.querySelectorAll("#gantt svg[role=img]")].map((at) =>
            Math.max(...[...at.querySelectorAll("rect")].map((bar) => +bar.getAttribute("x") + +bar.getAttribute("width"))))""")):
        assert abs((right - 120) / 1060 - run["iteration_time_s"]["max"] / max(
            one["iteration_time_s"]["max"] for one in (made, other))) < 0.002, right
    counts = browser.run("""["#utilisation svg", "#utilisation .busy", "#completion .cdf", "#shares table"].map((at) =>
        document.querySelectorAll(at).length)""")
    assert counts == [2, 6, 2, 2], counts
    # the mean line ends where the last interval does
    heights = browser.run("""[...document.querySelectorAll("#utilisation .busy")].map((at) => {
        const box = at.getBBox(); return [box.x, box.width]; })""")
    assert all(abs(x - 120) < 1 for x, _ in heights), heights
    assert browser.nameless() == [], browser.nameless()
    browser.open(f"{work}/other.html")
    assert browser.said() == [] and browser.run("document.querySelectorAll('#gantt svg[role=img]').length") == 1

    made["tasks"][5]["finish_s"] = "late"
    with open(f"{work}/simulation.json", "w") as out:
        json.dump(made, out, indent=0)
    for path, said in (f"{work}/simulation.json", "tasks[5].finish_s: "), (f"{work}/ring-4.json", 'has no "tasks"'):
        bad = subprocess.run([TOCTL, "report", "--simulation", path], capture_output=True, text=True, check=False)
        assert bad.returncode == 1 and said in bad.stderr and not bad.stdout, bad.stderr


def swept():
    """Charts of a sweep, and ratios beside published ones."""
    tosim("sweep", "selftests/unit/formats/sweep.json", "-o", f"{work}/swept", "--report", f"{work}/swept.html")
    found = json.loads(tosim("sweep", "selftests/unit/formats/sweep.json", "-o", f"{work}/swept", "--collect", "--json"))
    for scheme, width in ("dark", 390), ("light", 1280):
        browser.open(f"{work}/swept.html", scheme, width=width)
        assert browser.said() == [], browser.said()
        assert browser.run("document.documentElement.scrollWidth <= innerWidth"), width
        browser.shot(f"swept-{width}")
    counts = browser.run("""["#charts svg", "#charts .curve", "#charts .point", "#ratios .ratio", "#points tbody tr"].map((at) =>
        document.querySelectorAll(at).length)""")
    assert counts == [1, 4, 8, 1, 8], counts
    bars = browser.run("document.querySelectorAll('#charts .error').length")
    assert bars == sum(point["iteration_time_s"]["max"] > point["iteration_time_s"]["min"] for point in found["points"]), bars
    # logarithmic: the same factor is as long everywhere
    at = dict(zip(*browser.run("""[[...document.querySelectorAll("#charts .point circle")].map((at) => +at.getAttribute("cy")),
        [...document.querySelectorAll("#points tbody tr")].map((row) => row.children[1].textContent + row.children[2].textContent)]""")[::-1]))
    seconds = {point["values"]["fabric"] + point["values"]["latency"]: point["iteration_time_s"]["mean"]
               for point in found["points"]}
    ends = min(seconds, key=seconds.get), max(seconds, key=seconds.get)
    scale = (at[ends[0]] - at[ends[1]]) / math.log(seconds[ends[1]] / seconds[ends[0]])
    for name, y in at.items():
        assert abs(at[ends[0]] - y - scale * math.log(seconds[name] / seconds[ends[0]])) < 0.5, (name, y)
    frame, here = browser.run("""(() => { const at = document.querySelector("#ratios .ratio");
        return [+at.querySelector("rect").getAttribute("x") + 6, +at.querySelector("circle").getAttribute("cx")]; })()""")
    ratio = found["ratios"][0]
    assert (frame < here) == (ratio["published"] < ratio["mean"]), (frame, here, ratio)
    assert browser.nameless() == [], browser.nameless()


tests = {
    "twelve servers: the page is whole, and shows links and routes of a server": prototype,
    "128 servers: the page is whole": hybrid,
    "light and dark": dark,
    "keys lead everywhere, and everything has a name": keyboard,
    "a server is searched and zoomed at": search,
    "390 pixels": narrow,
    "utilisation of links": utilisation,
    "300 servers are drawn on a canvas, and the page stays small": many,
    "a name is text, whatever is in it": names,
    "the ports of a patch panel to join": panel,
    "a plan that is not valid says so": broken,
    "a schedule of chunks over dimensions": schedule,
    "two plans beside each other": comparison,
    "two plans with packet switches, by port": shared_ports,
    "a log, line by line": replay,
    "the timeline of an iteration, and two fabrics side by side": iteration,
    "the points of a sweep": swept,
}

need_chromium()
failed = 0
with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as work:
    browser = Browser(work + "/home")
    try:
        for number, (title, test) in enumerate(tests.items(), 1):
            try:
                test()
                print(f"ok {number} - {title}", flush=True)
            except Exception as error:  # pylint: disable=broad-except
                failed += 1
                print(f"not ok {number} - {title}")
                said = getattr(error, "stderr", None) or traceback.format_exc()
                print("# " + said.strip().replace("\n", "\n# "), flush=True)
    finally:
        browser.stop()
print(f"1..{len(tests)}")
sys.exit(failed > 0)
