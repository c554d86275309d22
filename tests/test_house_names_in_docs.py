"""Files, modules, classes and functions that the pages name exist under that name."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import pytest

from server.openapi import PAGE

PACKAGES = ("server", "pipeline", "audio", "config", "artefacts")
FOLDERS = (*PACKAGES, "web", "tests", "docs")
EXAMPLES = {"config/texts/sv.yaml"}
"""Files that a reader is told to make."""
FOREIGN = {"CancelledError", "TaskGroup"}
"""Classes of Python's own that pages name."""

SPAN = re.compile(r"`([^`\n]+)`")
FENCE = re.compile(r"```(\w*)\n(.*?)```", re.DOTALL)
PATH = re.compile(rf"(?:{'|'.join(FOLDERS)})/[\w./*-]*")
DOTTED = re.compile(rf"(?:{'|'.join(PACKAGES)})(?:\.\w+)+")
FILE = re.compile(r"[\w/]+\.py")
CLASS = re.compile(r"[A-Z][a-z0-9]+(?:[A-Z]\w*)+")
MEMBER = re.compile(r"([A-Z]\w*[a-z]\w*)\.(\w+)(?:\(.*\))?")
PLACED = re.compile(rf"`((?:{'|'.join(PACKAGES)})/[\w/]+\.py)`:? `([A-Za-z_]\w*(?:\.\w+)?)`")
TOP = re.compile(r"(\w+)/(?:\s|$)")
IN_TREE = re.compile(r"(?<![\w/.])(\w+(?:/\w+)*\.py|\w+/)(?=[\s,)]|$)")


@dataclass
class Definitions:
    """What a module defines.

    `names` are those of the module; `members` those of each class, by its name; `bases` the names of its bases.
    """

    names: set[str] = field(default_factory=set)
    members: dict[str, set[str]] = field(default_factory=dict)
    bases: dict[str, set[str]] = field(default_factory=dict)


def targets(statement: ast.stmt) -> Iterator[str]:
    """The names that an assignment binds."""
    bound = [statement.target] if isinstance(statement, ast.AnnAssign) else []
    for target in statement.targets if isinstance(statement, ast.Assign) else bound:
        if isinstance(target, ast.Name):
            yield target.id


def members(definition: ast.ClassDef) -> set[str]:
    """Methods, fields, and attributes that methods set on `self`."""
    found: set[str] = set()
    for statement in definition.body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            found.add(statement.name)
        found.update(targets(statement))
    for node in ast.walk(definition):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            found.add(node.attr)
    return found


