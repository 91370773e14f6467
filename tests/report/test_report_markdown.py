"""A document as Markdown: everything but pictures, in tables that hold."""

from __future__ import annotations

import re

from documents import SIGNATURE, document, dot_chart, score_table
from runs import EVIL

from evenhand.core.document import Column, Facts, Prose, Row, Signatures, Table
from evenhand.report.markdown import escaped, to_markdown


def test_everything_is_there_in_order() -> None:
    text = to_markdown(document())
    assert text.startswith("# org/model-a@1\n\ntowns 1, English, 20 probes\n\n")
    assert "**Tilt 0.452 [0.432, 0.472].** It tilts in 45 % of cases. 0 is fair." in text
    assert "| tilt | **0.452** | [0.432, 0.472] | 1,410 | >99.9 % |" in text
    assert "| *One way* |  |  |  |  |" in text
    assert "| gone | **n/a** | [n/a] | 0 | n/a |" in text
    assert "| --- | ---: | ---: | ---: | ---: |" in text
    assert "### Words: the 25 farthest from 0, of 30" in text
    assert "| word 24 |" in text
    assert "| word 25 |" not in text
    assert "- A nurse waits. / A woman waits. (PS): yes 0.900, no 0.100" in text
    assert "- \\_\\_\\_\\_是护士。 (job): 她 4 times as likely as 他" in text
    assert "It was asked.\n\nTwice.\n\n## Limits\n\n- Not all.\n- Not always." in text
    assert "> 3 probes gone.\n\n> Cut." in text
    assert f"```text\n{SIGNATURE}\n```\n\n```text\nhidden:1\n```" in text
    assert "- licence: CC0" in text
    heads = re.findall(r"^## (.*)$", text, flags=re.MULTILINE)
    assert heads[:4] == ["Scores", "Words", "Figures", "The worst"]


def test_a_chart_is_told_in_words_where_no_table_has_its_numbers() -> None:
    words = "*Scores against fair and random.* tilt 0.400, lean 0.700"
    assert words in to_markdown(document(dot_chart()))
    assert words not in to_markdown(document(dot_chart(), score_table()))


def test_words_stay_words() -> None:
    table = Table(
        name="evil",
        title=EVIL,
        columns=(Column(title=EVIL), Column(title="a|b", form="number")),
        rows=(Row(cells=(EVIL, EVIL)), Row(cells=(f"{EVIL}\n2", 0.5))),
        note=EVIL,
    )
    text = to_markdown(document(table, Facts(rows=((EVIL, EVIL),)), Prose(lines=(EVIL,))))
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    assert len(lines) == 4
    for line in lines:
        assert len(re.findall(r"(?<!\\)\|", line)) == 3
    assert "<script" not in text.replace("\\<", "")
    assert escaped("a_b*[c](d)") == r"a\_b\*\[c\](d)"


def test_a_signature_cannot_close_its_fence() -> None:
    text = to_markdown(document(Signatures(lines=("model:```|seed:0",))))
    assert "````text\nmodel:```|seed:0\n````" in text
