"""The metrics of a whole installation, as Debian's Prometheus sees them: each expression of the dashboard has series, each alert
is evaluated, and no label or value shows who asked or what the records are like."""

from __future__ import annotations

import datetime
import http.server
import json
import re
import subprocess
import threading
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from testing.installation import Installation, Process
from testing.server import BUILD, ROOT, free_port

MONITORING = ROOT / "deploy" / "monitoring"
PROMETHEUS, PROMTOOL = "/usr/bin/prometheus", "/usr/bin/promtool"
ROWS = 7919  # no other number of the test's
PEOPLE = ["ada", "owner", "ana", "pol", "hasty"]
ATTRIBUTES = ["age", "sex", "zone", "income", "Female", "Male"]
SAMPLE = re.compile(r"^([a-z_]+)(?:\{(.*)\})? (\S+)$")
LABEL = re.compile(r'([a-z_]+)="((?:[^"\\]|\\.)*)"')


class Monitored(Installation):
    """With a listener that has a certificate of its own, an operator, and a principal who may ask little."""

    text_of_rows = ""  # its metrics after ask(), with ROWS records

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, with_postgres=False, quotas={"hasty": {"calls_per_second": 1, "calls_after_a_pause": 1}})
        for name in ("pol", "hasty"):
            self.make_principal(name)
        self.curator("ada", "role", "bind", "operator", "pol")

    def _configure(self, folder: Path, ledger: str) -> None:
        super()._configure(folder, ledger)
        tls = folder / "tls"
        tls.mkdir()
        (tls / "clients.pem").write_bytes(self.authority.path.read_bytes())
        pem = self.authority.issue_for_host()
        key = pem.index(b"-----BEGIN PRIVATE KEY")
        (tls / "server.pem").write_bytes(pem[:key])
        (tls / "server.key").write_bytes(pem[key:])
        path = folder / "curatord.json"
        config = json.loads(path.read_text())
        config["listeners"].append({"kind": "mutual_tls", "address": f"127.0.0.1:{free_port()}", "tls_folder": str(tls)})
        config["metrics"] = {"file": str(folder / "curator.prom")}
        path.write_text(json.dumps(config))

    def refused(self, principal: str, *arguments: str) -> str:
        """What the command line says of an error."""
        command = [str(BUILD / "client" / "curator"), *self.cli_options(principal), *arguments]
        run = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        assert run.returncode != 0, arguments
        return run.stderr

    def metrics(self) -> str:
        return self.curator("pol", "server", "metrics")


class Exporter:
    """Serves a text at /metrics on loopback, as curator-gate does."""

    def __init__(self, text: Callable[[], str]) -> None:
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                body = text().encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/plain; version=0.0.4")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *arguments: Any) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        self.port = self._server.server_address[1]

    def __enter__(self) -> Exporter:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class Prometheus:
    """Debian's, which scrapes once a second, with the alerts of deploy/monitoring."""

    def __init__(self, folder: Path, scraped_port: int) -> None:
        # Half a minute is too long for a test; promtool tests the alert as it is.
        rules = (MONITORING / "rules.yml").read_text().replace("for: 30s", "for: 1s")
        (folder / "rules.yml").write_text(rules)
        config = {
            "global": {"scrape_interval": "500ms", "scrape_timeout": "500ms", "evaluation_interval": "500ms"},
            "rule_files": [str(folder / "rules.yml")],
            "scrape_configs": [{"job_name": "curator", "static_configs": [{"targets": [f"127.0.0.1:{scraped_port}"]}]}],
        }
        (folder / "prometheus.yml").write_text(json.dumps(config))  # JSON is YAML
        port = free_port()
        self._address = f"http://127.0.0.1:{port}/api/v1"
        options = [f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data", f"--web.listen-address=127.0.0.1:{port}"]
        self._process = Process([PROMETHEUS, *options])
        self._process.await_line("Server is ready to receive web requests")

    def __enter__(self) -> Prometheus:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.close()

    def _get(self, path: str, **parameters: str) -> Any:
        with urllib.request.urlopen(f"{self._address}/{path}?{urllib.parse.urlencode(parameters)}") as response:
            answer = json.loads(response.read())
        assert answer["status"] == "success", answer
        return answer["data"]

    def query(self, expression: str) -> list[Any]:
        result: list[Any] = self._get("query", query=expression)["result"]
        return result

    def await_series(self, expression: str) -> None:
        self._await(lambda: self.query(expression), expression)

    def await_evaluated_rules(self) -> list[dict[str, Any]]:
        """After all have been evaluated from now on."""
        began = datetime.datetime.now(datetime.timezone.utc)

        def rules() -> list[dict[str, Any]]:
            return [rule for group in self._get("rules")["groups"] for rule in group["rules"]]

        def is_evaluated(rule: dict[str, Any]) -> bool:
            return rule["health"] != "unknown" and datetime.datetime.fromisoformat(rule["lastEvaluation"]) > began

        self._await(lambda: all(map(is_evaluated, rules())), "all rules evaluated")
        return rules()

    @staticmethod
    def _await(condition: Callable[[], Any], what: str) -> None:
        deadline = time.monotonic() + 30
        while not condition():
            assert time.monotonic() < deadline, what
            time.sleep(0.05)


def ask(server: Monitored, rows: int) -> str:
    """Calls of all kinds about so many records; the metrics after them."""
    server.make_dataset("census", "--rule", "zcdp", "--epsilon", "2", "--delta", "1e-9", rows=rows)
    server.curator("ana", "workload", "answer", "census", "--marginals", "1", "--rho", "0.0001")
    server.curator("owner", "ledger", "verify", "census")
    assert "budget is full" in server.refused("ana", "workload", "answer", "census", "--marginals", "1", "--rho", "50")
    assert "PERMISSION_DENIED" in server.refused("ana", "server", "metrics")
    return server.metrics()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Monitored]:
    """That was asked in every way that its metrics distinguish."""
    with Monitored(tmp_path_factory.mktemp("monitored")) as started:
        started.text_of_rows = ask(started, ROWS)
        while "curator_quota_rejected_total" not in started.metrics():  # the command asks again until it may
            started.curator("hasty", "whoami")
        yield started


