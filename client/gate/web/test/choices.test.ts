import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "../src/api/error.ts";
import { compareCells } from "../src/cells.ts";
import { expireTimeOf, expiryOptions, firstExpiry } from "../src/expiry.ts";
import { outcomeOf } from "../src/pending.ts";

const NOW = Date.parse("2026-11-27T12:00:00Z");

test("a grant that is changed keeps its end unless another one is chosen", () => {
  const grant = { expire_time: "2026-12-27T12:00:00.123456Z" };
  assert.equal(expiryOptions(grant, NOW)[0]?.text, "as now: 27 Dec 2026");
  assert.equal(expireTimeOf(firstExpiry(grant, NOW), grant, NOW), grant.expire_time);
  assert.equal(expireTimeOf("", grant, NOW), undefined);
  assert.equal(expireTimeOf("30", grant, NOW), "2026-12-27T12:00:00.000Z");
});

test("access without an end stays so, and access that has ended gets an end", () => {
  assert.equal(firstExpiry({}, NOW), "");
  assert.equal(firstExpiry(undefined, NOW), "");
  const ended = { expire_time: "2026-11-01T00:00:00Z" };
  assert.equal(firstExpiry(ended, NOW), "30");
  assert.ok(expiryOptions(ended, NOW).every(({ text }) => !text.startsWith("as now")));
});

test("cells are sorted by size where they have one, exactly", () => {
  assert.ok(compareCells("0.1", "0.05") > 0);
  assert.ok(compareCells("1e-9", "0.5") < 0);
  assert.ok(compareCells("100000000000000000001", "100000000000000000000") > 0);
  assert.ok(compareCells("2026-11-27T12:00:00.5Z", "2026-11-27T12:00:00Z") > 0);
  assert.ok(compareCells("part 10", "part 9") > 0);
  assert.ok(compareCells(undefined, "a") < 0);
});

function failed(status: number, code: string, reason = ""): ApiError {
  return new ApiError(status, { code, reason, message: "no" });
}

test("a refusal of the first attempt ends a request that is paid for", () => {
  for (const code of ["INVALID_ARGUMENT", "FAILED_PRECONDITION", "PERMISSION_DENIED"])
    assert.equal(outcomeOf(failed(400, code), false), "refused");
  assert.equal(outcomeOf(failed(429, "RESOURCE_EXHAUSTED", "BUDGET_FULL"), false), "refused");
  assert.equal(outcomeOf(failed(429, "RESOURCE_EXHAUSTED", "QUOTA"), false), "waits");
});

test("after a failure that says nothing, no refusal says that a request was not charged", () => {
  for (const status of [0, 499, 500, 502, 503]) assert.equal(outcomeOf(failed(status, "X"), false), "unknown");
  assert.equal(outcomeOf(failed(403, "PERMISSION_DENIED"), true), "unknown");
  assert.equal(outcomeOf(failed(429, "RESOURCE_EXHAUSTED", "BUDGET_FULL"), true), "unknown");
});

test("what the gate refuses by itself was not charged, and may be sent again", () => {
  assert.equal(outcomeOf(failed(403, "PERMISSION_DENIED", "CSRF"), false), "waits");
  assert.equal(outcomeOf(failed(401, "UNAUTHENTICATED", "NO_SESSION"), false), "waits");
});
