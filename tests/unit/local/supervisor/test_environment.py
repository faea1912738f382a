"""What the app is told about the embedded Azure, and what the broker is told about the topics."""

from pathlib import Path

from local.settings import LocalSettings
from local.supervisor.environment import TOPICS, app_settings, base_environment
from local.supervisor.plan import client_secret, local_topics
from local.supervisor.topology import emulator_config
from shared.contracts.topology import NOT_JOB_QUEUED
from shared.settings import read_settings

SETTINGS = LocalSettings(Path("/data"), 7071, 5672, 10000, 7081, 7082)


def test_the_environment_is_what_the_apps_settings_ask_for() -> None:
    app = app_settings(SETTINGS, "the-secret")

    read = read_settings(app)

    assert read.DATABASE_URL == "sqlite:////data/extractor.sqlite3"
    assert read.REGISTRATION_URL == "http://127.0.0.1:7071"
    assert read.SERVICE_TOKEN_URL == "http://127.0.0.1:7081/local/oauth2/v2.0/token"
    assert list(read.AUTH_ISSUERS) == ["http://127.0.0.1:7081/local/v2.0"]
    assert set(app) - set(read.model_dump()) == {"AzureWebJobsStorage", "DURABLE_HUB_NAME"}


def test_variables_of_azure_do_not_reach_the_parts_and_loopback_needs_no_proxy() -> None:
    environment = base_environment(
        {
            "HOME": "/home/me",
            "AZURE_SERVICE_BUS_CONNECTION_STRING__fullyQualifiedNamespace": "real.example",
            "WEBSITE_SITE_NAME": "real",
            "HTTP_PROXY": "http://proxy:3128",
            "NO_PROXY": "intranet",
        }
    )

    assert environment == {
        "HOME": "/home/me",
        "HTTP_PROXY": "http://proxy:3128",
        "NO_PROXY": "intranet,127.0.0.1,localhost",
        "no_proxy": "intranet,127.0.0.1,localhost",
        "PYTHONUNBUFFERED": "1",
    }


def test_the_apps_secret_is_made_once_and_only_its_owner_reads_it(tmp_path: Path) -> None:
    first = client_secret(tmp_path)

    assert len(first) >= 32
    assert client_secret(tmp_path) == first
    assert (tmp_path / "identity" / "clients.json").stat().st_mode & 0o777 == 0o600


def test_every_topic_is_declared_with_the_services_subscription() -> None:
    topics = _topics()

    assert {
        name: [subscription["Name"] for subscription in topic["Subscriptions"]]
        for name, topic in topics.items()
    } == {
        "accepted-file": ["extractor-subscription"],
        "job-status": ["extractor-job-status-subscription", "status-service"],
        "extraction-retry": ["extractor-retry-subscription"],
        "extraction-result": ["mapper-result-subscription"],
    }


def test_the_status_service_gets_everything_and_the_service_skips_job_queued() -> None:
    own, status_service = _topics()["job-status"]["Subscriptions"]

    assert status_service["Rules"] == []
    (rule,) = own["Rules"]
    assert rule["Properties"] == {
        "FilterType": "Sql",
        "SqlFilter": {"SqlExpression": NOT_JOB_QUEUED},
    }


def test_the_declared_durations_are_written_as_the_emulator_reads_them() -> None:
    topic = _topics()["accepted-file"]

    assert topic["Properties"] == {
        "DefaultMessageTimeToLive": "P7D",
        "DuplicateDetectionHistoryTimeWindow": "PT1M",
        "RequiresDuplicateDetection": True,
    }
    assert topic["Subscriptions"][0]["Properties"] == {
        "DeadLetteringOnMessageExpiration": True,
        "DefaultMessageTimeToLive": "P7D",
        "LockDuration": "PT5M",
        "MaxDeliveryCount": 10,
    }


def _topics() -> dict[str, dict]:
    config = emulator_config(local_topics(), TOPICS["TOPIC_JOB_STATUS"])
    (namespace,) = config["UserConfig"]["Namespaces"]
    return {topic["Name"]: topic for topic in namespace["Topics"]}
