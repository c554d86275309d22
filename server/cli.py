"""The command `askwell`."""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import logging
import os
import re
import shlex
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from urllib.parse import quote

import uvloop

from artefacts.errors import ArtefactError
from artefacts.page import models_page
from config.checking import check_config, prompt_samples, prompts_shown
from config.loader import Library, UnknownName
from config.settings import Settings, SettingsError, load
from config.yamlfile import ConfigError
from pipeline.errors import PipelineError
from server import logs
from server.auth import moderator_token
from server.client import CallFailed, Client, call_sync
from server.comparison.arguments import add_comparison_arguments, add_replay_arguments
from server.comparison.errors import ComparisonError
from server.errors import ApiError
from server.export import FORMATS, RELATIONS
from server.hot.datadir import running_server
from server.hot.errors import DataDirInUse, HotError
from server.release import version
from server.screen import Keyboard
from server.serving import PortUnusable
from server.session.problems import SessionProblem
from server.simulation.arguments import add_arguments as add_simulation_arguments
from server.simulation.errors import SimulationError
from server.store.errors import StoreError
from server.sync import SyncError
from server.sync.plan import add_arguments, transfer_plan
from server.terminal import HELP, Chat, End
from server.workers import WorkerFailed, check_workers

USAGE = 2
"""Exit code for errors that the user can correct."""

_CONCEPT_ID = re.compile(r"[A-Za-z0-9_-]{1,100}")

PRIVATE = 0o077
"""Mask of the files that commands create: only this user may read what respondents say."""

_EXPECTED = (
    ArtefactError,
    SettingsError,
    ConfigError,
    PortUnusable,
    HotError,
    StoreError,
    PipelineError,
    UnknownName,
    ApiError,
    SessionProblem,
    CallFailed,
    SyncError,
    SimulationError,
    ComparisonError,
    WorkerFailed,
    OSError,
)


class CommandFailed(Exception):
    """A command can't be carried out; the message is for the user."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit code, or ends the process where models were loaded."""
    code, ends_process = run(arguments)
    if ends_process:
        # Everything is closed by now except numeric libraries, whose teardown takes seconds.
        logging.shutdown()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    return code


def run(arguments: Sequence[str] | None = None) -> tuple[int, bool]:
    """Run a command; the exit code, and whether models may have been loaded."""
    options = _parser().parse_args(arguments)
    return _carried_out(options), options.ends_process


def _carried_out(options: argparse.Namespace) -> int:
    try:
        command: Callable[[argparse.Namespace], int] = options.run
        return command(options)
    except (KeyboardInterrupt, asyncio.CancelledError):
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (BaseExceptionGroup, CommandFailed, *_EXPECTED) as exc:
        reason = _expected(exc)
        if reason is None:
            traceback.print_exc()
            return 1
        print(f"askwell: {_shown_message(reason)}", file=sys.stderr)
        return USAGE


def _expected(exc: BaseException) -> BaseException | None:
    """The first error of a kind that the user can correct, also inside groups."""
    if isinstance(exc, BaseExceptionGroup):
        return next((found for inner in exc.exceptions if (found := _expected(inner)) is not None), None)
    return exc if isinstance(exc, (*_EXPECTED, CommandFailed)) else None


def _explained(exc: BaseException) -> str | None:
    """What to tell about an error that the user can correct; None for others."""
    reason = _expected(exc)
    return None if reason is None else _shown_message(reason)


def _shown_message(exc: BaseException) -> str:
    text = str(exc).strip() or type(exc).__name__
    if isinstance(exc, DataDirInUse):
        text += "; stop it first, or choose another directory with --data"
    return text if text.endswith((".", "!", "?")) else text + "."


