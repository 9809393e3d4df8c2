// Numbers as the command line writes them, so that a figure of the page can be compared with its CSV to the
// last digit.

const MOST_EXACT = 2 ** 53;

function significantDigits(value: number): { digits: string; exponent: number } {
  const [mantissa = "0", exponent = "0"] = Math.abs(value).toExponential().split("e");
  return { digits: mantissa.replace(".", ""), exponent: Number(exponent) };
}

function fixed(digits: string, exponent: number): string {
  if (exponent < 0) return `0.${"0".repeat(-exponent - 1)}${digits}`;
  if (digits.length <= exponent + 1) return digits.padEnd(exponent + 1, "0");
  return `${digits.slice(0, exponent + 1)}.${digits.slice(exponent + 1)}`;
}

function scientific(digits: string, exponent: number): string {
  const size = String(Math.abs(exponent)).padStart(2, "0");
  const mantissa = digits.length > 1 ? `${digits[0]}.${digits.slice(1)}` : digits;
  return `${mantissa}e${exponent < 0 ? "-" : "+"}${size}`;
}

function plainText(value: number): string {
  const size = Math.abs(value);
  if (Number.isInteger(size) && size > MOST_EXACT) return BigInt(size).toString();
  const { digits, exponent } = significantDigits(value);
  return fixed(digits, exponent);
}

// The shortest text that reads as this number; of the two notations the shorter one, as std::to_chars of C++
// has it.
function shortestText(value: number): string {
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
  const { digits, exponent } = significantDigits(value);
  const plain = plainText(value);
  const short = scientific(digits, exponent);
  return (value < 0 ? "-" : "") + (plain.length <= short.length ? plain : short);
}

// A number in the labels of numeric attributes: with an exponent only beyond 2^53 and below 10^-6.
export function labelText(value: number): string {
  const size = Math.abs(value);
  const isPlain = size === 0 || (size >= 1e-6 && size <= MOST_EXACT);
  return isPlain ? (value < 0 ? "-" : "") + plainText(value) : shortestText(value);
}

// All digits, as in CSV files: whole numbers up to 2^53 without an exponent.
export function exactText(value: number): string {
  if (Math.floor(value) === value && Math.abs(value) <= MOST_EXACT) return String(value === 0 ? 0 : value);
  return shortestText(value);
}

// About four digits, for reading.
export function roundedText(value: number): string {
  if (!Number.isFinite(value)) return exactText(value);
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1000 && size < 1e15) return grouped(Math.round(value));
  if (size >= 1e15 || size < 1e-5) return exactText(Number(value.toPrecision(4)));
  return String(Number(value.toPrecision(4)));
}

// "30 000": with narrow spaces, which neither language mistakes for a decimal point.
export function grouped(value: number | bigint | string): string {
  const text = String(value);
  const parts = /^(-?)(\d+)(.*)$/.exec(text);
  if (!parts) return text;
  const [, sign = "", whole = "", rest = ""] = parts;
  return sign + (whole.length > 4 ? whole.replace(/\B(?=(\d{3})+$)/g, "\u202f") : whole) + rest;
}

// "8.8 KiB", "120 MiB": two significant digits of the fraction, and all of the whole.
export function bytesText(size: number): string {
  if (size < 1024) return `${size} bytes`;
  const short = (value: number) => roundedText(value < 10 ? Number(value.toPrecision(2)) : Math.round(value));
  if (size < 1024 ** 2) return `${short(size / 1024)} KiB`;
  if (size < 1024 ** 3) return `${short(size / 1024 ** 2)} MiB`;
  return `${short(size / 1024 ** 3)} GiB`;
}

// "1 charge", "2 charges".
export function counted(count: number | string | bigint, one: string, many = `${one}s`): string {
  return `${grouped(count)} ${String(count) === "1" ? one : many}`;
}
