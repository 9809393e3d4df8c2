// Axes: round numbers for ticks, and positions.

// 1, 2 or 5 times a power of ten, so that there are at most `most` steps in the span.
export function stepOf(low: number, high: number, most: number): number {
  const least = (high - low) / most;
  if (!(least > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(least));
  const factor = [1, 2, 5].find((candidate) => candidate * power >= least) ?? 10;
  return factor * power;
}

export interface Axis {
  low: number;
  high: number;
  ticks: number[];
  at(value: number): number;
}

// Of numbers, from `start` to `end` in pixels; it begins and ends with a tick.
export function numberAxis(low: number, high: number, start: number, end: number, most: number): Axis {
  const step = stepOf(low, high, most);
  const first = Math.floor(low / step);
  const last = Math.max(Math.ceil(high / step), first + 1);
  const ticks = Array.from({ length: last - first + 1 }, (_, i) =>
    Number(((first + i) * step).toPrecision(12)),
  );
  const [from, to] = [first * step, last * step];
  return {
    low: from,
    high: to,
    ticks,
    at: (value) => start + ((value - from) / (to - from)) * (end - start),
  };
}

const DAY = 86400;
const TIME_STEPS = [
  60,
  300,
  900,
  3600,
  3 * 3600,
  6 * 3600,
  12 * 3600,
  DAY,
  2 * DAY,
  7 * DAY,
  14 * DAY,
  30 * DAY,
  90 * DAY,
  365 * DAY,
];

// Of seconds; ticks at round times of the reader's zone.
export function timeAxis(low: number, high: number, start: number, end: number, most: number): Axis {
  const step = TIME_STEPS.find((candidate) => (high - low) / candidate <= most) ?? 365 * DAY;
  const zone = new Date(low * 1000).getTimezoneOffset() * 60;
  const ticks: number[] = [];
  for (let at = Math.ceil((low - zone) / step) * step + zone; at <= high; at += step) ticks.push(at);
  return {
    low,
    high,
    ticks,
    at: (value) => start + ((value - low) / Math.max(high - low, 1)) * (end - start),
  };
}
