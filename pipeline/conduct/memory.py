"""What an interview remembers after a message, as far as its conduct goes."""

from __future__ import annotations

from datetime import datetime, timedelta

from pipeline.acts import Act
from pipeline.conduct.move import Move
from pipeline.conduct.moves import REPAIRS
from pipeline.conduct.policy import ConductPolicy
from pipeline.conduct.state import Asked, Care, CareAlert, ConductState

MEANT: dict[Asked, Act] = {"stop": "wants_stop", "pause": "wants_pause", "risk": "risk"}
"""What was asked back about, by the name of the question."""


def remembered(
    conduct: ConductState, move: Move | None, *, turn_number: int, now: datetime, policy: ConductPolicy
) -> ConductState:
    """The state of conduct after a message and the move that answered it; no move is an ordinary answer."""
    fresh: dict[str, object] = {"offers": (), "asked": "", "waiting": False, "answered": False}
    chose = move is not None and move.act == "distress" and move.alert is None and bool(conduct.offers)
    if chose and "distress" not in conduct.denied:
        conduct = conduct.model_copy(update={"denied": (*conduct.denied, "distress")})
    asked = MEANT.get(conduct.asked)
    if asked is not None and asked not in conduct.denied and (move is None or move.then in ("again", "engine")):
        fresh["denied"] = (*conduct.denied, asked)
    if move is None:
        return conduct.model_copy(update={**fresh, "repairs_in_a_row": 0, "dont_knows": 0})
    kept = 0 if move.counts else conduct.dont_knows
    changed: dict[str, object] = {
        **fresh,
        "offers": move.offers,
        "asked": move.asks,
        "answered": move.answered,
        "repairs_in_a_row": 0 if move.counts else conduct.repairs_in_a_row + (move.act in REPAIRS),
        "dont_knows": conduct.dont_knows + 1 if move.act == "dont_know" else kept,
        "eased": conduct.eased + (move.act == "dont_know" and move.then == "easier"),
        "waiting": move.act == "wants_pause" and move.then == "stands" and not move.asks,
    }
    if move.act == "distress" and move.alert is not None:
        changed["distressed"] = conduct.distressed + 1
    if move.asks == "age":
        changed["asked_age"] = True
    if move.act == "asks_back" and move.then == "simpler":
        changed["asked_back_turn"] = turn_number
    if move.then == "stop":
        changed["stopping_until"] = now + timedelta(seconds=policy.stop_grace_s)
    if move.then == "hold":
        changed["held_until"] = now + timedelta(hours=policy.minor_hold_h)
    if move.then == "withdraw":
        changed["withdrawing"] = True
    alerts = conduct.alerts
    if conduct.asked == "age" and move.act != "minor" and move.then not in ("stop", "withdraw"):
        alerts = with_alert(alerts, "minor", turn_number, now)  # Asked for, and something else was told.
    if move.alert is not None:
        alerts = with_alert(alerts, move.alert, turn_number, now, faint=not move.text)
    return conduct.model_copy(update={**changed, "alerts": alerts})


def with_alert(
    alerts: tuple[CareAlert, ...], code: Care, turn_number: int, now: datetime, *, faint: bool = False
) -> tuple[CareAlert, ...]:
    """The alerts with one more; a new one of a kind that somebody acknowledged is not acknowledged. It is `faint` where
    all of its kind were.
    """
    faint = faint and all(alert.faint for alert in alerts if alert.code == code)
    return (
        *(alert for alert in alerts if alert.code != code),
        CareAlert(code=code, turn_number=turn_number, since=now, faint=faint),
    )


def acknowledged(conduct: ConductState, who: str) -> ConductState:
    """The state in which a moderator has seen all alerts."""
    seen = tuple(
        alert if alert.acknowledged_by is not None else alert.model_copy(update={"acknowledged_by": who})
        for alert in conduct.alerts
    )
    return conduct.model_copy(update={"alerts": seen})
