import assert from "node:assert/strict";
import { test } from "node:test";
import { durationText, forecast, forecastText, theilSen, type Point } from "../src/forecast.ts";

const DAY = 86400;
const NOW = 1_800_000_000;

function daily(days: number, cost: (day: number) => number): Point[] {
  let spent = 0;
  return Array.from({ length: days }, (_, i) => {
    spent += cost(i);
    return { time: NOW - (days - 1 - i) * DAY, spent };
  });
}

test("a steady rate is forecast as it is", () => {
  const result = forecast(
    daily(40, () => 0.01),
    0.12,
    NOW,
  );
  assert.equal(result?.days, 7);
  assert.ok(Math.abs((result?.rate ?? 0) * DAY - 0.01) < 1e-9);
  assert.ok(Math.abs((result?.earliest ?? 0) / DAY - 12) < 0.01);
  assert.equal(forecastText(result).when, "in about 12 days");
});

test("one large charge moves the rate little", () => {
  const result = forecast(
    daily(40, (day) => (day === 36 ? 1 : 0.01)),
    0.12,
    NOW,
  );
  assert.ok((result?.rate ?? 0) * DAY < 0.2, `${(result?.rate ?? 0) * DAY}`);
});

test("the band holds the rate, and is the same each time", () => {
  const points = daily(30, (day) => 0.005 + 0.01 * ((day * 7) % 5));
  const [first, second] = [forecast(points, 1, NOW), forecast(points, 1, NOW)];
  assert.deepEqual(first, second);
  assert.ok(first && first.slow <= first.rate && first.rate <= first.fast && first.slow < first.fast);
  assert.ok(first && first.earliest < first.latest);
});

test("a flat history is never full", () => {
  const result = forecast([{ time: NOW - 90 * DAY, spent: 0.1 }], 1, NOW);
  assert.equal(forecastText(result).when, "never");
});

test("with few charges nothing is said", () => {
  assert.equal(forecast([], 1, NOW), undefined);
  assert.equal(
    forecast(
      daily(2, () => 0.1),
      1,
      NOW,
    ),
    undefined,
  );
  const hourly = Array.from({ length: 20 }, (_, i) => ({ time: NOW - (20 - i) * 3600, spent: i }));
  assert.equal(forecast(hourly, 1, NOW), undefined, "of less than a day");
  assert.equal(forecastText(undefined).when, "unknown yet");
});

test("thirty days are used when the last seven have too few charges", () => {
  const points = daily(30, (day) => (day % 9 === 0 ? 0.1 : 0)).filter(
    (point, i, all) => i === 0 || point.spent > (all[i - 1] as Point).spent,
  );
  assert.equal(forecast(points, 1, NOW)?.days, 29, "or as many as there are");
});

test("where nothing is left, nothing is forecast", () => {
  const flat = forecast([{ time: NOW - 90 * DAY, spent: 1 }], 0, NOW);
  assert.equal(forecastText(flat).when, "nothing is left", "and not: never");
  assert.equal(
    forecastText(
      forecast(
        daily(40, () => 0.01),
        0,
        NOW,
      ),
    ).when,
    "nothing is left",
  );
});

test("spans are in words", () => {
  assert.equal(durationText({ earliest: 12 * DAY, latest: 19 * DAY }), "12 to 19 days");
  assert.equal(durationText({ earliest: 12 * DAY, latest: Infinity }), "12 days or more");
  assert.equal(durationText({ earliest: Infinity, latest: Infinity }), "never");
  assert.equal(durationText({ earliest: 3 * 3600, latest: 20 * 3600 }), "3 to 20 hours");
  assert.equal(durationText({ earliest: 20 * 60, latest: 3 * DAY }), "20 minutes to 3 days");
  assert.equal(durationText({ earliest: 1, latest: 5 * 3600 }), "1 minute to 5 hours");
  assert.equal(durationText({ earliest: 30 * 3600, latest: 20 * DAY }), "30 hours to 20 days");
  assert.equal(durationText({ earliest: 60, latest: 60 * 50 }), "1 to 50 minutes");
  assert.equal(durationText({ earliest: 5000 * DAY, latest: 9000 * DAY }), "more than 10 years");
});

test("the slope of points at one moment is zero", () => {
  assert.equal(
    theilSen([
      { time: 1, spent: 1 },
      { time: 1, spent: 2 },
    ]),
    0,
  );
});
