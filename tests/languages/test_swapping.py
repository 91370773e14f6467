"""The genders of a sentence are swapped as a careful writer would, and what must stay is left."""

from __future__ import annotations

import pytest

from evenhand.core import catalog
from evenhand.core.errors import EvenhandError
from evenhand.languages.gender_words import NameSwap, is_settled, partners
from evenhand.languages.swap_english import likely_role
from evenhand.languages.swapping import swap, swap_pair

ENGLISH, JAPANESE, CHINESE = (catalog.language(code) for code in ("en", "ja", "zh"))


@pytest.mark.parametrize(
    ("text", "swapped"),
    [
        ("Her mother gave her book to him.", "His father gave his book to her."),
        ("She saw him and he saw her.", "He saw her and she saw him."),
        ("The car is hers; that one is his.", "The car is his; that one is hers."),
        ("He hurt himself.", "She hurt herself."),
        ("HER dog, His dog", "HIS dog, Her dog"),
        ("A woman in her 30s giving her daughter a hug.", "A man in his 30s giving his son a hug."),
        (
            "A girl has her picture taken with her back to us.",
            "A boy has his picture taken with his back to us.",
        ),
        (
            "A man sits next to her looking at his phone.",
            "A woman sits next to him looking at her phone.",
        ),
        ("The man behind her looks like him.", "The woman behind him looks like her."),
        (
            "It made her happier, and we paid her less.",
            "It made him happier, and we paid him less.",
        ),
        ("They made her more confident than him.", "They made him more confident than her."),
        (
            "Her older brother liked her better in her more recent films.",
            "His older sister liked him better in his more recent films.",
        ),
        (
            "the women's room, the ladies' room, the gentlemen's club",
            "the men's room, the gentlemen's room, the ladies' club",
        ),
        ("a woman's and two girls' shoes", "a man's and two boys' shoes"),
        (
            "An actor met an heiress, an uncle and a hero.",
            "An actress met an heir, an aunt and a heroine.",
        ),
        ("AN UNCLE, An emperor", "AN AUNT, An empress"),
        ("An hour with a nephew", "An hour with a niece"),
        ("Two firemen, a policewoman and salesmen", "Two firewomen, a policeman and saleswomen"),
        ("A Frenchman and his ex-wife", "A Frenchwoman and her ex-husband"),
        ("a mother-daughter dance, my mother-in-law", "a father-son dance, my father-in-law"),
        ("Mr. Smith and Miss Jones", "Ms. Smith and Mr. Jones"),
        ("Yes, sir; no, ma’am.", "Yes, madam; no, sir."),
        (
            "A bride and groom, a waitress, two guys and a lady",
            "A groom and bride, a waiter, two gals and a gentleman",
        ),
        ("Boy Scouts meet Girl Scouts.", "Girl Scouts meet Boy Scouts."),
        ("Two Asian Women and a Man", "Two Asian Men and a Woman"),
        ("he's here, she'll come", "she's here, he'll come"),
    ],
)
def test_english_by_role_capital_number_and_article(text: str, swapped: str) -> None:
    made = swap(ENGLISH, text)
    assert (made.text, made.left) == (swapped, ())


