"""The composition root: the real adapters, built once per process and given to the use cases."""

import random
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from uuid import UUID

from azure.core.credentials import TokenCredential
from azure.identity import DefaultAzureCredential
from azure.servicebus import ServiceBusClient

from shared.adapters.blob_links import SignedBlobLinks, account_key
from shared.adapters.database import SqlDatabase, create_engine
from shared.adapters.database.sql_server import TOKEN_SCOPE
from shared.adapters.dead_letters import ServiceBusDeadLetters
from shared.adapters.delegation_keys import DelegationKeys, blob_service_client
from shared.adapters.extractor_api import HttpsExtractorApi
from shared.adapters.publisher import ServiceBusPublisher
from shared.adapters.registration_api import HttpRegistrationApi
from shared.adapters.service_bus import client_from_connection_string, client_with_identity
from shared.adapters.service_tokens import ClientCredentialsTokens, IdentityTokens
from shared.adapters.waiting_reports import ServiceBusWaitingReports
from shared.auth import (
    Access,
    Caller,
    ForbiddenError,
    TokenVerifier,
    bearer_token,
    require,
    require_service,
)
from shared.callbacks import Callbacks
from shared.contracts.incoming import Source
from shared.domain.jobs import Extractor
from shared.services.accept_file import AcceptFile
from shared.services.call_extractor import CallExtractor
from shared.services.cancel_job import CancelJob
from shared.services.dead_letters import DeadLetters
from shared.services.expire_job import ExpireJob
from shared.services.explain_dead_letters import ExplainDeadLetters
from shared.services.extractors import Extractors
from shared.services.handle_dead_letters import HandleDeadLetters, Subscription
from shared.services.handle_retry import HandleRetry
from shared.services.health import CheckHealth
from shared.services.job_rules import JobRules
from shared.services.job_views import JobViews
from shared.services.outbox import SendOutbox, TryToSendOutbox
from shared.services.purge import PurgeOldData
from shared.services.reconcile import Reconcile
from shared.services.record_callback import RecordCallback
from shared.services.record_report import RecordReport
from shared.services.restart import RestartExtraction
from shared.services.retry_requests import RetryRequests
from shared.services.stage_mapper import StageMapper
from shared.settings import Settings, settings

NO_FILE = UUID(int=0)
"""A FileID that no file has: looking for it shows that the database answers."""
DATABASE_CONNECTIONS = 40
"""Enough for the triggers' threads and the activities that run side by side."""


@dataclass(frozen=True)
class App:
    """The use cases of the app, ready to be called by any thread."""

    accept_file: AcceptFile
    record_report: RecordReport
    call_extractor: CallExtractor
    expire_job: ExpireJob
    send_outbox: SendOutbox
    handle_retry: HandleRetry
    stage_mapper: StageMapper
    restart: RestartExtraction
    retry_requests: RetryRequests
    job_views: JobViews
    cancel_job: CancelJob
    try_to_send_outbox: TryToSendOutbox
    reconcile: Reconcile
    dead_letters: DeadLetters
    extractors: Extractors
    purge: PurgeOldData
    check_health: CheckHealth
    version: str
    commit: str
    record_callback: RecordCallback
    check_callback: Callable[[str, UUID], None]
    active_extractors: Callable[[str], Sequence[Extractor]]
    authorize: Callable[[str | None, Access], Caller]
    authorize_service: Callable[[str | None, str], None]


_building = threading.Lock()


def app() -> App:
    """The app of this process, built on first use. Raises SettingsError."""
    with _building:
        return _app()


@cache
def _app() -> App:
    return build(settings())


