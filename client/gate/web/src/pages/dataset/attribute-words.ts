import type { Attribute } from "../../api/types.ts";
import { roundedText } from "../../numbers.ts";

// "categories: female, male", "integer from 18 to 97 by 10"
export function attributeWords({ categorical, integer, numeric, coded }: Attribute): string {
  if (categorical) {
    const all = categorical.catch_all === undefined ? categorical.values : [...categorical.values, categorical.catch_all];
    return `categories: ${all.length > 8 ? `${all.slice(0, 8).join(", ")} and ${all.length - 8} more` : all.join(", ")}`;
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
  return `code from 0 to ${Number(coded?.size ?? 1) - 1}`;
}