@pytest.mark.parametrize(
    ("text", "swapped", "left"),
    [
        ("You guys saw a man.", "You guys saw a woman.", ("guys", "idiom")),
        ("A woman on the Isle of Man", "A man on the Isle of Man", ("Man", "name")),
        ("A girl in a cowboy hat", "A boy in a cowboy hat", ("cowboy", "other word")),
        (
            "Volunteers man the booth for her.",
            "Volunteers man the booth for him.",
            ("man", "other word"),
        ),
        ("He will miss the bus.", "She will miss the bus.", ("miss", "other word")),
        ("He dressed as the Tin Man.", "She dressed as the Tin Man.", ("Man", "name")),
        ("Ladies and gentlemen, a king!", "Ladies and gentlemen, a queen!", ("Ladies", "couple")),
        ("He ties a guy rope.", "She ties a guy rope.", ("guy", "other word")),
        ("He lost his/her map.", "She lost his/her map.", ("her", "couple")),
        ("He or she waits for him.", "He or she waits for her.", ("she", "couple")),
        ("He saw Notre-Dame.", "She saw Notre-Dame.", ("Dame", "name")),
        ("He saw Murder, She Wrote.", "She saw Murder, She Wrote.", ("She", "name")),
        ('He read "She Stoops to Conquer".', 'She read "She Stoops to Conquer".', ("She", "name")),
        ("She won for Man on the Moon.", "He won for Man on the Moon.", ("Man", "name")),
        ("She is a hero.", "He is a hero.", ("hero", "either gender")),
        ("A girl, and boy it rains", "A boy, and boy it rains", ("boy", "idiom")),
        (
            "Two little women read Little Women.",
            "Two little men read Little Women.",
            ("Women", "name"),
        ),
    ],
)
def test_english_words_that_stay_alone(text: str, swapped: str, left: tuple[str, str]) -> None:
    made = swap(ENGLISH, text)
    assert made.text == swapped and left in made.left


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("A man with a white beard", "biology"),
        ("A woman with a mustache", "biology"),
        ("A pregnant woman and her husband", "biology"),
        ("The ballerina ties her shoe.", "no partner"),
        ("The best man holds his speech.", "no partner"),
        ("Queen Victoria and her son", "name with a title"),
        ("The King lost his head.", "name with a title"),
        ("He slept at King's Cross.", "name with a title"),
        ("A shirtless man", "biology"),
        ("The Pope raises his hand.", "no partner"),
        ("He visits Aunt Mary.", "title with a first name"),
        ("They taught her things about him.", "role unclear"),
        ("He likes her more famous friend.", "role unclear"),
    ],
)
def test_english_that_is_left_whole(text: str, reason: str) -> None:
    made = swap(ENGLISH, text)
    assert (made.text, made.changes) == (text, ())
    assert reason in {each for _, each in made.left}


def test_biology_may_be_swapped_and_stops_nothing_where_nobody_is_named() -> None:
    assert swap(ENGLISH, "A man with a beard", has_biology=True).text == "A woman with a beard"
    assert swap(ENGLISH, "A person with a beard").left == ()


def test_both_sentences_or_none() -> None:
    made = swap_pair(ENGLISH, "A man walks his dog.", "He has a beard.")
    assert not made.is_changed and (made.premise, made.hypothesis) == (
        "A man walks his dog.",
        "He has a beard.",
    )
    made = swap_pair(ENGLISH, "A man walks his dog.", "Nobody is here.")
    assert (made.premise, made.hypothesis, made.is_changed) == (
        "A woman walks her dog.",
        "Nobody is here.",
        True,
    )
    assert made.changes == (("man", "woman"), ("his", "her"))


class Known:
    """A finder that knows a few names."""

    name = "known"

    def __init__(self, *names: str) -> None:
        self._names = names

    def find(self, text: str) -> list[tuple[int, int]]:
        return sorted((text.index(n), text.index(n) + len(n)) for n in self._names if n in text)

    def has_name(self, text: str) -> bool:
        return bool(self.find(text))


@pytest.mark.parametrize(
    ("premise", "hypothesis"),
    [
        ("Jon shook his head.", "Somebody disagreed."),
        ("Somebody disagreed.", "He shook his head at Jon."),
        ("Jon met his match.", "Jon is not married."),
        ("Jon and the sisters left.", "They left."),
        ("Jon was a good man.", "Jon was good."),
        ("A boy named Jon sings.", "A song is sung."),
    ],
)
def test_a_pair_whose_words_may_be_those_of_a_named_person_is_left(
    premise: str, hypothesis: str
) -> None:
    made = swap_pair(ENGLISH, premise, hypothesis, people=Known("Jon"))
    assert (made.premise, made.hypothesis, made.changes) == (premise, hypothesis, ())
    assert ("Jon", "named person") in made.left
    assert swap_pair(ENGLISH, premise, hypothesis, people=Known("Ann")).is_changed


