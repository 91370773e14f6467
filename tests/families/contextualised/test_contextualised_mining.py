"""Measuring sentences cut from raw text: what is cut, what is left out, genders in balance."""

from __future__ import annotations

import builtins
import json
import re
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from quick import FEW

from evenhand.core import catalog
from evenhand.core.errors import EvenhandError, EvenhandWarning, InputError, LoadError
from evenhand.core.probe import BLANK
from evenhand.core.run import Run
from evenhand.core.suite import Suite, write_suite
from evenhand.engine.audit import audit
from evenhand.families.contextualised.gender_words import Swap, find_swap
from evenhand.families.contextualised.mask_probe import mask_probe
from evenhand.families.contextualised.mining import cut_sentences, read_passages
from evenhand.families.contextualised.suite import SUITE, ContextualisedOptions
from evenhand.languages import ja, zh
from evenhand.languages.names import CapitalisedNames


def words(code: str, text: str) -> list[str]:
    return [text[start:end] for start, end in catalog.language(code).words(text)]


def judge(code: str, text: str) -> Swap | str:
    return find_swap(catalog.language(code), text)


def build(
    tmp_path: Path, language: str, *lines: str, name: str = "corpus.txt", **options: Any
) -> Suite:
    path = tmp_path / name
    path.write_text("\n".join(lines), encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvenhandWarning)
        return SUITE.build(language, ContextualisedOptions(corpora=(path,), **options))


