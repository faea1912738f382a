"""Stand-ins for the messages that the worker library exchanges with its host.

The library takes its message classes from the outside and asks for them by these names and
attributes (they are generated from a gRPC description in Azure). This module is handed to it whole.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import IntEnum
from typing import Any, ClassVar

SameSite = IntEnum("SameSite", {"None": 0, "Lax": 1, "Strict": 2, "ExplicitNone": 3})


@dataclass
class RpcException:
    """`message` is `TypeName: text`; `stack_trace` is a Python traceback."""

    message: str = ""
    stack_trace: str = ""


@dataclass
class StatusResult:
    """How a request to the worker ended; `exception` is set for failures."""

    Failure: ClassVar[int] = 0
    Success: ClassVar[int] = 1
    status: int = 0
    exception: RpcException | None = None


@dataclass
class RpcHttpCookie:
    """One cookie of a response; the wrapped values are absent when None."""

    SameSite: ClassVar[type[IntEnum]] = SameSite
    name: str
    value: str
    domain: "Nullable | None" = None
    path: "Nullable | None" = None
    expires: "Nullable | None" = None
    secure: "Nullable | None" = None
    http_only: "Nullable | None" = None
    same_site: int = 0
    max_age: "Nullable | None" = None


@dataclass
class RpcHttp:
    """An HTTP request on its way in, or a response on its way out."""

    method: str = ""
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    params: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    body: "TypedData | None" = None
    status_code: str = ""
    cookies: list[RpcHttpCookie] | None = None
    enable_content_negotiation: bool = False


@dataclass
class TypedData:
    """A value that crosses the boundary: exactly one of these is set, or none for "nothing"."""

    string: str | None = None
    json: str | None = None
    bytes: "bytes | None" = None
    http: RpcHttp | None = None
    int: "int | None" = None
    double: float | None = None

    def WhichOneof(self, _group: str) -> str | None:
        """The name of the field that is set."""
        kinds = ("string", "json", "bytes", "http", "int", "double")
        return next((kind for kind in kinds if getattr(self, kind) is not None), None)


@dataclass
class ParameterBinding:
    """A named input or output of a call."""

    name: str
    data: TypedData

    def WhichOneof(self, _group: str) -> str:
        """Always `data`: shared memory is not offered."""
        return "data"


@dataclass
class Nullable:
    """A value that can be told from its type's empty value."""

    value: Any


NullableString = NullableBool = NullableDouble = NullableTimestamp = Nullable


@dataclass
class Timestamp:
    """Seconds since 1970."""

    seconds: int


@dataclass
class BindingInfo:
    """Type and direction of one binding; `in` is no attribute name in Python, so it has no name."""

    out: ClassVar[int] = 1
    inout: ClassVar[int] = 2
    undefined: ClassVar[int] = 0
    type: str
    data_type: int | None = None
    direction: int = 0


@dataclass
class RpcRetryOptions:
    """A function's retry policy."""

    max_retry_count: int = 0
    retry_strategy: str = ""
    delay_interval: timedelta | None = None
    minimum_interval: timedelta | None = None
    maximum_interval: timedelta | None = None


@dataclass
class RpcFunctionMetadata:
    """One function as the worker found it; `raw_bindings` are JSON texts."""

    name: str
    function_id: str
    directory: str
    script_file: str
    entry_point: str
    language: str
    raw_bindings: list[str]
    bindings: Mapping[str, BindingInfo]
    retry_options: RpcRetryOptions | None
    properties: dict[str, str]
    managed_dependency_enabled: bool = False
    is_proxy: bool = False


@dataclass
class WorkerMetadata:
    """What the worker says of itself."""

    runtime_name: str
    runtime_version: str
    worker_version: str
    worker_bitness: str
    custom_properties: dict[str, str]


@dataclass
class WorkerInitResponse:
    """The answer to the first request."""

    capabilities: dict[str, str]
    worker_metadata: WorkerMetadata
    result: StatusResult


@dataclass
class FunctionMetadataResponse:
    """Every function of the app; None when there is no function_app.py."""

    use_default_metadata_indexing: bool
    function_metadata_results: list[RpcFunctionMetadata] | None
    result: StatusResult


@dataclass
class FunctionLoadResponse:
    """The answer to loading one function."""

    function_id: str
    result: StatusResult


@dataclass
class InvocationResponse:
    """What a call returned, or how it failed."""

    invocation_id: str
    result: StatusResult
    return_value: TypedData | None = None
    output_data: list[ParameterBinding] | None = None


@dataclass
class RpcTraceContext:
    """Empty in every call, as seen without Application Insights."""

    trace_parent: str = ""
    trace_state: str = ""
    attributes: dict[str, str] = field(default_factory=dict)


@dataclass
class RetryContext:
    """Zero in every call: functions with a retry policy are refused."""

    retry_count: int = 0
    max_retry_count: int = 0
    exception: RpcException | None = None


@dataclass
class InvocationRequest:
    """One call of one function."""

    invocation_id: str
    function_id: str
    input_data: list[ParameterBinding]
    trigger_metadata: Mapping[str, TypedData]
    trace_context: RpcTraceContext = field(default_factory=RpcTraceContext)
    retry_context: RetryContext = field(default_factory=RetryContext)
