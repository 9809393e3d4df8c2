// Statistics of groups as they are shown: rows with all that was asked for or with what a selection chooses,
// a table for each statistic, and what has to be said of the numbers.
import { groupsOf, isOfMeasure, MalformedAnswer, type AnswerTable, type Row } from "./answer.ts";
import { attributeColumn, type FileRows } from "./answer-files.ts";
import type { Measure, Selection } from "./api/types.ts";
import { levelText } from "./confidence.ts";
import type { Cell } from "./csv.ts";
import { counted, exactText, roundedText } from "./numbers.ts";

// "clipped to 0..200000".
export function boundsText({ low, high }: Measure): string {
  return `clipped to ${exactText(low)}..${exactText(high)}`;
}

// "income clipped to 0..200000".
export function clippedText(measure: Measure): string {
  return `${measure.name} ${boundsText(measure)}`;
}

// A table for each statistic, with a row for each group: of one kind of numbers, which can be compared.
export function tablesOfStatistics(table: AnswerTable): AnswerTable[] {
  const { names, groups } = groupsOf(table);
  const by = table.columns.slice(0, -1);
  return names.map((name, i) => ({
    ...table,
    name,
    title: by.length > 0 ? `${name} by ${by.join(", ")}` : name,
    columns: by,
    rows: groups.map(({ labels, answers }) => ({ ...(answers[i] as Row), labels })),
    measures: table.measures.filter((measure) => isOfMeasure(name, measure)),
  }));
}

// "51 204 [50 871, 51 537]", "42.5 [0, unbounded]", "none" for what is no number.
export function statisticText({ value, lower, upper }: Row): string {
  if (Number.isNaN(value)) return "none";
  if (lower === undefined || upper === undefined) return roundedText(value);
  const end = (number: number) => (Number.isFinite(number) ? roundedText(number) : "unbounded");
  if (!Number.isFinite(lower) && !Number.isFinite(upper)) return `${roundedText(value)} [unbounded]`;
  return `${roundedText(value)} [${end(lower)}, ${end(upper)}]`;
}

interface StatisticsColumn {
  name: string;
  isStatistic: boolean;
}

// A text of a grouping column, or the answer of a statistic.
export type StatisticsCell = string | Row;

export interface StatisticsRows {
  columns: StatisticsColumn[];
  rows: StatisticsCell[][];
  // Of the intervals; 0 where there are none.
  level: number;
}

// The position is among the attributes or the statistics of a group.
interface Taker extends StatisticsColumn {
  position: number;
}

function takersOfAll(names: string[], by: string[]): Taker[] {
  return [
    ...by.map((name, position) => ({ name: attributeColumn(name, names), position, isStatistic: false })),
    ...names.map((name, position) => ({ name, position, isStatistic: true })),
  ];
}

// A row for each group that is shown, with the columns of the selection in their order: all that was asked
// for where it has none. Throws MalformedAnswer for an answer that has other columns.
export function rowsOf(table: AnswerTable, { columns: chosen = [] }: Selection): StatisticsRows {
  const { names, groups } = groupsOf(table);
  const by = table.columns.slice(0, -1);
  const selected = chosen.map(({ name, source }): Taker => {
    const attribute = source?.attribute;
    const position = attribute === undefined ? names.indexOf(name) : by.indexOf(attribute);
    if (position < 0 && (attribute !== undefined || groups.length > 0))
      throw new MalformedAnswer(`the answer has no column ${name}`);
    return { name, position, isStatistic: attribute === undefined };
  });
  const takers = chosen.length > 0 ? selected : takersOfAll(names, by);
  return {
    columns: takers.map(({ name, isStatistic }) => ({ name, isStatistic })),
    rows: groups.map(({ labels, answers }) =>
      takers.map(
        ({ position, isStatistic }) => (isStatistic ? answers[position] : labels[position]) as StatisticsCell,
      ),
    ),
    level: table.level,
  };
}

// "12 groups, 95 % intervals".
export function groupsText({ rows, level }: StatisticsRows): string {
  return counted(rows.length, "group") + (level > 0 ? `, ${levelText(level)} intervals` : "");
}

export function cellText(cell: StatisticsCell): string {
  return typeof cell === "string" ? cell : statisticText(cell);
}

function exactOrNone(value: number | undefined): string | undefined {
  return value === undefined || Number.isNaN(value) ? undefined : exactText(value);
}

// Why a number is missing, or an interval has no end.
export function notesOf({ rows }: StatisticsRows): string[] {
  const isInfinite = (end: number | undefined) => end === Infinity || end === -Infinity;
  const answers = rows.flat().filter((cell) => typeof cell !== "string");
  const numbers = answers.filter(({ value }) => !Number.isNaN(value));
  const notes: string[] = [];
  if (numbers.length < answers.length)
    notes.push("None: the noisy number of values in the group is too small for the statistic.");
  if (numbers.some(({ lower, upper }) => isInfinite(lower) || isInfinite(upper))) {
    notes.push(
      "Unbounded: a mean or a variance of which the noisy number of values is not clear of 0, or a " +
        "quantile that was selected from the values.",
    );
  }
  return notes;
}

// For sorting: the number itself.
export function cellValue(cell: StatisticsCell): Cell {
  return typeof cell === "string" ? cell : exactOrNone(cell.value);
}

// As `curator sql --out FILE.csv` writes them: a statistic with intervals has three columns, and what is no
// number is empty.
export function statisticsCsv({ columns, rows, level }: StatisticsRows): FileRows {
  const ends = level > 0 ? ["low", "high"] : [];
  return {
    header: columns.flatMap(({ name, isStatistic }) =>
      isStatistic ? [name, ...ends.map((end) => `${name} ${end}`)] : [name],
    ),
    rows: rows.map((row) =>
      row.flatMap((cell): Cell[] => {
        if (typeof cell === "string") return [cell];
        const interval = level > 0 ? [exactOrNone(cell.lower), exactOrNone(cell.upper)] : [];
        return [exactOrNone(cell.value), ...interval];
      }),
    ),
  };
}
