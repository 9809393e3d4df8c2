// Statements in SQL: why one was refused, and what one means.
import { binsOf } from "./answer.ts";
import type { ApiError } from "./api/error.ts";
import type {
  Dataset,
  GroupCondition,
  Schema,
  Selection,
  Statistic,
  Statistics,
  Translation,
} from "./api/types.ts";
import { counted } from "./numbers.ts";
import { boundsText, clippedText } from "./statistics.ts";
import { whereText } from "./where-text.ts";

export interface SqlProblem {
  words: string;
  // The line with a mark below the place; empty where the statement as a whole is wrong.
  place: string;
}

// Undefined for an error that is not one of the statement.
export function sqlProblemOf(error: ApiError): SqlProblem | undefined {
  const description = error.fields.find(({ field }) => field === "sql")?.description;
  if (description === undefined) return undefined;
  const lines = description.split("\n");
  const hasPlace = lines.length > 2 && /^\s*\^$/.test(lines.at(-1) ?? "");
  const end = hasPlace ? lines.length - 2 : lines.length;
  return { words: lines.slice(0, end).join("\n"), place: lines.slice(end).join("\n") };
}

const PLAIN_NAME = /^[a-z_][a-z0-9_]*$/;
// Words of PostgreSQL that need quotes to be the name of a column or a table.
const RESERVED =
  "all analyse analyze and any array as asc asymmetric authorization binary both case cast check " +
  "collate collation column concurrently constraint create cross current_catalog current_date " +
  "current_role current_schema current_time current_timestamp current_user default deferrable desc " +
  "distinct do else end except false fetch for foreign freeze from full grant group having ilike in " +
  "initially inner intersect into is isnull join lateral leading left like limit localtime " +
  "localtimestamp natural not notnull null offset on only or order outer overlaps placing primary " +
  "references returning right select session_user similar some symmetric system_user table " +
  "tablesample then to trailing true union unique user using variadic verbose when where window with";
const RESERVED_WORDS = new Set(RESERVED.split(" "));

function identifier(name: string): string {
  const isPlain = PLAIN_NAME.test(name) && !RESERVED_WORDS.has(name);
  return isPlain ? name : `"${name.replaceAll('"', '""')}"`;
}

// A statement that the dataset can answer.
export function exampleSql({ name, schema }: Dataset): string {
  const by = schema?.attributes[0]?.name;
  const mean = schema?.measures?.[0]?.name;
  const columns = [by && identifier(by), "COUNT(*)", mean && `AVG(${identifier(mean)})`].filter(Boolean);
  return `SELECT ${columns.join(", ")} FROM ${identifier(name)}${by ? ` GROUP BY ${identifier(by)}` : ""}`;
}

// The set of statistics that a statement is.
export function statisticsOfSql({ workload }: Pick<Translation, "workload">): Statistics | undefined {
  const sets = workload?.query_sets ?? [];
  return sets.length === 1 ? sets[0]?.statistics : undefined;
}

function ofWords(name: string, schema: Schema | undefined): string {
  const measure = schema?.measures?.find((each) => each.name === name);
  return measure ? `${name}, ${boundsText(measure)}` : name;
}

// Answer by answer: each quantile is one.
function wordsOfStatistic(statistic: Statistic, schema: Schema | undefined): string[] {
  const { count, sum, mean, variance, median, quantiles } = statistic;
  if (count) return [count.of ? `number of values of ${count.of}` : "number of records"];
  if (sum !== undefined) return [`sum of ${ofWords(sum, schema)}`];
  if (mean !== undefined) return [`mean of ${ofWords(mean, schema)}`];
  if (variance !== undefined) return [`variance of ${ofWords(variance, schema)}`];
  if (median !== undefined) return [`median of ${ofWords(median, schema)}`];
  if (quantiles) return quantiles.at.map((at) => `quantile ${at} of ${ofWords(quantiles.of, schema)}`);
  return ["number of distinct units"];
}

const SIGNS: Record<string, string> = {
  EQUAL: "=",
  NOT_EQUAL: "<>",
  LESS: "<",
  LESS_OR_EQUAL: "<=",
  GREATER: ">",
  GREATER_OR_EQUAL: ">=",
};

function havingText(
  { compare, all_of, any_of, not }: GroupCondition,
  names: string[],
  isPart = false,
): string {
  if (compare) return `${names[compare.statistic] ?? ""} ${SIGNS[compare.operator] ?? ""} ${compare.value}`;
  if (not) return `not (${havingText(not, names)})`;
  const operands = (all_of ?? any_of)?.conditions ?? [];
  const text = operands.map((each) => havingText(each, names, true)).join(all_of ? " and " : " or ");
  return isPart ? `(${text})` : text;
}

function orderText({ order_by: keys = [] }: Selection, names: string[]): string {
  return keys
    .map(({ source, descending }) => {
      if (source?.attribute !== undefined)
        return descending ? `${source.attribute}, last value first` : source.attribute;
      return `${names[source?.statistic ?? 0] ?? ""}, ${descending ? "largest" : "smallest"} first`;
    })
    .join("; then by ");
}

function limitText({ limit, offset = "0" }: Selection): string {
  const after = offset === "0" ? "" : `after the first ${counted(offset, "group")}`;
  if (limit === undefined) return after === "" ? "" : `groups ${after}`;
  return `at most ${counted(limit, "group")}${after === "" ? "" : ` ${after}`}`;
}

export interface Meaning {
  // "n: number of records"
  statistics: string[];
  groups: string;
  records: string;
  // What of the answered groups is shown; empty where it is all of them.
  shown: string[];
}

// Undefined for a workload that is not one set of statistics: no statement is.
export function meaningOf(translation: Translation, schema: Schema | undefined): Meaning | undefined {
  const asked = statisticsOfSql(translation);
  if (!asked) return undefined;
  const selection: Selection = translation.selection ?? {};
  const words = asked.statistics.flatMap((statistic) => wordsOfStatistic(statistic, schema));
  const namesOf = (position: number) =>
    (selection.columns ?? []).filter(({ source }) => source?.statistic === position).map(({ name }) => name);
  const names = words.map((each, i) => namesOf(i)[0] ?? each);
  const by = schema?.attributes.filter(({ name }) => asked.by.includes(name)) ?? [];
  const size = by.reduce((product, attribute) => product * binsOf(attribute), 1);
  const where = asked.where ? whereText(asked.where) : "";
  const { having } = selection;
  const [order, limit] = [orderText(selection, names), limitText(selection)];
  return {
    statistics: words.map((each, i) => {
      const own = namesOf(i);
      return own.length > 0 ? `${own.join(", ")}: ${each}` : `${each} (not shown)`;
    }),
    groups:
      asked.by.length === 0
        ? "one group of all these records"
        : `each ${by.length === 1 ? "value" : "combination"} of ${asked.by.join(", ")}: ` +
          `${counted(size, "group")}, also those without records`,
    records: where === "" ? "all" : where,
    shown: [
      having ? `groups with ${havingText(having, names)}` : "",
      order === "" ? "" : `by ${order}`,
      limit,
    ].filter((each) => each !== ""),
  };
}

// "income clipped to 0..200000", of the measures that the statement asks about.
export function clippedOfSql(translation: Pick<Translation, "workload">, schema: Schema): string[] {
  const asked = statisticsOfSql(translation)?.statistics ?? [];
  const names = asked.map(
    ({ sum, mean, variance, median, quantiles }) => sum ?? mean ?? variance ?? median ?? quantiles?.of,
  );
  return (schema.measures ?? []).filter(({ name }) => names.includes(name)).map(clippedText);
}