@pytest.fixture(scope="module")
def text(server: Monitored) -> str:
    return server.metrics()


@pytest.fixture(scope="module")
def prometheus(server: Monitored, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    """Which has scraped the server a few times."""
    with Exporter(server.metrics) as exporter, Prometheus(tmp_path_factory.mktemp("prometheus"), exporter.port) as started:
        started.await_series("count_over_time(up{job='curator'}[1m]) >= 3 and up{job='curator'} == 1")
        yield started


# ---- The text


def samples_of(text: str) -> list[tuple[str, dict[str, str], float]]:
    samples = []
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        found = SAMPLE.match(line)
        assert found, line
        samples.append((found[1], dict(LABEL.findall(found[2] or "")), float(found[3])))
    return samples


def test_promtool_finds_nothing_in_the_text(text: str) -> None:
    checked = subprocess.run([PROMTOOL, "check", "metrics"], input=text, text=True, capture_output=True)
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, "", "")


def test_every_method_of_the_table_of_rights_is_counted(text: str) -> None:
    table = (ROOT / "server" / "service" / "permissions.h").read_text()
    methods = set(re.findall(r'Row\(k\w+,\s+"(\w+)/(\w+)"', table))
    assert len(methods) > 70
    for family in ("grpc_server_started_total", "grpc_server_handled_total"):
        counted = {
            (labels["grpc_service"].removeprefix("curator.v1."), labels["grpc_method"])
            for name, labels, _ in samples_of(text)
            if name == family
        }
        assert methods - counted == set()


def test_no_label_or_value_shows_a_person_an_attribute_or_the_number_of_records(text: str) -> None:
    # Counts of bytes and sums of durations may be any number.
    counts = [each for each in samples_of(text) if "_bytes" not in each[0]]
    assert [each for each in counts if each[2] == ROWS] == []
    for name, labels, _ in samples_of(text):
        for value in labels.values():
            words = re.split(r"[^A-Za-z]+", value)
            assert not set(words) & {*PEOPLE, *ATTRIBUTES}, (name, labels)
            assert not re.search(r"[0-9a-f]{8}-[0-9a-f]{4}-", value), "no id"
    assert sum(name == "curator_account_remaining_ratio" for name, _, _ in samples_of(text)) == 1


def without_times(text: str) -> dict[tuple[str, ...], float]:
    """What depends on the calls alone: not durations and moments, the process, and the bytes of answers, which have noise, moments
    and random identifiers in them."""
    counted = {}
    for name, labels, value in samples_of(text):
        is_time = "_seconds" in name and not name.endswith("_seconds_count")
        if not is_time and not name.startswith("process_") and name != "grpc_server_msg_sent_bytes_total":
            counted[(name, *(f"{each}={labels[each]}" for each in sorted(labels)))] = value
    return counted


def test_no_series_depends_on_the_number_of_records(server: Monitored, tmp_path: Path) -> None:
    with Monitored(tmp_path) as other:
        of_few = without_times(ask(other, 10))
    of_many = without_times(server.text_of_rows)
    assert len(of_many) > 300
    differences = {key: (of_many.get(key), of_few.get(key)) for key in {*of_many, *of_few} if of_many.get(key) != of_few.get(key)}
    assert differences == {}


