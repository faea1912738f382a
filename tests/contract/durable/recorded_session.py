"""The session that was recorded on the real host: clients and plain HTTP, call for call."""

import re
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

import azure.durable_functions as df
import azure.functions as func
from azure.durable_functions.models import OrchestrationRuntimeStatus

from tests.contract.durable.hub import KEY
from tests.contract.durable.session import HEADERS, Session
from tests.recordings import ANY
from tests.until import until

JSON = {"Content-Type": "application/json"}
MADE_UP = re.compile(r"[0-9a-f]{32}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}:\d+")
ODD_IDS = (
    *("has space", "a/b", "a?b", "a#b", "a%b", "\u00e9", "@x", "x" * 101, "x" * 300, "", "a:b"),
    *("A+B", "a\\b", "CaseId", "caseid", "a&b=c", "..", ".", 'a"b'),
)
LISTS = (
    *("", "top=2", "top=0", "top=-1", "top=x", "runtimeStatus=Failed", "runtimeStatus=failed"),
    *("runtimeStatus=Failed,Terminated", "runtimeStatus=Nope", "instanceIdPrefix=S-"),
    *("instanceIdPrefix=s-", "instanceIdPrefix=zzz", "createdTimeFrom=2099-01-01T00:00:00Z"),
    *("createdTimeTo=2000-01-01T00:00:00Z", "createdTimeFrom=zzz"),
    *("showInput=false&instanceIdPrefix=S-", "showInput=true&instanceIdPrefix=S-"),
    *("instanceIdPrefix=S-&showHistory=true", "top=2&instanceIdPrefix=S-"),
    "returnInternalServerErrorOnFailure=true&instanceIdPrefix=S-f",
)
LONG_AGO = "createdTimeFrom=2020-01-01T00:00:00Z"


async def play(session: Session) -> dict[str, Any]:
    """The whole session, in the recorded order."""
    for part in (
        *(_start_by_client, _start_odd_ids, _start_by_http, _look, _raise_events),
        *(_suspend_and_resume, _terminate, _restart_and_rewind, _purge, _list, _more_of_client),
        *(_rpc, _extras),
    ):
        await part(session)
    return session.seen


async def _start_by_client(s: Session) -> None:
    await s.start("o1", "i-o1-str", "hello")
    await s.start("o_fail", "i-o_fail")
    await s.start("o_raise", "i-o_raise", "first")
    await s.ended("i-o1-str", "i-o_fail", "i-o_raise")
    new = s.client.start_new
    await s.call("py start new", new("o_long", "L1"))
    await s.call("py start auto id", new("o_noyield"))
    await s.hub.waiting("L1")
    await s.status("status L1 before", "L1")
    await s.call("py start id Running", new("o_long", "L1"))
    await s.status("status L1 after restart over running", "L1", history=True)
    await s.call("py start id Completed", new("o1", "i-o1-str", "again"))
    await s.ended("i-o1-str")
    await s.status("status of re-used completed id", "i-o1-str", history=True)
    await s.call("py start id Failed", new("o1", "i-o_fail", "again"))
    await s.ended("i-o_fail")
    await s.status("status of re-used failed id", "i-o_fail")


async def _start_odd_ids(s: Session) -> None:
    for id in ODD_IDS:
        again = " (2)" if len(id) == 300 else ""
        name, shown = f"py start id {id[:20]!r}", repr(id[:20])
        started = await s.call(f"{name}{again}", s.client.start_new("o1", id, "v"))
        if started:
            await s.ended(started)
        await s.call(f"{name} -> py get_status {shown}{again}", s.client.get_status(id))
        await s.http(f"{name} -> http GET {shown}{again}", "GET", f"instances/{quote(id)}")
    await s.call("py start unknown fn", s.client.start_new("nosuch", "U1"))
    await s.call("py start fn name case", s.client.start_new("O1", "CASEFN", "x"))
    await s.ended("U1", "CASEFN")
    await s.status("py start fn name case -> status", "CASEFN")
    await s.call("py start big input 200k", s.client.start_new("o1", "BIG", "x" * 200_000))
    await s.ended("BIG")
    async with s.hub.http.get("instances/BIG") as answer:
        s.note("status big", {"status": answer.status, "len": len(await answer.read())})