def test_a_name_stops_nothing_that_cannot_be_said_of_its_bearer() -> None:
    made = swap_pair(ENGLISH, "Jon saw two men.", "The boy saw Jon.", people=Known("Jon"))
    assert (made.premise, made.hypothesis) == ("Jon saw two women.", "The girl saw Jon.")
    made = swap_pair(ENGLISH, "Mr. Smith lost his hat.", "Smith sighed.", people=Known("Smith"))
    assert (made.premise, made.hypothesis) == ("Ms. Smith lost her hat.", "Smith sighed.")


def test_with_swapped_names_a_pair_is_swapped_as_a_whole_or_left() -> None:
    names, people = NameSwap.of("en"), Known("Mary Brown", "Brown", "Mary")
    made = swap_pair(
        ENGLISH, "Mary Brown lost her hat.", "Brown sighed.", names=names, people=people
    )
    assert (made.premise, made.hypothesis) == ("James Brown lost his hat.", "Brown sighed.")
    made = swap_pair(
        ENGLISH, "Mary lost her hat.", "Zorba sighed.", names=names, people=Known("Zorba")
    )
    assert not made.is_changed and ("Zorba", "named person") in made.left
    # a name that the finder does not take for a person's is not swapped
    made = swap_pair(ENGLISH, "A man left Mary.", "He left.", names=names, people=Known())
    assert (made.premise, made.hypothesis) == ("A woman left Mary.", "She left.")


def test_named_persons_in_chinese() -> None:
    for text in ("王琦瑶说她累了。", "王琦瑶是女的。", "王琦瑶和妻子"):
        made = swap(CHINESE, text, people=Known("王琦瑶"))
        assert made.text == text and ("王琦瑶", "named person") in made.left
    assert swap(CHINESE, "王琦瑶看见两个男人。", people=Known("王琦瑶")).text == (
        "王琦瑶看见两个女人。"
    )


def test_names_stay_or_are_swapped_alike_in_both() -> None:
    premise, hypothesis = "Mary lost her book.", "John and Mary read; Virginia does not."
    kept = swap_pair(ENGLISH, premise, hypothesis)
    assert (kept.premise, kept.hypothesis) == ("Mary lost his book.", hypothesis)
    made = swap_pair(ENGLISH, premise, hypothesis, names=NameSwap.of("en"))
    assert (made.premise, made.hypothesis) == (
        "James lost his book.",
        "Jennifer and James read; Virginia does not.",
    )
    assert swap(ENGLISH, "Aunt Mary left.", names=NameSwap.of("en")).text == "Uncle James left."
    assert (
        swap(JAPANESE, "アリスは彼女の本を読む。", names=NameSwap.of("ja")).text
        == "ボブは彼の本を読む。"
    )
    assert swap(CHINESE, "玛丽喜欢她的狗。", names=NameSwap.of("zh")).text == "约翰喜欢他的狗。"
    with pytest.raises(EvenhandError, match="stands twice"):
        NameSwap({"Mary": "James", "Ann": "James"}, is_spaced=True)


@pytest.mark.parametrize(
    ("text", "swapped"),
    [
        ("彼女は母と彼岸に行った。", "彼は父と彼岸に行った。"),
        ("男爵とお父さんと兄", "男爵とお母さんと姉"),
        ("少年が祖母の妹を見る。", "少女が祖父の弟を見る。"),
        ("父と娘、夫と妻、息子", "母と息子、妻と夫、娘"),
        ("花嫁と花婿", "花婿と花嫁"),
        ("2 人 の 男性 と 女 の 子 たち", "2 人 の 女性 と 男 の 子 たち"),
        ("彼女 たち が 歩く", "彼 ら が 歩く"),
        ("男性たちが走り、彼らは笑う。", "女性たちが走り、彼女たちは笑う。"),
        ("女子高生と女子大生", "男子高校生と男子大学生"),
        ("男子高生と男子高校生", "女子高生と女子高校生"),
    ],
)
def test_japanese_words_and_spaces(text: str, swapped: str) -> None:
    assert swap(JAPANESE, text).text == swapped


