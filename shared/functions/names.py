"""The registered names, each in one place: renaming one breaks work in flight."""

SERVICE_BUS_CONNECTION = "AZURE_SERVICE_BUS_CONNECTION_STRING"

ORCHESTRATION = "extraction"
CALL = "call_extractor"
EXPIRE = "expire_job"

STARTED = "Started"
ENDED = "Ended"
"""Events have one name for each kind: early events of one name overwrite each other."""
