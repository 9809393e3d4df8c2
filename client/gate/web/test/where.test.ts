import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import type { Attribute } from "../src/api/types.ts";
import { shapesFor, workloadOf } from "../src/question.ts";
import { attributesOf, parseWhere, readWhere, WhereProblem } from "../src/where.ts";

interface Shared {
  conditions: { text: string; means: object[] }[];
  expressions: { text: string; means: object }[];
  mistakes: { text: string; says: string }[];
}

// The command line and the Python client read the same file.
const SHARED = JSON.parse(readFileSync("../../testing/conditions.json", "utf8")) as Shared;

// With the names of fields of the protocol, as the page sends them.
function sent(message: unknown): unknown {
  if (Array.isArray(message)) return message.map(sent);
  if (typeof message !== "object" || message === null) return message;
  const name = (key: string) => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return Object.fromEntries(Object.entries(message).map(([key, value]) => [name(key), sent(value)]));
}

function problemOf(text: string, attributes: Attribute[] = []): WhereProblem {
  try {
    parseWhere(text, attributes);
  } catch (problem) {
    assert.ok(problem instanceof WhereProblem);
    return problem;
  }
  assert.fail(`${text} is read`);
}

test("a text means what the shared file says", () => {
  for (const { text, means } of SHARED.conditions) assert.deepEqual(parseWhere(text), { all_of: sent(means) }, text);
  for (const { text, means } of SHARED.expressions)
    assert.deepEqual(parseWhere(text), { expression: sent(means) }, text);
});

test("a mistake is named and has a place", () => {
  for (const { text, says } of SHARED.mistakes) {
    const problem = problemOf(text);
    assert.equal(problem.message, says, text);
    assert.ok(problem.position >= 0 && problem.position <= text.length, text);
  }
  assert.equal(problemOf("age > 30 or sex =").position, 17);
  assert.equal(problemOf("größe gleich 3").position, 6);
  assert.equal(problemOf("a = 1 or (b = 'open").position, 14);
  assert.equal(problemOf("a".repeat(1 << 17)).position, 0);
});

const ATTRIBUTES: Attribute[] = [
  { name: "age", integer: { min: "17", max: "90" } },
  { name: "income", numeric: { edges: [0, 1000, 20000] } },
  { name: "rate", numeric: { edges: [], min: 0, max: 0.3, step: 0.1 } },
  { name: "grade", categorical: { values: ["low", "high"], ordered: true } },
  { name: "zone", coded: { size: "5" } },
  {
    name: "visit",
    date: { from: "2019-01-15", to: "2019-12-31", bins: "QUARTER", edges: [], time_zone: "" },
  },
];

test("below an integer, an ordered category or a bin of dates is a comparison", () => {
  const less = (attribute: string, value: string) => ({
    all_of: [{ attribute, compare: { operator: "LESS", value } }],
  });
  assert.deepEqual(parseWhere("age < 40", ATTRIBUTES), less("age", "40"));
  assert.deepEqual(parseWhere("grade < high", ATTRIBUTES), less("grade", "high"));
  assert.deepEqual(parseWhere("visit < 2019-Q2", ATTRIBUTES), less("visit", "2019-Q2"));
});

test("ends are those that the bins can mean", () => {
  for (const text of ["income < 1000 or age <= 40", "income in [1000,20000]", "rate <= 0.3", "visit <= 2019-Q2"])
    parseWhere(text, ATTRIBUTES);
  assert.match(problemOf("age in [30,40)", ATTRIBUTES).message, /age.*'\]'/);
  assert.match(problemOf("age is missing or not (income <= 1000)", ATTRIBUTES).message, /income.*1000\)/);
  assert.match(problemOf("zone < 3", ATTRIBUTES).message, /zone.*'<='/);
  assert.match(problemOf("visit <= 2019-07-01T06:30", ATTRIBUTES).message, /before a time/);
  assert.deepEqual(parseWhere("visit < 2019-07-01", ATTRIBUTES), {
    all_of: [{ attribute: "visit", between: { to: "2019-07-01T00:00:00" } }],
  });
});

test("a condition makes counts of the records that fulfil it", () => {
  const { predicate } = readWhere("age > 30", ATTRIBUTES);
  assert.ok(predicate);
  assert.deepEqual(readWhere("  ", ATTRIBUTES), {});
  assert.equal(readWhere("age >", ATTRIBUTES).problem?.position, 5);
  assert.deepEqual(workloadOf("alone", [], predicate), {
    query_sets: [{ predicates: { predicates: [predicate], by: [] } }],
  });
  assert.deepEqual(workloadOf("together", ["zone", "grade"], predicate), {
    query_sets: [{ predicates: { predicates: [predicate], by: ["zone", "grade"] } }],
  });
  assert.deepEqual(shapesFor(["zone"], ATTRIBUTES, true), ["alone"]);
});

test("the attributes of a text are known", () => {
  assert.deepEqual(attributesOf(parseWhere("b = 1 and a = 2")), ["a", "b"]);
  assert.deepEqual(attributesOf(parseWhere("not (b = 1 or a is missing) and b = 2")), ["a", "b"]);
});