async def _start_by_http(s: Session) -> None:
    at = "orchestrators"
    await s.post("http start", f"{at}/o1", '{"a": 1}')
    await s.post("http start with id", f"{at}/o1/H1", '{"a": 1}')
    await s.http("http start no body", "POST", f"{at}/o1/H2", data=nothing())
    await s.post("http start invalid json", f"{at}/o1/H3", "{a:")
    await s.post("http start text", f"{at}/o1/H4", "hello", headers={"Content-Type": "text/plain"})
    await s.post("http start json string", f"{at}/o1/H5", '"hello"')
    await s.ended("H1", "H2", "H5")
    for id in ("H1", "H2", "H3", "H4", "H5"):
        await s.status(f"http start json string -> status {id}", id)
    await s.post("http start running id", f"{at}/o1/L1", "1")
    await s.post("http start unknown fn", f"{at}/nosuch/H6", "1")
    await s.http("http start GET", "GET", f"{at}/o1/H7")
    await s.post("http start wait", f"{at}/o1/HW?timeout=5&pollingInterval=1", "1")
    await s.post("http start id odd", f"{at}/o1/a+b", "1")
    await s.ended("H6", "a b")


async def nothing() -> AsyncIterator[bytes]:
    """A body that is not announced, and does not come."""
    return
    yield b""


async def _look(s: Session) -> None:
    functions = {
        "run": "o_long",
        "st": "o_status",
        "fail": "o_fail",
        "sub": "o_sub",
        "all": "o_all",
    }
    for short, function in functions.items():
        await s.start(function, f"S-{short}", {"k": "v"})
    await s.ended("S-st", "S-fail", "S-sub", "S-all")
    await s.hub.waiting("S-run")
    flags = (
        *("", "?showHistory=true", "?showHistory=true&showHistoryOutput=true", "?showInput=false"),
        "?returnInternalServerErrorOnFailure=true",
    )
    for id in (*(f"S-{short}" for short in functions), "none-such"):
        for flag in flags:
            await s.http(f"GET {id}{flag}", "GET", with_code(f"instances/{id}{flag}"))
    await s.http("GET showInput=true", "GET", with_code("instances/S-run?showInput=true"))
    await s.http("GET bad bool", "GET", with_code("instances/S-run?showHistory=maybe"))
    await s.http("GET wrong taskHub", "GET", "instances/S-run?taskHub=Nope")
    await s.http("GET wrong connection", "GET", "instances/S-run?connection=Nope")
    await s.http("GET slash", "GET", with_code("instances/S-run/"))
    await s.http("GET case", "GET", "instances/s-RUN")
    await s.http("HEAD", "HEAD", "instances/S-run")
    await s.http("PUT", "PUT", "instances/S-run")
    await s.http("no code", "GET", "instances/S-run", headers={"x-functions-key": ""})
    await s.http("bad code", "GET", "instances/S-run?code=x", headers={"x-functions-key": ""})
    await s.http("no such webhook path", "GET", "nosuch")


def with_code(path: str) -> str:
    return f"{path}{'&' if '?' in path else '?'}code={KEY}"


async def _raise_events(s: Session) -> None:
    def to(id: str, event: str) -> str:
        return f"instances/{id}/raiseEvent/{event}"

    await s.post("raise unknown", to("none-such", "Go"), "1", headers=JSON)
    await s.post("raise finished", to("S-all", "Go"), "1", headers=JSON)
    await s.post("raise failed", to("S-fail", "Go"), "1", headers=JSON)
    await s.post("raise running no waiter", to("S-run", "Go"), "1", headers=JSON)
    await s.post("raise odd name", to("S-run", "a%20b"), "1", headers=JSON)
    await s.post("raise slash name", to("S-run", "a/b"), "1", headers=JSON)
    await s.post("raise uni name", to("S-run", "%C3%A9"), "1", headers=JSON)
    await s.post("raise empty body", to("S-run", "E1"), headers=JSON)
    no_type = {"skip_auto_headers": ["Content-Type"]}
    await s.post("raise no content type", to("S-run", "E2"), "1", **no_type)
    await s.post("raise text", to("S-run", "E3"), "x", headers={"Content-Type": "text/plain"})
    await s.post("raise invalid json", to("S-run", "E4"), "{a:", headers=JSON)
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    await s.post("raise form", to("S-run", "E5"), "a=1", headers=form)
    await s.post("raise null", to("S-run", "E6"), "null", headers=JSON)
    charset = {"Content-Type": "application/json; charset=utf-8"}
    await s.post("raise charset", to("S-run", "E7"), '{"a":"\u00e9"}', headers=charset)
    await s.post("raise no name", "instances/S-run/raiseEvent", "1", headers=JSON)
    await s.http("raise GET", "GET", to("S-run", "Go"))
    event = s.client.raise_event
    await s.call("py raise_event none-such", event("none-such", "Go", {"a": 1}))
    await s.call("py raise_event S-all", event("S-all", "Go", {"a": 1}))
    await s.call("py raise_event S-run", event("S-run", "Go", {"a": 1}))
    await s.call("py raise_event no data", event("S-run", "G2"))
    await s.call("py raise_event empty name", event("S-run", ""))
    await s.start("o_event", "EV-dict")
    await s.post("http raise dict", to("EV-dict", "Go"), '{"n":1}', headers=JSON)
    await s.ended("EV-dict")
    await s.status("http raise dict -> status", "EV-dict", history=True)