def _add_elements_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("concept", metavar="CONCEPT")
    command.add_argument("--language", help="one of the concept's languages")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="askwell", description="Adaptive qualitative interviews.")
    parser.add_argument("--version", action="version", version=f"askwell {version()}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    def add(name: str, run: Callable[[argparse.Namespace], int], help_text: str) -> argparse.ArgumentParser:
        command = commands.add_parser(name, help=help_text, description=help_text)
        loading = (_serve, _chat, _export, _judge, _compare, _replay, _simulate, _elements)
        command.set_defaults(run=run, ends_process=run in loading)
        return command

    def add_data(command: argparse.ArgumentParser) -> None:
        command.add_argument("--data", metavar="DIR", help="data directory (ASKWELL_DATA)")

    serve = add("serve", _serve, "Run the server.")
    _add_serve_arguments(serve)
    add_data(serve)

    chat = add("chat", _chat, "Be interviewed in the terminal.")
    _add_chat_arguments(chat)
    add_data(chat)

    _add_export_arguments(add("export", _export, "Write a session to standard output or a file."))

    judge = add("judge", _judge, "Show, answer by answer, what was heard and understood, and on what it rests.")
    judge.add_argument("session", metavar="SESSION")
    add_data(judge)

    for name, run, help_text, takes in (
        (
            "compare",
            _compare,
            "Put an interview's answers to other engines or configurations.",
            add_comparison_arguments,
        ),
        ("replay", _replay, "Make an interview's decisions again; status 1 if one differs.", add_replay_arguments),
        ("simulate", _simulate, "Interview simulated respondents, and count what was found.", add_simulation_arguments),
        ("sync", _sync, "Send finished interviews to another server.", add_arguments),
    ):
        command = add(name, run, help_text)
        takes(command)
        add_data(command)

    check = add("check-config", _check_config, "Check concepts, methodologies, texts, prompts and prices.")
    check.add_argument("directory", nargs="?", metavar="DIR", help="your configuration directory (ASKWELL_CONFIG_DIR)")
    check.add_argument(
        "--prompts",
        nargs="?",
        const="",
        metavar="NAME",
        help="print the prompts as they would be sent, or one of them",
    )
    check.add_argument("--methodology", metavar="M", help="with --prompts: for this methodology only")

    elements = add("elements", _elements, "Print the elements that are made of a concept's stimulus, as YAML.")
    _add_elements_arguments(elements)
    add_data(elements)

    schema = add("export-schema", _export_schema, "Write the reference of protocol and configuration.")
    schema.add_argument("--to", default="docs", metavar="DIR", help="where docs are (docs)")

    models = add("models", _models, "List models and binaries, verify their files, or fetch one from the hub.")
    models.add_argument(
        "action", nargs="?", choices=("list", "verify", "fetch"), default="list", metavar="ACTION",
        help="list (what there is and where), verify (read every file; status 1 if one differs), or fetch",
    )  # fmt: skip
    models.add_argument("name", nargs="?", metavar="NAME", help="with fetch: which one")
    models.add_argument("--from", dest="endpoint", metavar="URL", help="with fetch: a mirror of the hub")

    add_data(add("moderator-token", _moderator_token, "Print the moderator's token, making one if there is none."))
    return parser


def _add_serve_arguments(serve: argparse.ArgumentParser) -> None:
    serve.add_argument("--host", help="address to listen on (ASKWELL_HOST, 127.0.0.1)")
    serve.add_argument("--port", help="port to listen on (ASKWELL_PORT, 8080)")
    serve.add_argument("--workers", metavar="N", help="processes that serve it together (ASKWELL_WORKERS, 1)")


def _add_chat_arguments(chat: argparse.ArgumentParser) -> None:
    chat.epilog = HELP
    chat.formatter_class = argparse.RawDescriptionHelpFormatter
    chat.add_argument("concept", nargs="?", metavar="CONCEPT", help="concept to be interviewed about")
    chat.add_argument("--methodology", help="another methodology than the concept's")
    chat.add_argument("--language", help="one of the concept's languages")
    chat.add_argument("--max-turns", type=int, help="turns at the most")
    chat.add_argument("--resume", metavar="SESSION", help="go on with an interview that was left")


def _add_export_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("session", metavar="SESSION")
    command.add_argument("--format", choices=FORMATS, default="json", metavar="F", help=f"one of {', '.join(FORMATS)}")
    command.add_argument(
        "--relations", choices=RELATIONS, default="firm", help="firm (default) leaves inferred ones out"
    )
    command.add_argument("--output", "-o", metavar="FILE", help="where to write; standard output if not given")
    command.add_argument("--data", metavar="DIR", help="data directory (ASKWELL_DATA)")


def _settings(options: argparse.Namespace, *, quiet: bool = False, silent: bool = False) -> Settings:
    """The settings of a command, whose files nobody else may read from here on: they hold what people told."""
    os.umask(PRIVATE)
    names = ("host", "port", "data", "workers")
    loaded = load(overrides={name: getattr(options, name, None) for name in names})
    log_settings = loaded.settings.logs
    if (quiet or silent) and log_settings.log_level == "info":
        log_settings = log_settings.model_copy(update={"log_level": "error" if silent else "warning"})
    logs.configure(log_settings)
    for warning in loaded.warnings:
        print(f"askwell: {warning}", file=sys.stderr)
    return loaded.settings


def _say(line: str) -> None:
    print(f"askwell: {line} …", file=sys.stderr, flush=True)


def _show(text: str) -> None:
    print(text, flush=True)


# Serve


def _serve(options: argparse.Namespace) -> int:
    settings = _settings(options)
    # Nothing of what is loaded now will be garbage; looking for some takes a sixth of the start.
    gc.disable()
    check_workers(settings)
    if settings.server.workers > 1:
        from server import supervisor

        return supervisor.serve(settings, say=_say, show=_show, version=version(), explain=_explained)
    from server import node

    code = uvloop.run(node.serve(settings, say=_say, show=_show, version=version()))
    if code == node.AGAIN:
        _say("beginning again")
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])
    return code


