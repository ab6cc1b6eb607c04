# SPDX-License-Identifier: GPL-2.0-or-later
"""TAP for unit tests in Python: report() each case, then done(). wait_for() what is to come."""

import os
import sys
import tempfile
import time

results = []
# Not the file of whoever runs the tests.
fabric_conf = tempfile.NamedTemporaryFile(prefix="fabric", suffix=".conf")
os.environ["TOPOOPT_FABRIC"] = fabric_conf.name


def report(passed, name, reason=""):
    """One case; reason: what to show of it when it failed. Returns passed."""
    results.append(bool(passed))
    print(f"{'ok' if passed else 'not ok'} {len(results)} - {name}", flush=True)
    if not passed:
        for line in str(reason).splitlines()[-30:]:
            print("# " + line[:500], flush=True)
    return passed


def done():
    """The plan, and the exit status."""
    print(f"1..{len(results)}")
    sys.exit(not all(results))


def wait_for(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True
