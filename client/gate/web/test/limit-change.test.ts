import assert from "node:assert/strict";
import { test } from "node:test";
import type { BudgetLimit, LimitProposal } from "../src/api/types.ts";
import { differenceOf, factorText, promiseWith } from "../src/limit-change.ts";

const zcdp: BudgetLimit = { rule: "RULE_ZCDP", epsilon: "2", delta: "1e-9" };

function change(before: string, after: string): LimitProposal {
  return { old_limit: before, new_limit: after } as LimitProposal;
}

test("a raise and a lowering say how much more or less may be spent, exactly", () => {
  assert.deepEqual(differenceOf(change("0.056131226", "0.120600001")), {
    amount: "0.064468775",
    isRaise: true,
  });
  assert.deepEqual(differenceOf(change("2", "1.4")), { amount: "0.6", isRaise: false });
});

test("the factor of an epsilon is never below e to its power", () => {
  assert.equal(factorText("0"), "1");
  assert.equal(factorText("1"), "2.72");
  assert.equal(factorText("1.5"), "4.49");
  assert.equal(factorText("3"), "20.1");
  assert.equal(factorText("10"), "22\u202f027");
  assert.equal(factorText("1000"), "inf");
  for (const epsilon of ["0.1", "0.7", "2.3", "5", "9.9"]) {
    assert.ok(Number(factorText(epsilon).replace("\u202f", "")) >= Math.exp(Number(epsilon)), epsilon);
  }
});

test("under the pure rule the promise grows by exactly what is missing", () => {
  assert.deepEqual(promiseWith({ rule: "RULE_PURE", epsilon: "1.5", delta: "" }, "epsilon", "1.5", "0.5"), {
    epsilon: "2",
  });
});

test("a missing delta is asked for as delta", () => {
  assert.deepEqual(
    promiseWith({ rule: "RULE_ADVANCED", epsilon: "1", delta: "1e-7" }, "delta", "5e-8", "3e-8"),
    { delta: "0.00000013" },
  );
});

test("under zCDP the guess has room for what is missing, and for little more", () => {
  // By the server: epsilon 2, 3 and 3.93 with delta 1e-9 are limits of rho 0.05613, 0.1206 and 0.1997.
  const guess = (lacking: string) => Number(promiseWith(zcdp, "rho", "0.05613", lacking).epsilon);
  assert.equal(guess("0"), 2);
  assert.ok(guess("0.06447") >= 3 && guess("0.06447") < 3.1, String(guess("0.06447")));
  assert.ok(guess("0.14357") >= 3.93 && guess("0.14357") < 4.1, String(guess("0.14357")));
});

test("under the advanced rule the sum of squares grows almost with the square of epsilon", () => {
  // By the server: epsilon 1 and 1.4 with delta 1e-7 are limits of 0.028888990038 and 0.055986420801.
  const { epsilon } = promiseWith(
    { rule: "RULE_ADVANCED", epsilon: "1", delta: "1e-7" },
    "epsilon_squared",
    "0.028888990038",
    "0.027097430763",
  );
  assert.ok(Number(epsilon) >= 1.4 && Number(epsilon) < 1.45, epsilon);
});

test("a limit of zero grows by what is missing", () => {
  assert.deepEqual(promiseWith({ rule: "RULE_ZCDP", epsilon: "0", delta: "1e-9" }, "rho", "0", "0.1"), {
    epsilon: "0.1",
  });
});
