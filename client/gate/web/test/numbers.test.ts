import assert from "node:assert/strict";
import { test } from "node:test";
import { bytesText, counted, exactText, grouped, labelText, roundedText } from "../src/numbers.ts";

// What the command line writes for the same doubles.
test("numbers have the digits of the command line's CSV", () => {
  assert.equal(exactText(42.42640687119285), "42.42640687119285");
  assert.equal(exactText(0.1 + 0.2), "0.30000000000000004");
  assert.equal(exactText(500000), "500000");
  assert.equal(exactText(-0), "0");
  assert.equal(exactText(0.00001), "1e-05");
  assert.equal(exactText(0.0001), "1e-04");
  assert.equal(exactText(0.001), "0.001");
  assert.equal(exactText(0.00012345), "0.00012345");
  assert.equal(exactText(1e300), "1e+300");
  assert.equal(exactText(2 ** 53), "9007199254740992");
  assert.equal(exactText(123456789012345680000), "123456789012345683968");
  assert.equal(exactText(-2429.5), "-2429.5");
  assert.equal(exactText(NaN), "nan");
});

test("edges of bins have an exponent only where digits do not suffice", () => {
  assert.equal(labelText(500000), "500000");
  assert.equal(labelText(-110000.5), "-110000.5");
  assert.equal(labelText(100000), "100000");
  assert.equal(labelText(2 ** 53), "9007199254740992");
  assert.equal(labelText(0), "0");
  assert.equal(labelText(0.5), "0.5");
  assert.equal(labelText(0.0001), "0.0001");
  assert.equal(labelText(0.0000012), "0.0000012");
  assert.equal(labelText(1e-7), "1e-07");
  assert.equal(labelText(1e20), "1e+20");
});

test("numbers for reading have about four digits", () => {
  assert.equal(roundedText(34.00945716778825), "34.01");
  assert.equal(roundedText(1234.56), "1235");
  assert.equal(roundedText(30000), "30\u202f000");
  assert.equal(roundedText(0.056130501796), "0.05613");
  assert.equal(roundedText(0.0000001), "1e-07");
});

test("counts and sizes agree with their words", () => {
  assert.equal(counted(1, "charge"), "1 charge");
  assert.equal(counted("2", "entry", "entries"), "2 entries");
  assert.equal(grouped("-1234567"), "-1\u202f234\u202f567");
  assert.equal(bytesText(9023), "8.8 KiB");
});
