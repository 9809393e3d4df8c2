// Conditions as text, in the grammar of `curator workload --where` (client/cli/syntax/where.h), as messages.
import type { Attribute, Condition, Expression, Predicate } from "./api/types.ts";

// Parentheses and "not"s inside of each other.
const DEEPEST = 16;
const LONGEST_BYTES = 1 << 16;
// Words that need quotes to be a name or a value.
const RESERVED = ["and", "in", "of", "each"];
const SIGNS = ["=", "!=", "<>", "<", "<=", ">", ">="];

// What is wrong with a text, and at which character.
export class WhereProblem extends Error {
  readonly position: number;

  constructor(what: string, position: number) {
    super(what);
    this.position = position;
  }
}

interface Token {
  kind: "word" | "quoted" | "sign" | "end";
  text: string;
  position: number;
}

type UpperEnd = "included" | "excluded" | undefined;

// A condition as it was written; a message does not say how the upper end of an interval was.
interface Written {
  condition: Condition;
  upper: UpperEnd;
  position: number;
}

type Tree = { leaf: Written } | { not: Tree } | { allOf: Tree[] } | { anyOf: Tree[] };

const TOKEN =
  /[ \t\n\r]*(?:(?<quoted>'(?:[^'\\]|\\[^])*'|"(?:[^"\\]|\\[^])*")|(?<word>[0-9A-Za-z_\-+.:/&%\u0080-\uffff]+)|(?<sign><=|>=|<>|!=|[[\](){},=<>])|(?<end>$))/dy;

function tokenAt(text: string, start: number): { token: Token; next: number } {
  TOKEN.lastIndex = start;
  const found = TOKEN.exec(text);
  if (!found) {
    const position = start + (/^[ \t\n\r]*/.exec(text.slice(start))?.[0].length ?? 0);
    const isQuote = text[position] === "'" || text[position] === '"';
    throw new WhereProblem(
      isQuote ? "this quote is not closed" : "this character needs quotes around the text that it is part of",
      position,
    );
  }
  const groups = found.groups ?? {};
  const kind = (["quoted", "word", "sign", "end"] as const).find((name) => groups[name] !== undefined) ?? "end";
  const position = found.indices?.groups?.[kind]?.[0] ?? start;
  const whole = groups[kind] ?? "";
  const own = kind === "quoted" ? whole.slice(1, -1).replace(/\\([^])/g, "$1") : whole;
  return { token: { kind, text: own, position }, next: TOKEN.lastIndex };
}

// Takes one token after the other; the first problem ends everything.
class Reader {
  token: Token;
  private next: number;

  constructor(private readonly text: string) {
    if (new TextEncoder().encode(text).length > LONGEST_BYTES)
      throw new WhereProblem(`conditions are limited to ${LONGEST_BYTES} bytes`, 0);
    ({ token: this.token, next: this.next } = tokenAt(text, 0));
  }

  advance() {
    ({ token: this.token, next: this.next } = tokenAt(this.text, this.next));
  }

  fail(what: string): never {
    throw new WhereProblem(what, this.token.position);
  }

  isSign(sign: string): boolean {
    return this.token.kind === "sign" && this.token.text === sign;
  }

  takeSign(sign: string): boolean {
    const isIt = this.isSign(sign);
    if (isIt) this.advance();
    return isIt;
  }

  expectSign(sign: string, after: string) {
    if (!this.takeSign(sign)) this.fail(`expected '${sign}' ${after}`);
  }

  // A word that joins or compares, in any case. No name or value is in its place.
  isKeyword(word: string): boolean {
    return this.token.kind === "word" && this.token.text.toLowerCase() === word;
  }

  takeKeyword(word: string): boolean {
    const isIt = this.isKeyword(word);
    if (isIt) this.advance();
    return isIt;
  }

  isComparison(): boolean {
    return this.token.kind === "sign" && SIGNS.includes(this.token.text);
  }

  // Whether "not" negates what follows, and is no attribute of this name.
  isNegation(): boolean {
    if (!this.isKeyword("not")) return false;
    const { token } = tokenAt(this.text, this.next);
    if (token.kind === "sign") return !SIGNS.includes(token.text);
    return !(token.kind === "word" && token.text === "in");
  }

  value(what: string): string {
    const { kind, text } = this.token;
    if (kind === "word" && RESERVED.includes(text))
      this.fail(`expected ${what}; the word ${text} needs quotes to be one`);
    if (kind !== "word" && kind !== "quoted") this.fail(`expected ${what}`);
    this.advance();
    return text;
  }
}

function readList(reader: Reader, close: string): string[] {
  const values = [reader.value("a value")];
  while (reader.takeSign(",")) values.push(reader.value("a value"));
  reader.expectSign(close, "or ',' after a value of the list");
  return values;
}

type Kind = Omit<Condition, "attribute">;