def test_what_was_asked_is_counted(text: str) -> None:
    samples = samples_of(text)

    def value(name: str, **labels: str) -> float:
        return sum(v for n, found, v in samples if n == name and labels.items() <= found.items())

    assert value("curator_charges_total", dataset="census", kind="workload", outcome="admitted") == 1
    assert value("curator_refusals_total", reason="BUDGET_FULL") == 1
    assert value("curator_authz_denied_total", permission="curator.v1.MetricsService/GetMetrics") == 1
    assert value("curator_quota_rejected_total") >= 1
    assert value("curator_ledger_sound", dataset="census") == 1
    assert 0 < value("curator_account_remaining_ratio", dataset="census", counter="rho") < 1
    assert value("curator_administrators_by_host_total") == 1
    assert value("curator_certificate_valid", file="listeners[1].tls_folder") == 1
    assert value("curator_development_mode") == 0
    assert value("grpc_server_handling_seconds_count", grpc_method="ImportRecords") == 0
    assert value("grpc_server_started_total", grpc_method="ImportRecords") == 1


def test_the_file_for_node_exporter_has_the_same_series_but_for_names_of_its_own(server: Monitored, text: str) -> None:
    path = server.folder / "curator.prom"
    assert path.stat().st_mode & 0o777 == 0o640
    in_file = {name for name, _, _ in samples_of(path.read_text())}
    asked = {name for name, _, _ in samples_of(text)}
    assert in_file >= {"curator_build_info", "grpc_server_started_total"}
    assert "process_resident_memory_bytes" in asked
    assert not any(name.startswith("process_") for name in in_file)


def test_the_log_has_the_trace_that_a_client_sent(server: Monitored) -> None:
    lines = [json.loads(line) for line in (server.folder / "server.log").read_text().splitlines() if line.startswith("{")]
    calls = [line for line in lines if line["event"] == "call"]
    assert calls
    for call in calls:
        assert re.fullmatch("[0-9a-f]{32}", call["trace_id"]), call
    charge = next(line for line in calls if line["method"].endswith("AnswerWorkload") and line["status"] == "OK")
    assert charge["duration_ms"] in (1, 5, 25, 100, 250, 1000, 2500, 10000), "in steps: it waited for a draw"
    assert charge["request_id"] and charge["principal"] == "ana" and charge["sent_bytes"] > 0
    imported = next(line for line in calls if line["method"].endswith("ImportRecords"))
    assert not {"duration_ms", "received_bytes", "sent_bytes"} & set(imported), "records were sent"
    audited = {line["trace_id"] for line in lines if line["event"] == "audit" and line["kind"] == "CALL"}
    assert charge["trace_id"] in audited


# ---- Prometheus


def test_every_expression_of_the_dashboard_has_series(prometheus: Prometheus) -> None:
    dashboard = json.loads((MONITORING / "grafana-curator.json").read_text())
    rows = [panel["title"] for panel in dashboard["panels"] if panel["type"] == "row"]
    assert rows == ["Promise", "Charges", "Ledger", "Queue", "Identity", "Process"]
    expressions = [target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", [])]
    assert len(expressions) > 40
    assert [each for each in expressions if not prometheus.query(each)] == []


def test_the_dashboard_has_what_its_schema_asks_for() -> None:
    dashboard = json.loads((MONITORING / "grafana-curator.json").read_text())
    assert dashboard["schemaVersion"] >= 36
    assert {"title", "uid", "panels", "templating", "time", "refresh", "annotations"} <= set(dashboard)
    panels = dashboard["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    for panel in panels:
        assert {"type", "title", "gridPos"} <= set(panel)
        if panel["type"] != "row":
            assert {"datasource", "targets", "fieldConfig"} <= set(panel)
            assert panel["datasource"] == {"type": "prometheus", "uid": "${datasource}"}


def test_every_alert_is_evaluated_and_none_fires(prometheus: Prometheus) -> None:
    rules = prometheus.await_evaluated_rules()
    assert len(rules) == len(re.findall("- alert:", (MONITORING / "rules.yml").read_text()))
    assert {rule["name"]: rule["lastError"] for rule in rules if rule["health"] != "ok"} == {}
    # The authority of the test signs for twelve hours.
    assert {rule["name"] for rule in rules if rule["state"] != "inactive"} == {"CuratorCertificateEnds"}


def test_an_anchor_that_breaks_is_an_alert(server: Monitored, prometheus: Prometheus) -> None:
    anchor = server.folder / "data" / "anchor"
    anchor.rename(anchor.with_name("away"))
    try:
        prometheus.await_series('ALERTS{alertname="CuratorLedgerRefusesCharges", alertstate="firing"}')
    finally:
        anchor.with_name("away").rename(anchor)


def test_the_alerts_pass_their_own_tests() -> None:
    for check in (
        ["check", "rules", "rules.yml"],
        ["test", "rules", "rules_test.yml", "rules_days_test.yml"],
        ["check", "config", "--syntax-only", "prometheus.yml"],
    ):
        checked = subprocess.run([PROMTOOL, *check], cwd=MONITORING, text=True, capture_output=True)
        assert checked.returncode == 0, checked.stdout + checked.stderr
