// Statistics that the page can ask, as a workload of the protocol.
import { binsOf } from "../../answer.ts";
import type { Attribute, Schema, Statistic, StatisticForecast, Workload } from "../../api/types.ts";
import { grouped, roundedText } from "../../numbers.ts";
import { boundsText } from "../../statistics.ts";
import { readWhere } from "../../where.ts";

export type StatisticKind = "sum" | "mean" | "variance" | "median";
export const STATISTIC_KINDS: StatisticKind[] = ["sum", "mean", "variance", "median"];

// What is asked of one column.
export interface ColumnChoice {
  kinds: StatisticKind[];
  // As it is typed: "0.25, 0.75".
  quantiles: string;
}

export interface StatisticsChoice {
  count: boolean;
  units: boolean;
  columns: Record<string, ColumnChoice>;
  by: string[];
  // Conditions as they are typed; of all records when empty.
  where: string;
}

export const NO_STATISTICS: StatisticsChoice = { count: false, units: false, columns: {}, by: [], where: "" };

export interface StatisticColumn {
  name: string;
  // In words, behind the name.
  words: string;
  // Only quantiles can be asked of it.
  onlyQuantiles: boolean;
}

function columnOf(attribute: Attribute): StatisticColumn | undefined {
  const { name, integer, numeric } = attribute;
  if (numeric) return { name, words: "numbers in bins", onlyQuantiles: true };
  if (!integer) return undefined;
  const hasNumbers = BigInt(integer.bin_width ?? "1") === 1n;
  return { name, words: hasNumbers ? "whole numbers" : "whole numbers in bins", onlyQuantiles: !hasNumbers };
}

// What statistics can be of: the measures, and attributes with numbers.
export function columnsFor(schema: Schema | undefined): StatisticColumn[] {
  const measures = (schema?.measures ?? []).map((measure): StatisticColumn => ({
    name: measure.name,
    words: boundsText(measure),
    onlyQuantiles: false,
  }));
  const taken = new Set(measures.map(({ name }) => name));
  const others = (schema?.attributes ?? [])
    .map(columnOf)
    .filter((column): column is StatisticColumn => column !== undefined && !taken.has(column.name));
  return [...measures, ...others];
}

const SHARE = /^0?\.(?=\d*[1-9])\d{1,3}$/;

// The shares of a typed list; none where one of them is no decimal between 0 and 1.
export function sharesOf(text: string): string[] | undefined {
  const parts = text
    .split(/[\s,;]+/)
    .filter((part) => part !== "")
    .map((part) => (part.startsWith(".") ? `0${part}` : part));
  return parts.every((part) => SHARE.test(part)) ? [...new Set(parts)] : undefined;
}

function statisticsOf(name: string, { kinds, quantiles }: ColumnChoice): Statistic[] {
  const at = sharesOf(quantiles) ?? [];
  return [
    ...STATISTIC_KINDS.filter((kind) => kinds.includes(kind)).map((kind): Statistic => ({ [kind]: name })),
    ...(at.length > 0 ? [{ quantiles: { of: name, at } }] : []),
  ];
}

// In the order of the page. Undefined where nothing is asked, or what is typed cannot be read.
export function workloadOfStatistics(
  choice: StatisticsChoice,
  schema: Schema | undefined,
): Workload | undefined {
  const columns = columnsFor(schema).flatMap(({ name }) => {
    const column = choice.columns[name];
    return column ? [{ name, column }] : [];
  });
  if (columns.some(({ column }) => sharesOf(column.quantiles) === undefined)) return undefined;
  const statistics: Statistic[] = [
    ...(choice.count ? [{ count: {} }] : []),
    ...columns.flatMap(({ name, column }) => statisticsOf(name, column)),
    ...(choice.units ? [{ distinct_units: {} }] : []),
  ];
  if (statistics.length === 0) return undefined;
  const { predicate, problem } = readWhere(choice.where, schema?.attributes ?? []);
  if (problem) return undefined;
  const asked = { statistics, by: choice.by, ...(predicate ? { where: predicate } : {}) };
  return { query_sets: [{ statistics: asked }] };
}

// Whether one person or group can have several records, so that counting them is another question.
export function hasUnits(schema: Schema | undefined): boolean {
  return schema?.unit?.person !== undefined || schema?.unit?.group !== undefined;
}

// How many groups there will be.
export function groupCount(by: string[], attributes: Attribute[]): number {
  return attributes
    .filter((attribute) => by.includes(attribute.name))
    .reduce((product, attribute) => product * binsOf(attribute), 1);
}

// "± 12 records", "± 2 000 000 / records in the group", "± 15 records in rank".
export function errorWords({ confidence_half_width: half, unit }: StatisticForecast): string {
  const number = `±\u00a0${half >= 1000 ? grouped(Math.round(half)) : roundedText(half)}`;
  if (unit === "VALUE_TIMES_RECORDS" || unit === "SQUARED_VALUE_TIMES_RECORDS")
    return `${number} / records in the group`;
  if (unit === "RANK") return `${number} records in rank`;
  return unit === "RECORDS" ? `${number} ${half === 1 ? "record" : "records"}` : number;
}
