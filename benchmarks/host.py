"""Requests to the local host for a function that says hello, against bare aiohttp.

The load comes from this process, over connections that are kept open; it shares the processors with
what it measures. The recorded figures are of the real host on two processors, its load generator
beside it too.
"""

import asyncio
import tempfile
import time
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles

from benchmarks.processes import Server, running_host, running_script
from benchmarks.report import ratio, show_circumstances, show_table

HELLO = """
import azure.functions as func
app = func.FunctionApp(http_auth_level=func.AuthLevel.ANONYMOUS)

@app.route(route="hello", methods=["GET"])
def hello(req: func.HttpRequest) -> str:
    return "hi"

@app.route(route="ahello", methods=["GET"])
async def ahello(req: func.HttpRequest) -> str:
    return "hi"
"""
BARE = """
import asyncio
from aiohttp import web

async def main():
    async def hello(request):
        response = web.Response(body=b"hi", content_type="text/plain", charset="utf-8")
        response.enable_chunked_encoding()
        return response

    app = web.Application()
    app.router.add_get("/hello", hello)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    print(f"ready bare http://127.0.0.1:{runner.addresses[0][1]}", flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""
WARM_UP = 500
MANY, ONE = 20, 1
REQUESTS = {MANY: 4000, ONE: 1000}
REPEATS = 5
RECORDED = {
    ("hello", MANY): (1700, 10.9),
    ("ahello", MANY): (1792, 10.4),
    ("hello", ONE): (686, 1.29),
}
"""Of the real host: requests in a second, and the median of their milliseconds."""


@dataclass(frozen=True)
class Load:
    """What a number of requests took; `latencies` are in milliseconds."""

    seconds: float
    latencies: list[float]

    @property
    def rate(self) -> float:
        return len(self.latencies) / self.seconds

    @property
    def p95(self) -> float:
        return quantiles(self.latencies, n=20)[-1]


def main() -> None:
    """Measure both, and print what the host adds."""
    show_circumstances()
    with tempfile.TemporaryDirectory() as folder:
        bare = _measure("bare aiohttp", running_script(Path(folder) / "bare", BARE), ["hello"])
        started = running_host(Path(folder) / "host", HELLO)
        host = _measure("host", started, ["hello", "ahello"])
    _show_rates(bare, host)
    added = host["hello", ONE].p50 - bare["hello", ONE].p50
    print(f"\nAdded to one request over one connection: {added:.2f} ms at the median")


@dataclass(frozen=True)
class Figures:
    """The median of several loads; `processor` is the server's, in milliseconds a request."""

    rate: float
    p50: float
    p95: float
    processor: float


type Measured = dict[tuple[str, int], Figures]
"""By path and number of connections."""


def _measure(name: str, start: AbstractContextManager[Server], paths: list[str]) -> Measured:
    with start as server:
        before = server.resident_megabytes()
        asyncio.run(load(server.port, paths[0], MANY, WARM_UP))
        found: Measured = {}
        for path in paths:
            for connections in (MANY, ONE):
                used = server.processor_seconds()
                runs = [
                    asyncio.run(load(server.port, path, connections, REQUESTS[connections]))
                    for _ in range(REPEATS)
                ]
                used = server.processor_seconds() - used
                found[path, connections] = _median(runs, used)
        print(
            f"{name}: ready after {server.ready_seconds:.2f} s with {before:.0f} MB,"
            f" {server.resident_megabytes():.0f} MB after the load"
        )
        return found


def _median(loads: list[Load], processor_seconds: float) -> Figures:
    requests = sum(len(each.latencies) for each in loads)
    return Figures(
        median(each.rate for each in loads),
        median(median(each.latencies) for each in loads),
        median(each.p95 for each in loads),
        processor_seconds / requests * 1000,
    )


async def load(port: int, path: str, connections: int, requests: int) -> Load:
    """Send the requests over so many connections, each one after the other."""
    latencies: list[float] = []
    request = f"GET /{path} HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n".encode()
    left = iter(range(requests))

    async def client() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for _ in left:
            began = time.perf_counter()
            writer.write(request)
            answer = await reader.readuntil(b"0\r\n\r\n")
            latencies.append((time.perf_counter() - began) * 1000)
            if not answer.startswith(b"HTTP/1.1 200 "):
                raise RuntimeError(answer.decode())
        writer.close()

    began = time.perf_counter()
    await asyncio.gather(*[client() for _ in range(connections)])
    return Load(time.perf_counter() - began, latencies)


def _show_rates(bare: Measured, host: Measured) -> None:
    rows = []
    for name, measured in (("bare aiohttp", bare), ("host", host)):
        for (path, connections), figures in measured.items():
            recorded = RECORDED.get((path, connections)) if measured is host else None
            rows.append(
                (
                    f"{name}, /{path}, {connections} connections",
                    f"{figures.rate:.0f}",
                    f"{figures.p50:.2f}",
                    f"{figures.p95:.2f}",
                    f"{figures.processor:.2f}",
                    f"{recorded[0]}" if recorded else "",
                    ratio(figures.rate, recorded[0]) if recorded else "",
                )
            )
    header = ("", "requests/s", "p50 ms", "p95 ms", "processor ms", "real host", "ratio")
    show_table("Requests for hello", header, rows)


if __name__ == "__main__":
    main()
