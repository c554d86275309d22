"""YAML with the line of every key and item, so that a mistake is reported with its line.

Booleans are `true` and `false` only (YAML 1.2): `no` and `on` are text, such as the language code of Norwegian.
A file's size, its nodes with every alias written out, their nesting and the length of numbers are bounded, so that
reading one always ends soon.
"""

from __future__ import annotations

import difflib
import re
import types
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources.abc import Traversable
from typing import Any, TypeVar, Union, get_args, get_origin

import yaml
from pydantic import BaseModel, ValidationError

Path = tuple[str | int, ...]
ModelT = TypeVar("ModelT", bound=BaseModel)

MOST_BYTES = 1_048_576
"""Largest configuration file."""
MOST_NODES = 100_000
"""Most values and keys of one file, with every alias written out."""
DEEPEST = 64
"""How deep lists and mappings may be nested."""
LONGEST_NUMBER = 400
"""Most characters of a number; converting one takes time that grows with the square of its length."""

MOST_PROBLEMS = 100
"""Mistakes of one file that are reported; finding out what was meant takes time for each."""

_BOOL_TAG = "tag:yaml.org,2002:bool"
_TIME_TAG = "tag:yaml.org,2002:timestamp"
_NUMBER_TAGS = frozenset({"tag:yaml.org,2002:int", "tag:yaml.org,2002:float"})


@dataclass(frozen=True, order=True)
class ConfigProblem:
    """One mistake in one file. `line` counts from 1."""

    file: str
    line: int
    reason: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.reason}"


class ConfigError(Exception):
    """Configuration that can't be used; the message has one line per mistake, for the first MOST_PROBLEMS."""

    code = "invalid_input"
    retryable = False

    def __init__(self, problems: Sequence[ConfigProblem]) -> None:
        problems = problems[:MOST_PROBLEMS]
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = tuple(problems)


class _Loader(yaml.SafeLoader):
    """SafeLoader with the booleans of YAML 1.2, dates left as text, and bounds on what is composed."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._count = 0
        self._depth = 0
        self._sizes: dict[yaml.Node, int] = {}
        """Nodes of every node that is complete, itself and aliases inside it counted."""

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        """As of the base. Raises ComposerError where the document exceeds a bound or contains itself."""
        event = self.peek_event()  # type: ignore[no-untyped-call]
        if isinstance(event, yaml.AliasEvent):
            found = super().compose_node(parent, index)
            if found not in self._sizes:
                raise _refusal(f"the alias `{event.anchor}` stands inside what it refers to", event)
            self._add(self._sizes[found], event)
            return found
        before = self._count
        self._add(1, event)
        self._depth += 1
        if self._depth > DEEPEST:
            raise _refusal(f"lists and mappings are nested more than {DEEPEST} levels deep", event)
        node = super().compose_node(parent, index)
        self._depth -= 1
        if node is not None:
            if node.tag in _NUMBER_TAGS and len(str(node.value)) > LONGEST_NUMBER:
                raise _refusal(f"a number has {LONGEST_NUMBER} characters at the most", event)
            self._sizes[node] = self._count - before
        return node

    def _add(self, nodes: int, event: yaml.Event) -> None:
        self._count += nodes
        if self._count > MOST_NODES:
            raise _refusal(f"the file has more than {MOST_NODES} values, with every alias written out", event)


def _refusal(reason: str, event: yaml.Event) -> yaml.MarkedYAMLError:
    mark = event.start_mark
    assert isinstance(mark, yaml.Mark)
    return yaml.MarkedYAMLError(None, None, reason, mark)


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag not in (_BOOL_TAG, _TIME_TAG)]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(_BOOL_TAG, re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF"))


@dataclass(frozen=True)
class Document:
    """A parsed file: plain data, and the line on which each key or item begins."""

    file: str
    data: Any
    lines: Mapping[Path, int] = field(repr=False)

    def line(self, path: Path) -> int:
        """The line of the value at `path`, or of its nearest ancestor that is in the file."""
        for end in range(len(path), -1, -1):
            if path[:end] in self.lines:
                return self.lines[path[:end]]
        return 1

    def problem(self, path: Path, reason: str) -> ConfigProblem:
        """A mistake at that path."""
        where = dotted(path)
        return ConfigProblem(self.file, self.line(path), f"{where}: {reason}" if where else reason)


def dotted(path: Path) -> str:
    """A path for people: `strategies[2].signal_weights.graph.max_depth`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text


