"""How does one stop an audit at a chosen moment? `python slow_audit.py audit ...` hangs while it asks chunk HANG_AT and notes each chunk in ASKED."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Sequence
from pathlib import Path

import evenhand.report.html
from evenhand.cli.main import run
from evenhand.core.probe import Floats, Probe
from evenhand.respondents.nli import NliRespondent

LOG, HANG_AT = Path(os.environ["ASKED"]), int(os.environ.get("HANG_AT", "0"))
answer = NliRespondent.answer


def note(respondent: NliRespondent, probes: Sequence[Probe]) -> Floats:
    """Answer, write down how many were asked, and hang where that was wished, before anything is kept."""
    values = answer(respondent, probes)
    with LOG.open("a", encoding="utf-8") as log:
        log.write(f"{len(probes)}\n")
    if len(LOG.read_text(encoding="utf-8").splitlines()) == HANG_AT:
        time.sleep(60)
    return values


if __name__ == "__main__":
    signal.signal(
        signal.SIGINT, signal.default_int_handler
    )  # a shell that starts tests in the background has it ignored
    setattr(NliRespondent, "answer", note)  # noqa: B010
    evenhand.report.html.to_html = lambda run: (
        "<!doctype html>"
    )  # it takes its time and is not what is stopped here
    run()
