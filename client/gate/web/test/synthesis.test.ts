import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "../src/api/error.ts";
import type { Synthesizer } from "../src/api/synthesis-types.ts";
import type { Account, Budget, Rule } from "../src/api/types.ts";
import { hundredths } from "../src/decimal.ts";
import {
  chosenMethod,
  missingOf,
  NO_DRAFT,
  problemsOf,
  ruleOf,
  sharesOfLeft,
  specOf,
  unitOf,
  wayOf,
  type Draft,
} from "../src/synthesis.ts";

function methodOf(method: string, keys: string[] = []): Synthesizer {
  return { method, summary: method, settings: keys.map((key) => ({ key, summary: key, default_value: "" })) };
}

const PLAIN = methodOf("plain", ["rounds", "sweeps"]);
const AUTO = methodOf("auto");

function draftOf(part: Partial<Draft>): Draft {
  return { ...NO_DRAFT, amount: "0.01", ...part };
}

function accountOf(rule: Rule, left: Record<string, string>, analyst?: string): Account {
  return {
    name: "a",
    promise: { rule, epsilon: "1", delta: "" },
    counters: Object.entries(left).map(([name, remaining]) => ({
      name,
      limit: "1",
      spent: "0",
      held: "0",
      remaining,
    })),
    ...(analyst === undefined ? {} : { analyst }),
  };
}

function budgetOf(...accounts: Account[]): Budget {
  return { accounts, protects: "", read_only: "", custody: "CUSTODY_SINGLE" };
}

test("the server's own choice is preselected where it has one, else its first method", () => {
  assert.equal(chosenMethod(NO_DRAFT, [PLAIN, AUTO]), AUTO);
  assert.equal(chosenMethod(NO_DRAFT, [PLAIN, methodOf("other")]), PLAIN);
  assert.equal(chosenMethod(draftOf({ method: "plain" }), [AUTO, PLAIN]), PLAIN);
  assert.equal(chosenMethod(draftOf({ method: "gone" }), [PLAIN, AUTO]), AUTO);
  assert.equal(chosenMethod(NO_DRAFT, []), undefined);
});

test("an amount is in what the rule of the dataset counts", () => {
  assert.equal(ruleOf(budgetOf(accountOf("RULE_PURE", {}))), "RULE_PURE");
  assert.equal(unitOf(draftOf({ unit: "rho" }), "RULE_ZCDP"), "rho");
  assert.equal(unitOf(draftOf({ unit: "epsilon" }), "RULE_ZCDP"), "epsilon");
  assert.equal(unitOf(draftOf({ unit: "rho" }), "RULE_PURE"), "epsilon");
  const draft = draftOf({ delta: "1e-10" });
  assert.deepEqual(specOf(draft, PLAIN, "RULE_ZCDP")?.spend, { rho: "0.01" });
  assert.deepEqual(specOf(draft, PLAIN, "RULE_PURE")?.spend, { epsilon: "0.01" });
  assert.deepEqual(specOf(draft, PLAIN, "RULE_ADVANCED")?.spend, { epsilon: "0.01", delta: "1e-10" });
});

test("settings are sent when they were typed, and those of the chosen method alone", () => {
  const settings = { plain: { rounds: " 3 ", sweeps: " ", gone: "1" }, other: { rounds: "5" } };
  assert.deepEqual(specOf(draftOf({ settings }), PLAIN, "RULE_ZCDP"), {
    method: "plain",
    spend: { rho: "0.01" },
    settings: { rounds: "3" },
  });
  assert.deepEqual(specOf(draftOf({ settings }), AUTO, "RULE_ZCDP"), {
    method: "auto",
    spend: { rho: "0.01" },
  });
});

test("there is no workload but the one that was chosen, of as many attributes as there are", () => {
  const chosen = draftOf({ workload: "chosen", attributes: ["sex", "age"], k: 3 });
  assert.equal(wayOf(chosen), 2);
  assert.deepEqual(specOf(chosen, AUTO, "RULE_ZCDP")?.workload, {
    query_sets: [{ marginals: { all_k_way: { k: 2, attributes: ["sex", "age"] } } }],
  });
  assert.equal(specOf(draftOf({ attributes: ["sex"] }), AUTO, "RULE_ZCDP")?.workload, undefined);
});