async def _suspend_and_resume(s: Session) -> None:
    async def settled(status: str) -> None:
        await until(lambda: s.hub.instance("S-run").status.name == status)

    await s.post("suspend unknown", "instances/none-such/suspend?reason=x")
    await s.post("suspend finished", "instances/S-all/suspend?reason=x")
    await s.post("suspend running", "instances/S-run/suspend?reason=my%20reason")
    await settled("Suspended")
    await s.status("suspend running -> status", "S-run", history=True)
    await s.post("suspend again", "instances/S-run/suspend?reason=x")
    await s.post("raise to suspended", "instances/S-run/raiseEvent/Go", "1", headers=JSON)
    await s.post("resume", "instances/S-run/resume?reason=back")
    await settled("Running")
    await s.status("resume -> status", "S-run", history=True)
    await s.post("resume not suspended", "instances/S-run/resume?reason=x")
    await s.post("resume unknown", "instances/none-such/resume?reason=x")
    await s.post("resume finished", "instances/S-all/resume?reason=x")
    for id in ("none-such", "S-all", "S-run"):
        await s.call(f"py suspend {id}", s.client.suspend(id, "why"))
    await settled("Suspended")
    for id in ("none-such", "S-all", "S-run"):
        await s.call(f"py resume {id}", s.client.resume(id, "why"))
    await settled("Running")


async def _terminate(s: Session) -> None:
    await s.post("terminate unknown", "instances/none-such/terminate?reason=x")
    await s.post("terminate finished", "instances/S-all/terminate?reason=x")
    await s.post("terminate running", "instances/S-run/terminate?reason=my%20reason")
    await s.ended("S-run")
    await s.status("terminate running -> status", "S-run", history=True)
    await s.post("terminate again", "instances/S-run/terminate?reason=x")
    await s.start("o_long", "T2")
    await s.post("terminate no reason", "instances/T2/terminate")
    await s.ended("T2")
    await s.status("terminate no reason -> status", "T2")
    await s.post("raise to terminated", "instances/T2/raiseEvent/Go", "1", headers=JSON)
    await s.start("o_long", "T3")
    await s.call("py terminate running", s.client.terminate("T3", "because"))
    await s.call("py terminate unknown", s.client.terminate("none-such", "x"))
    await s.ended("T3")
    await s.call("py terminate finished", s.client.terminate("T3", "x"))
    await s.call("py terminate finished -> py status", s.client.get_status("T3"))
    failing = "instances/T3?returnInternalServerErrorOnFailure=true"
    await s.http("GET terminated 500flag", "GET", failing)


async def _restart_and_rewind(s: Session) -> None:
    same = "restartWithNewInstanceId=false"
    await s.post("restart finished", "instances/S-all/restart")
    await s.post("restart finished sameid", f"instances/S-all/restart?{same}")
    await s.ended("S-all")
    await s.status("restart finished sameid -> status", "S-all")
    await s.post("restart unknown", "instances/none-such/restart")
    await s.start("o_long", "R1", {"a": 1})
    await s.post("restart running new", "instances/R1/restart")
    await s.post("restart running same", f"instances/R1/restart?{same}")
    await s.call("py restart", s.client.restart("S-all", True))
    await s.call("py restart same", s.client.restart("S-all", False))
    await s.ended("S-all")
    await s.call("py restart unknown", s.client.restart("none-such", True))
    await s.post("rewind failed", "instances/S-fail/rewind?reason=x")
    await s.status("rewind failed -> status", "S-fail", history=True)
    for what, id in (
        *(("unknown", "none-such"), ("completed", "S-all"), ("running", "R1")),
        ("terminated", "T3"),
    ):
        await s.post(f"rewind {what}", f"instances/{id}/rewind?reason=x")
    await s.call("py rewind failed", s.client.rewind("S-fail", "again"))


async def _purge(s: Session) -> None:
    async def delete(name: str, path: str) -> None:
        await s.http(name, "DELETE", path)

    await delete("purge one done", "instances/H1")
    await delete("purge one again", "instances/H1")
    await delete("purge unknown", "instances/none-such")
    await delete("purge running", "instances/R1")
    await s.status("purge running -> status after purge running", "R1")
    await delete("purge terminated", "instances/T2")
    await delete("purge many no filter", "instances")
    await delete("purge many status only", "instances?runtimeStatus=Completed")
    await delete("purge many from", f"instances?{LONG_AGO}&createdTimeTo=2020-01-02T00:00:00Z")
    await delete("purge many bad", "instances?createdTimeFrom=zzz")
    await s.call("py purge one", s.client.purge_instance_history("H2"))
    await s.call("py purge none", s.client.purge_instance_history("none-such"))
    once = datetime(2020, 1, 1, tzinfo=UTC)
    await s.call("py purge by", s.client.purge_instance_history_by(once, once))
    await s.call("py purge by nothing", s.client.purge_instance_history_by())