function readInterval(reader: Reader): { kind: Kind; upper: UpperEnd } {
  const from = reader.isSign(",") ? {} : { from: reader.value("the lower end or ','") };
  reader.expectSign(",", "between the ends of the interval");
  if (reader.takeSign("]") || reader.takeSign(")")) return { kind: { between: from }, upper: undefined };
  const to = reader.value("the upper end or ']'");
  const upper = reader.takeSign(")") ? "excluded" : "included";
  if (upper === "included") reader.expectSign("]", "or ')' after the interval");
  return { kind: { between: { ...from, to } }, upper };
}

function readIn(reader: Reader): { kind: Kind; upper: UpperEnd } {
  if (reader.takeSign("[")) return readInterval(reader);
  if (reader.takeSign("{")) return { kind: { in: readList(reader, "}") }, upper: undefined };
  if (reader.takeSign("(")) return { kind: { in: readList(reader, ")") }, upper: undefined };
  reader.fail("expected '[' with an interval or '{' or '(' with a list after 'in'");
}

function readBetween(reader: Reader): { kind: Kind; upper: UpperEnd } {
  const from = reader.value("the lower end after 'between'");
  if (!reader.takeKeyword("and")) reader.fail("expected 'and' between the ends of the interval");
  return { kind: { between: { from, to: reader.value("the upper end") } }, upper: "included" };
}

// Lists and intervals where these say it, as the command line sends them.
function readComparison(reader: Reader): { kind: Kind; upper: UpperEnd } {
  const sign = reader.token.text;
  reader.advance();
  const value = reader.value(`a value after '${sign}'`);
  if (sign === "=") return { kind: { in: [value] }, upper: undefined };
  if (sign === ">=") return { kind: { between: { from: value } }, upper: undefined };
  if (sign === "<=" || sign === "<")
    return { kind: { between: { to: value } }, upper: sign === "<" ? "excluded" : "included" };
  return {
    kind: { compare: { operator: sign === ">" ? "GREATER" : "NOT_EQUAL", value } },
    upper: undefined,
  };
}

function readIsMissing(reader: Reader): boolean {
  const isNegated = reader.takeKeyword("not");
  if (!reader.takeKeyword("missing"))
    reader.fail(
      isNegated ? "expected 'missing' after 'is not'" : "expected 'missing' or 'not missing' after 'is'",
    );
  return isNegated;
}

function readCondition(reader: Reader): Tree {
  const { position } = reader.token;
  const attribute = reader.value("an attribute");
  const tree = ({ kind, upper }: { kind: Kind; upper: UpperEnd }, isNegated: boolean): Tree => {
    const leaf = { leaf: { condition: { attribute, ...kind }, upper, position } };
    return isNegated ? { not: leaf } : leaf;
  };
  if (reader.isComparison()) return tree(readComparison(reader), false);
  if (reader.takeKeyword("is"))
    return tree({ kind: { is_missing: true }, upper: undefined }, readIsMissing(reader));
  const isNegated = reader.takeKeyword("not");
  if (reader.takeKeyword("in")) return tree(readIn(reader), isNegated);
  if (reader.takeKeyword("between")) return tree(readBetween(reader), isNegated);
  if (isNegated) reader.fail("expected 'in' or 'between' after 'not'");
  reader.fail(
    `expected 'in', 'between', 'is', '=', '!=', '<', '<=', '>' or '>=' after the attribute ${attribute} (a text with blanks needs quotes)`,
  );
}

function readAny(reader: Reader, nested: number): Tree {
  const operands = [readAll(reader, nested)];
  while (reader.takeKeyword("or")) operands.push(readAll(reader, nested));
  const [first] = operands;
  if (first && operands.length === 1) return first;
  // Parentheses that do not matter leave no level.
  return { anyOf: operands.flatMap((each) => ("anyOf" in each ? each.anyOf : [each])) };
}

function readAll(reader: Reader, nested: number): Tree {
  const operands = [readOne(reader, nested)];
  while (reader.takeKeyword("and")) operands.push(readOne(reader, nested));
  const [first] = operands;
  if (first && operands.length === 1) return first;
  return { allOf: operands.flatMap((each) => ("allOf" in each ? each.allOf : [each])) };
}

function readOne(reader: Reader, nested: number): Tree {
  const isNot = reader.isNegation();
  if (!isNot && !reader.isSign("(")) return readCondition(reader);
  if (nested === DEEPEST)
    reader.fail(`this is inside of ${DEEPEST} parentheses and 'not's, and cannot be inside of more`);
  reader.advance();
  if (isNot) return { not: readOne(reader, nested + 1) };
  const read = readAny(reader, nested + 1);
  reader.expectSign(")", "or 'and' or 'or' after a condition (a text with blanks needs quotes)");
  return read;
}

