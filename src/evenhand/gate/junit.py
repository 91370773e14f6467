"""A verdict as JUnit XML, which the test pages of continuous integration read.

A rule is a test case. One that fails is a `failure`, one that is not sure an `error` of the type
`not sure`: it must not look like a pass.
"""

from __future__ import annotations

from xml.etree import ElementTree

from evenhand.gate.judge import Finding, Verdict
from evenhand.report.cells import printable


def to_junit(verdict: Verdict) -> str:
    """The XML document."""
    counts = {
        "tests": str(len(verdict.findings)),
        "failures": str(len(verdict.with_outcome("fail"))),
        "errors": str(len(verdict.with_outcome("not sure"))),
    }
    root = ElementTree.Element("testsuites", {"name": "evenhand", **counts})
    suite = ElementTree.SubElement(root, "testsuite", {"name": "evenhand gate", **counts})
    for finding in verdict.findings:
        _add_case(suite, finding)
    ElementTree.indent(root, " ")
    text = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _add_case(suite: ElementTree.Element, finding: Finding) -> None:
    record = finding.record
    case = ElementTree.SubElement(
        suite,
        "testcase",
        {
            "classname": _clean(f"evenhand.{record.suite}.{record.language}"),
            "name": _clean(finding.rule.title),
        },
    )
    if finding.outcome != "pass":
        tag = "failure" if finding.outcome == "fail" else "error"
        reason = _clean(finding.reason)
        ElementTree.SubElement(
            case, tag, {"type": finding.outcome, "message": reason}
        ).text = f"{reason}\n{_clean(finding.estimate.signature)}"
    lines = [_clean(w) for w in finding.warnings]
    if finding.outcome == "pass":
        lines.append(_clean(finding.reason))
    if lines:
        ElementTree.SubElement(case, "system-out").text = "\n".join(lines)


def _clean(text: str) -> str:
    """The text without characters that XML does not allow."""
    return "".join(c for c in printable(text) if c not in "\ufffe\uffff")
