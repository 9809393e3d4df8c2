// When an account will be full, at the rate of the last days.
//
// The rate is the Theil-Sen slope: the median of the slopes between all pairs of points, which a single large
// charge moves little. Its band comes from a bootstrap: the same slope of points that are drawn again with
// replacement, by a generator with a fixed seed, so that the same history gives the same forecast.

import type { BurnDown, Counter } from "./api/types.ts";
import { toNumber } from "./decimal.ts";
import { secondsOf } from "./time.ts";

export interface Point {
  // Seconds.
  time: number;
  spent: number;
}

export interface Forecast {
  // How many days it rests on: 7 or 30, or fewer where the history is younger.
  days: number;
  // Spent in a second: the slope, and the ends of its band.
  rate: number;
  slow: number;
  fast: number;
  // Seconds until nothing is left at the faster and at the slower rate; Infinity for never.
  earliest: number;
  latest: number;
}

const DAY = 86400;
const MOST_POINTS = 40;
const LEAST_CHARGES = 3;
const RESAMPLES = 100;
const SEED = 20261122;
const TAIL = 0.1;

// mulberry32
function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function quantile(sorted: number[], share: number): number {
  const position = share * (sorted.length - 1);
  const low = sorted[Math.floor(position)] as number;
  const high = sorted[Math.ceil(position)] as number;
  return low + (high - low) * (position - Math.floor(position));
}

export function theilSen(points: Point[]): number {
  const slopes: number[] = [];
  for (let i = 0; i < points.length; i += 1) {
    for (let j = i + 1; j < points.length; j += 1) {
      const [a, b] = [points[i] as Point, points[j] as Point];
      if (a.time !== b.time) slopes.push((b.spent - a.spent) / (b.time - a.time));
    }
  }
  if (slopes.length === 0) return 0;
  return quantile(
    slopes.sort((a, b) => a - b),
    0.5,
  );
}

// What was spent when the window began, each change in it, and now.
function inWindow(points: Point[], from: number, now: number): Point[] {
  const before = points.filter((point) => point.time <= from).pop();
  const inside = points.filter((point) => point.time > from && point.time <= now);
  const last = inside[inside.length - 1] ?? before;
  const start: Point[] = before ? [{ time: from, spent: before.spent }] : [];
  const end: Point[] = last && last.time < now ? [{ time: now, spent: last.spent }] : [];
  return [...start, ...inside, ...end];
}

function thinned(points: Point[]): Point[] {
  if (points.length <= MOST_POINTS) return points;
  const step = (points.length - 1) / (MOST_POINTS - 1);
  return Array.from({ length: MOST_POINTS }, (_, i) => points[Math.round(i * step)] as Point);
}

function band(points: Point[]): [number, number] {
  const random = generator(SEED);
  const slopes: number[] = [];
  for (let round = 0; round < RESAMPLES; round += 1) {
    const drawn = points.map(() => points[Math.floor(random() * points.length)] as Point);
    slopes.push(theilSen(drawn.sort((a, b) => a.time - b.time)));
  }
  slopes.sort((a, b) => a - b);
  return [quantile(slopes, TAIL), quantile(slopes, 1 - TAIL)];
}

// Undefined when there is too little to go by: less than a day of history, or fewer than three charges in the
// last 30 days. `points` ascend in time.
export function forecast(points: Point[], left: number, now: number): Forecast | undefined {
  if (left <= 0) return { days: 7, rate: 0, slow: 0, fast: 0, earliest: 0, latest: 0 };
  const [first] = points;
  if (!first || now - first.time < DAY) return undefined;
  const age = Math.max(1, Math.floor((now - first.time) / DAY));
  for (const days of [7, 30]) {
    const window = inWindow(points, now - days * DAY, now);
    const charges = window.filter((point, i) => i > 0 && point.spent > (window[i - 1] as Point).spent).length;
    const isFlat = charges === 0 && first.time <= now - days * DAY;
    if (isFlat && days === 30)
      return { days, rate: 0, slow: 0, fast: 0, earliest: Infinity, latest: Infinity };
    if (charges < LEAST_CHARGES) continue;
    const used = thinned(window);
    const rate = Math.max(theilSen(used), 0);
    const [low, high] = band(used);
    const slow = Math.max(Math.min(low, rate), 0);
    const fast = Math.max(high, rate);
    const until = (speed: number) => (speed > 0 ? left / speed : Infinity);
    return { days: Math.min(days, age), rate, slow, fast, earliest: until(fast), latest: until(slow) };
  }
  return undefined;
}

const MOST_DAYS = 3650;

function unitOf(seconds: number): [number, string] {
  if (seconds < 2 * 3600) return [60, "minutes"];
  if (seconds < 2 * DAY) return [3600, "hours"];
  return [DAY, "days"];
}

// "1 hour", never "0 hours".
function inUnit(seconds: number): { count: number; unit: string } {
  const [size, unit] = unitOf(seconds);
  const count = Math.max(Math.round(seconds / size), 1);
  return { count, unit: count === 1 ? unit.slice(0, -1) : unit };
}

// "12 to 19 days", "40 minutes to 3 days", "never"
export function durationText({ earliest, latest }: Pick<Forecast, "earliest" | "latest">): string {
  if (latest <= 0) return "nothing is left";
  if (earliest > MOST_DAYS * DAY) return Number.isFinite(earliest) ? "more than 10 years" : "never";
  if (latest > MOST_DAYS * DAY) {
    const { count, unit } = inUnit(earliest);
    return `${count} ${unit} or more`;
  }
  const [low, high] = [inUnit(earliest), inUnit(latest)];
  if (low.count === high.count && low.unit === high.unit) return `about ${high.count} ${high.unit}`;
  const isOneUnit = low.unit.replace(/s$/, "") === high.unit.replace(/s$/, "");
  return `${low.count}${isOneUnit ? "" : ` ${low.unit}`} to ${high.count} ${high.unit}`;
}

// The answer, and what it rests on.
export function forecastText(result: Forecast | undefined): { when: string; why: string } {
  if (result === undefined) return { when: "unknown yet", why: "too few charges, or less than a day" };
  if (result.latest <= 0) return { when: "nothing is left", why: "the limit is reached" };
  if (result.rate === 0 && result.fast === 0) return { when: "never", why: "nothing was spent in 30 days" };
  const when = durationText(result);
  const isSpan = /^(about |more than |\d)/.test(when);
  const days = result.days === 1 ? "day" : `${result.days} days`;
  return { when: isSpan ? `in ${when}` : when, why: `at the rate of the last ${days}` };
}

const MOMENT = 300;

// The last forecast of each counter of a burn-down: it changes with what is spent, and slowly with the time.
const found = new WeakMap<BurnDown, Map<string, { key: string; result: Forecast | undefined }>>();

// Of one counter in a burn-down.
export function counterForecast(burnDown: BurnDown, counter: Counter, now: number): Forecast | undefined {
  const counters = found.get(burnDown) ?? new Map<string, { key: string; result: Forecast | undefined }>();
  found.set(burnDown, counters);
  const key = `${counter.remaining} ${Math.floor(now / MOMENT)}`;
  const known = counters.get(counter.name);
  if (known?.key === key) return known.result;
  const points = burnDown.counters.find((candidate) => candidate.name === counter.name)?.points ?? [];
  const numbers = points.map((point) => ({ time: secondsOf(point.time), spent: toNumber(point.spent) }));
  const result = forecast(numbers, toNumber(counter.remaining), now);
  counters.set(counter.name, { key, result });
  return result;
}
