import assert from "node:assert/strict";
import { test } from "node:test";
import { parseMetrics } from "../src/prometheus.ts";
import {
  certificates,
  durationText,
  issuers,
  ledgerFigures,
  refusalCounts,
  spanText,
  workFigures,
} from "../src/server-figures.ts";

const DAY = 86400;

function valueOf(figures: { name: string; value: string; health?: string }[], name: string) {
  const found = figures.find((figure) => figure.name === name);
  return found && [found.value, found.health];
}

test("spans are as exact as one needs them", () => {
  assert.equal(spanText(40), "40 s");
  assert.equal(spanText(119), "119 s");
  assert.equal(spanText(150), "2 min");
  assert.equal(spanText(3 * 3600), "3 h");
  assert.equal(spanText(5.9 * DAY), "5 days");
  assert.equal(spanText(Infinity), "for ever");
});

test("durations are in milliseconds below a second", () => {
  assert.equal(durationText(0.00237), "2.4 ms");
  assert.equal(durationText(0.25), "250 ms");
  assert.equal(durationText(2.5), "2.5 s");
});

test("a certificate that ends soon, has ended, or cannot be used is said to", () => {
  const states = (end: number, valid = 1) =>
    certificates(
      parseMetrics(
        [
          `curator_certificate_expiry_timestamp_seconds{listener="edge"} ${end}`,
          `curator_certificate_valid{listener="edge"} ${valid}`,
        ].join("\n"),
      ),
      1000,
    );
  assert.deepEqual(states(1000 + 30 * DAY), [{ name: "edge", text: "ends in 30 days", health: "good" }]);
  assert.deepEqual(states(1000 + 3 * DAY), [{ name: "edge", text: "ends in 3 days", health: "warn" }]);
  assert.deepEqual(states(999), [{ name: "edge", text: "has ended", health: "bad" }]);
  assert.deepEqual(states(1000 + 30 * DAY, 0), [
    { name: "edge", text: "its files cannot be used", health: "bad" },
  ]);
});

test("old keys of an issuer are a warning, and those that stop its tokens are bad", () => {
  const health = (age: string) =>
    issuers(parseMetrics(`curator_jwks_age_seconds{issuer="corp"} ${age}\n`))[0]?.health;
  assert.equal(health("60"), "good");
  assert.equal(health("7200"), "warn");
  assert.equal(health("90000"), "bad");
  assert.equal(health("+Inf"), "bad");
});

test("an anchor that lags and a history that is damaged are shown as such", () => {
  const figures = ledgerFigures(
    parseMetrics(
      [
        'curator_ledger_sound{dataset="demo"} 1',
        'curator_ledger_sound{dataset="census"} 0',
        'curator_anchor_behind_entries{dataset="demo"} 2',
      ].join("\n"),
    ),
  );
  assert.deepEqual(valueOf(figures, "Histories"), ["damaged: census", "bad"]);
  assert.deepEqual(valueOf(figures, "Entries that the anchor lacks"), ["2", "warn"]);
});

test("a queue whose oldest waits more than an hour is a warning", () => {
  const figures = workFigures(parseMetrics("curator_queue_length 4\ncurator_queue_oldest_seconds 7200\n"));
  assert.deepEqual(valueOf(figures, "Operations that wait"), ["4", undefined]);
  assert.deepEqual(valueOf(figures, "Waits longest"), ["2 h", "warn"]);
});

test("what the server does not measure is not shown", () => {
  assert.deepEqual(ledgerFigures([]), []);
  assert.deepEqual(workFigures([]), []);
  assert.deepEqual(certificates([], 0), []);
});

test("refusals are listed by reason, most first, without those of none", () => {
  const samples = parseMetrics(
    [
      'curator_refusals_total{reason="QUOTA"} 2',
      'curator_refusals_total{reason="BUDGET_FULL"} 7',
      'curator_refusals_total{reason="OWNER_RULE"} 0',
    ].join("\n"),
  );
  assert.deepEqual(refusalCounts(samples), [
    { reason: "BUDGET_FULL", count: 7 },
    { reason: "QUOTA", count: 2 },
  ]);
});
