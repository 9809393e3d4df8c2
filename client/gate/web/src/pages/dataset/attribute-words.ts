import type { Attribute, Constraint, Measure } from "../../api/types.ts";
import { dateWords } from "../../dates.ts";
import { exactText, roundedText } from "../../numbers.ts";

const MOST_CATEGORIES = 8;

function valueWords({ categorical, integer, numeric, coded, date }: Attribute): string {
  if (categorical) {
    const all =
      categorical.catch_all === undefined
        ? categorical.values
        : [...categorical.values, categorical.catch_all];
    const more = all.length > MOST_CATEGORIES ? ` and ${all.length - MOST_CATEGORIES} more` : "";
    const kind = categorical.ordered === true ? "ordered categories" : "categories";
    return `${kind}: ${all.slice(0, MOST_CATEGORIES).join(", ")}${more}`;
  }
  if (integer) {
    const width = integer.bin_width ?? "1";
    return `integer from ${integer.min} to ${integer.max}${width === "1" ? "" : ` by ${width}`}`;
  }
  if (numeric) {
    const low = numeric.edges[0] ?? numeric.min ?? 0;
    const high = numeric.edges[numeric.edges.length - 1] ?? numeric.max ?? 0;
    return `number from ${roundedText(low)} to ${roundedText(high)}`;
  }
  if (date) return dateWords(date);
  return `code from 0 to ${Number(coded?.size ?? 1) - 1}`;
}

const MOST_PAIRS = 4;

// "start ≤ end", "city, state: Bonn, NRW; Ulm, BW and 40 more pairs"
export function constraintWords({ order, allowed_pairs }: Constraint): string {
  if (order) return `${order.lower} ${order.strict ? "<" : "≤"} ${order.upper}`;
  const { attributes, pairs } = allowed_pairs ?? { attributes: [], pairs: [] };
  const shown = pairs.slice(0, MOST_PAIRS).map((pair) => pair.values.join(", "));
  const rest = pairs.length - shown.length;
  const more = rest > 0 ? ` and ${rest} more ${rest === 1 ? "pair" : "pairs"}` : "";
  return `${attributes.join(", ")}: ${shown.join("; ")}${more}`;
}

// "0 to 200000 by 100"
export function measureWords({ low, high, resolution }: Measure): string {
  return `${exactText(low)} to ${exactText(high)} by ${exactText(resolution)}`;
}

// "categories: female, male", "integer from 18 to 97 by 10, or missing: unknown"
export function attributeWords(attribute: Attribute): string {
  const bin = attribute.missing?.bin;
  return bin === undefined ? valueWords(attribute) : `${valueWords(attribute)}, or missing: ${bin}`;
}
