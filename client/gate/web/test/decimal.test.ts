import assert from "node:assert/strict";
import { test } from "node:test";
import { add, compare, isDecimal, percent, ratio, shorten, subtract } from "../src/decimal.ts";

test("sums and differences keep every digit", () => {
  assert.equal(add("0.056130501796", "0.000000000001"), "0.056130501797");
  assert.equal(subtract("0.056130501796", "0.01"), "0.046130501796");
  assert.equal(subtract("1", "1e-30"), "0.999999999999999999999999999999");
  assert.equal(add("9007199254740993", "1"), "9007199254740994");
});

test("amounts of different notations compare by value", () => {
  assert.equal(compare("1e-9", "0.000000001"), 0);
  assert.equal(compare("0.1", "0.09999999999999999999"), 1);
  assert.equal(compare("-1", "0"), -1);
  assert.equal(compare("2", "10"), -1);
});

test("a share of nothing is nothing", () => {
  assert.equal(ratio("1", "0"), 0);
  assert.equal(ratio("0.5", "2"), 0.25);
});

test("an amount is shortened for reading and never beyond its digits", () => {
  assert.equal(shorten("0.056130501796"), "0.05613");
  assert.equal(shorten("0.00099999"), "0.001");
  assert.equal(shorten("2"), "2");
  assert.equal(shorten("1e-9"), "1e-9");
  assert.equal(shorten("123456.789"), "123457");
  assert.equal(shorten("-0.056156"), "-0.05616");
  assert.equal(shorten("not a number"), "not a number");
});

test("a bound is shortened to its safe side", () => {
  assert.equal(shorten("0.81010001", 4, "up"), "0.8102");
  assert.equal(shorten("0.81019", 4, "down"), "0.8101");
  assert.equal(shorten("-0.81011", 4, "up"), "-0.8101");
  assert.equal(shorten("0.8101", 4, "up"), "0.8101");
});

test("texts that are not decimals are known as such", () => {
  for (const text of ["", ".", "1.2.3", "NaN", "1e", "0x10"]) assert.equal(isDecimal(text), false, text);
  for (const text of ["0", "1.", "1.50", "-2", "1E-9"]) assert.equal(isDecimal(text), true, text);
});

test("a share near an end is not shown as the end", () => {
  assert.equal(percent(0.0004), "< 0.1\u00a0%");
  assert.equal(percent(0.9999), "99.9\u00a0%");
  assert.equal(percent(1), "100\u00a0%");
  assert.equal(percent(0), "0\u00a0%");
  assert.equal(percent(0.276), "28\u00a0%");
});
