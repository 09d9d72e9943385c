"""What repeats a text is known by content; other talk is no repetition, though it shares some words."""

import pytest

from noodlings.recall.repetition import Wording, says_something, spelt_out

SECRET = "Servnak, my treasure is buried under the goldzqoak tree at midnight corner"
NAMES = frozenset({"servnak"})


def repeats(said: str, told: str = SECRET) -> bool:
    return Wording(said, NAMES).repeats(Wording(told, NAMES))


@pytest.mark.parametrize(
    "said",
    [
        SECRET,
        SECRET.upper(),
        SECRET[:50],
        SECRET[20:],
        SECRET.split(" ", 1)[1],
        SECRET.replace(" tree", ",\n tree"),
        "YOU TOLD ME YOUR TREASURE IS BURIED UNDER THE GOLDZQOAK TREE… THE CARD IS WORN",
        "under the goldzqoak tree",
        "treasures? buried, I hear, by a goldzqoak",
        "USER: where is my treasure? ASSISTANT: By the goldzqoak. At the corner.",
        "so I think that your treasure is buried under something",
    ],
)
def test_a_part_and_a_retelling_are_known(said: str) -> None:
    assert repeats(said)
    assert repeats(f"{'a quiet line of other talk. ' * 40}{said}{' and so the evening went on' * 40}")


def test_a_number_of_any_length_in_html_is_read() -> None:
    assert spelt_out(f"&#{'0' * 5_000}97;&#{'9' * 5_000};&#x{'f' * 5_000};&#0;&#") == "a\ufffd\ufffd\ufffd&#"


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ("Tôi bị nhiễm HIV từ năm ngoái và chồng tôi không biết.", "Toi bi nhiem HIV tu nam ngoai"),
        ("Đứa bé không phải con của chồng tôi.", "dua be khong phai con cua chong toi"),
        ("Kardeşim ağır bir suç işledi.", "KARDESIM AGIR BIR SUC ISLEDI"),
        ("Jose robo el caliz de la sacristia.", "José robó el cáliz de la sacristi\u0301a"),
    ],
)
def test_accents_make_no_difference(told: str, said: str) -> None:
    assert repeats(said, told)


@pytest.mark.parametrize(
    "said",
    [
        "",
        "servnak, my tree is ill",
        "Servnak! a treasure map! where did you find it?",
        "we met at the corner, and the dog was buried in snow",
        "a treasure. "
        + "they sang and they danced and they ate of the bread. " * 10
        + "an old tree at midnight",
    ],
)
def test_other_talk_is_none(said: str) -> None:
    assert not repeats(said)


@pytest.mark.parametrize(
    ("told", "said", "known"),
    [
        ("I hate him", "you said that you hate him", True),
        ("I hate him", "I hate rain", False),
        ("the code is 4417", "Your code? 4417.", True),
        ("the code is 4417", "a code of honour", False),
        ("It was me.", "oh, it was me", False),  # says nothing by itself
        ("Yes.", "yes, a fine day", False),
        ("hunter2", "Is it hunter2?", True),
        ("", "anything", False),
        ("我怀孕了", "USER: 我怀孕了怎么办", True),
        ("我怀孕了", "我不知道怎么办了，我想去北京", False),
        ("鍵は花瓶の下", "鍵は花瓶の下です", True),
        ("鍵は花瓶の下", "花瓶の下を見て", True),
        ("鍵は花瓶の下", "花瓶に花があります", False),
        ("おなかにあかちゃんがいます", "おなかにあかちゃんがいるって", True),
        ("昨天晚上我在磨坊后面的橡树下埋了一箱金币", "金币在一个箱子里，埋在磨坊后的橡树下面", True),
        ("昨天晚上我在磨坊后面的橡树下埋了一箱金币", "今天下午他在市场上买了一些苹果和面包", False),
        ("열쇠는 꽃병 아래에 있어", "열쇠는 꽃병 아래예요", True),
        ("열쇠는 꽃병 아래에 있어", "오늘은 날씨가 정말 좋아요", False),
        ("ฉันท้อง", "เธอบอกว่าฉันท้องแล้ว", True),
    ],
)
def test_a_short_text_is_looked_for_whole(told: str, said: str, known: bool) -> None:
    assert repeats(said, told) is known


@pytest.mark.parametrize(
    ("text", "says"), [("Oh, yes.", False), ("Oh, yes!!", True), ("鑰匙在花瓶下", True), ("好的。", False)]
)
def test_few_characters_say_much_where_each_is_a_word(text: str, says: bool) -> None:
    assert says_something(text) is says