def build(given: Settings) -> App:
    """Wire everything from settings. Opens nothing: each adapter does so on first use."""
    credential = cache(DefaultAzureCredential)
    database = SqlDatabase(
        create_engine(
            given.DATABASE_URL,
            DATABASE_CONNECTIONS,
            lambda: IdentityTokens(credential(), TOKEN_SCOPE)(),
        )
    )
    connect = cache(lambda: _service_bus(given, credential))
    rules = JobRules(
        limits=given.time_limits,
        retries=given.retry_policy,
        status_topic=given.TOPIC_JOB_STATUS,
        retry_topic=given.TOPIC_EXTRACTION_RETRY,
        result_topic=given.TOPIC_EXTRACTION_RESULT,
        jitter=random.random,
        most_active=given.EXTRACTOR_MAX_ACTIVE_JOBS,
        retention=given.retention,
    )
    publisher = ServiceBusPublisher(connect)
    send_outbox = SendOutbox(database, publisher, now)
    stage_mapper = StageMapper(database, publisher, rules, now)
    registration = HttpRegistrationApi(given.REGISTRATION_URL, _service_token(given, credential))
    verifier = TokenVerifier(given.accepted_tokens, given.AUTH_JWKS_URL, given.AUTH_TENANT)
    waiting = ServiceBusWaitingReports(
        connect, given.TOPIC_JOB_STATUS, given.SUBSCRIPTION_JOB_STATUS
    )

    try_to_send = TryToSendOutbox(send_outbox)
    explain = ExplainDeadLetters(database, given.retention, now)
    expire = ExpireJob(database, send_outbox, waiting, rules, now)

    callbacks = _callbacks(given)

    def check_callback(token: str, job_id: UUID) -> None:
        if callbacks is None:
            raise ForbiddenError("Call-backs are not set up here; report on the topic")
        callbacks.check(token, job_id)

    def authorize(authorization: str | None, access: Access) -> Caller:
        caller = verifier.verify(bearer_token(authorization))
        require(caller, access)
        return caller

    def authorize_service(authorization: str | None, role: str) -> None:
        require_service(verifier.verify(bearer_token(authorization)), role)

    reconcile = Reconcile(database, send_outbox, expire, stage_mapper, rules, now)
    return App(
        accept_file=AcceptFile(database, registration, rules, now),
        record_report=RecordReport(database, rules, now),
        call_extractor=CallExtractor(
            database,
            send_outbox,
            _blob_links(given, credential),
            HttpsExtractorApi(allow_private=given.ALLOW_PRIVATE_EXTRACTORS),
            lambda job_id: callbacks.for_job(job_id) if callbacks else None,
            rules,
            now,
        ),
        expire_job=expire,
        send_outbox=send_outbox,
        handle_retry=HandleRetry(database, registration, rules, now),
        stage_mapper=stage_mapper,
        restart=RestartExtraction(database, stage_mapper, now),
        retry_requests=RetryRequests(database),
        job_views=JobViews(database, now),
        cancel_job=CancelJob(database, rules, now),
        try_to_send_outbox=try_to_send,
        extractors=Extractors(database, now),
        purge=PurgeOldData(database, given.retention, now),
        check_health=CheckHealth(
            {
                "database": lambda: database.run(lambda tx: tx.files.get(NO_FILE)),
                "service bus": waiting.oldest,
                "registration": lambda: registration.extractors_of("health"),
            },
            reconcile.counted,
            now,
        ),
        version=given.BUILD_VERSION,
        commit=given.BUILD_COMMIT,
        record_callback=RecordCallback(database, try_to_send, publisher, rules, now),
        check_callback=check_callback,
        reconcile=reconcile,
        dead_letters=DeadLetters(
            _subscriptions(given, connect), explain, HandleDeadLetters(explain, database, now), now
        ),
        active_extractors=lambda client: database.run(lambda tx: tx.registrations.active(client)),
        authorize=authorize,
        authorize_service=authorize_service,
    )


def now() -> datetime:
    """The time, aware UTC."""
    return datetime.now(UTC)


def _service_bus(given: Settings, credential: Callable[[], TokenCredential]) -> ServiceBusClient:
    if given.AZURE_SERVICE_BUS_CONNECTION_STRING:
        return client_from_connection_string(given.AZURE_SERVICE_BUS_CONNECTION_STRING)
    return client_with_identity(given.service_bus_namespace or "", credential())


def _subscriptions(given: Settings, connect: Callable[[], ServiceBusClient]) -> list[Subscription]:
    places = (
        (Source.ACCEPTED_FILE, given.TOPIC_ACCEPTED_FILE, given.SUBSCRIPTION_ACCEPTED_FILE),
        (Source.JOB_STATUS, given.TOPIC_JOB_STATUS, given.SUBSCRIPTION_JOB_STATUS),
        (
            Source.EXTRACTION_RETRY,
            given.TOPIC_EXTRACTION_RETRY,
            given.SUBSCRIPTION_EXTRACTION_RETRY,
        ),
        (
            Source.EXTRACTION_RESULT,
            given.TOPIC_EXTRACTION_RESULT,
            given.SUBSCRIPTION_EXTRACTION_RESULT,
        ),
    )
    return [
        Subscription(source, topic, name, ServiceBusDeadLetters(connect, topic, name))
        for source, topic, name in places
    ]


def _callbacks(given: Settings) -> Callbacks | None:
    if not given.PUBLIC_URL or not given.CALLBACK_KEYS:
        return None
    life = timedelta(minutes=given.SIGNED_URL_MINUTES)
    return Callbacks(given.PUBLIC_URL, given.CALLBACK_KEYS, life, now)


def _service_token(given: Settings, credential: Callable[[], TokenCredential]) -> Callable[[], str]:
    scope = f"{given.REGISTRATION_AUDIENCE}/.default"
    if given.SERVICE_TOKEN_URL and given.SERVICE_CLIENT_ID and given.SERVICE_CLIENT_SECRET:
        return ClientCredentialsTokens(
            given.SERVICE_TOKEN_URL, given.SERVICE_CLIENT_ID, given.SERVICE_CLIENT_SECRET, scope
        )
    return lambda: IdentityTokens(credential(), scope)()


def _blob_links(given: Settings, credential: Callable[[], TokenCredential]) -> SignedBlobLinks:
    life = timedelta(minutes=given.SIGNED_URL_MINUTES)
    if given.BLOB_ACCOUNT_KEY:
        return SignedBlobLinks(given.BLOB_ACCOUNT_URL, account_key(given.BLOB_ACCOUNT_KEY), life)
    keys = cache(
        lambda: DelegationKeys(blob_service_client(given.BLOB_ACCOUNT_URL, credential()), now)
    )
    return SignedBlobLinks(
        given.BLOB_ACCOUNT_URL, lambda start, expiry: keys()(start, expiry), life
    )
