#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The page of toctl run --listen, while the traffic shifts and the fabric is rewired
(fabric.py): its events, and, where there is Chromium, what people see."""

import contextlib
import os
import shutil
import subprocess
import sys

sys.path.insert(0, "selftests/unit")
from events import Stream, free_port  # noqa: E402
from fabric import TOCTL, Fabric, make_plan  # noqa: E402
from tap import done, report  # noqa: E402

WAS, IS = 6, 3	# how far apart those are that send much to each other, see fakes.py
SERVERS = 12


def links(plan):
    return {tuple(sorted((tuple(link[:2]), tuple(link[2:4])))) for link in plan["links"]}


def most(traffic):
    """Pairs of servers that send more than half of what the busiest does."""
    runs, cells = traffic["bytes"], []
    for value, count in zip(runs[::2], runs[1::2]):
        cells += [value] * count
    return {(i // SERVERS, i % SERVERS) for i, value in enumerate(cells) if 2 * value > max(cells)}


def apart(distance):
    return {(i, (i + way) % SERVERS) for i in range(SERVERS) for way in (distance, -distance)}


ran = subprocess.run((TOCTL, "run", "x", "--replay", "y", "--listen", "8080"),
                     capture_output=True, text=True, check=False)
report(ran.returncode == 2 and "without --listen" in ran.stderr, "no page of a replay", ran.stderr)
ran = subprocess.run((TOCTL, "run", "x", "--token-file", "y"), capture_output=True,
                     text=True, check=False)
report(ran.returncode == 2 and "--listen" in ran.stderr, "no token without a page", ran.stderr)
ran = subprocess.run((TOCTL, "run", "x", "--listen", "0.0.0.0:1"), capture_output=True,
                     text=True, check=False)
report(ran.returncode == 1 and "so --token-file is needed" in ran.stderr,
       "no address that others reach without a token", ran.stderr)

port = free_port()
fabric = Fabric(make_plan(SERVERS, 3, WAS, True), phase=WAS,
                options=("--change-cost", "10ms", "--listen", str(port)))
browser = None
if shutil.which("chromium"):
    from browser import SHOTS, Browser

    os.makedirs(SHOTS, exist_ok=True)
    browser = Browser(fabric.dir + "/home")
try:
    if browser:
        browser.open(f"http://127.0.0.1:{port}/")
    with contextlib.closing(Stream(port, {})) as stream:
        before, _ = stream.find("plan")
        status, _ = stream.find("status", lambda data: "seconds" in data and data["health"] == "healthy")
        report(status["loop"]["running"], "a fabric, and its loop", status["loop"])
        if browser:
            report(browser.becomes("document.querySelectorAll('#topology .drawing .link').length > 0"),
                   "the page: the links as they are at first")
        traffic, _ = stream.find("traffic", most)
        report(most(traffic) == apart(WAS), "which server sends to which", most(traffic))
        fabric.traffic(IS)
        line, _ = stream.find("happened", lambda data: data["event"] == "decision")
        # as printed: both are rounded
        report(line["action"] == "rewire" and line["regret_s"] > line["price_s"] * (1 - 1e-9) > 0,
               "a decision with its price", line)
        line, _ = stream.find("happened", lambda data: data["event"] == "changed")
        report(line["action"] == "rewire", "it was carried out", line)
        after, _ = stream.find("plan")
        report(links(after) != links(before), "the new links")
        traffic, _ = stream.find("traffic", lambda data: most(data) == apart(IS))
        report(True, "the traffic as it is now")
        stream.find("status", lambda data: data["health"] == "healthy")
        report(True, "healthy again")
    if browser:
        shown = browser.becomes("document.querySelectorAll('#timeline .decision').length > 0") and \
            browser.becomes("document.querySelectorAll('#topology .drawing .made').length > 0")
        report(shown, "the page: the decision, and the links that it made")
        browser.run("[...document.querySelectorAll('#matrix button')].find((at) => "
                    "at.textContent === 'pairs of servers').click()")
        report(browser.becomes("document.querySelectorAll('#matrix [role=img]').length", 2) and
               browser.run("document.querySelector('#matrix [role=img]').getAttribute('aria-label')") ==
               "Now, bytes from server to server", "the page: the matrix beside the plan's")
        browser.shot("run-live")
        report(browser.said() == [], "no complaint of the script", browser.said())
    late = Stream(port, {})
    status, out = fabric.end()
    report(status == 0, "SIGTERM ends it, and its streams", out)
    late.close()
finally:
    if browser:
        browser.stop()
done()
