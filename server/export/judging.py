"""What a reviewer needs of an interview: for each answer what was asked, heard and understood, and on what it rests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pipeline.acts import ENOUGH
from pipeline.guide import TopicProgress
from server.export.material import guide_words

Row = Mapping[str, Any]

STANCES = {-1: "suffered or avoided", 1: "wanted or liked"}
FEELINGS = {1: "some feeling", 2: "strong feeling"}
HEARERS = {"rules": "rules", "reader": "reader", "model": "language model", "offer": "chosen by the respondent"}


def judged(session: Row) -> str:
    """The interview, answer by answer, as text.

    Args:
        session: the complete export (`format=json`).
    """
    head = session["session"]
    lines = [
        f"{head['concept_name']} · {head['methodology']} · {head['engine']} · {head['language']}",
        f"Session {head['id']} · {head['state']} · {head['turn_count']} turns",
    ]
    labels = {node["id"]: node["label"] for node in session["nodes"]}
    labels |= {slot["id"]: slot["slot_name"].replace("_", " ") for slot in session["slots"]}
    made = {turn["turn_number"]: turn.get("question") or {} for turn in session.get("turns", ())}
    asked: Row | None = None
    asked_for: dict[str, Row | None] = {}
    for utterance in session["utterances"]:
        if utterance["speaker"] != "respondent":
            asked = utterance
            continue
        question = asked_for.get(utterance["corrects"] or "", asked)
        asked_for[utterance["id"]] = question
        lines += ["", *_answer(session, utterance, question, labels, made)]
    if asked is not None and session["utterances"][-1] is asked:
        lines += ["", *_asked(asked, labels, made)]
    guide = [TopicProgress.model_validate(item) for item in session.get("guide", ())]
    lines += ["", *_listed("Guide", [f"{item.label}: {guide_words(item)}" for item in guide])]
    labels_of = {node["id"]: node["label"] for node in session["nodes"]}
    threads = [_thread(thread, labels_of) for thread in session.get("threads", ())]
    lines += _listed("Threads", threads)
    return "\n".join(lines).rstrip() + "\n"


def _thread(thread: Row, labels: Mapping[str, str]) -> str:
    """What a thread ran through, and what became of it."""
    way = " → ".join(_quoted(labels[node_id]) for node_id in thread["node_ids"] if node_id in labels)
    left = f"left after answer {thread['left_turn']}" if thread["left_turn"] is not None else "followed to the last"
    return f"{way}: {thread['ended'].replace('_', ' ') or 'open'}, {left}"


def _answer(
    session: Row, utterance: Row, asked: Row | None, labels: Mapping[str, str], made: Mapping[int, Row]
) -> Iterator[str]:
    yield f"Turn {utterance['turn_number']}"
    if asked is not None:
        yield from _asked(asked, labels, made)
    mark = (
        " (amended since)"
        if utterance["corrected_by"]
        else " (amends the answer before)"
        if utterance["corrects"]
        else ""
    )
    yield f"  Said{mark}: {_quoted(utterance['text']) if utterance['text'] else '(rather not say)'}"
    yield from _listed("Heard", [_act(act, utterance["text"]) for act in utterance["acts"] if act["act"] != "tells"])
    own = utterance["id"]
    yield from _listed("Understood", [_node(node, own) for node in session["nodes"] if _from(node, own)])
    yield from _listed("Linked", [_edge(edge, labels) for edge in session["edges"] if _from(edge, own)])
    left = [tension for tension in session["tensions"] if tension["utterance_id"] == own]
    yield from _listed("Left out", [_tension(tension) for tension in left])


def _asked(utterance: Row, labels: Mapping[str, str], made: Mapping[int, Row]) -> Iterator[str]:
    yield f"  Asked: {_quoted(utterance['text'])}"
    if utterance["replies_to"]:
        yield f"    in reply to: {utterance['replies_to'].replace('_', ' ')}"
    elif utterance["strategy"]:
        focus = labels.get(utterance["focus_key"] or "")
        yield f"    because: {utterance['strategy'].replace('_', ' ')}{f', about {_quoted(focus)}' if focus else ''}"
        how = made.get(utterance["turn_number"], {})
        if how.get("offers"):
            by = "the language model" if how.get("said") is not None else "the engine"
            many = len(how["offers"])
            which = f"{how.get('taken', 0) + 1} of {many} that came close"
            own = f"none of {many} that came close, but {_quoted(how['own'])}" if how.get("own") else ""
            yield f"    chosen by: {by}, {own or which}"
        if how.get("worth") is not None:
            worth = min(3.0, max(0.0, how["worth"]))
            yield f"    worth: {worth:.1f} of 3, as the ranker expects a moderator to think of it"
        yield from (f"    refused before: {reason}" for reason in how.get("refusals", ()))


def _from(item: Row, utterance_id: str) -> bool:
    return utterance_id in item["source_utterance_ids"]


def _listed(title: str, found: Sequence[str]) -> Iterator[str]:
    if found:
        yield f"  {title}:"
        yield from (f"    {line}" for line in found)


def _act(act: Row, text: str) -> str:
    sure = "" if act["sure"] else ", to be asked back"
    who = HEARERS.get(act["heard_by"], act["heard_by"])
    told_all = act["act"] == "complains" and act["about"] == ENOUGH
    name = "has no more to tell of it" if told_all else act["act"].replace("_", " ")
    return f"{name} ({who}{sure}): {_quoted(text[act['start'] : act['end']])}"


def _node(node: Row, utterance_id: str) -> str:
    first = node["source_utterance_ids"][0] == utterance_id
    quotes = [quote["quote"] for quote in node["quotes"] if quote["utterance_id"] == utterance_id]
    told = [
        f"{node['node_type'].replace('_', ' ')} {node['confidence']:.2f}",
        *(f"else {kind.replace('_', ' ')} {share:.2f}" for kind, share in node["type_alternatives"][:1]),
        *([f"salience {node['salience']}"] if node.get("salience") is not None else []),
        *([STANCES[node["stance"]]] if node["stance"] in STANCES else []),
        *([FEELINGS[node["emotion"]]] if node.get("emotion") in FEELINGS else []),
        *([] if first else ["said before"]),
        *(["retracted since"] if node["superseded_by"] else []),
    ]
    words = "" if quotes == [node["label"]] else f" from {', '.join(map(_quoted, quotes))}"
    return f"{_quoted(node['label'])}: {', '.join(told)}{words}"


def _edge(edge: Row, labels: Mapping[str, str]) -> str:
    kind = edge["edge_type"].replace("_", " ")
    skips = ", skips a level" if edge.get("skips") else ""
    ends = f"{_quoted(labels[edge['source_id']])} → {_quoted(labels[edge['target_id']])}"
    return f"{ends} ({kind}): {edge['basis']} {edge['confidence']:.2f}{skips}"


def _tension(tension: Row) -> str:
    ends = _quoted(tension["source"]) + (f" → {_quoted(tension['target'])}" if tension["target"] else "")
    return f"{ends} ({tension['type'].replace('_', ' ')}): {tension['reason'].replace('_', ' ')}"


def _quoted(text: str) -> str:
    return f"“{' '.join(text.split())}”"
