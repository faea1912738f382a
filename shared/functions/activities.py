"""The two activities of the orchestration.

The Python worker takes plain types only in their signatures: `dict`, not `dict[str, str]`.
"""

from uuid import UUID

import azure.durable_functions as df

from shared.functions.names import CALL, EXPIRE
from shared.wiring import app

bp = df.Blueprint()


@bp.activity_trigger(input_name="job", activity=CALL)
def call_extractor(job: dict) -> dict:
    """Call the job's extractor. Input `{"jobId"}`, answer `{"kind", "until", "status"}`."""
    return app().call_extractor(UUID(job["jobId"])).to_json()


@bp.activity_trigger(input_name="job", activity=EXPIRE)
def expire_job(job: dict) -> dict:
    """End the job if its time is up. Input and answer as for `call_extractor`."""
    return app().expire_job(UUID(job["jobId"])).to_json()