# Chat


def _chat(options: argparse.Namespace) -> int:
    if (options.concept is None) == (options.resume is None):
        raise CommandFailed("name a concept, or a session with --resume")
    settings = _settings(options, silent=True)
    if options.resume is not None:
        _check_data(settings)
    return uvloop.run(_hold_interview(settings, options))


async def _hold_interview(settings: Settings, options: argparse.Namespace) -> int:
    if options.concept is not None and not _CONCEPT_ID.fullmatch(options.concept):
        raise CommandFailed(
            f"there is no concept `{options.concept}`: an id is 1 to 100 letters, digits, `-` and `_`, without spaces"
        )
    running = _running_server(settings)
    if running is not None:
        return await _interview(*running, settings, options)
    _check_concept(settings, options.concept)
    from server import node

    async with node.here(settings, say=_say) as (url, token):
        return await _interview(url, token, settings, options)


def _check_concept(settings: Settings, concept_id: str | None) -> None:
    """Refuse an unknown concept before models are loaded, which takes seconds. Raises CommandFailed."""
    if concept_id is None:
        return
    try:
        Library(settings.pipeline, config_dir=settings.storage.config_dir).concept(concept_id)
    except UnknownName as error:
        raise CommandFailed(str(error)) from error


async def _interview(url: str, token: str, settings: Settings, options: argparse.Namespace) -> int:
    screen = Keyboard()
    if options.resume is not None:
        session_id = options.resume
        respondent_token = _kept_token(settings, session_id)
    else:
        created = await Client(url, token).create_session(
            concept_id=options.concept,
            methodology=options.methodology,
            language=options.language,
            max_turns=options.max_turns,
        )
        session_id, respondent_token = created["session_id"], created["respondent_token"]
        _keep_token(settings, session_id, respondent_token)
    client = Client(url, respondent_token)
    screen.write("Type /help for what else you can do.\n")
    where = f" --data {shlex.quote(options.data)}" if options.data else ""
    resume = f"To go on: askwell chat --resume {session_id}{where}"
    try:
        end = await Chat(client, session_id, screen).run()
    except asyncio.CancelledError:
        screen.write(f"\nYour interview is kept. {resume}\n")
        raise
    if end is End.WITHDRAWN:
        _token_path(settings, session_id).unlink(missing_ok=True)
        screen.write("Your interview was ended and everything you said is being erased.\n")
        return 0
    if end is End.COMPLETED:
        await _show_transcript(client, session_id, screen)
        return 0
    screen.write(f"Your interview is kept. {resume}\n")
    return 0 if end is End.LEFT else 1


async def _show_transcript(client: Client, session_id: str, screen: Keyboard) -> None:
    detail = await client.detail(session_id)
    screen.write("\n— Transcript —\n")
    for line in detail["transcript"]:
        who = "You" if line["speaker"] == "respondent" else "askwell"
        screen.write(f"{who}: {line['text'] or '(rather not say)'}\n")


def _running_server(settings: Settings) -> tuple[str, str] | None:
    """URL and moderator's token of the server that uses the data directory, None if there is none.

    Raises:
        CommandFailed: the server is still starting.
    """
    found = running_server(settings.storage.data)
    if found is None:
        return None
    pid, url = found
    if url is None:
        raise CommandFailed(f"process {pid} works in {settings.storage.data} and can't be talked to yet")
    return url, _token(settings)


def _token(settings: Settings) -> str:
    """The moderator's token; made if there is none."""
    configured = settings.server.moderator_token
    token, _ = moderator_token(settings.storage.data, configured.get_secret_value() if configured is not None else None)
    return token


def _token_path(settings: Settings, session_id: str) -> Path:
    if not session_id.replace("-", "").replace("_", "").isalnum():
        raise CommandFailed(f"{session_id} is not the id of an interview")
    return settings.storage.data / "chat" / f"{session_id}.token"


def _keep_token(settings: Settings, session_id: str, token: str) -> None:
    path = _token_path(settings, session_id)
    path.parent.mkdir(mode=0o700, exist_ok=True)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        file.write(token + "\n")


def _kept_token(settings: Settings, session_id: str) -> str:
    try:
        return _token_path(settings, session_id).read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        raise CommandFailed(f"no interview {session_id} was begun by askwell chat with this data directory") from None


# The other commands


def _export(options: argparse.Namespace) -> int:
    settings = _settings(options, quiet=True)
    target = Path(options.output) if options.output is not None else None
    if target is not None and (target.is_dir() or not target.parent.is_dir()):
        reason = "it is a directory" if target.is_dir() else f"there is no directory {target.parent}"
        raise CommandFailed(f"{target} can't be written: {reason}")
    content = _exported(settings, options.session, options.format, options.relations)
    if target is not None:
        target.write_bytes(content)
    else:
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
    return 0


