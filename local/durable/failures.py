"""The texts of failures, as the real host words them; people and orchestrators match on them."""

from local.durable.events import compact

CORE_LIBRARY = "System.Private.CoreLib"
HRESULT = -2146233088


def activity_reason(name: str, message: str) -> str:
    """Reason of a failed activity; `message` is the worker's "TypeName: text"."""
    return f"Activity function '{name}' failed: {message}"


def activity_details(message: str, stack: str) -> str:
    """Details of a failed activity: the .NET exception that wraps the worker's, as JSON."""
    return compact(
        {
            "$type": f"System.Exception, {CORE_LIBRARY}",
            "ClassName": "System.Exception",
            "Message": message,
            "Data": None,
            "InnerException": _rpc_exception(message, stack),
            "HelpURL": None,
            "StackTraceString": None,
            "RemoteStackTraceString": None,
            "RemoteStackIndex": 0,
            "ExceptionMethod": None,
            "HResult": HRESULT,
            "Source": None,
            "WatsonBuckets": None,
        }
    )


def _rpc_exception(message: str, stack: str) -> dict[str, object]:
    return {
        "$type": (
            "Microsoft.Azure.WebJobs.Script.Workers.Rpc.RpcException, "
            "Microsoft.Azure.WebJobs.Script"
        ),
        "IsUserException": False,
        "RemoteStackTrace": stack,
        "RemoteMessage": message,
        "RemoteTypeName": None,
        "Message": worker_failure(message, stack),
        "Data": {"$type": f"System.Collections.ListDictionaryInternal, {CORE_LIBRARY}"},
        "InnerException": None,
        "HelpLink": None,
        "Source": CORE_LIBRARY,
        "HResult": HRESULT,
        "StackTrace": "",
    }


def worker_failure(message: str, stack: str) -> str:
    """How the host words an exception that the worker answered."""
    return f"Result: Failure\nException: {message}\nStack: {stack}"


def aggregate(text: str) -> str:
    """How .NET words an exception that came out of a task."""
    return f"One or more errors occurred. ({text})"


def orchestrator_failure(name: str, text: str) -> str:
    """Output of a failed orchestration."""
    return f"Orchestrator function '{name}' failed: {text}"


def orchestrator_details(error: str, stack: str) -> str:
    """Details that a parent gets of a child that raised."""
    return f"Message: {error}, StackTrace: {stack}"


def no_such_orchestrator(name: str, known: list[str]) -> str:
    """What is said of an orchestrator that the app doesn't have; `known` are those it has."""
    names = "', '".join(known)
    listed = (
        f"The following are the known orchestrator functions: '{names}'."
        if known
        else "No orchestrator functions are currently registered!"
    )
    return (
        f"The function '{name}' doesn't exist, is disabled, or is not an orchestrator function. "
        f"Additional info: {listed}"
    )


def no_such_activity(name: str) -> str:
    """What is said of an activity that the app doesn't have."""
    return f"The function '{name}' doesn't exist, is disabled, or is not an activity function."
