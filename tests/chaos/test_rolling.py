"""Two nodes behind nginx are restarted in turn while people are interviewed; nobody is shown an error."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.chaos.crowd import Crowd
from tests.chaos.machines import cluster
from tests.chaos.nginx import nginx
from tests.chaos.test_nodes import talking

pytestmark = [
    pytest.mark.chaos,
    pytest.mark.needs("postgresql"),
    pytest.mark.needs("nginx"),
    pytest.mark.timeout(900),
]

SIZE = 20
ROUNDS = 1
PAUSE_S = 3.0


async def test_nodes_restarted_in_turn_behind_a_proxy_show_nobody_an_error(tmp_path: Path) -> None:
    async with cluster(tmp_path) as servers, nginx(tmp_path / "nginx", [node.port for node in servers.nodes]) as url:
        crowd = Crowd([url], SIZE, pause_s=PAUSE_S)
        async with talking(crowd):
            await crowd.progress(SIZE, 120)
            for number in range(2 * ROUNDS):
                node = servers.nodes[number % 2]
                await node.stop()
                await asyncio.sleep(1.0)
                await node.start()
                await crowd.progress(SIZE, 120)
        report = await crowd.report(servers.postgres.url)
        report.print(f"Two nodes behind nginx restarted, rounds: {ROUNDS}, {SIZE} respondents")
    assert report.lost == []
    assert report.doubled == []
    assert report.dead_letters == 0
    assert report.problems == {}
    assert report.reconnections > 0