@pytest.mark.parametrize(
    ("language", "text", "sentences"),
    [
        (
            "zh",
            "他来了。她走了！真的？是的……好吧",
            ["他来了。", "她走了！", "真的？", "是的……", "好吧"],
        ),
        ("zh", "“你好！”他说。她没有\n回答", ["“你好！”", "他说。", "她没有", "回答"]),
        ("zh", "好吧.我来.他有3.5米高。", ["好吧.", "我来.", "他有3.5米高。"]),
        ("zh", "“你好！你是谁？”他问。", ["你好！", "你是谁？", "他问。"]),
        (
            "ja",
            "「行くよ。」と彼は言った。彼女は泣いた！本当？",
            ["「行くよ。」と彼は言った。", "彼女は泣いた！", "本当？"],
        ),
        ("ja", "彼は来た（昨日。）彼女も来た。", ["彼は来た（昨日。）", "彼女も来た。"]),
        (
            "en",
            "Mr. Smith met Dr. No. He left! Did she?",
            ["Mr. Smith met Dr. No.", "He left!", "Did she?"],
        ),
        (
            "en",
            "It is 3.5 miles. J. K. Rowling wrote.  The U.S. is big.",
            ["It is 3.5 miles.", "J. K. Rowling wrote.", "The U.S. is big."],
        ),
        ("en", '"Go!" he said. "Why?" "Because."', ['"Go!" he said.', '"Why?"', '"Because."']),
        (
            "en",
            "St. Paul met Mrs. Lee\r\nProf. X and Ms. Y. came",
            ["St. Paul met Mrs. Lee", "Prof. X and Ms. Y. came"],
        ),
        (
            "en",
            "They left at 5 p.m. on\tMonday... and he came.",
            ["They left at 5 p.m. on Monday... and he came."],
        ),
        (
            "ko",
            '그는 갔다. 그녀는 3.5점을 받았다! "정말?" 끝',
            ["그는 갔다.", "그녀는 3.5점을 받았다!", '"정말?"', "끝"],
        ),
    ],
)
def test_text_is_cut_at_the_ends_of_sentences(
    language: str, text: str, sentences: list[str]
) -> None:
    assert list(cut_sentences(text, language)) == sentences


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("zh", "他在弹吉他", ["他", "在", "弹", "吉他"]),
        ("zh", "对外公布", ["对外", "公布"]),
        ("zh", "首先生产", ["首先", "生产"]),
        ("zh", "她的书", ["她的", "书"]),
        ("zh", "他的确很好", ["他", "的确", "很", "好"]),
        ("ja", "彼女は女の子です", ["彼女", "は", "女の子", "です"]),
        ("ja", "お母さんと彼女たちが", ["お母さん", "と", "彼女たち", "が"]),
        ("ja", "夫婦で 大丈夫", ["夫婦", "で", "大丈夫"]),
        ("ja", "女の子供服", ["女", "の", "子供", "服"]),
        (
            "en",
            "My mother-in-law's car, the woman's hat",
            ["My", "mother-in-law", "car", "the", "woman", "hat"],
        ),
        (
            "en",
            "she’ll don't ma’am man-made O'Neil--he",
            ["she", "don't", "ma’am", "man-made", "O'Neil", "he"],
        ),
        ("ko", "남편에게는 형사가 왔다", ["남편", "형사가", "왔다"]),
        ("ko", "그 사람은 그대로 그는 그녀를", ["사람은", "그대로", "그", "그녀"]),
    ],
)
def test_words_are_found_as_words(language: str, text: str, expected: list[str]) -> None:
    assert words(language, text) == expected


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("zh", "孩子们在弹吉他"),
        ("zh", "其他人都已经走了"),
        ("zh", "不要管他人的事情"),
        ("zh", "马耳他是一个岛国"),
        ("ja", "きっと大丈夫だと思う"),
        ("ja", "彼岸の花が咲いている"),
        ("en", "The man-made lake is deep"),
        ("en", "We miss the old house"),
        ("ko", "그 사람은 어제 왔다"),
        ("ko", "형사가 문을 두드렸다"),
    ],
)
def test_other_words_are_no_gender_words(language: str, text: str) -> None:
    assert judge(language, text) == "no gender word"


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        (
            "en",
            "They took her coat away.",
            ("They took [BLANK] coat away.", "his", "her", "female"),
        ),
        (
            "en",
            "They saw her in the park.",
            ("They saw [BLANK] in the park.", "him", "her", "female"),
        ),
        ("en", "The decision was hers.", ("The decision was [BLANK].", "his", "hers", "female")),
        ("en", "My dad's car broke down.", ("My [BLANK]'s car broke down.", "dad", "mom", "male")),
        (
            "en",
            "Lady at the bar ordered tea.",
            ("[BLANK] at the bar ordered tea.", "gentleman", "lady", "female"),
        ),
        ("zh", "他的书放在桌子上。", ("[BLANK]的书放在桌子上。", "他", "她", "male")),
        # 男 and 女 as words of their own, where the published file masks them
        (
            "zh",
            "快要开场了，女嘉宾们翩翩而至。",
            ("快要开场了，[BLANK]嘉宾们翩翩而至。", "男", "女", "female"),
        ),
        ("zh", "山东男篮昨天赢了比赛。", ("山东[BLANK]篮昨天赢了比赛。", "男", "女", "male")),
        (
            "zh",
            "所以男的都走在头尾和两侧。",
            ("所以[BLANK]的都走在头尾和两侧。", "男", "女", "male"),
        ),
        ("zh", "中国女足昨天赢了比赛。", ("中国[BLANK]足昨天赢了比赛。", "男", "女", "female")),
        ("zh", "一位女司机走错了道。", ("一位[BLANK]司机走错了道。", "男", "女", "female")),
        ("zh", "一个小女孩坐在门口。", ("一个小[BLANK]坐在门口。", "男孩", "女孩", "female")),
        ("zh", "那位先生走进了房间。", ("那位[BLANK]走进了房间。", "先生", "女士", "male")),
        (
            "ja",
            "公園で女の子が遊んでいる。",
            ("公園で[BLANK]が遊んでいる。", "男の子", "女の子", "female"),
        ),
        (
            "ko",
            "우리 형이 학교에 갔다.",
            ("우리 [BLANK]{이/가} 학교에 갔다.", "형", "누나", "male"),
        ),
        (
            "ko",
            "저 사람은 우리 누나였다.",
            ("저 사람은 우리 [BLANK]{이었/였}다.", "형", "누나", "female"),
        ),
    ],
)
def test_a_sentence_becomes_a_question(language: str, text: str, expected: tuple[str, ...]) -> None:
    swap = judge(language, text)
    assert isinstance(swap, Swap)
    assert (swap.text, swap.male, swap.female, swap.gender) == expected


