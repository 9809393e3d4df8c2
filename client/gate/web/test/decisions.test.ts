import assert from "node:assert/strict";
import { test } from "node:test";
import type { Dataset, Operation, PrincipalInfo, Refusal } from "../src/api/types.ts";
import { NO_SEARCH, queryOf, recordWords, requestOf, searchOf } from "../src/audit-query.ts";
import { commandAgain, costOfCancelling, progressText } from "../src/operations.ts";
import { credentialState, pendingParts, quotaAmount, quotaWords, roleWords } from "../src/people.ts";
import { fittingOf, lackingOf, refusalRows } from "../src/refusals.ts";
import type { SessionState } from "../src/session.ts";
import { mayPropose, mayRequest } from "../src/who-may.ts";

function refusal(time: string, ...accounts: [string, string, string][]): Refusal {
  return {
    time,
    principal: "ana",
    method: "QueryService/AnswerWorkload",
    request_id: "",
    accounts: accounts.map(([counter, asked, remaining]) => ({
      account: "dataset/demo",
      rule: "",
      counter,
      asked,
      remaining,
    })),
  };
}

test("refusals of several datasets are one list, newest first", () => {
  const rows = refusalRows(
    new Map([
      ["a", [refusal("2026-11-27T10:00:00Z", ["rho", "1", "0"])]],
      [
        "b",
        [
          refusal("2026-11-27T11:00:00.5Z", ["rho", "1", "0"], ["rho", "1", "0.1"]),
          refusal("2026-11-26T11:00:00Z", ["rho", "1", "0"]),
        ],
      ],
    ]),
  );
  assert.deepEqual(
    rows.map(({ dataset }) => dataset),
    ["b", "a", "b"],
    "one row for a request, however many accounts were full",
  );
});

test("what would have fitted is the least that was left", () => {
  assert.deepEqual(fittingOf(refusal("", ["rho", "0.5", "0.05"], ["rho", "0.5", "0.009"])), {
    unit: "rho",
    amount: "0.009",
  });
  assert.deepEqual(fittingOf(refusal("", ["epsilon", "1", "0.5"])), { unit: "epsilon", amount: "0.5" });
});

test("of squares the root would have fitted, never more", () => {
  const fitting = fittingOf(refusal("", ["epsilon_squared", "0.81", "0.028888990038"]));
  assert.equal(fitting?.unit, "epsilon");
  assert.ok(Number(fitting?.amount) ** 2 <= 0.028888990038);
  assert.ok(Number(fitting?.amount) > 0.1699);
});

test("nothing would have fitted where nothing was left, or prices differ in kind", () => {
  assert.equal(fittingOf(refusal("", ["rho", "1", "0"])), undefined);
  assert.equal(fittingOf(refusal("", ["rho", "1", "0.5"], ["epsilon", "1", "0.5"])), undefined);
  assert.equal(fittingOf(refusal("", ["delta", "1e-6", "1e-9"])), undefined);
});

test("what was missing is what was asked without what was left", () => {
  assert.equal(
    lackingOf({ account: "", rule: "", counter: "rho", asked: "0.5", remaining: "0.050130501796" }),
    "0.449869498204",
  );
});

test("an owner proposes, a user requests, and neither does so for a public or an archived dataset", () => {
  const dataset = (part: Partial<Dataset>) =>
    ({ name: "demo", owner: "olga", public: false, state: "DATASET_STATE_SEALED", ...part }) as Dataset;
  const ana = { session: { principal: "ana" } } as SessionState;
  assert.ok(mayPropose(dataset({}), "olga"));
  assert.ok(!mayPropose(dataset({}), "ana"));
  assert.ok(!mayPropose(dataset({ public: true }), "olga"));
  assert.ok(mayRequest(dataset({}), ana, []));
  assert.ok(!mayRequest(dataset({ owner: "ana" }), ana, []));
  assert.ok(!mayRequest(dataset({ state: "DATASET_STATE_ARCHIVED" }), ana, []));
});

test("approvers and auditors request nothing", () => {
  const demo = { name: "demo", owner: "olga", public: false, state: "DATASET_STATE_SEALED" } as Dataset;
  const having = (role: string, dataset: string, pending = false) =>
    ({
      session: { principal: "ana" },
      who: { principal: { roles: [{ role, dataset, pending }] } },
    }) as unknown as SessionState;
  assert.ok(!mayRequest(demo, having("APPROVER", "demo"), []));
  assert.ok(!mayRequest(demo, having("AUDITOR", ""), []));
  assert.ok(mayRequest(demo, having("APPROVER", "census"), []));
  assert.ok(mayRequest(demo, having("APPROVER", "demo", true), []));
  assert.ok(!mayRequest(demo, { session: { principal: "ana" } } as SessionState, [{ dataset: "demo" }]));
});