def definitions(source: str) -> Definitions:
    """What the source of a module defines."""
    found = Definitions()
    for statement in ast.parse(source).body:
        if isinstance(statement, ast.ClassDef):
            found.members[statement.name] = members(statement)
            found.bases[statement.name] = {
                getattr(base.value if isinstance(base, ast.Subscript) else base, "id", "") for base in statement.bases
            }
        if isinstance(statement, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            found.names.add(statement.name)
        found.names.update(targets(statement))
    return found


class Tree:
    """The files of the repository, and what its Python modules define."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @cached_property
    def modules(self) -> dict[str, Definitions]:
        """Definitions by path."""
        paths = [path for package in PACKAGES for path in (self.root / package).rglob("*.py")]
        return {path.relative_to(self.root).as_posix(): definitions(path.read_text()) for path in paths}

    @cached_property
    def members(self) -> dict[str, set[str]]:
        """Members of every class, inherited ones included; classes of one name taken together."""
        own: dict[str, set[str]] = {}
        bases: dict[str, set[str]] = {}
        for module in self.modules.values():
            for name, found in module.members.items():
                own.setdefault(name, set()).update(found)
                bases.setdefault(name, set()).update(module.bases[name])

        def inherited(name: str, seen: frozenset[str]) -> set[str]:
            above = bases.get(name, set()) - seen
            return own.get(name, set()).union(*(inherited(base, seen | {base}) for base in above))

        return {name: inherited(name, frozenset({name})) for name in own}

    def has_path(self, path: str) -> bool:
        """Whether there is such a file or folder; `*` stands for any name."""
        return any(self.root.glob(path.rstrip("/")))

    def has_dotted(self, name: str) -> bool:
        """Whether a dotted name leads to a module, to a name in a module, or to a member of a class."""
        parts = name.split(".")
        for length in range(len(parts), 0, -1):
            path = "/".join(parts[:length])
            module = self.modules.get(f"{path}.py") or self.modules.get(f"{path}/__init__.py")
            if module is not None or (self.root / path).is_dir():
                return self._defines(module or Definitions(), parts[length:])
        return False

    def _defines(self, module: Definitions, rest: list[str]) -> bool:
        if not rest:
            return True
        if len(rest) == 1:
            return rest[0] in module.names
        return rest[0] in module.members and rest[1] in self.members[rest[0]]

    @cached_property
    def wire_names(self) -> set[str]:
        """Texts in the protocol, types of messages among them."""
        sources = [path.read_text() for path in (self.root / "server/protocol").glob("*.py")]
        nodes = [node for source in sources for node in ast.walk(ast.parse(source))]
        return {str(node.value) for node in nodes if isinstance(node, ast.Constant)}

    def defined_in(self, path: str, name: str) -> bool:
        """Whether that module defines a function or class, or a class with that member."""
        module = self.modules.get(path)
        return module is not None and self._defines(module, name.split("."))


def unknown_names(text: str, tree: Tree) -> list[str]:
    """What a page names in backticks and is not in the tree."""
    prose = FENCE.sub("", text)
    found: list[str] = []
    for span in SPAN.findall(prose):
        member = MEMBER.fullmatch(span)
        if PATH.fullmatch(span):
            known = span in EXAMPLES or tree.has_path(span)
        elif FILE.fullmatch(span):
            known = any(path.endswith(f"/{span}") for path in tree.modules)
        elif DOTTED.fullmatch(span):
            known = tree.has_dotted(span) or span in tree.wire_names
        elif member and (member[1] in tree.members or CLASS.fullmatch(member[1])):
            known = member[1] in FOREIGN or member[2] in tree.members.get(member[1], set())
        elif CLASS.fullmatch(span):
            known = span in FOREIGN or span in tree.members
        else:
            known = True
        if not known:
            found.append(span)
    found += [f"{path}: {name}" for path, name in PLACED.findall(prose) if not tree.defined_in(path, name)]
    for kind, block in FENCE.findall(text):
        if not kind:
            found += unknown_in_tree(block, tree)
    return found


def unknown_in_tree(block: str, tree: Tree) -> list[str]:
    """Files and folders in a drawn tree, below lines such as `server/`, that are not there."""
    found: list[str] = []
    top: Path | None = None
    for line in block.splitlines():
        begins = TOP.match(line)
        if begins:
            top = tree.root / begins[1]
            found += [] if top.is_dir() else [begins[0].strip()]
            line = line[begins.end() :]
        if top is not None:
            names = [name.rstrip("/") for name in IN_TREE.findall(line)]
            found += [name for name in names if top.is_dir() and not any(top.rglob(name))]
    return found


@pytest.fixture(scope="module")
def tree(root: Path) -> Tree:
    return Tree(root)


def test_pages_name_only_what_is_there(root: Path, tree: Tree) -> None:
    generated = {root / "docs" / PAGE}
    paths = [*({*(root / "docs").glob("*.md")} - generated), *(root / "docs/design").glob("*.md")]
    paths += [root / "README.md", root / "CONTRIBUTING.md"]
    assert {path.name for path in paths} >= {"architecture.md", "glossary.md", "two-writes.md", "README.md"}
    assert [
        f"{path.relative_to(root)}: {name}" for path in paths for name in unknown_names(path.read_text(), tree)
    ] == []


@pytest.mark.parametrize(
    "text",
    [
        "see `server/session/witness.py`",
        "see `pipeline/signals/*.yaml`",
        "see `witness.py`",
        "the module `server.session.witness`",
        "the class `pipeline.turn.Conversation`",
        "the method `pipeline.turn.TurnPipeline.wander`",
        "calls `SessionContext.wander`",
        "calls `TurnPipeline.wander(state)`",
        "calls `WanderingOwner.run`",
        "the class `WanderingOwner`",
        "`server/session/turns.py` `Hub.attach`",
        "`server/session/turns.py`: `attach`",
        "```\nserver/\n  witness.py   sees\n```",
        "```\npipeline/\n  turn.py   the turn   elsewhere/   things\n```",
        "```\nstreet/    what is outside\n```",
    ],
)
def test_name_that_is_not_there_is_found(text: str, tree: Tree) -> None:
    assert len(unknown_names(text, tree)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "see `server/session/turns.py`, `nodes.py`, `pipeline/signals/` and `config/prompts/*.md`",
        "the module `server.session.turns`, and `pipeline.turn.TurnPipeline.run`",
        "calls `SessionContext.commit(key, change)`; `ModeratorSocket.read` is inherited, `Ledger.stale` set on self",
        "`server/session/turns.py` `Turns.begin`, `server/speech/transcript.py`: `is_echo`",
        "a `TaskGroup`, `Intl`, `X-Askwell-Signature`, `llm.response_depth.deep`, `turn.failed`, `audio.start`",
        "```\nserver/\n  hub.py loading.py   sessions   session/ (turns.py)\npipeline/\n  turn.py\n```",
        "```yaml\nserver/witness.py: not a tree\n```",
    ],
)
def test_name_that_is_there_or_is_none_of_ours_is_let_through(text: str, tree: Tree) -> None:
    assert unknown_names(text, tree) == []