test("nothing is asked before the method, the amount and the attributes are there", () => {
  assert.equal(specOf(draftOf({}), undefined, "RULE_ZCDP"), undefined);
  assert.equal(specOf(draftOf({ amount: " " }), AUTO, "RULE_ZCDP"), undefined);
  assert.equal(specOf(draftOf({ workload: "chosen" }), AUTO, "RULE_ZCDP"), undefined);
  assert.equal(missingOf(draftOf({ amount: " " })), "Give an amount to see the price.");
  assert.equal(missingOf(draftOf({ workload: "chosen" })), "Choose at least one attribute to see the price.");
  assert.equal(missingOf(draftOf({})), undefined);
});

test("shares are of the least that the paying accounts have left, and fit", () => {
  assert.equal(hundredths("0.056130501796", 25), "0.014032625449");
  const budget = budgetOf(
    accountOf("RULE_ZCDP", { rho: "0.056130501796" }),
    accountOf("RULE_ZCDP", { rho: "0.02" }, "ana"),
    accountOf("RULE_ZCDP", { rho: "0.001" }, "eva"),
  );
  const amounts = (unit: "rho" | "epsilon", of: Budget | undefined = budget) =>
    sharesOfLeft(of, unit, "ana").map(({ amount }) => amount);
  assert.deepEqual(amounts("rho"), ["0.001", "0.002", "0.005", "0.01"]);
  assert.deepEqual(amounts("epsilon"), [], "what a pure mechanism costs in rho is the server's to say");
  assert.deepEqual(amounts("rho", budgetOf(accountOf("RULE_ZCDP", { rho: "0" }))), []);
  assert.deepEqual(amounts("rho", budgetOf()), []);
  assert.equal(amounts("rho", budgetOf(accountOf("RULE_ZCDP", { rho: "0.056130501796" })))[1], "0.00561");
});

test("a share of squares is the root of it", () => {
  const budget = budgetOf(accountOf("RULE_ADVANCED", { epsilon_squared: "0.04", delta: "5e-10" }));
  const [, , quarter] = sharesOfLeft(budget, "epsilon", "ana");
  assert.equal(quarter?.percent, 25);
  assert.equal(quarter?.amount, "0.0999", "below 0.1, which is the root of a quarter");
});

function errorOf(...fields: [string, string][]): ApiError {
  return new ApiError(400, {
    code: "INVALID_ARGUMENT",
    message: "wrong",
    fields: fields.map(([field, description]) => ({ field, description })),
  });
}

test("what is wrong is said beside its field", () => {
  const placed = (field: string, rule: Rule = "RULE_ZCDP") =>
    problemsOf(errorOf([field, "must be greater than 0"]), PLAIN, rule);
  const text = "Must be greater than 0.";
  for (const field of ["spend", "spend.rho", "spend.epsilon", "spend.delta"])
    assert.deepEqual(placed(field), { settings: {}, isPlaced: true, amount: text }, field);
  assert.deepEqual(placed("spend.delta", "RULE_ADVANCED"), { settings: {}, isPlaced: true, delta: text });
  for (const field of ["method", "plain"])
    assert.deepEqual(placed(field), { settings: {}, isPlaced: true, method: text }, field);
  for (const field of ["workload", "workload.query_sets[0].marginals", "workload[0]"])
    assert.deepEqual(placed(field), { settings: {}, isPlaced: true, workload: text }, field);
  assert.deepEqual(placed("settings.rounds"), { settings: { rounds: text }, isPlaced: true });
});

test("what is about no field of the page stays in the place of the price", () => {
  for (const field of ["settings.gone", "dataset", "workloads", ""])
    assert.equal(problemsOf(errorOf([field, "is wrong"]), PLAIN, "RULE_ZCDP").isPlaced, false, field);
  assert.equal(problemsOf(errorOf(), PLAIN, "RULE_ZCDP").isPlaced, false);
  const both = problemsOf(errorOf(["spend", "is empty"], ["dataset", "is wrong"]), PLAIN, "RULE_ZCDP");
  assert.equal(both.amount, "Is empty.");
  assert.equal(both.isPlaced, false);
});
