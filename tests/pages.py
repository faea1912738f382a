"""The project's Markdown pages: their fenced blocks, headings and links."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"

_FENCE = re.compile(
    r"^ *(?P<mark>```+)(?P<info>[^`\n]*)\n(?P<text>.*?)^ *(?P=mark) *$", re.M | re.S
)
_HEADING = re.compile(r"^#+ +(.+?) *#* *$", re.M)
_NAMED = re.compile(r'<a (?:id|name)="([^"]+)"')
_LINK = re.compile(r"(?<!\!)\[[^\]]*\]\(([^)\s]+)\)")
_CODE = re.compile(r"`+[^`]*`+")


@dataclass(frozen=True)
class Block:
    """A fenced block: what stands behind its fence, its text, and the line it begins on."""

    info: str
    text: str
    line: int

    def is_right_before(self, other: "Block") -> bool:
        """Whether nothing but an empty line stands between the two."""
        return other.line == self.line + self.text.count("\n") + 3


def pages(folder: Path = DOCS) -> list[Path]:
    """Every page in a folder and below, by name."""
    return sorted(folder.rglob("*.md"))


def name_of(page: Path) -> str:
    """A page's place in the repository."""
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page, first to last."""
    text = page.read_text()
    return [
        Block(found["info"].strip(), found["text"], text.count("\n", 0, found.start()) + 1)
        for found in _FENCE.finditer(text)
    ]


def prose(page: Path) -> str:
    """A page without its fenced blocks."""
    return _FENCE.sub("", page.read_text())


def anchors(page: Path) -> set[str]:
    """Where a link into the page may lead: to its headings, as GitHub names them, and its marks."""
    text = prose(page)
    return {_slug(heading) for heading in _HEADING.findall(text)} | set(_NAMED.findall(text))


def links(page: Path) -> Iterator[str]:
    """The targets of a page's links."""
    yield from _LINK.findall(_CODE.sub("", prose(page)))


def _slug(heading: str) -> str:
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
    return re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")


def section_of(page: Path, line: int) -> str:
    """The anchor of the second-level heading above a line; empty above the first one."""
    above = "\n".join(page.read_text().splitlines()[:line])
    headings = re.findall(r"^## +(.+?) *$", _FENCE.sub("", above), re.M)
    return _slug(headings[-1]) if headings else ""
