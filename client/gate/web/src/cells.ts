// The order of what is in the cells of a table.
import type { Cell } from "./csv.ts";
import { compare, isDecimal } from "./decimal.ts";

const TIME = /^\d{4}-\d\d-\d\dT/;

export function isTime(cell: Cell): boolean {
  return TIME.test(String(cell ?? ""));
}

// Numbers, exact decimals and times by size, everything else by alphabet.
export function compareCells(left: Cell, right: Cell): number {
  if (typeof left === "number" && typeof right === "number") return left - right;
  const [a, b] = [String(left ?? ""), String(right ?? "")];
  if (isDecimal(a) && isDecimal(b)) return compare(a, b);
  if (TIME.test(a) && TIME.test(b)) return Date.parse(a) - Date.parse(b);
  return a.localeCompare(b, "en", { numeric: true });
}
