"""Good news that is told without a glad word, see `good_news.yaml`.

It counts where it is told as a fact: not where it is denied, asked, wished, or depends on something.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import resources

from noodlings.validation import yaml_of

_CLAUSE = re.compile(r"[^.,;:!?…()]+([.,;:!?…()]*)")
_NOT_SO = re.compile(
    r"\b(?:not|no|never|nobody|hardly|without|cannot|\w+n't|dont|didnt|wasnt|isnt|havent|hasnt|wont|cant"
    r"|if|unless|until|till|whether|when|once|before|wish|hope|hopes|hoping|want|wants|wanted|would|could|should"
    r"|might|may|maybe|perhaps|almost|nearly|pretend|dreamt|dreamed|imagine|trying|try|tried|used to"
    r"|ask|asked|say)\b"
)
"""Words before it in the clause by which it is no fact."""


def tells_good_news(text: str) -> bool:
    """Whether a clause of a text (cleaned by the caller) tells good news."""
    for clause in _CLAUSE.finditer(text.replace("’", "'").casefold()):
        said = " ".join(clause[0].removesuffix(clause[1]).split())
        if "?" not in clause[1]:
            found = _patterns().search(said)
            if found is not None and _NOT_SO.search(said, 0, found.start()) is None:
                return True
    return False


@cache
def _patterns() -> re.Pattern[str]:
    themes: dict[str, list[str]] = yaml_of(resources.files(__package__) / "good_news.yaml")
    return re.compile("|".join(f"(?:{pattern})" for theme in themes.values() for pattern in theme))
