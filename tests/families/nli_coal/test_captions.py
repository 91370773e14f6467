"""Captions become clean frames; those that depend on gender fall out, for their reason."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from evenhand.core import catalog
from evenhand.core.errors import EvenhandError, InputError
from evenhand.core.suite import Suite
from evenhand.engine.lint import lint
from evenhand.engine.suites import load_suite
from evenhand.families.nli_coal.suite import OccupationOptions
from evenhand.languages.captions import Mined, mine, read_captions

REAL = {"en": "en.snli-train20k.jsonl", "ja": "ja.jsnli-dev.jsonl", "zh": "zh.cnli-dev.jsonl"}
# By the test's own list, apart from the lexicon of cues: what no mined frame may hold.
GENDERED = {
    "en": re.compile(
        r"\b(?:he|she|his|hers?|him|wife|husband|beard|pregnant|m[ae]n|wom[ae]n|mother|father|"
        r"lady|bikini|skirt)\b",
        re.IGNORECASE,
    ),
    "ja": re.compile(r"彼女|彼(?!方|岸|氏)|女性|男性|妻|夫(?!婦|人)|妊娠|ひげ|スカート|ビキニ"),
    "zh": re.compile(r"她|(?<![其吉])他|女人|男人|妻子|丈夫|怀孕|胡子|裙子|比基尼"),
}


def from_lines(folder: Path, language: str, *captions: str) -> Mined:
    path = folder / "captions.txt"
    path.write_text("\n".join(captions), encoding="utf-8")
    return mine([path], catalog.language(language))


def from_captions(language: str, path: Path) -> Suite:
    return load_suite("occupation-nli", language, OccupationOptions(captions=(path,)))


@pytest.mark.parametrize("language", REAL)
def test_real_captions_give_hundreds_of_clean_frames(data: Path, language: str) -> None:
    path = data / "nli" / REAL[language]
    mined = mine([path], catalog.language(language))
    assert len(mined.frames) == len({f.casefold() for f in mined.frames}) >= 250
    # none is lost without a reason
    assert len(mined.frames) + sum(mined.dropped.values()) == len(read_captions(path))
    assert mined.dropped["depends on gender"] >= 50
    speaker = catalog.language(language)
    for frame in mined.frames:
        assert len(re.findall(r"\{(?:a|the|x)\}", frame)) == 1
        assert not GENDERED[language].search(frame), frame
        assert speaker.faults(frame) == []


@pytest.mark.parametrize("language", REAL)
def test_a_suite_of_mined_frames_is_sound(data: Path, language: str) -> None:
    suite = from_captions(language, data / "nli" / REAL[language])
    assert {f.rule for f in lint(suite.probes)} == set()
    assert REAL[language] in suite.card.source and suite.card.licence == "that of the captions"
    assert suite.digest != load_suite("occupation-nli", language).digest


@pytest.mark.parametrize(
    ("language", "caption", "frame"),
    [
        ("en", "A man rides a horse.", "{a} rides a horse."),
        ("en", "The woman is asleep on a train.", "{the} is asleep on a train."),
        ("en", "An elderly man is drinking juice.", "An elderly {x} is drinking juice."),
        ("ja", "男性が馬に乗っている。", "{x}が馬に乗っている。"),
        ("zh", "一个男人在弹吉他。", "一个{x}在弹吉他。"),
        ("zh", "一个女人和其他孩子在玩耍。", "一个{x}和其他孩子在玩耍。"),
        ("zh", "这位女人在公园里散步。", "这个{x}在公园里散步。"),
        ("zh", "孩子们朝一名男人招手。", "孩子们朝一个{x}招手。"),
    ],
)
def test_clean_captions_become_frames(
    tmp_path: Path, language: str, caption: str, frame: str
) -> None:
    assert from_lines(tmp_path, language, caption) == Mined(frames=[frame])


@pytest.mark.parametrize(
    ("language", "caption"),
    [
        ("en", "A man with a white beard is reading."),
        ("en", "A pregnant woman is sitting on a bench."),
        ("en", "A man is walking his dog."),
        ("en", "A woman holds her bag."),
        ("en", "A man is dancing with his wife."),
        ("en", "A man and his WIFE are dancing."),
        ("ja", "男性が彼女と歩いている。"),
        ("ja", "ひげを生やした男性が座っている。"),
        ("ja", "妊娠している女性が座っている。"),
        ("zh", "一个女人在看她的书。"),
        ("zh", "一个男人在遛他的狗。"),
        ("zh", "一个留着胡子的男人在看书。"),
        ("zh", "一个怀孕的女人坐在长椅上。"),
        ("en", "A man or older boy is rowing a boat."),
        ("en", "A man and a girl sit in a boat."),
        ("en", "A man wearing only pants and a hat paints a floor."),
        ("en", "A blond woman in a red hat stands in a doorway."),
        ("en", "A woman in a fur coat waits for the bus."),
        ("en", "A man in traditional Scottish garb plays a bagpipe."),
        ("en", "A child is talking to another woman."),
        ("en", "One man kicks another at a martial arts event."),
        ("en", "A fit man in red running briefs begins to run."),
        ("en", "A woman in fishnets is dancing on stage."),
        ("en", "A man without a shirt is painting a fence."),
        ("en", "A young woman with long brown hair is reading."),
        ("en", "A muscular man is lifting a box."),
        ("en", "A woman wearing a necklace is smiling."),
        ("ja", "バストの大きい女性が座っている。"),
        ("ja", "花柄のエプロンを着た女性が料理をしています。"),
        ("ja", "はげた男性が新聞を読んでいる。"),
        ("ja", "髪の毛の薄い男性が立っている。"),
        ("ja", "別の女性が本を読んでいる。"),
        ("ja", "水着の女性が自転車に乗っている。"),
        ("ja", "大柄の男性が駐車場にいます。"),
        ("zh", "一个没有衬衫的男人在跑步。"),
        ("zh", "一个穿着靴子的漂亮女人在雨中散步。"),
        ("zh", "一位穿长筒袜和短裤的女人在散步。"),
        ("zh", "一个看似粗犷的男人睡着了。"),
        ("zh", "一个穿着渔网的女人在跳舞。"),
        ("zh", "一个孩子在和另一个女人说话。"),
        ("zh", "一个满身是泥的赤裸的男人。"),
        ("zh", "一个拿着手袋的女人笑着。"),
        ("zh", "一个身材高大的男人站着。"),
    ],
)
def test_captions_that_depend_on_gender_fall_out(
    tmp_path: Path, language: str, caption: str
) -> None:
    assert from_lines(tmp_path, language, caption) == Mined(
        dropped=Counter({"depends on gender": 1})
    )


@pytest.mark.parametrize(
    ("language", "caption", "reason"),
    [
        ("en", "A man and a woman are talking.", "not exactly one gender word"),
        ("en", "Two men are talking to a man.", "not exactly one gender word"),
        ("en", "A dog is asleep on the sofa.", "not exactly one gender word"),
        ("en", "A snowman stands in the garden.", "not exactly one gender word"),
        ("en", "A man.", "too short or too long"),
        ("en", f"A man is {'very ' * 40}tired.", "too short or too long"),
        ("en", "A man is eating a apple.", "reads as broken"),
        ("en", "Man sleeping on a bench.", "reads as broken"),
        ("ja", "二人の女性が公園を歩いている。", "reads as broken"),
        ("ja", "何人かの男性が駅で話している。", "reads as broken"),
        ("ja", "男性と女性が公園を歩いている。", "not exactly one gender word"),
        ("zh", "两个女人在公园里散步。", "reads as broken"),
        ("zh", "一群男人在踢足球比赛。", "reads as broken"),
        ("zh", "一个男人和一个女人在散步。", "not exactly one gender word"),
        ("en", "There is no man on the bench.", "reads as broken"),
        ("en", "The woman tennis player is on the court.", "reads as broken"),
        ("en", "People look at a statue of a sitting man.", "reads as broken"),
        ("ja", "ギターを弾いている男性は一人もいない。", "reads as broken"),
        ("ja", "女性たちが競争している。", "reads as broken"),
        ("ja", "男性のテニス選手がラケットを持っている。", "reads as broken"),
        ("ja", "アジア女性が話している。", "reads as broken"),
        ("zh", "桌子旁边没有男人。", "reads as broken"),
        ("zh", "许多穿着橘色衣服的男人摆姿势。", "reads as broken"),
    ],
)
def test_other_captions_fall_out_for_their_reason(
    tmp_path: Path, language: str, caption: str, reason: str
) -> None:
    assert from_lines(tmp_path, language, caption) == Mined(dropped=Counter({reason: 1}))


def test_the_same_frame_counts_once(tmp_path: Path) -> None:
    mined = from_lines(
        tmp_path,
        "en",
        "A man is asleep.",
        "A woman is asleep.",
        "A man is asleep.",
        "a man is ASLEEP.",
    )
    # the line that is there twice is read once
    assert mined == Mined(frames=["{a} is asleep."], dropped=Counter({"duplicate": 2}))


def test_captions_are_read_from_text_and_from_nli_files(tmp_path: Path) -> None:
    captions = ["A man is here.", "A woman is there."]
    (tmp_path / "a.txt").write_bytes(
        b"\xef\xbb\xbf" + "\r\n".join([*captions, "", captions[0]]).encode()
    )
    (tmp_path / "b.jsonl").write_text(
        "".join(json.dumps({"premise": t, "hypothesis": "-"}) + "\n" for t in captions),
        encoding="utf-8",
    )
    (tmp_path / "c.tsv").write_text(
        "sentence1\tsentence2\n" + "".join(f"{t}\t-\n" for t in captions), encoding="utf-8"
    )
    assert [read_captions(tmp_path / name) for name in ("a.txt", "b.jsonl", "c.tsv")] == [
        captions
    ] * 3


def test_what_has_no_captions_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("left,right\n1,2\n", encoding="utf-8")
    needed = "one of premise, sentence1, caption, text is needed"
    with pytest.raises(InputError, match=rf"a\.csv: has the columns left, right; {needed}"):
        read_captions(tmp_path / "a.csv")
    (tmp_path / "few.txt").write_text("A man is asleep on a bench.\n", encoding="utf-8")
    with pytest.raises(
        EvenhandError, match=r"only 1 clean frames in few\.txt; at least 10 are needed"
    ):
        from_captions("en", tmp_path / "few.txt")
    with pytest.raises(InputError, match="there is no such file"):
        from_captions("en", tmp_path / "none.txt")


def test_the_card_counts_what_was_mined_and_what_was_left_out(tmp_path: Path) -> None:
    path = tmp_path / "captions.txt"
    verbs = "walks runs waits sings reads sits stands cooks paints swims jumps".split()
    lines = [f"A man {verb} beside a wooden table." for verb in verbs]
    path.write_text("\n".join([*lines, "A man strokes his long beard.", "Hi."]), encoding="utf-8")
    source = from_captions("en", path).card.source
    assert source.startswith("11 frames mined from captions.txt; left out: ")
    assert "depends on gender 1" in source


def test_quotes_of_a_table_are_taken_off(tmp_path: Path) -> None:
    path = tmp_path / "captions.txt"
    path.write_text(
        '"A man holds a sign reading ""Peace"" outside."\n"Stop," says a man.\n', "utf-8"
    )
    assert read_captions(path) == [
        'A man holds a sign reading "Peace" outside.',
        '"Stop," says a man.',
    ]