def _judge(options: argparse.Namespace) -> int:
    from server.export.judging import judged

    content = _exported(_settings(options, quiet=True), options.session, "json", "all")
    print(judged(json.loads(content)), end="")
    return 0


def _compare(options: argparse.Namespace) -> int:
    from server.compare_command import compare

    settings = _settings(options, quiet=True)
    return compare(settings, options, lambda session_id: _exported(settings, session_id, "json", "all"))


def _replay(options: argparse.Namespace) -> int:
    from server.replay_command import replay

    settings = _settings(options, quiet=True)
    return replay(options, lambda session_id: _exported(settings, session_id, "json", "all"))


def _simulate(options: argparse.Namespace) -> int:
    from server.simulate_command import simulate

    return simulate(_settings(options, quiet=True), options)


def _check_data(settings: Settings) -> None:
    """Refuse to look for an interview where nothing is kept, rather than make a place for one. Raises CommandFailed."""
    if not settings.storage.data.is_dir():
        raise CommandFailed(f"there is no data directory {settings.storage.data}; name another one with --data")


def _exported(settings: Settings, session_id: str, name: str, relations: str) -> bytes:
    _check_data(settings)
    running = _running_server(settings)
    if running is None:
        from server import node

        return uvloop.run(node.export(settings, session_id, name, relations))
    url, token = running
    path = f"/api/sessions/{quote(session_id, safe='')}/export?format={name}&relations={relations}"
    return call_sync(url, "GET", path, token)


def _sync(options: argparse.Namespace) -> int:
    settings = _settings(options, quiet=True)
    plan = transfer_plan(options, settings.kiosk)
    from server.sync_command import ProgressPrinter, sync

    return uvloop.run(sync(settings, plan, ProgressPrinter(sys.stderr)))


def _check_config(options: argparse.Namespace) -> int:
    directory = options.directory or os.environ.get("ASKWELL_CONFIG_DIR") or None
    if directory is not None and not Path(directory).is_dir():
        raise CommandFailed(f"{directory} is not a directory")
    path = Path(directory) if directory else None
    if options.prompts is not None:
        print(prompts_shown(prompt_samples(path), options.prompts, options.methodology))
        return 0
    report = check_config(path)
    for problem in report.problems:
        print(problem)
    for caution in report.cautions:
        print(f"{caution} (careful)")
    if not report.ok:
        print(f"askwell: {len(report.problems)} problem(s) found.", file=sys.stderr)
        return 1
    print(
        f"{len(report.concepts)} concepts, {len(report.methodologies)} methodologies, {len(report.engines)} engines, "
        f"{len(report.prompts)} prompts, texts in {', '.join(report.languages)}: "
        f"{f'all can be used, {len(report.cautions)} to look at' if report.cautions else 'all good'}."
    )
    return 0


def _elements(options: argparse.Namespace) -> int:
    from server.elements_command import printed

    print(printed(_settings(options, quiet=True), options.concept, options.language), end="")
    return 0


def _export_schema(options: argparse.Namespace) -> int:
    from config.reference import write as write_reference
    from server.app import http_routes
    from server.openapi import write as write_http
    from server.protocol.schema import write_protocol

    target = Path(options.to)
    for path in (
        *write_protocol(target / "protocol"),
        *write_http(target, http_routes()),
        *write_reference(target / "configuration"),
    ):
        print(path)
    models = target / "models.md"
    models.write_text(models_page(), encoding="utf-8")
    print(models)
    return 0


def _models(options: argparse.Namespace) -> int:
    from server import inventory

    if (options.action == "fetch") != (options.name is not None):
        raise CommandFailed("name the model to fetch: askwell models fetch NAME (askwell models lists them)")
    if options.action == "fetch":
        _say(f"fetching {options.name}")
        print(inventory.fetch_model(options.name, options.endpoint))
        return 0
    found = inventory.survey(reread=options.action == "verify")
    rows = [(one.state, one.artefact.name, one.artefact.version, one.artefact.licence) for one in found]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    for one, row in zip(found, rows, strict=True):
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        print("  ".join((*cells, str(one.where or "-"))))
    for one in found:
        if one.problem:
            print(f"askwell: {one.problem}", file=sys.stderr)
    return int(options.action == "verify" and any(one.fails for one in found))


def _moderator_token(options: argparse.Namespace) -> int:
    settings = _settings(options, quiet=True)
    settings.storage.data.mkdir(mode=0o700, parents=True, exist_ok=True)
    print(_token(settings))
    return 0


if __name__ == "__main__":
    sys.exit(main())
