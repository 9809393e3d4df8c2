import type { Attribute, Measure } from "../../api/types.ts";
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

// "0 to 200000 by 100"
export function measureWords({ low, high, resolution }: Measure): string {
  return `${exactText(low)} to ${exactText(high)} by ${exactText(resolution)}`;
}

// "categories: female, male", "integer from 18 to 97 by 10, or missing: unknown"
export function attributeWords(attribute: Attribute): string {
  const bin = attribute.missing?.bin;
  return bin === undefined ? valueWords(attribute) : `${valueWords(attribute)}, or missing: ${bin}`;
}
