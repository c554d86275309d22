"""Ten people speak at once, each with words of their own: none crosses."""

from __future__ import annotations

import asyncio
from random import Random

from server.hot.redis import HotStore
from tests.support.client import Frame
from tests.support.fakes_session import MemoryStore, Node, Providing, TroubledHot, running_node
from tests.support.speech import ToneSpeech, frames, silence, speech

SESSIONS, TURNS = 10, 3
WORDS = ("canary", "sparrow", "finch", "wren")


def phrase(session: int, turn: int) -> str:
    """Words that nobody else says."""
    return " ".join(f"{word}{session}x{turn}" for word in WORDS)


async def _speak(node: Node, session: int, random: Random) -> tuple[str, list[Frame]]:
    """One respondent who speaks, in frames of a size of their own, and loses the connection now and then."""
    state = await node.session()
    seq, last, seen = 0, 0, []
    for turn in range(TURNS):
        cut = frames(silence(0.3) + speech(phrase(session, turn)) + silence(2), seq, random.choice((20, 40, 64, 100)))
        lost_at = random.randrange(len(cut))
        async with node.client(state.session_id) as client:
            await client.hello(last_event_id=last)
            if turn == 0:
                await client.until("question.completed")
            key = await client.audio_start(first_seq=seq)
            for frame in cut[:lost_at]:
                await client.raw(frame)
                await asyncio.sleep(0)
            last = client.last_id
            seen += client.seen
        async with node.client(state.session_id) as client:
            ready = await client.hello(last_event_id=last)
            received = ready["first_unreceived_seq"]
            await client.audio_start(key, first_seq=received)
            for frame in cut[max(0, received - seq) :]:
                await client.raw(frame)
                await asyncio.sleep(0)
            await client.until("transcript.final", turn_key=key)
            await client.until("turn.completed", turn_key=key)
            last = client.last_id
            seen += client.seen
        seq += len(cut)
    return state.session_id, seen


async def test_words_of_ten_speakers_never_cross(hot: HotStore) -> None:
    voice = ToneSpeech(speculate="turn")
    async with running_node(TroubledHot(hot), MemoryStore(), Providing(), speech=voice) as node:
        found = await asyncio.gather(*(_speak(node, n, Random(n)) for n in range(SESSIONS)))
        for session, (session_id, seen) in enumerate(found):
            finals = {frame["id"]: frame["text"] for frame in seen if frame["type"] == "transcript.final"}
            assert list(finals.values()) == [phrase(session, turn) for turn in range(TURNS)]
            for frame in seen:
                if frame["type"] == "transcript.partial":
                    birds = [word for word in frame["text"].split() if word.startswith(WORDS)]
                    assert all(f"{session}x" in bird for bird in birds), frame
            owner = node.hub.owner(session_id)
            assert owner is not None
            said = [u.text for u in owner.state.utterances if u.speaker == "respondent"]
            assert said == [phrase(session, turn) for turn in range(TURNS)]