@pytest.mark.parametrize(
    ("text", "swapped"),
    [
        ("他弹吉他,和其他人唱歌", "她弹吉他,和其他人唱歌"),
        ("王先生和他的妈妈", "王女士和她的爸爸"),
        ("一个男孩和他哥", "一个女孩和她姐"),
        ("中年男子找她的老婆", "中年女子找他的老公"),
        ("三个男人走路,他们很高兴", "三个女人走路,她们很高兴"),
        ("她们是女演员", "他们是男演员"),
        ("但他却不知道", "但她却不知道"),
        ("他有女性朋友", "她有男性朋友"),
        ("女生宿舍和女工程师", "男生宿舍和男工程师"),
        ("女工在做女工", "女工在做女工"),
    ],
)
def test_chinese_words(text: str, swapped: str) -> None:
    assert swap(CHINESE, text).text == swapped


def test_plurals_of_any_gender_stay() -> None:
    for language, text in (
        (CHINESE, "他们喜欢他的狗"),
        (CHINESE, "男孩和女孩说他们累了"),
        (JAPANESE, "彼らは彼の犬が好きだ。"),
    ):
        made = swap(language, text)
        assert made.changes and ("他们" in made.text or "彼らは" in made.text)
        assert [reason for _, reason in made.left] == ["plural of any gender"]


@pytest.mark.parametrize(
    ("language", "text", "reason"),
    [
        (JAPANESE, "ひげの男性", "biology"),
        (JAPANESE, "女性が妊娠している。", "biology"),
        (CHINESE, "他留着胡子", "biology"),
        (CHINESE, "师母和他", "no partner"),
        (CHINESE, "她是女工", "no partner"),
        (CHINESE, "他去找空中小姐", "no partner"),
        (JAPANESE, "上半身裸の男性", "biology"),
    ],
)
def test_what_is_left_whole_in_japanese_and_chinese(
    language: object, text: str, reason: str
) -> None:
    made = swap(language, text)  # type: ignore[arg-type]
    assert (made.text, made.changes) == (text, ()) and reason in {each for _, each in made.left}


def test_a_language_without_swap_is_refused() -> None:
    with pytest.raises(EvenhandError, match=r"'ko' .*cannot be swapped; known: en, ja, zh"):
        swap(catalog.language("ko"), "남자")


@pytest.mark.parametrize(
    ("text", "role"),
    [
        ("talks with [her] brother", "determiner"),
        ("shows [her] ring to them", "determiner"),
        ("next to [her] looking at it", "object"),
        ("agree with [her] that it is", "object"),
        ("gave [her] things", None),
        ("made [her] cry", None),
        ("a friend of [his] who", "possessive"),
        ("[Her] cooking is good", "determiner"),
        ("examining [her] freshly baked bread", "determiner"),
        ("see [her] talk", None),
    ],
)
def test_the_likely_role(text: str, role: str | None) -> None:
    start, end = text.index("["), text.index("]") - 1
    assert likely_role(text.replace("[", "").replace("]", ""), start, end) == role


def test_settled_words_are_those_that_come_back() -> None:
    assert all(is_settled("en", word) for word in ("man", "women", "mother", "fireman", "lady"))
    assert not any(is_settled("en", word) for word in ("dude", "mum", "hers", "table"))
    assert (
        partners("en")["mr"].word == "Ms"
        and partners("ja")["彼氏"].word == "彼女"
        and partners("zh")["男士"].word == "女士"
    )
