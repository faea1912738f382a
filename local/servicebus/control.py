"""The switches of the faults and of the clock, over HTTP on loopback.

`GET /` tells how they stand, `POST /` sets those in its JSON object, `DELETE /` switches all off.
"""

from typing import Annotated

from aiohttp import web
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from local.servicebus.clock import AdjustableClock
from local.servicebus.faults import Faults, FaultyConnection
from local.servicebus.server import Server
from local.settings import HOST

type Count = Annotated[int, Field(ge=0)]


class Switches(BaseModel):
    """What a request may set; each field is that of `Faults` unless it says otherwise."""

    model_config = ConfigDict(extra="forbid", strict=True)

    paused: bool | None = None
    delay_seconds: Annotated[float, Field(ge=0)] | None = None
    lost_requests: Count | None = None
    lost_answers: Count | None = None
    duplicates: Count | None = None
    duplicate_share: Annotated[float, Field(ge=0, le=1)] | None = None
    newest_first: bool | None = None
    break_connections: bool = False
    """Cuts all that are open now."""
    clock_speed: Annotated[float, Field(gt=0)] | None = None
    """Seconds of the broker in each real one."""
    advance_seconds: Annotated[float, Field(ge=0)] = 0.0
    """Puts the broker's clock forward."""


class Switchboard:
    """Answers the requests; everything happens on the broker's own event loop."""

    def __init__(self, server: Server, faults: Faults, clock: AdjustableClock) -> None:
        self._server = server
        self._faults = faults
        self._clock = clock

    async def tell(self, request: web.Request) -> web.Response:
        return web.json_response({**vars(self._faults), "clock_speed": self._clock.speed})

    async def set(self, request: web.Request) -> web.Response:
        try:
            switches = Switches.model_validate_json(await request.read())
        except ValidationError as error:
            raise web.HTTPBadRequest(text=f"{error}\n") from None
        self._apply(switches)
        return await self.tell(request)

    async def reset(self, request: web.Request) -> web.Response:
        self._apply(Switches(**vars(Faults()), clock_speed=1.0))
        return await self.tell(request)

    def _apply(self, switches: Switches) -> None:
        for name in vars(self._faults):
            value = getattr(switches, name)
            if value is not None:
                setattr(self._faults, name, value)
        if switches.clock_speed is not None:
            self._clock.set_speed(switches.clock_speed)
        self._clock.advance(round(switches.advance_seconds * 1000))
        for connection in list(self._server.connections):
            self._reach(connection, switches)
        self._server.service.turn()  # with the timer set anew

    def _reach(self, connection: object, switches: Switches) -> None:
        if not isinstance(connection, FaultyConnection):
            return
        if switches.break_connections:
            connection.abort()
        elif not self._faults.paused:
            connection.resume()


async def serve_switches(
    port: int, server: Server, faults: Faults, clock: AdjustableClock
) -> web.AppRunner:
    """Listen on `port` of 127.0.0.1, a free one for 0. Raises OSError when it is taken."""
    switchboard = Switchboard(server, faults, clock)
    app = web.Application()
    app.add_routes(
        [
            web.get("/", switchboard.tell),
            web.post("/", switchboard.set),
            web.delete("/", switchboard.reset),
        ]
    )
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, HOST, port).start()
    return runner