async def _list(s: Session) -> None:
    for query in LISTS:
        async with s.hub.http.get(f"instances?{query}") as answer:
            found = await answer.json()
            listed = (
                {"n": len(found), "ids": named(found)} if answer.ok else {"n": None, "ids": ANY}
            )
            headers = {key: value for key, value in answer.headers.items() if key in HEADERS}
            s.note(f"list {query}", {"status": answer.status, "headers": headers, **listed})
    for query in ("top=2", "top=2&instanceIdPrefix=S-"):
        s.note(f"list pages {query}", await _pages(s, query))
    bad = {"x-ms-continuation-token": "nonsense"}
    await s.http("list bad token", "GET", "instances", headers=bad)


async def _pages(s: Session, query: str) -> dict[str, Any]:
    sizes, found, token = [], [], ""
    while token or not sizes:
        headers = {"x-ms-continuation-token": token} if token else {}
        async with s.hub.http.get(f"instances?{query}", headers=headers) as answer:
            page = await answer.json()
            sizes.append(len(page))
            found += page
            token = answer.headers.get("x-ms-continuation-token", "")
    return {"sizes": sizes, "ids": named(found), "last_token": []}


def named(instances: list[dict[str, Any]]) -> list[str]:
    """The ids that were chosen; the others are somewhere else in each run."""
    ids = [one["instanceId"] for one in instances]
    return [id for id in ids if not MADE_UP.fullmatch(id)]


async def _more_of_client(s: Session) -> None:
    client = s.client
    s.note("py get_status_all", len(await client.get_status_all()))
    failed = await client.get_status_by(runtime_status=[OrchestrationRuntimeStatus.Failed])
    s.note("py get_status_by", {"n": len(failed)})
    await s.call("py get_status none", client.get_status("none-such"))
    shown = {"show_history": True, "show_history_output": True, "show_input": True}
    await s.call("py get_status hist", client.get_status("S-all", **shown))
    await s.call("py get_status default", client.get_status("S-st"))
    ours = request(s.hub.url)
    s.response("check_status_response", client.create_check_status_response(ours, "S-all"))
    links = {"status": 200, "headers": {"Content-Type": "text/plain; charset=utf-8"}}
    s.note("payload", {**links, "body": client.create_http_management_payload("S-all")})
    other = client.create_check_status_response(request("http://other-host:7071"), "S-all")
    s.response("check_status fwd", other)
    wait = client.wait_for_completion_or_create_check_status_response
    for name, id in (
        *(("done", "S-all"), ("failed", "i-o_raise"), ("timeout", "L1"), ("terminated", "T3")),
        ("unknown", "none-such"),
    ):
        s.response(f"wait {name}", await wait(ours, id, 200, 100))
    await s.call("py read_entity_state", lambda: client.signal_entity(df.EntityId("a", "b")))


def request(origin: str) -> func.HttpRequest:
    return func.HttpRequest(method="GET", url=f"{origin}/api/x", body=b"")


async def _rpc(s: Session) -> None:
    at, no_key = f"{s.hub.url}/durabletask", {"x-functions-key": ""}
    await s.http("rpc root", "GET", f"{at}/", headers=no_key)
    await s.http("rpc list", "GET", f"{at}/instances?top=1", headers=no_key)
    await s.post("rpc start", f"{at}/orchestrators/o1/RPC1", "1", headers=no_key)


async def _extras(s: Session) -> None:
    await s.start("o_nofn", "NF")
    await s.status("extra nofn", "NF", history=True)
    await s.start("o_race_event", "RE")
    await s.client.raise_event("RE", "Go", [1])
    await s.ended("RE")
    await s.status("extra race", "RE", history=True)
    await s.client.start_new("o_event", "PEND2")
    await s.call("extra raise right after start", s.client.raise_event("PEND2", "Go", {"x": 1}))
    await s.ended("PEND2")
    await s.status("extra   status", "PEND2")
    await s.start("o_sub_fail", "SF")
    await s.start("o_retry_ok", "RO")
    timers = [await s.client.start_new("o_timer") for _ in range(5)]
    await s.ended("SF", "RO", *timers)
    await s.status("extra sub fail hist", "SF", history=True)
    await s.status("extra retry ok hist", "RO", history=True)
    taken = [(await s.hub.status(id))["output"][2] for id in timers]
    s.note("extra timer of 2 s, measured seconds", [int(seconds) for seconds in taken])
