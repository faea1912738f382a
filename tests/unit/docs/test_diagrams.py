"""The diagrams of the documentation can be drawn: Mermaid itself reads them."""

import json
import subprocess
from pathlib import Path

from tests.pages import blocks, name_of, pages

PARSER = Path(__file__).with_name("parse_diagrams.cjs")


def verdicts(diagrams: list[str]) -> list[str | None]:
    """What Mermaid says of each diagram: None, or why it cannot be drawn."""
    done = subprocess.run(
        ["node", PARSER],
        input=json.dumps(diagrams),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: list[str | None] = json.loads(done.stdout)
    return found


def test_every_diagram_can_be_drawn() -> None:
    diagrams = {
        f"{name_of(page)}:{block.line}": block.text
        for page in pages()
        for block in blocks(page)
        if block.info == "mermaid"
    }
    faults = dict(zip(diagrams, verdicts(list(diagrams.values())), strict=True))
    assert {place: fault for place, fault in faults.items() if fault} == {}
    assert len(diagrams) >= 5


def test_what_cannot_be_drawn_is_told() -> None:
    [good, unclosed, unknown] = verdicts(
        ["flowchart LR\n  a[one] --> b", "flowchart LR\n  a[one --> b", "flowchat LR\n  a --> b"]
    )
    assert good is None
    assert "Parse error" in str(unclosed)
    assert "No diagram type detected" in str(unknown)
