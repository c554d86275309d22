"""The formats the double speaks, by name."""

from __future__ import annotations

from collections.abc import Mapping

from tests.support.llm_double.anthropic import Anthropic
from tests.support.llm_double.frame import Format
from tests.support.llm_double.openai import OpenAI
from tests.support.llm_double.request import FormatName

FORMATS: Mapping[FormatName, Format] = {"anthropic": Anthropic(), "openai": OpenAI()}