test("an operation says how far it is, and what its end would cost", () => {
  const operation = (part: Partial<Operation>) => ({ percent: 0, queue_position: "0", ...part }) as Operation;
  assert.equal(progressText(operation({ state: "RUNNING", percent: 42.9 })), "42 %");
  assert.equal(progressText(operation({ state: "QUEUED" })), "waits");
  for (const [position, text] of [
    ["1", "next"],
    ["2", "2nd"],
    ["3", "3rd"],
    ["4", "4th"],
    ["11", "11th"],
    ["12", "12th"],
    ["21", "21st"],
    ["113", "113th"],
  ]) {
    assert.equal(
      progressText(operation({ state: "QUEUED", queue_position: position as string })),
      `${text} in the queue`,
    );
  }
  assert.match(costOfCancelling(operation({ state: "QUEUED" })), /given back/);
  assert.match(costOfCancelling(operation({ state: "RUNNING" })), /stays spent/);
  assert.equal(
    commandAgain(operation({ kind: "synthesis", dataset: "demo", request_id: "7" })),
    "curator synth run demo … --request-id 7",
  );
});

test("a pending credential is pending until it has expired", () => {
  const credential = (pending: boolean, end?: string) => ({ pending, expire_time: end }) as never;
  assert.equal(credentialState(credential(false), 0), "active");
  assert.equal(credentialState(credential(true), 0), "pending");
  assert.equal(credentialState(credential(true, "1970-01-01T00:00:10Z"), 10), "expired");
  assert.equal(credentialState(credential(false, "1970-01-01T00:00:10Z"), 9), "active");
});

test("what waits for an administrator is found in all principals, with who began it", () => {
  const principals = [
    {
      name: "bob",
      credentials: [
        { id: "1", pending: true, added_by: "ada" },
        { id: "2", pending: false },
      ],
      roles: [],
    },
    {
      name: "eve",
      credentials: [],
      roles: [
        { role: "APPROVER", pending: true, bound_by: "olga" },
        { role: "CREATOR", pending: false },
      ],
    },
  ] as unknown as PrincipalInfo[];
  assert.deepEqual(
    pendingParts(principals).map(({ kind, principal, by }) => [kind, principal, by]),
    [
      ["credential", "bob", "ada"],
      ["role", "eve", "olga"],
    ],
  );
});

test("roles and quotas are in words", () => {
  assert.equal(roleWords({ role: "APPROVER", dataset: "demo" }), "approver of demo");
  assert.equal(roleWords({ role: "AUDITOR", dataset: "" }), "auditor of all datasets");
  assert.equal(roleWords({ role: "OPERATOR", dataset: "" }), "operator");
  assert.equal(quotaWords("calls_per_second"), "calls per second");
  assert.equal(quotaAmount("import_bytes_per_hour", "1073741824"), "1 GiB");
  assert.equal(quotaAmount("synthesis_cpu_seconds_per_day", "14400"), "14\u202f400");
});

test("a search of the audit survives its address", () => {
  const search = { ...NO_SEARCH, principal: "ana", decision: "REFUSED" as const, since: "2026-11-27T18:24" };
  assert.deepEqual(searchOf(new URLSearchParams(queryOf(search))), search);
  assert.deepEqual(queryOf(NO_SEARCH), {});
  assert.deepEqual(searchOf(new URLSearchParams("decision=OTHER&x=1")), NO_SEARCH);
});

test("a search asks for times only where they are times", () => {
  const request = requestOf({ ...NO_SEARCH, since: "2026-11-27T18:24", until: "soon" });
  assert.equal(request.since_time, new Date("2026-11-27T18:24").toISOString());
  assert.ok(!("until_time" in request));
  assert.ok(!("decision" in request));
});

test("a record says what is not in its other fields", () => {
  const record = (part: object) =>
    recordWords({ kind: "CALL", status: "OK", reason: "", count: "0", ...part } as never);
  assert.equal(record({}), "");
  assert.equal(
    record({ status: "RESOURCE_EXHAUSTED", reason: "BUDGET_FULL" }),
    "RESOURCE_EXHAUSTED, BUDGET_FULL",
  );
  assert.equal(record({ status: "CANCELLED", reason: "CANCELLED" }), "CANCELLED");
  assert.equal(
    record({ kind: "GAP", count: "1" }),
    "1 call missing: they came faster than they were written, or the store failed",
  );
});
