"""What is personal is found, and what only looks a little like it is left alone."""

from __future__ import annotations

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noodlings.personal import personal_finder

FIND = personal_finder()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("write to caity.may@example.org please", [("e-mail address", "caity.may@example.org")]),
        ("my number is +44 20 7946 0958, call me", [("telephone number", "+44 20 7946 0958")]),
        ("call me at (415) 555-2671 tonight", [("telephone number", "(415) 555-2671")]),
        ("my card is 4111 1111 1111 1111, exp 12/27", [("card number", "4111 1111 1111 1111")]),
        ("my key is AKIAIOSFODNN7EXAMPLQ", [("key", "AKIAIOSFODNN7EXAMPLQ")]),
        (
            "use sk-proj-Ab3dEf6hIj9kLm2nOp5qRs8tUv",
            [("key", "sk-proj-Ab3dEf6hIj9kLm2nOp5qRs8tUv")],
        ),
        (
            "it is hf_abcdefghijKLMNOPQRSTuvwx",
            [("key", "hf_abcdefghijKLMNOPQRSTuvwx")],
        ),
        (
            "take ghp_16C7e42F292c6912E7710c838347Ae178B4a",
            [("key", "ghp_16C7e42F292c6912E7710c838347Ae178B4a")],
        ),
        ("the password is hunter2.", [("password", "hunter2")]),
        ("Password: Tr0ub4dor&3", [("password", "Tr0ub4dor&3")]),
        (
            "ann＠zork.org, or call ＋４４ 20 7946 0958",
            [("e-mail address", "ann＠zork.org"), ("telephone number", "＋４４ 20 7946 0958")],
        ),
        ("my pin 4821", [("password", "4821")]),
        ("send it to GB82 WEST 1234 5698 7654 32", [("account number", "GB82 WEST 1234 5698 7654 32")]),
        ("it is be68 5390 0754 7034 from now on", [("account number", "be68 5390 0754 7034")]),
        ("or gb82-west-1234-5698-7654-32", [("account number", "gb82-west-1234-5698-7654-32")]),
        ("my card: 4111.1111.1111.1111", [("card number", "4111.1111.1111.1111")]),
        ("or 4111–1111–1111–1111", [("card number", "4111–1111–1111–1111")]),
        ("or gsk_abcdefghijKLMNOPQRSTuvwx", [("key", "gsk_abcdefghijKLMNOPQRSTuvwx")]),
        ("账号DE89370400440532013000谢谢", [("account number", "DE89370400440532013000")]),
        ("密钥hf_abcdefghijKLMNOPQRSTuvwx好", [("key", "hf_abcdefghijKLMNOPQRSTuvwx")]),
        ("パスワードはpassword: hunter2", [("password", "hunter2")]),
        ("or DE89370400440532013000.", [("account number", "DE89370400440532013000")]),
        (f"{'in 1984, ' * 600}+44 20 7946 0958", [("telephone number", "+44 20 7946 0958")]),
        ("a@b.org or +49 30 901820", [("e-mail address", "a@b.org"), ("telephone number", "+49 30 901820")]),
    ],
)
def test_what_is_personal_is_found(text: str, found: list[tuple[str, str]]) -> None:
    assert [(datum.kind, text[datum.start : datum.end]) for datum in FIND(text)] == found


@pytest.mark.parametrize(
    "text",
    [
        "in 1984 I was 12 and it cost 1,000,000 crowns",
        "I walked 12345678 steps on 2026-11-24 at 10:15",
        "card 4111-1111-1111-1112 has a wrong digit",
        "say the password, friend, and enter",
        "meet me @ the mill",
        "pin it to the door; the key is under the mat",
        "abcdefghijklmnopqrstuvwxyz",
        "GB83 WEST 1234 5698 7654 32 has a wrong check digit",
        "in24 hours, over there, 1234 5678 of them came",
        "I will pin 3 of them to the wall",
    ],
)
def test_what_is_not_personal_is_left_alone(text: str) -> None:
    assert not FIND(text)


HEAD, BODY, SIGNATURE = "eyJhbGciOiJIUzI1NiJ9", "eyJzdWIiOiIxMjM0In0", "dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P"


@pytest.mark.parametrize(
    ("text", "key"),
    [
        (f"the token is={HEAD}.{BODY}.{SIGNATURE}, use it", f"{HEAD}.{BODY}.{SIGNATURE}"),
        (f"take sk-None-{'a1B2' * 6}T3BlbkFJ{'c3D4' * 5} now", f"sk-None-{'a1B2' * 6}T3BlbkFJ{'c3D4' * 5}"),
        (f"//registry.npmjs.org/:_authToken=npm_{'a1B2' * 9}", f"npm_{'a1B2' * 9}"),
        (f"//r.org/:_authToken={'0a1b2c3d-' * 3}0a", f"{'0a1b2c3d-' * 3}0a"),
    ],
)
def test_keys_are_found_whose_patterns_in_detect_secrets_are_slow(text: str, key: str) -> None:
    assert [text[datum.start : datum.end] for datum in FIND(text)] == [key]


@pytest.mark.slow
@pytest.mark.parametrize("part", ["a", "_", "1/", "eyJ", "eyJ.", "https://", "sk-or-", "a@", "password: "])
def test_a_long_history_takes_no_time(part: str) -> None:
    began = process_time()
    FIND(part * (95_000 // len(part)))
    assert process_time() - began < 5.0  # with other patterns it took minutes


@given(st.text(max_size=200))
def test_what_is_found_is_in_the_text_in_order_and_apart(text: str) -> None:
    end = 0
    for datum in FIND(text):
        assert end <= datum.start < datum.end <= len(text)
        end = datum.end
