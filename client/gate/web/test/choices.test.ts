import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "../src/api/error.ts";
import { Kept } from "../src/api/kept.ts";
import type { Account, Budget, Release } from "../src/api/types.ts";
import { requestIds } from "../src/api/use-request-id.ts";
import { compareCells } from "../src/cells.ts";
import { sameCosts, shareWords } from "../src/costs.ts";
import { expireTimeOf, expiryOptions, firstExpiry } from "../src/expiry.ts";
import { mainAccount } from "../src/main-account.ts";
import { outcomeOf } from "../src/pending.ts";
import { errorOfShare } from "../src/question.ts";
import { withEarlier, withNewest } from "../src/releases.ts";
import { sentence, shortId } from "../src/words.ts";

const NOW = Date.parse("2026-11-27T12:00:00Z");

test("a grant that is changed keeps its end unless another one is chosen", () => {
  // Noon wherever the test runs.
  const noon = new Date(2026, 11, 27, 12).toISOString();
  const grant = { expire_time: noon.replace(".000Z", ".123456Z") };
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
  for (const status of [0, 499, 500, 502, 503])
    assert.equal(outcomeOf(failed(status, "X"), false), "unknown");
  assert.equal(outcomeOf(failed(403, "PERMISSION_DENIED"), true), "unknown");
  assert.equal(outcomeOf(failed(429, "RESOURCE_EXHAUSTED", "BUDGET_FULL"), true), "unknown");
});

test("what the gate refuses by itself was not charged, and may be sent again", () => {
  assert.equal(outcomeOf(failed(403, "PERMISSION_DENIED", "CSRF"), false), "waits");
  assert.equal(outcomeOf(failed(401, "UNAUTHENTICATED", "NO_SESSION"), false), "waits");
});

test("an order that is sent again keeps its id, and another order has another one", () => {
  let made = 0;
  const idOf = requestIds(() => String((made += 1)));
  assert.equal(idOf({ epsilon: "2" }), "1");
  assert.equal(idOf({ epsilon: "2" }), "1");
  assert.equal(idOf({ epsilon: "3" }), "2");
  assert.equal(idOf({ epsilon: "2" }), "3");
});

test("answers are kept while they fit, the newest longest", () => {
  const kept = new Kept(10);
  kept.set("a", "1234");
  kept.set("b", "12");
  assert.equal(kept.get("a"), "1234");
  kept.set("c", "1");
  assert.ok(!kept.has("a") && kept.has("b") && kept.has("c"));
  kept.set("b", "12345678901");
  assert.ok(!kept.has("b") && kept.has("c"), "what is too large pushes nothing out");
  kept.clear();
  kept.set("d", "12345678");
  assert.ok(kept.has("d"));
});

function release(id: string, day: number): Release {
  return { id, create_time: `2026-11-${String(day).padStart(2, "0")}T00:00:00Z` } as Release;
}

test("a release stays when newer ones push it off the newest page, unless it was removed", () => {
  const ids = (releases: Release[]) => releases.map(({ id }) => id).join("");
  const first = withNewest([], [release("c", 3), release("b", 2)], false);
  const all = withEarlier(first, [release("a", 1)]);
  assert.equal(ids(all), "cba");
  assert.equal(ids(withNewest(all, [release("d", 4), release("c", 3)], false)), "dcba");
  assert.equal(ids(withNewest(all, [release("d", 4), release("b", 2)], false)), "dba", "c was removed");
  assert.equal(ids(withNewest(all, [release("d", 4)], true)), "d");
});

function account(name: string, remaining: string, part?: string): Account {
  const counter = { name: "rho", limit: "1", spent: "0", held: "0", remaining };
  return { name, counters: [counter], ...(part === undefined ? {} : { part }) } as Account;
}

test("the card of a dataset speaks of its own account, or of its fullest part", () => {
  const parts = [account("p1", "0.9", "1"), account("p2", "0.1", "2"), account("p3", "0.5", "3")];
  assert.equal(mainAccount({ accounts: parts } as Budget)?.account.name, "p2");
  assert.equal(mainAccount({ accounts: parts } as Budget)?.parts, 3);
  assert.equal(mainAccount({ accounts: [...parts, account("own", "1")] } as Budget)?.account.name, "own");
  assert.equal(mainAccount({ accounts: [] as Account[] } as Budget), undefined);
});

test("ids that begin with their time are told apart by their end", () => {
  assert.equal(shortId("0193a5f0-1c2d-7abc-8def-0123456789ab"), "…456789ab");
  assert.equal(shortId("a81f03bb-1c2d-4abc-8def-0123456789ab"), "a81f03bb…");
  assert.equal(shortId("short"), "short");
});

test("what the server says is a sentence", () => {
  assert.equal(sentence("the dataset is sealed"), "The dataset is sealed.");
  assert.equal(sentence("request_id: missing"), "request_id: missing.");
  assert.equal(sentence("Is it?"), "Is it?");
  assert.equal(sentence(""), "");
});

test("what several accounts are charged alike is one line", () => {
  const cost = (account: string, counter: string, amount: string) => ({ account, counter, amount, remaining: "" });
  assert.deepEqual(
    sameCosts([cost("a", "rho", "0.1"), cost("b", "rho", "0.1"), cost("a", "delta", "1e-9")]),
    [
      { amount: "0.1", counter: "rho", accounts: ["a", "b"], share: 0 },
      { amount: "1e-9", counter: "delta", accounts: ["a"], share: 0 },
    ],
  );
});

test("a cost is said in percent of the promise and of what was left", () => {
  const cost = { account: "a", rule: "RULE_ZCDP" as const, counter: "rho", amount: "0.1", remaining: "0.3" };
  const shares = { share_of_promise: 0.2, share_left: 0.6 };
  assert.equal(shareWords({ ...cost, ...shares }), "20\u00a0% of the promise, 25\u00a0% of what was left");
  assert.equal(shareWords({ ...cost, ...shares, remaining: "" }), "20\u00a0% of the promise");
  assert.equal(shareWords(cost), "", "of a server that does not say it");
  assert.equal(sameCosts([{ ...cost, ...shares }, cost])[0]?.share, 0.2);
});

test("an error in percent is of a whole number of records", () => {
  assert.equal(errorOfShare("2000", "5"), 100);
  assert.equal(errorOfShare("2000", "0.5"), 10);
  for (const [rows, share] of [["", "5"], ["2000", ""], ["2000.5", "5"], ["0", "5"], ["2000", "0"], ["2000", "101"], ["x", "5"]] as const)
    assert.equal(errorOfShare(rows, share), undefined);
});
