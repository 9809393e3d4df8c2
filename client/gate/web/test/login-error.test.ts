import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { LOGIN_ERRORS, loginErrorText } from "../src/login-error.ts";

test("each reason of the gate's has its text", () => {
  const header = readFileSync("../sign_in.h", "utf8");
  const reasons = [...header.matchAll(/inline constexpr char k\w+\[\] = "(\w+)"/g)].map((match) => match[1]);
  assert.deepEqual([...LOGIN_ERRORS].sort(), reasons.sort());
});

test("another reason, which somebody wrote into the address, is not shown", () => {
  assert.equal(loginErrorText("constructor"), "The login failed. Try again.");
  assert.equal(loginErrorText("call 555-0100"), "The login failed. Try again.");
});
