"""The history of a code base: each commit of a git repository as a record.

Commits are read from the `git` program in batches, and at most `MOST_BYTES` at a time, so memory use does not
depend on the length of the history or of a line. A commit may be hostile: file names with line breaks,
bytes that are not text, a message of a million words, ten thousand files. Each part is bounded, and the
record says which parts were cut.

No e-mail address leaves this module: in every field it is replaced by its hash.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryFile
from threading import Event, Timer

from noodlings.clock import moment
from noodlings.errors import NotFound, UserError
from noodlings.ingest.commit import Commit, FileChange
from noodlings.ingest.record import SourceProblem, SourceRecord
from noodlings.text import clean, shorten

BATCH = 200
"""Commits per call of git."""
SECONDS = 120.0
"""Timeout of one call of git."""
MOST_FILES = 200
"""Most file names kept for a commit."""
MOST_LINES = 3_000
"""The diff of a commit with more changed lines is not read; its file names say enough."""
MOST_BYTES = 16 * 1024 * 1024
"""Most that git may tell of a batch of commits; of a larger one it is asked in halves."""
MOST_NAMES, MOST_SHOWN = 16, 4
"""Most names and lines kept of a diff."""
LONGEST_BODY, LONGEST_PATH = 3_000, 200

_FORMAT = "%x01%H%x00%P%x00%an%x00%ae%x00%ce%x00%at%x00%ct%x00%B%x00"
_ADDRESS = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){0,8}\.[A-Za-z]{2,24}\b")
_ISSUE = re.compile(
    r"(?<![\w/&#])(?:#|GH-)(\d{1,9})\b|\b(?!(?:UTF|SHA|ISO|RFC|PEP|MD|AES|CP)-)([A-Z][A-Z0-9]{1,9}-\d{1,7})\b"
)
_REVERTS = re.compile(r"\bThis reverts commit ([0-9a-f]{7,64})", re.I)
_FIXES = re.compile(r"^\s*Fixes:?\s+(?:commit\s+)?([0-9a-f]{7,64})\b", re.I | re.M)
_DEFINES = re.compile(
    r"\b(?:def|class|function|func|fn|interface|struct|enum|trait|module|sub)\s+(?:\([^)]{0,80}\)\s*)?([A-Za-z_]\w{2,60})"
)
_WORDS = re.compile(r"[A-Za-z]{3,30}")


class GitRepository:
    """A repository on this machine, read through the `git` program.

    Args:
        path: a folder in it.

    Attributes:
        path: as given.
        name: the name of its folder, cleaned.
        source: the source of its records: "git:" and an id that survives moving the folder and rewriting the
            history. Clones with the same first commit have the same id.

    Raises:
        NotFound: there is no such folder, or no git program.
        UserError: it is not a repository, or has no commits.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        if not path.is_dir():
            raise NotFound(f"{clean(str(path))} is not a folder; name the folder of a git repository")
        top = self._line("rev-parse", "--show-toplevel", fails=True) or self._line(
            "rev-parse", "--absolute-git-dir"
        )
        self.name = shorten(clean(Path(top).name.removesuffix(".git")), 60)
        # HEAD may point to a branch without commits while other branches have some.
        head = self._line("rev-parse", "--verify", "--quiet", "HEAD^{commit}", fails=True)
        self._tips = [*(["HEAD"] if head else []), "--branches"]
        if not self._line("rev-list", "--max-count=1", *self._tips):
            raise UserError(f"the repository {self.name} has no commits yet; there is nothing to remember")
        self.shallow = self._line("rev-parse", "--is-shallow-repository") == "true"
        self.source = f"git:{self._id()}"

    def reachable(self) -> list[str]:
        """All commits that HEAD or a branch reaches, each after its parents."""
        listed = self._run("rev-list", "--topo-order", "--reverse", *self._tips)
        return listed.decode("ascii").split()

    def hooks(self) -> Path:
        """The folder for hooks of this repository."""
        return self.path / self._line("rev-parse", "--git-path", "hooks")

    def commits(self, hashes: Sequence[str]) -> Iterator[Commit | SourceProblem]:
        """The commits in the given order.

        Raises:
            UserError: git does not answer, or takes longer than `SECONDS` for one batch.
        """
        for at in range(0, len(hashes), BATCH):
            batch = list(self._batch(hashes[at : at + BATCH]))
            small = {
                one.hash: one
                for one in batch
                if isinstance(one, Commit) and one.added + one.removed <= MOST_LINES
            }
            whole = {name: _with_diff(small[name], diff) for name, diff in self._diffs([*small])}
            for one in batch:
                yield one if isinstance(one, SourceProblem) else whole.get(one.hash) or _with_diff(one, None)

    def records(self, hashes: Sequence[str]) -> Iterator[SourceRecord | SourceProblem]:
        for one in self.commits(hashes):
            yield one if isinstance(one, SourceProblem) else one.record(self.source, self.name)

    def _batch(self, hashes: Sequence[str]) -> Iterator[Commit | SourceProblem]:
        asked = ("log", "-z", "--no-walk=unsorted", "--stdin", "--numstat", "-M", "--root")
        how = ("--no-show-signature", "--diff-merges=first-parent", f"--format=tformat:{_FORMAT}")
        told = set[bytes]()
        for listed in self._halved(hashes, *asked, *how):
            yield from self._listed(listed, told)
        for name in hashes:
            if name.encode() not in told:
                why = f"git tells nothing or too much of commit {name[:10]}; `git fsck` may say why"
                yield SourceProblem(0, why)

    def _listed(self, listed: bytes, told: set[bytes]) -> Iterator[Commit | SourceProblem]:
        """The commits in the output of `git log`; their hashes are added to `told`."""
        parts = iter(listed.split(b"\x00"))
        part = next(parts, b"")
        while part.startswith(b"\x01"):
            header = [part[1:], *(next(parts, b"") for _ in range(7))]
            files: list[tuple[bytes, bytes]] = []
            for part in parts:
                change = part.lstrip(b"\n")
                if change.startswith(b"\x01"):
                    part = change
                    break
                if change.endswith(b"\t"):  # moved: the old path and the new path follow
                    files.append((change + next(parts, b""), next(parts, b"")))
                elif change:
                    files.append((change, b""))
            else:
                part = b""
            told.add(header[0])
            try:
                yield self._commit(header, files)
            except (ValueError, IndexError) as error:
                name = _text(header[0])[:10]
                yield SourceProblem(0, f"the output of git for commit {name} cannot be parsed: {error}")

    def _commit(self, header: Sequence[bytes], changes: Sequence[tuple[bytes, bytes]]) -> Commit:
        hash_, parents, author, address, other, authored, committed, message = header
        scrub = _Scrubber(self.source, [_text(address), _text(other)])
        subject, _, body = _text(message).strip().partition("\n")
        files = [_file(change, after, scrub) for change, after in changes]
        cut = []
        if len(body) > LONGEST_BODY:
            cut.append("the message")
        if len(files) > MOST_FILES:
            cut.append(f"{len(files) - MOST_FILES:,} files")
        whole = _text(message)[: 2 * LONGEST_BODY]
        return Commit(
            hash=hash_.decode("ascii"),
            parents=tuple(parents.decode("ascii").split()),
            author=shorten(scrub(_text(author)), 80),
            author_hash=scrub.hashed(_text(address)),
            authored=_moment(authored),
            committed=_moment(committed),
            subject=shorten(scrub(subject), 400),
            body=shorten(scrub(body[:LONGEST_BODY]), LONGEST_BODY),
            files=tuple(files[:MOST_FILES]),
            file_count=len(files),
            added=sum(file.added or 0 for file in files),
            removed=sum(file.removed or 0 for file in files),
            issues=tuple(dict.fromkeys(f"#{m[1]}" if m[1] else m[2] for m in _ISSUE.finditer(whole)))[:20],
            reverts=tuple(dict.fromkeys(_REVERTS.findall(whole)))[:8],
            fixes=tuple(dict.fromkeys(_FIXES.findall(whole)))[:8],
            left_out=tuple(cut),
        )

    def _diffs(self, hashes: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        """The diffs of these commits, without context lines; merges, and what is too large, have none."""
        asked = ("diff-tree", "--stdin", "-p", "-U0", "-r", "-M", "--root", "--no-ext-diff", "--no-textconv")
        for told in self._halved(hashes, *asked):
            # No line of a diff consists of an object name alone: each begins with a sign or a word.
            _, *parts = re.split(rb"^([0-9a-f]{40,64})\n", told, flags=re.MULTILINE)
            yield from ((name.decode(), diff) for name, diff in zip(parts[::2], parts[1::2], strict=True))

    def _halved(self, hashes: Sequence[str], *arguments: str) -> Iterator[bytes]:
        """What git tells of these commits, in parts; of a single one with too much to tell, nothing."""
        if not hashes:
            return
        told = self._run(*arguments, words="\n".join([*hashes, ""]), most=MOST_BYTES)
        if len(told) <= MOST_BYTES:
            yield told
        elif len(hashes) > 1:
            del told
            half = len(hashes) // 2
            yield from self._halved(hashes[:half], *arguments)
            yield from self._halved(hashes[half:], *arguments)

    def _id(self) -> str:
        """The id of the repository, stored in its git configuration if that is writable."""
        kept = self._line("config", "--local", "--get", "noodlings.chronicle", fails=True)
        if re.fullmatch(r"[0-9a-f]{16}", kept):
            return kept
        roots = self._run("rev-list", "--max-parents=0", *self._tips).decode("ascii").split()
        made = roots[-1][:16] if roots and not self.shallow else uuid.uuid4().hex[:16]
        self._line("config", "--local", "noodlings.chronicle", made, fails=True)
        return made

    def _line(self, *words: str, fails: bool = False) -> str:
        """The first line of the output; with `fails`, "" if git fails."""
        try:
            return os.fsdecode(self._run(*words)).split("\n")[0]
        except UserError:
            if fails:
                return ""
            raise

    def _run(self, *arguments: str, words: str = "", most: int | None = None) -> bytes:
        """The output of git, which reads these words; it ends soon after `most` bytes, and git with it."""
        command = ["git", "-C", str(self.path), *_SETTINGS, *arguments]
        with TemporaryFile() as asked, TemporaryFile() as complaint:
            asked.write(words.encode())
            asked.seek(0)
            try:
                git = subprocess.Popen(  # noqa: S603 -- no shell, and no argument is mistaken for an option
                    command, stdin=asked, stdout=subprocess.PIPE, stderr=complaint, env=_environment()
                )
            except FileNotFoundError:
                raise NotFound("there is no git program here; install git, and try again") from None
            late = Event()

            def stop() -> None:
                late.set()
                git.kill()

            timer = Timer(SECONDS, stop)
            with git:
                timer.start()
                try:
                    told = git.stdout.read(-1 if most is None else most + 1) if git.stdout else b""
                    cut = most is not None and len(told) > most
                    if cut:
                        git.kill()
                    git.wait()
                finally:
                    timer.cancel()
            complaint.seek(0)
            why = clean(_text(complaint.read(1_000)).strip().split("\n")[0]).removeprefix("fatal: ")
        if late.is_set():
            raise UserError(f"git took longer than {SECONDS:.0f} seconds over {arguments[0]}; try again")
        if git.returncode and not cut:
            raise UserError(
                f"git cannot read {clean(str(self.path))}: {shorten(why, 200) or 'no reason given'}"
            )
        return told


class _Scrubber:
    """Cleans text and replaces the given addresses, and whatever looks like one, by hashes."""

    def __init__(self, key: str, addresses: Iterable[str]) -> None:
        self._key = key.encode()
        self._known = sorted({one for one in addresses if "@" in one}, key=len, reverse=True)

    def __call__(self, text: str) -> str:
        for address in self._known:
            text = text.replace(address, self.hashed(address))
        return clean(_ADDRESS.sub(lambda found: self.hashed(found[0]), text))

    def hashed(self, address: str) -> str:
        """The hash of an address, ignoring case; "" for a blank one."""
        if not address.strip():
            return ""
        bare = address.strip().casefold().encode("utf-8", "replace")
        return "address:" + hashlib.blake2b(bare, key=self._key[:64], digest_size=6).hexdigest()


_SETTINGS = (
    "-c", "core.quotePath=false", "-c", "i18n.logOutputEncoding=UTF-8",
    "-c", "core.fsmonitor=false", "-c", "core.bigFileThreshold=1m",
)  # fmt: skip
"""Whatever a repository's own configuration says, git runs no program that it names, and compares no file of
megabytes line by line."""


def _environment() -> Mapping[str, str]:
    """Our environment without the variables that git sets for hooks; git neither prompts nor fetches."""
    of_hooks = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE")
    ours = {name: value for name, value in os.environ.items() if name not in of_hooks}
    quiet = {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1"}
    # An older git knows no GIT_NO_LAZY_FETCH, and a repository may allow a protocol that runs a program.
    return ours | quiet | {"GIT_ALLOW_PROTOCOL": "none", "LC_ALL": "C"}


def _text(told: bytes) -> str:
    return told.decode("utf-8", "replace")


def _moment(told: bytes) -> float | None:
    """Seconds since 1970, or None if it is not a valid time."""
    try:
        return moment(float(told))
    except (ValueError, UserError):
        return None


def _file(change: bytes, after: bytes, scrub: _Scrubber) -> FileChange:
    """One entry of `--numstat -z`: "3\t1\tpath", with the new path in `after` if the file was moved."""
    added, removed, path = change.split(b"\t", 2)
    return FileChange(
        _path(after or path, scrub), _count(added), _count(removed), _path(path, scrub) if after else ""
    )


def _path(told: bytes, scrub: _Scrubber) -> str:
    return shorten(scrub(_text(told).replace("\n", "␤")), LONGEST_PATH)


def _count(told: bytes) -> int | None:
    return None if told == b"-" else int(told)


def _with_diff(commit: Commit, diff: bytes | None) -> Commit:
    """The commit with names and lines from its diff."""
    if diff is None:
        return replace(commit, left_out=(*commit.left_out, "its diff")) if len(commit.parents) < 2 else commit
    scrub = _Scrubber(commit.hash, ())
    names: dict[str, None] = {}
    lines: dict[str, float] = {}
    for raw in diff.split(b"\n"):
        if raw[:2] == b"@@":
            about = raw.split(b"@@", 2)[-1]
        elif raw[:1] in b"+-" and raw[:3] not in (b"+++", b"---"):
            about = raw[1:401]
        else:
            continue
        line = _text(about)
        names |= dict.fromkeys(_DEFINES.findall(line))
        if raw[:1] == b"+" and (words := set(_WORDS.findall(line))):
            lines[line.strip()] = len(words)
    best = sorted(lines, key=lambda line: -lines[line])[:MOST_SHOWN]
    shown = tuple(shorten(scrub(line), 160) for line in lines if line in best)
    return replace(commit, names=tuple(scrub(name) for name in list(names)[:MOST_NAMES]), shown=shown)
