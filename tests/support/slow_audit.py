"""An audit that can be stopped at a chosen moment.

`python slow_audit.py audit ...` hangs while it asks chunk HANG_AT and notes each chunk in ASKED.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Sequence
from pathlib import Path

import evenhand.report.write
from evenhand.cli.main import run
from evenhand.core.answers import Replies
from evenhand.core.probe import Probe
from evenhand.respondents.nli import NliRespondent

LOG, HANG_AT = Path(os.environ["ASKED"]), int(os.environ.get("HANG_AT", "0"))
answer = NliRespondent.answer


def note(respondent: NliRespondent, probes: Sequence[Probe]) -> Replies:
    """Answer, write down how many were asked, and hang where that was wished."""
    replies = answer(respondent, probes)
    with LOG.open("a", encoding="utf-8") as log:
        log.write(f"{len(probes)}\n")
    if len(LOG.read_text(encoding="utf-8").splitlines()) == HANG_AT:
        time.sleep(60)
    return replies


if __name__ == "__main__":
    # a shell that starts tests in the background has it ignored
    signal.signal(signal.SIGINT, signal.default_int_handler)
    setattr(NliRespondent, "answer", note)  # noqa: B010
    # drawing takes its time and is not what is stopped here
    setattr(evenhand.report.write, "to_html", lambda document, **_: "<!doctype html>")  # noqa: B010
    run()