function isLargestEdge(attribute: Attribute, text: string): boolean {
  const { edges = [], max } = attribute.numeric ?? { edges: [] };
  const largest = edges.at(-1) ?? max;
  return text.trim() !== "" && Number(text) === largest;
}

// The time at which an interval of dates ends before this day, time or bin; none where it is none of these.
function excludedTime(text: string): string | undefined {
  const found = /^(\d{4}-\d\d-\d\d)(?:[Tt ](\d\d:\d\d)(:\d\d)?)?$/.exec(text.trim());
  if (found) return `${found[1] ?? ""}T${found[2] ?? "00:00"}${found[3] ?? ":00"}`;
  return undefined;
}

function withEndOfDates({ condition, upper, position }: Written): Condition {
  const to = condition.between?.to ?? "";
  const isTime = /\d[Tt ]\d/.test(to);
  if (upper === "included") {
    if (!isTime) return condition;
    throw new WhereProblem(
      `the condition on ${condition.attribute}: its bins end before a time: write '${to})' or '< ${to}', or the last day that is meant`,
      position,
    );
  }
  const time = excludedTime(to);
  if (time) return { ...condition, between: { ...condition.between, to: time } };
  // A bin: the server knows where it begins.
  if (condition.between?.from === undefined)
    return { attribute: condition.attribute, compare: { operator: "LESS", value: to } };
  throw new WhereProblem(
    `the condition on ${condition.attribute}: "${to}" is no day such as 2019-03-31 and no time such as 2019-03-31T12:00:00`,
    position,
  );
}

// As a request has it, where it is not recorded how an upper end was written. Unknown attributes are left to
// the server, which suggests similar names.
function checked(written: Written, attributes: Attribute[]): Condition {
  const { condition, upper, position } = written;
  const attribute = attributes.find(({ name }) => name === condition.attribute);
  if (!attribute || !upper) return condition;
  if (attribute.date) return withEndOfDates(written);
  const to = condition.between?.to ?? "";
  const isExcluded = upper === "excluded";
  const isOrdered = attribute.integer !== undefined || attribute.categorical?.ordered === true;
  if (isExcluded && isOrdered && condition.between?.from === undefined)
    return { attribute: condition.attribute, compare: { operator: "LESS", value: to } };
  if (!attribute.numeric && isExcluded)
    throw new WhereProblem(
      `the condition on ${condition.attribute}: its values are counted one by one, so the last one that is meant ends the interval: write ']' or '<=' with the one before ${to}`,
      position,
    );
  if (attribute.numeric && !isExcluded && !isLargestEdge(attribute, to))
    throw new WhereProblem(
      `the condition on ${condition.attribute}: its bins end before their upper edge: write '${to})' or '< ${to}'`,
      position,
    );
  return condition;
}

function expressionOf(tree: Tree, attributes: Attribute[]): Expression {
  if ("leaf" in tree) return { condition: checked(tree.leaf, attributes) };
  if ("not" in tree) return { not: expressionOf(tree.not, attributes) };
  const expressions = (operands: Tree[]) => ({
    expressions: operands.map((each) => expressionOf(each, attributes)),
  });
  return "allOf" in tree ? { all_of: expressions(tree.allOf) } : { any_of: expressions(tree.anyOf) };
}

// The conditions of a text. Throws a WhereProblem. A list where they are joined by "and" alone, as the command
// line sends it.
export function parseWhere(text: string, attributes: Attribute[] = []): Predicate {
  const reader = new Reader(text);
  const tree = readAny(reader, 0);
  if (reader.token.kind !== "end")
    reader.fail("expected 'and', 'or' or the end (a text with blanks needs quotes)");
  const operands = "allOf" in tree ? tree.allOf : [tree];
  const list = operands.flatMap((each) => ("leaf" in each ? [checked(each.leaf, attributes)] : []));
  return list.length === operands.length ? { all_of: list } : { expression: expressionOf(tree, attributes) };
}

export interface ReadWhere {
  // None of an empty text, and where there is a problem.
  predicate?: Predicate;
  problem?: WhereProblem;
}

// Of a text that is being written; blanks alone are no condition.
export function readWhere(text: string, attributes: Attribute[]): ReadWhere {
  if (text.trim() === "") return {};
  try {
    return { predicate: parseWhere(text, attributes) };
  } catch (problem) {
    if (problem instanceof WhereProblem) return { problem };
    throw problem;
  }
}

// The attributes that a text has conditions on, in the order of their names.
export function attributesOf(predicate: Predicate): string[] {
  const names = new Set<string>();
  const visit = (expression: Expression) => {
    if (expression.condition) names.add(expression.condition.attribute);
    if (expression.not) visit(expression.not);
    for (const each of [expression.all_of, expression.any_of]) each?.expressions.forEach(visit);
  };
  predicate.all_of?.forEach(({ attribute }) => names.add(attribute));
  if (predicate.expression) visit(predicate.expression);
  return [...names].sort();
}
