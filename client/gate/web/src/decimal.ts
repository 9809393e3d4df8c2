// Exact decimals. Amounts of budgets are decimal strings, and never pass through a double on their way to the
// reader.

interface Exact {
  // value = units * 10^-scale
  units: bigint;
  scale: number;
}

function parse(text: string): Exact | undefined {
  const parts = /^([+-]?)(\d+)(?:\.(\d*))?(?:[eE]([+-]?\d{1,4}))?$/.exec(text.trim());
  if (!parts) return undefined;
  const [, sign, whole, fraction = "", exponent = "0"] = parts;
  let units = BigInt(`${whole}${fraction}`);
  let scale = fraction.length - Number(exponent);
  if (scale < 0) {
    units *= 10n ** BigInt(-scale);
    scale = 0;
  }
  return { units: sign === "-" ? -units : units, scale };
}

function aligned(left: string, right: string): [bigint, bigint, number] {
  const a = parse(left) ?? { units: 0n, scale: 0 };
  const b = parse(right) ?? { units: 0n, scale: 0 };
  const scale = Math.max(a.scale, b.scale);
  const raise = ({ units, scale: own }: Exact) => units * 10n ** BigInt(scale - own);
  return [raise(a), raise(b), scale];
}

function write(units: bigint, scale: number): string {
  const sign = units < 0n ? "-" : "";
  const digits = (units < 0n ? -units : units).toString().padStart(scale + 1, "0");
  const whole = digits.slice(0, digits.length - scale);
  const fraction = digits.slice(digits.length - scale).replace(/0+$/, "");
  return fraction === "" ? `${sign}${whole}` : `${sign}${whole}.${fraction}`;
}

export function isDecimal(text: string): boolean {
  return parse(text) !== undefined;
}

// -1, 0 or 1. What is not a decimal counts as 0, here and below.
export function compare(left: string, right: string): number {
  const [a, b] = aligned(left, right);
  return a < b ? -1 : a > b ? 1 : 0;
}

export function add(left: string, right: string): string {
  const [a, b, scale] = aligned(left, right);
  return write(a + b, scale);
}

export function subtract(left: string, right: string): string {
  const [a, b, scale] = aligned(left, right);
  return write(a - b, scale);
}

// `count` hundredths of it, exactly.
export function hundredths(text: string, count: number): string {
  const { units, scale } = parse(text) ?? { units: 0n, scale: 0 };
  return write(units * BigInt(count), scale + 2);
}

// part / whole as a number, for widths and positions; 0 when the whole is 0.
export function ratio(part: string, whole: string): number {
  const [a, b] = aligned(part, whole);
  if (b === 0n) return 0;
  return Number((a * 1_000_000_000n) / b) / 1e9;
}

// For charts alone.
export function toNumber(text: string): number {
  return parse(text) === undefined ? 0 : Number(text);
}

export type Rounding = "nearest" | "up" | "down";

// At most `digits` significant digits; the same text where it has no more. Rounded half away from zero, or
// up, or down. Amounts that are written with an exponent keep it.
export function shorten(text: string, digits = 4, rounding: Rounding = "nearest"): string {
  const value = parse(text);
  if (value === undefined) return text;
  if (/[eE]/.test(text) && text.replace(/[eE].*$/, "").replace(/[^\d]/g, "").length <= digits) return text;
  const negative = value.units < 0n;
  const all = (negative ? -value.units : value.units).toString();
  const drop = Math.min(all.length - digits, value.scale);
  if (drop <= 0) return write(value.units, value.scale);
  const step = 10n ** BigInt(drop);
  const size = negative ? -value.units : value.units;
  const awayFromZero = rounding === (negative ? "down" : "up");
  const rounded = (size + (rounding === "nearest" ? step / 2n : awayFromZero ? step - 1n : 0n)) / step;
  return write(negative ? -rounded : rounded, value.scale - drop);
}

// "38 %", "0.4 %", "< 0.1 %": a share of a limit.
export function percent(share: number): string {
  if (share <= 0) return "0\u00a0%";
  if (share >= 1) return "100\u00a0%";
  const value = share * 100;
  if (value < 0.1) return "< 0.1\u00a0%";
  if (value < 10) return `${Math.round(value * 10) / 10}\u00a0%`;
  if (value > 99 && value < 100) return `${Math.floor(value * 10) / 10}\u00a0%`;
  return `${Math.round(value)}\u00a0%`;
}
