"""Fields of messages and bodies as rows of a Markdown table, for the pages that describe them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import AwareDatetime, BaseModel
from pydantic.fields import FieldInfo

_WORDS: dict[Any, str] = {
    str: "text",
    int: "integer",
    float: "number",
    bool: "true or false",
    NoneType: "null",
    Any: "anything",
    datetime: "moment",
    AwareDatetime: "moment",
}


def field_rows(model: type[BaseModel], *, without: frozenset[str] = frozenset()) -> Iterator[str]:
    """Each field of a model with its type, description and default.

    Args:
        model: of a message or a body.
        without: fields to leave out.
    """
    for name, field in model.model_fields.items():
        if name not in without:
            yield _row(name, field)


def _row(name: str, field: FieldInfo) -> str:
    shown = field.alias or name
    text = field.description or ""
    if not field.is_required():
        default = field.get_default(call_default_factory=True)
        plain = default.model_dump() if isinstance(default, BaseModel) else default
        text = f"{text} Default: `{json.dumps(plain)}`.".strip()
    return f"| `{shown}` | {type_words(field.annotation)} | {text} |"


def type_words(annotation: Any) -> str:
    """A type in words."""
    if annotation in _WORDS:
        return _WORDS[annotation]
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return type_words(arguments[0])
    if origin is Literal:
        return " \\| ".join(f"`{json.dumps(value)}`" for value in arguments)
    if origin in (Union, UnionType):
        return " \\| ".join(type_words(part) for part in arguments)
    if origin in (tuple, list):
        return f"list of {type_words(arguments[0])}"
    if origin is dict:
        return "object"
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        inner = ", ".join(field.alias or name for name, field in annotation.model_fields.items())
        return f"object `{{{inner}}}`"
    return str(annotation)
