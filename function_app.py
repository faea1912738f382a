"""The table of contents: every function of the app, one blueprint a file."""

import azure.durable_functions as df
import azure.functions as func

from shared.functions import (
    activities,
    dead_letters,
    extraction,
    extractors,
    health,
    job_status_callback,
    jobs,
    on_extraction_result,
    on_extraction_retry,
    on_file_accepted,
    on_job_status,
    openapi,
    purge,
    reconcile,
    registration,
    requests,
    restart,
    retry,
)
from shared.telemetry import quiet_libraries, redact_all_logs

redact_all_logs()
quiet_libraries()

app = df.DFApp(http_auth_level=func.AuthLevel.ANONYMOUS)

for part in (
    on_file_accepted,
    on_job_status,
    on_extraction_retry,
    on_extraction_result,
    extraction,
    activities,
    openapi,
    registration,
    restart,
    retry,
    requests,
    jobs,
    dead_letters,
    job_status_callback,
    health,
    extractors,
    reconcile,
    purge,
):
    app.register_functions(part.bp)