@pytest.mark.parametrize(
    ("language", "text", "reason"),
    [
        ("en", "The man told the woman.", "several gender words"),
        ("en", "Men and women work here.", "unswappable expression"),
        ("en", "I met Mr. Smith there.", "title with a name"),
        ("en", "My uncle Tom came too.", "title with a name"),
        ("en", "It made her happy.", "role unclear"),
        ("en", "The man had a beard.", "gender cue"),
        ("en", "THE MAN WENT HOME.", "capital letters"),
        ("en", "I think He is with us.", "capital letters"),
        ("en", "Boy, what a mess we made.", "unswappable expression"),
        ("en", "This was a princess' choice.", "genitive"),
        ("zh", "房思琪女士走进了房间。", "title with a name"),
        ("zh", "王先生走进了房间。", "title with a name"),
        ("en", "The baby was fed on mother's milk for a year.", "gender cue"),
        ("en", "Yes, milady, he is waiting outside.", "gender cue"),
        ("en", "Good morning, miss, he is in the office.", "gender cue"),
        ("en", "My dear fellow, she knows nothing of it.", "gender cue"),
        ("zh", "婴儿吃妈妈的奶长大，身体很好。", "gender cue"),
        ("zh", "老板娘说他每天都来这里吃饭。", "gender cue"),
        ("zh", "女权运动改变了他的想法。", "gender cue"),
        ("zh", "男科医院昨天开始营业了。", "no gender word"),
        ("ja", "母の乳を飲んで育った子どもは元気だ。", "gender cue"),
        ("zh", "她怀孕已经三个月了。", "gender cue"),
        ("ja", "彼女は彼を見ていた。", "several gender words"),
        ("ja", "彼女は妊娠している。", "gender cue"),
        ("ko", "그녀는 남편에게 편지를 썼다.", "several gender words"),
    ],
)
def test_a_sentence_that_measures_nothing_is_left_out(
    language: str, text: str, reason: str
) -> None:
    assert judge(language, text) == reason


def test_an_article_that_does_not_fit_the_partner_is_a_reason() -> None:
    assert judge("en", "We saw an heir at the court.") == Swap(
        text=f"We saw an {BLANK} at the court.", male="heir", female="heiress", gender="male"
    )
    assert judge("en", "We saw a actress on the stage.") == "article"


def test_every_sentence_is_accounted_for(tmp_path: Path) -> None:
    lines = (
        "He opened the door slowly.",
        "She closed the door slowly.",
        "He opened the door slowly.",
        "He sat.",
        "She " + "very " * 30 + "late.",
        "It rained all day long.",
        "The man saw the woman.",
        "Men and women work here.",
        "It made her happy.",
        "I met Mr. Smith there.",
        "He has a long beard now.",
        "He cooked a large dinner.",
        "He gave Peter the letter.",
    )
    suite = build(tmp_path, "en", *lines)
    source = suite.card.source
    assert source.startswith(
        "cut from corpus.txt; 13 sentences read; left out: balance 1, duplicate 1, gender cue 1, "
        "no gender word 1, personal name 1, role unclear 1, several gender words 1, "
        "title with a name 1, too long 1, too short 1, unswappable expression 1"
    )
    counts = [
        int(n)
        for n in re.findall(r" (\d+)(?:,|;|$)", source.split("left out:")[1].split(";")[0] + ",")
    ]
    assert len(suite.probes) + sum(counts) == 13
    assert [p.tags["original"] for p in suite.probes] in (["male", "female"], ["female", "male"])
    assert suite.card.licence == "that of the corpus"


def test_the_borders_of_length(tmp_path: Path) -> None:
    middle = "x" * 5
    lines = [
        f"He {middle}",
        f"She {middle}",
        f"He {middle}y",
        "He " + "x" * 116,
        "She " + "x" * 115,
        "He " + "x" * 117,
    ]
    assert [len(line) for line in lines] == [8, 9, 9, 119, 119, 120]
    suite = build(tmp_path, "en", *lines)
    asked = [
        p.texts[0].replace(BLANK, p.texts[1 + (p.tags["original"] == "female")])
        for p in suite.probes
    ]
    assert asked == lines[1:5]
    assert (
        "too long 1, too short 1" in suite.card.source and "6 sentences read" in suite.card.source
    )


NUMBERS = "one two three four five six seven eight nine ten eleven twelve".split()


def test_both_words_of_a_pair_are_equally_frequent(tmp_path: Path) -> None:
    lines = [f"He counted {n} birds on the roof." for n in NUMBERS] + [
        f"She counted {n} birds on the roof." for n in NUMBERS[:5]
    ]
    lines += [f"My uncle has {n} dogs." for n in NUMBERS]
    suite = build(tmp_path, "en", *lines)
    assert Counter((p.tags["pair"], p.tags["original"]) for p in suite.probes) == {
        ("he/she", "male"): 5,
        ("he/she", "female"): 5,
    }
    few = build(tmp_path, "en", *lines, per_word=3)
    assert Counter(p.tags["original"] for p in few.probes) == {"male": 3, "female": 3}
    assert [p.id for p in few.probes] == [f"en/c{n:05d}" for n in range(1, 7)]
    places = [
        next(
            i
            for i, line in enumerate(lines)
            if p.texts[0].replace(BLANK, p.texts[1 + (p.tags["original"] == "female")]) == line
        )
        for p in few.probes
    ]
    assert places == sorted(places)


