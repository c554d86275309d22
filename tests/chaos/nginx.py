"""nginx in front of nodes, configured as docs/operations.md says."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import httpx

from tests.support.needs import nginx_path
from tests.support.postgres import free_port

DOCS = Path(__file__).parents[2] / "docs" / "operations.md"
WORKING = """
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log warn;
worker_processes 1;
worker_rlimit_nofile 4096;
events {{ worker_connections 2048; }}
http {{
    access_log {folder}/access.log;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
{site}
}}
"""


def documented(nodes: Sequence[int], port: int) -> str:
    """The configuration in the docs, with these ports in place of those there."""
    [found] = re.findall(r"```nginx\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
    plain = re.sub(r"^\s*(listen|ssl_\w+|server_name) .*\n", "", found, flags=re.MULTILINE)
    for host, node in zip(("10.0.0.11:8080", "10.0.0.12:8080"), nodes, strict=True):
        assert host in plain, "the docs name this node"
        plain = plain.replace(host, f"127.0.0.1:{node}")
    return plain.replace("server {\n", f"server {{\n    listen 127.0.0.1:{port};\n", 1)


def write_configuration(folder: Path, nodes: Sequence[int], port: int) -> Path:
    """The whole configuration, in a folder of its own."""
    folder.mkdir()
    site = folder / "nginx.conf"
    site.write_text(WORKING.format(folder=folder, site=documented(nodes, port)))
    return site


@asynccontextmanager
async def nginx(folder: Path, nodes: Sequence[int]) -> AsyncIterator[str]:
    """A proxy in front of these ports; its URL."""
    path, port = nginx_path(), free_port()
    assert path is not None
    site = write_configuration(folder, nodes, port)
    process = await asyncio.create_subprocess_exec(path, "-e", str(folder / "error.log"), "-c", str(site))
    try:
        async with asyncio.timeout(20), httpx.AsyncClient(trust_env=False) as http:
            while True:
                with suppress(httpx.HTTPError):
                    if (await http.get(f"http://127.0.0.1:{port}/healthz")).status_code == 200:
                        break
                await asyncio.sleep(0.05)
        yield f"http://127.0.0.1:{port}"
    finally:
        with suppress(ProcessLookupError):
            process.terminate()
        await process.wait()
