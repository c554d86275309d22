"""The state of a session changes in one way only: `SessionContext.commit`, which writes, publishes and tells."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

PRODUCT = ("server", "pipeline", "audio", "config", "artefacts")

SCRIPTS = {
    # Names of the scripts that write a session, and the functions that may run them.
    "create": "HotStore.create",
    "restore": "HotStore.restore",
    "claim": "HotStore.claim",
    "accept": "HotStore.accept",
    "commit": "HotStore.commit",
    "fail": "HotStore.fail",
    "note": "HotStore.note",
}
WRITES = {
    # What is called on what, and the functions that may call it.
    "_hot.commit": {"Ledger.commit"},
    "_hot.accept": {"Ledger.accept"},
    "_hot.fail": {"Ledger.fail"},
    "_hot.note": {"Ledger.record_calls"},
    "hot.create": {"SessionLoader.create"},
    "hot.restore": {"SessionLoader._rebuild"},
    "hot.claim": {"Ledger.claim"},
    "hot.note": {"ModeratorCommands._preview"},
    "ledger.commit": {"SessionContext.commit"},
    "ledger.accept": {"TurnRunner._accept"},
    "ledger.fail": {"TurnRunner._record_failure"},
}
"""Two calls of `note` put calls of language models on record; they change no state."""
NOT_OF_SESSIONS = {"connection", "transaction", "_connection"}
"""What else has a `commit` in `server`: transactions of the relational store."""


def functions(root: Path) -> Iterator[tuple[str, ast.AST]]:
    """Every function of the product, by the name of its class and its own."""
    for package in PRODUCT:
        for path in (root / package).rglob("*.py"):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            for outer in ast.walk(tree):
                if isinstance(outer, ast.ClassDef):
                    for inner in outer.body:
                        if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef):
                            yield f"{outer.name}.{inner.name}", inner
            for node in tree.body:
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                    yield f"{path.relative_to(root)}:{node.name}", node


def writes(function: ast.AST) -> Iterator[tuple[str, str]]:
    """Calls that could write a session: (what they are called on, name)."""
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            receiver = node.func.value
            if isinstance(receiver, ast.Attribute | ast.Name):
                yield (receiver.attr if isinstance(receiver, ast.Attribute) else receiver.id), node.func.attr


def found(root: Path) -> dict[str, set[str]]:
    """By what is called on what: the functions that call it."""
    names = {write.partition(".")[2] for write in WRITES}
    owners = {write.partition(".")[0] for write in WRITES}
    calls: dict[str, set[str]] = {}
    for name, function in functions(root):
        for receiver, method in writes(function):
            suspicious = method == "commit" and receiver not in NOT_OF_SESSIONS
            if method in names and (receiver in owners or suspicious):
                calls.setdefault(f"{receiver}.{method}", set()).add(name)
    return calls


def test_sessions_are_written_only_by_the_functions_that_may(root: Path) -> None:
    calls = found(root)
    # The one way itself, as its callers see it.
    callers = (
        calls.pop("session.commit")
        | calls.pop("_session.commit")
        | calls.pop("commands.commit")
        | calls.pop("self.commit")
    )
    assert callers == {
        "Commands.commit",
        "Commands.apply",
        "Commands._apply_queued",
        "SessionOwner._open",
        "SlotNaming._settle",
        "TurnRunner._commit",
        "server/session/questions.py:_ask",
    }
    assert calls == WRITES


def test_scripts_that_write_sessions_are_run_only_by_hot_storage(root: Path) -> None:
    runs: dict[str, set[str]] = {}
    for name, function in functions(root):
        for node in ast.walk(function):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr in ("_run", "run")
            ):
                first = node.args[0] if node.args else None
                if isinstance(first, ast.Constant) and first.value in SCRIPTS:
                    runs.setdefault(str(first.value), set()).add(name)
    assert runs == {script: {function} for script, function in SCRIPTS.items()}