def test_the_seed_decides_which(tmp_path: Path) -> None:
    lines = [f"{who} counted {n} birds on the roof." for who in ("He", "She") for n in NUMBERS]
    first, again, other = (
        build(tmp_path, "en", *lines, per_word=4, seed=seed) for seed in (1, 1, 2)
    )
    assert first.probes == again.probes
    assert first.probes != other.probes


def test_a_probe_is_as_the_suite_has_them(tmp_path: Path) -> None:
    suite = build(tmp_path, "ko", "우리 형이 학교에 갔다.", "우리 누나는 집에 있었다.")
    assert [p.texts for p in suite.probes] == [
        ("우리 [BLANK] 학교에 갔다.", "형이", "누나가"),
        ("우리 [BLANK] 집에 있었다.", "형은", "누나는"),
    ]
    assert dict(suite.probes[0].tags) == {
        "pair": "형/누나",
        "fair": "equal",
        "original": "male",
        "origin": "corpus.txt",
    }
    assert (suite.probes[0].id, suite.probes[0].stratum, suite.probes[0].cluster) == (
        "ko/c00001",
        "MS",
        "형/누나",
    )


def test_short_pairs_are_named_once(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text(
        "He opened the door.\nShe closed the door.\nMy uncle is tall.", encoding="utf-8"
    )
    with pytest.warns(
        EvenhandWarning, match=r"fewer than 2 sentences of each word for he/she 1, uncle/aunt 0; "
    ) as caught:
        SUITE.build("en", ContextualisedOptions(corpora=(path,), per_word=2))
    assert len([w for w in caught if w.category is EvenhandWarning]) == 1


def test_tables_are_read_by_their_columns_of_text(tmp_path: Path) -> None:
    path = tmp_path / "nli.jsonl"
    rows = [
        {"premise": "He left.", "hypothesis": "She came.", "label": "neutral"},
        {"premise": "It rained.", "hypothesis": None, "label": "x"},
    ]
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    assert read_passages(path) == ["He left.", "She came.", "It rained."]
    (tmp_path / "t.csv").write_text('id,text\n1,"He left. She\ncame."\n', encoding="utf-8")
    assert read_passages(tmp_path / "t.csv") == ["He left. She\ncame."]


@pytest.mark.parametrize(
    ("name", "raw", "message"),
    [
        ("empty.txt", b" \n", r"empty\.txt: the file is empty"),
        (
            "latin.txt",
            "Er ließ sie gehen.".encode("latin-1"),
            r"latin\.txt, row 1: byte 0xdf is not UTF-8",
        ),
        ("gbk.txt", "她走了".encode("gbk"), r"gbk\.txt, row 1: byte .* is not UTF-8"),
        ("utf16.txt", "She left.".encode("utf-16"), r"utf16\.txt, row 1: byte 0xff is not UTF-8"),
        (
            "other.csv",
            b"left,right\na,b\n",
            r"other\.csv: has the columns left, right; "
            "one of text, sentence, premise, hypothesis, content is needed",
        ),
        ("hollow.jsonl", b'{"text": " "}\n', r"hollow\.jsonl: has no text in its column text"),
        ("torn.jsonl", b'{"text": \n', r"torn\.jsonl, row 1: not a JSON object"),
    ],
)
def test_a_bad_file_is_named(tmp_path: Path, name: str, raw: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(raw)
    with pytest.raises(InputError, match=message):
        SUITE.build("en", ContextualisedOptions(corpora=(tmp_path / name,)))


def test_nothing_left_says_why(tmp_path: Path) -> None:
    with pytest.raises(
        EvenhandError,
        match=(
            r"no measuring sentence in corpus.txt: 2 sentences read; "
            r"left out: balance 1, no gender word 1\. Give a larger"
        ),
    ):
        build(tmp_path, "en", "It rained all day.", "She opened the door.")
    with pytest.raises(EvenhandError, match="0 sentences per gender word"):
        build(tmp_path, "en", "She opened the door.", per_word=0)


@pytest.mark.parametrize(
    ("language", "package", "extra"), [("zh", "jieba", "zh"), ("ja", "fugashi", "ja")]
)
def test_a_missing_segmenter_says_what_to_install(
    language: str, package: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = builtins.__import__

    def refuse(name: str, *rest: Any, **more: Any) -> Any:
        if name == package:
            raise ImportError(name)
        return original(name, *rest, **more)

    for cached in (zh.segmenter, ja.tagger):
        cached.cache_clear()
    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(LoadError, match=rf"pip install 'evenhand\[{extra}\]'"):
        words(language, "他走了")


def test_capitals_inside_a_sentence_are_names_unless_they_are_places() -> None:
    finder = CapitalisedNames(None, ())
    assert [
        finder.has_name(t)
        for t in (
            "We met Adrin and she left",
            "She lives in Lubbock",
            "She spoke French on Monday",
            "Then I'm sure she left",
        )
    ] == [
        True,
        False,
        False,
        False,
    ]
    large = CapitalisedNames(None, ["the old house stood there"] * 5000)
    assert [large.has_name(t) for t in ("Adrin said she left", "There she stood")] == [True, False]


REAL = {
    "en": ("en.mnli-train10k.jsonl", 400),
    "zh": ("zh.ocnli-train10k.jsonl", 280),
    "ja": ("ja.jsnli-dev.jsonl", 400),
}


@pytest.mark.parametrize("language", REAL)
def test_real_corpora_give_hundreds_of_balanced_sentences(data: Path, language: str) -> None:
    name, least = REAL[language]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvenhandWarning)
        suite = SUITE.build(language, ContextualisedOptions(corpora=(data / "nli" / name,)))
    assert len(suite.probes) >= least
    assert len({p.id for p in suite.probes}) == len(suite.probes)
    counts = Counter((p.tags["pair"], p.tags["original"]) for p in suite.probes)
    assert all(counts[pair, "male"] == counts[pair, "female"] <= 100 for pair, _ in counts)
    assert all(p.texts[0].count(BLANK) == 1 and len(p.texts) == 3 for p in suite.probes)
    left = suite.card.source.split("left out: ")[1].split("; ")[0]
    read = int(re.findall(r"(\d+) sentences read", suite.card.source)[0])
    assert len(suite.probes) + sum(int(n) for n in re.findall(r" (\d+)(?:,|$)", left)) == read


def test_what_only_looks_like_a_leak_is_kept() -> None:
    for code, text in (
        ("en", "The mother's milk bottle was on the table."),
        ("zh", "妈妈的奶茶放在桌子上。"),
        ("en", "I miss the way he used to sing."),
    ):
        found = judge(code, text)
        assert isinstance(found, Swap) == (code == "zh" or "miss" in text), (text, found)


def test_lengths_can_be_chosen(tmp_path: Path) -> None:
    long = ["He came here from the station.", "She came here from the station."]
    lines = ["He left.", "She left.", *long]
    assert len(build(tmp_path, "en", *lines).probes) == 2
    assert len(build(tmp_path, "en", *lines, shortest=8).probes) == 4
    short = build(tmp_path, "en", *lines, shortest=8, longest=9)
    assert {p.texts[0] for p in short.probes} == {"[BLANK] left."}
    assert "8 to 9 characters" in short.card.source
    assert "too long 2" in short.card.source
    with pytest.raises(EvenhandError, match="sentences of 9 to 8 characters were asked for"):
        build(tmp_path, "en", *lines, longest=8)


def test_a_built_suite_has_a_name_a_version_and_a_card_of_its_own(tmp_path: Path) -> None:
    lines = ["他昨天从北京来到了这里。", "她昨天从北京来到了这里。"]
    suite = build(tmp_path, "zh", *lines)
    assert (suite.card.name, suite.card.version) == ("contextualised:corpus", "1")
    assert "objective" not in suite.card.description
    assert suite.strata == {"MS"}
    own = build(
        tmp_path, "zh", *lines, suite_name="news", suite_version="2026", suite_licence="CC0"
    )
    assert own.reference == f"news@2026#{suite.digest}"
    assert own.card.licence == "CC0"
    run = judge_run(audit("fixed:random", own, settings=FEW))
    assert run == "contextualised"


def judge_run(run: Run) -> str:
    """The family whose account a run uses."""
    measures = [catalog.measure(e.measure) for e in run.estimates]
    return catalog.family_of(run.suite, measures).name


def test_objective_sentences_from_a_file_are_the_controls(tmp_path: Path) -> None:
    lines = ["他昨天从北京来到了这里。", "她昨天从北京来到了这里。"]
    control = mask_probe(
        identity="zh/o1",
        language="zh",
        text="[BLANK]怀孕了。",
        male="他",
        female="她",
        tags={"gold": "female", "type": "biology"},
    )
    card = build(tmp_path, "zh", *lines).card
    file = tmp_path / "objective.jsonl"
    write_suite(Suite(card=card, probes=(control,)), file)
    suite = build(tmp_path, "zh", *lines, objective=file)
    assert suite.strata == {"MS", "OS"}
    assert suite.probes[-1] == control
    assert "1 objective sentences from objective.jsonl" in suite.card.source
    with pytest.raises(InputError, match="has no objective sentence"):
        build(tmp_path, "en", "He came here yesterday.", "She came here yesterday.", objective=file)