def parse(text: str, file: str) -> Document:
    """The one document of a YAML file.

    Args:
        text: the file's content.
        file: how the file is called in messages.
    Raises:
        ConfigError: it is not YAML, is empty, has a key twice, or exceeds a bound.
    """
    if len(text) > MOST_BYTES:
        raise ConfigError([too_large(file)])
    try:
        loader = _Loader(text)
        node = loader.get_single_node()
        if node is None:
            raise ConfigError([ConfigProblem(file, 1, "the file is empty")])
        lines: dict[Path, int] = {}
        problems: list[ConfigProblem] = []
        _walk(node, (), lines, problems, file)
        if problems:
            raise ConfigError(problems)
        return Document(file, loader.construct_document(node), lines)
    except yaml.MarkedYAMLError as exc:
        mark = exc.problem_mark or exc.context_mark
        reason = " ".join(part for part in (exc.context, exc.problem) if part) or "not YAML"
        reason = next((plain for said, plain in _IN_PLAIN_WORDS if said in reason), reason)
        raise ConfigError([ConfigProblem(file, mark.line + 1 if mark else 1, reason)]) from exc
    except yaml.reader.ReaderError as exc:
        line = text.count("\n", 0, exc.position) + 1
        raise ConfigError([ConfigProblem(file, line, f"the character U+{exc.character:04X} can't be used")]) from exc
    except (yaml.YAMLError, ValueError, RecursionError) as exc:
        raise ConfigError([ConfigProblem(file, 1, " ".join(str(exc).split()) or "not YAML")]) from exc


_IN_PLAIN_WORDS = (
    ("'\\t' that cannot start", "a tab: indent with spaces"),
    ("mapping values are not allowed here", "a colon in the middle of a text: put the text in quotes"),
    ("expected <block end>, but found", "indented otherwise than the lines above that it belongs to"),
    ("found unexpected end of stream", "a quotation mark or bracket that is never closed"),
)
"""What YAML's own words for a mistake mean to whoever made it."""
_SHOULD_BE = {
    "tuple_type": "should be a list: one line per entry that begins with `- `, or [a, b]",
    "list_type": "should be a list: one line per entry that begins with `- `, or [a, b]",
    "dict_type": "should be lines of the form `key: value`",
    "model_type": "should be lines of the form `key: value`",
    "mapping_type": "should be lines of the form `key: value`",
    "bool_type": "should be true or false",
    "bool_parsing": "should be true or false",
    "int_type": "should be a whole number",
    "int_parsing": "should be a whole number",
    "float_type": "should be a number",
    "float_parsing": "should be a number",
}
"""What is said of a value of another kind than is wanted."""
_SNAKE_CASE = re.compile(r"^\^\[a-z0-9_\]\{1,(\d+)\}\$$")
"""The pattern of an identifier."""


def too_large(file: str) -> ConfigProblem:
    """A file has more than MOST_BYTES."""
    return ConfigProblem(file, 1, f"the file is larger than {MOST_BYTES // 1024} KiB")


def read_text(path: Traversable) -> str:
    """The content of a configuration file.

    Raises:
        ConfigError: it is larger than MOST_BYTES.
        UnicodeDecodeError, OSError: it can't be read.
    """
    with path.open("rb") as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise ConfigError([too_large(str(path))])
    return data.decode("utf-8")


