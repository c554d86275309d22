"""Pool `thread`: what the interviewer follows, and what of it goes on."""

from __future__ import annotations

from typing import ClassVar

from pipeline.graph.tracker import NodeState
from pipeline.signals.base import Scope, SignalContext, SignalType
from pipeline.threads import Thread

LEFT_SPAN = 10
"""Turns after which a thread counts as left for long."""


def heads(context: SignalContext) -> dict[str, Thread]:
    """The threads by the identities of their heads; an open one comes before one that has ended."""
    key_of = context.canonical.key_of if context.canonical is not None else lambda node_id: node_id
    found: dict[str, Thread] = {}
    for thread in context.threads:
        key = key_of(thread.head)
        if key not in found or (found[key].ended and not thread.ended):
            found[key] = thread
    return found


class _HeadSignal:
    type: ClassVar[SignalType] = "bool"
    scope: ClassVar[Scope] = "node"
    values: ClassVar[tuple[str, ...]] = ()
    depends_on: ClassVar[tuple[str, ...]] = ()


class ThreadOpen(_HeadSignal):
    name = "graph.thread.open"
    description = "The head of a thread that has not ended."

    def detect(self, context: SignalContext) -> list[bool]:
        found = heads(context)
        return [_is_open(found, state) for state in context.nodes]


class ThreadAdvancing(_HeadSignal):
    name = "graph.thread.advancing"
    description = "The head of an open thread that this answer led on or began."

    def detect(self, context: SignalContext) -> list[bool]:
        found = heads(context)
        return [
            _is_open(found, state) and found[state.key].advanced_turn == context.turn_number for state in context.nodes
        ]


class ThreadLeftFor(_HeadSignal):
    name = "graph.thread.left_for"
    type: ClassVar[SignalType] = "number"
    description = "0 for heads of threads that were not left, rising to 1 over ten turns since an open one was left."

    def detect(self, context: SignalContext) -> list[float]:
        found = heads(context)
        return [
            min(1.0, (context.turn_number - thread.left_turn) / LEFT_SPAN)
            if _is_open(found, state) and (thread := found[state.key]).left_turn is not None
            else 0.0
            for state in context.nodes
        ]


class CurrentThread:
    name = "graph.thread.current"
    type: ClassVar[SignalType] = "category"
    scope: ClassVar[Scope] = "global"
    values: ClassVar[tuple[str, ...]] = ("none", "begun", "advancing", "stalled", "ended")
    depends_on: ClassVar[tuple[str, ...]] = ()
    description = (
        "What became of the thread that was asked about: it went on, brought nothing, or is at its end; `begun` where "
        "the question was about none and the answer began one."
    )

    def detect(self, context: SignalContext) -> str:
        now = [thread for thread in context.threads if thread.left_turn is None]
        asked = [thread for thread in now if thread.began_turn < context.turn_number]
        if any(not thread.ended and thread.advanced_turn == context.turn_number for thread in asked):
            return "advancing"
        if any(not thread.ended for thread in now if thread.advanced_turn == context.turn_number):
            return "begun"
        if any(thread.ended for thread in asked):
            return "ended"
        return "stalled" if asked else "none"


def _is_open(found: dict[str, Thread], state: NodeState) -> bool:
    return state.key in found and not found[state.key].ended


SIGNALS = (ThreadOpen(), ThreadAdvancing(), ThreadLeftFor(), CurrentThread())
