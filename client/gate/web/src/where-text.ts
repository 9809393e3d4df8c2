// Conditions of a message as text, in the grammar that where.ts reads.
import type { Condition, Expression, Predicate } from "./api/types.ts";

const WORD = /^[0-9A-Za-z_\-+.:/&%\u0080-\uffff]+$/;
const KEYWORDS = ["and", "or", "not", "in", "is", "of", "each", "between", "missing"];
const SIGNS = {
  EQUAL: "=",
  NOT_EQUAL: "!=",
  LESS: "<",
  LESS_OR_EQUAL: "<=",
  GREATER: ">",
  GREATER_OR_EQUAL: ">=",
};

// Values of messages may be numbers.
function quoted(value: unknown): string {
  const text = String(value);
  const isPlain = WORD.test(text) && !KEYWORDS.includes(text.toLowerCase());
  return isPlain ? text : `"${text.replace(/["\\]/g, "\\$&")}"`;
}

function conditionText({ attribute, in: values = [], between, compare, is_missing }: Condition): string {
  const name = quoted(attribute);
  if (compare) return `${name} ${SIGNS[compare.operator]} ${quoted(compare.value)}`;
  if (is_missing) return `${name} is missing`;
  if (!between) return `${name} in {${values.map(quoted).join(", ")}}`;
  const { from, to } = between;
  if (from !== undefined && to !== undefined) return `${name} in [${quoted(from)}, ${quoted(to)}]`;
  return from !== undefined ? `${name} >= ${quoted(from)}` : `${name} <= ${quoted(to)}`;
}

function expressionText({ condition, all_of, any_of, not }: Expression, isPart: boolean): string {
  if (condition) return conditionText(condition);
  if (not) return `not (${expressionText(not, false)})`;
  const operands = (all_of ?? any_of)?.expressions ?? [];
  const text = operands.map((each) => expressionText(each, true)).join(all_of ? " and " : " or ");
  return isPart ? `(${text})` : text;
}

// Empty where it holds for every record.
export function whereText({ all_of: conditions = [], expression }: Predicate): string {
  return expression ? expressionText(expression, false) : conditions.map(conditionText).join(" and ");
}
