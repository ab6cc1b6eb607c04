#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads metrics as Prometheus does.

    export.py openmetrics|prometheus FILE    names and values, one sample a line

Fails when the text is not of that format.
"""

import sys

import prometheus_client.openmetrics.parser
import prometheus_client.parser

parsers = {
    "openmetrics": prometheus_client.openmetrics.parser.text_string_to_metric_families,
    "prometheus": prometheus_client.parser.text_string_to_metric_families,
}
with open(sys.argv[2], encoding="utf-8") as stream:
    text = stream.read()
for family in parsers[sys.argv[1]](text):
    if not family.documentation:
        sys.exit(f"{family.name} has no help")
    if family.type == "unknown" or family.type == "untyped":
        sys.exit(f"{family.name} has no type")
    for sample in family.samples:
        labels = ",".join(f"{k}={v}" for k, v in sorted(sample.labels.items()))
        print(f"{sample.name}{{{labels}}}", int(sample.value))
