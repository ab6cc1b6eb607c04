# SPDX-License-Identifier: GPL-2.0-or-later
"""A tab of headless Chromium, driven over its debugging pipe, for tests of pages."""

import base64
import io
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time

SHOTS = "build/report"	# of screenshots, for people to look at
PATIENCE = 100  # seconds for one answer; loaded machines are slow


def need_chromium():
    """Skip the test where there is none."""
    if not shutil.which("chromium"):
        print("1..0 # SKIP chromium is not installed")
        sys.exit(0)
    os.makedirs(SHOTS, exist_ok=True)


class Browser:
    """One tab; remembers what it said on its console and what it fetched."""

    def __init__(self, home):
        to_read, self.to = os.pipe()
        self.back, back_write = os.pipe()

        def move():  # a session of its own, so that stop() reaches all processes
            os.setsid()
            copies = os.dup(to_read), os.dup(back_write)
            os.dup2(copies[0], 3)
            os.dup2(copies[1], 4)

        command = ["chromium", "--headless=new", "--remote-debugging-pipe", "--disable-gpu",
                   "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
                   "--disable-component-update", "--user-data-dir=" + home]
        if os.geteuid() == 0:
            command.append("--no-sandbox")
        self.process = subprocess.Popen(command + ["about:blank"], preexec_fn=move, pass_fds=(3, 4),
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(back_write)
        self.buffer, self.last, self.events = b"", 0, []
        self.session = None
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in "Page", "Runtime", "Log", "Network":
            self.ask(domain + ".enable")

    def message(self):
        deadline = time.monotonic() + PATIENCE
        while b"\0" not in self.buffer:
            if not select.select([self.back], [], [], max(0, deadline - time.monotonic()))[0]:
                raise TimeoutError("no answer from chromium")
            data = os.read(self.back, 1 << 20)
            if not data:
                raise EOFError("chromium has gone")
            self.buffer += data
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def ask(self, method, **params):
        self.last += 1
        question = {"id": self.last, "method": method, "params": params}
        if self.session:
            question["sessionId"] = self.session
        os.write(self.to, json.dumps(question).encode() + b"\0")
        while True:
            answer = self.message()
            if answer.get("id") == self.last:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return answer["result"]
            self.events.append(answer)

    def look(self, scheme="light", height=2400, width=1280):
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height,
                 deviceScaleFactor=1, mobile=False)
        self.ask("Emulation.setEmulatedMedia",
                 features=[{"name": "prefers-color-scheme", "value": scheme}])

    def open(self, path, scheme="light", height=2400, width=1280):
        """A file, or a URL."""
        self.look(scheme, height, width)
        self.events = []
        self.ask("Page.navigate", url=path if "://" in path else "file://" + os.path.abspath(path))
        while not any(e.get("method") == "Page.loadEventFired" for e in self.events):
            self.events.append(self.message())

    def run(self, script):
        answer = self.ask("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def said(self):
        """Console lines, exceptions and log entries of the page."""
        return [e["params"] for e in self.events if e.get("method") in (
            "Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")]

    def fetched(self):
        return [e["params"]["request"]["url"] for e in self.events
                if e.get("method") == "Network.requestWillBeSent"]

    def shot(self, name):
        from PIL import Image  # pylint: disable=import-outside-toplevel
        data = base64.b64decode(self.ask("Page.captureScreenshot")["data"])
        with open(f"{SHOTS}/{name}.png", "wb") as out:
            out.write(data)
        return Image.open(io.BytesIO(data)).convert("RGB")

    def middle(self, selector):
        """Where an element is on the screen."""
        return self.run(f"""(() => {{
            const box = document.querySelector({json.dumps(selector)}).getBoundingClientRect();
            return [box.x + box.width / 2, box.y + box.height / 2]; }})()""")

    def mouse(self, kind, selector):
        x, y = self.middle(selector)
        steps = ["mouseMoved"] + ["mousePressed", "mouseReleased"] * (kind == "click")
        for step in steps:
            self.ask("Input.dispatchMouseEvent", type=step, x=x, y=y,
                     button="left" if step != "mouseMoved" else "none", clickCount=1)

    def press(self, key):
        for kind in "rawKeyDown", "keyUp":
            self.ask("Input.dispatchKeyEvent", type=kind, key=key, code=key,
                     windowsVirtualKeyCode={"Tab": 9, "Enter": 13}[key])

    def becomes(self, script, value=True):
        """Whether @script has the value, soon."""
        deadline = time.monotonic() + PATIENCE
        while self.run(script) != value:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.05)
        return True

    def nameless(self):
        """Elements without the name that a screen reader would tell."""
        return self.run("""[...document.querySelectorAll(
            "[role=img], [role=group], [role=button], canvas, button, input, select")].filter((at) =>
                !(at.getAttribute("aria-label") || at.textContent || at.labels?.length))
            .map((at) => at.outerHTML.slice(0, 80))""")

    def stop(self):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
