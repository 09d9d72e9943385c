"""Words from outside as Markdown that shows just these words: no link, image, tag or heading comes of them.

See "Backslash escapes" in https://spec.commonmark.org/0.31.2/. More than that is escaped, for what programs
for notes add of their own (tags, highlights, comments, formulas).
"""

import re

_SPECIAL = re.compile(r"[\\`*_{}\[\]<>#|~$&%=^]")
# What begins a list, only at the beginning of a line.
_BULLET = re.compile(r"^([-+]|\d+[.)])")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")


def escaped(line: str) -> str:
    """One cleaned line (see `noodlings.text.clean`) as Markdown."""
    return _BULLET.sub(lambda found: f"{found[0][:-1]}\\{found[0][-1]}", _SPECIAL.sub(r"\\\g<0>", line))


def unescaped(line: str) -> str:
    """What `escaped` was given."""
    return _ESCAPED.sub(r"\1", line)