def _walk(node: yaml.Node, path: Path, lines: dict[Path, int], problems: list[ConfigProblem], file: str) -> None:
    lines.setdefault(path, node.start_mark.line + 1)
    if isinstance(node, yaml.MappingNode):
        seen: dict[str, int] = {}
        for key, value in node.value:
            line = key.start_mark.line + 1
            if not isinstance(key, yaml.ScalarNode):
                problems.append(ConfigProblem(file, line, "a key must be a word"))
                continue
            name = str(key.value)
            if name in seen:
                where = dotted((*path, name))
                problems.append(ConfigProblem(file, line, f"{where}: given twice, first on line {seen[name]}"))
            seen[name] = line
            lines[(*path, name)] = line
            _walk(value, (*path, name), lines, problems, file)
    elif isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            _walk(item, (*path, index), lines, problems, file)


def validate(document: Document, model: type[ModelT]) -> ModelT:
    """The document as that model.

    Raises:
        ConfigError: with one problem per key that is missing, unknown or wrong.
    """
    try:
        return model.model_validate(document.data)
    except ValidationError as exc:
        problems = {_translate(document, model, error) for error in exc.errors()[:MOST_PROBLEMS]}
        raise ConfigError(sorted(problems)) from exc


def suggest(word: str, known: Sequence[str]) -> str:
    """A clause naming the known word that was probably meant, or the known words if they are few."""
    near = difflib.get_close_matches(word, known, n=1, cutoff=0.6)
    if near:
        return f"; did you mean `{near[0]}`?"
    return f"; known: {', '.join(known)}" if 0 < len(known) <= 12 else ""


def _translate(document: Document, model: type[BaseModel], error: Any) -> ConfigProblem:
    path = _path_in(document.data, error["loc"])
    kind, message = error["type"], str(error["msg"]).removeprefix("Value error, ")
    if kind == "extra_forbidden":
        owner = _model_at(model, path[:-1])
        known = list(owner.model_fields) if owner else []
        return document.problem(path, f"unknown key{suggest(str(path[-1]), known)}")
    if kind == "missing":
        name = str(error["loc"][-1])
        line = document.line(path)
        inside = dotted(path)
        return ConfigProblem(document.file, line, f"{inside + ': ' if inside else ''}the key `{name}` is missing")
    if kind == "string_type":
        return document.problem(path, "should be text; put it in quotes")
    if kind in _SHOULD_BE:
        return document.problem(path, _SHOULD_BE[kind])
    if kind == "string_pattern_mismatch" and (most := _SNAKE_CASE.match(error["ctx"]["pattern"])):
        return document.problem(path, f"should be 1 to {most[1]} of a–z, 0–9 and _")
    return document.problem(path, message[:1].lower() + message[1:])


def _path_in(data: Any, location: Sequence[str | int]) -> Path:
    """The part of a validation error's location that exists in the data; names of union members are left out."""
    path: list[str | int] = []
    for position, part in enumerate(location):
        if _holds(data, part):
            path.append(part)
            data = data[part]
        elif position == len(location) - 1:
            break
    return tuple(path)


def _holds(data: Any, part: str | int) -> bool:
    if isinstance(data, list):
        return isinstance(part, int) and part < len(data)
    return isinstance(data, Mapping) and part in data


def _model_at(model: type[BaseModel], path: Path) -> type[BaseModel] | None:
    current: Any = model
    for part in path:
        candidates = _unwrap(current)
        models = [c for c in candidates if isinstance(c, type) and issubclass(c, BaseModel)]
        if isinstance(part, str) and models:
            owner = next((m for m in models if part in m.model_fields), None)
            current = owner.model_fields[part].annotation if owner else None
        else:
            current = next((get_args(c)[-1 if get_origin(c) is dict else 0] for c in candidates if get_args(c)), None)
    models = [c for c in _unwrap(current) if isinstance(c, type) and issubclass(c, BaseModel)]
    return models[0] if models else None


def _unwrap(annotation: Any) -> list[Any]:
    if get_origin(annotation) in (Union, types.UnionType):
        return [inner for member in get_args(annotation) for inner in _unwrap(member)]
    return [annotation]
