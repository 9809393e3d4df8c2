// An answer, put together from the chunks of a stream, and its tables with labels: the same as the command
// line shows.
import type {
  AnswerChunk,
  AnswerHeader,
  Attribute,
  MarginalHeader,
  Measure,
  QuerySetHeader,
  Schema,
  Slice,
} from "./api/types.ts";
import { dateBinsOf, dateLabelsOf } from "./dates.ts";
import { exactText, labelText } from "./numbers.ts";

export interface Row {
  labels: string[];
  // As it was sent: counts are whole numbers of any size. Empty for a statistic that is no number.
  count: string;
  // NaN for a statistic that is no number.
  value: number;
  deviation: number | undefined;
  // Of statistics the ends may be infinite.
  lower: number | undefined;
  upper: number | undefined;
}

export interface AnswerTable {
  // "age,sex", or the class of the queries; of one statistic of a set its name.
  name: string;
  // In words, for titles.
  title: string;
  columns: string[];
  rows: Row[];
  isMarginal: boolean;
  // Group by group; the last column names the statistic.
  isStatistics: boolean;
  // Of the intervals; 0 where there are none.
  level: number;
  noise: string;
  // Its index in the request.
  querySet: number;
  // "marginals", "ranges", ...
  queryClass: string;
  // Of the columns, the first one that is an attribute: one before it has words.
  firstAttribute: number;
  // "measured", "derived" from measurements, "post-processed", or from a "model".
  method: string;
  // "laplace" or "gaussian"; empty where there is no noise of a measurement.
  mechanism: string;
  // Those that its statistics are of; their values were clipped.
  measures: Measure[];
}

export interface Answer {
  header: AnswerHeader;
  tables: AnswerTable[];
}

interface Values {
  counts: string[];
  estimates: number[];
  deviations: number[];
  halfWidths: number[];
  lows: number[];
  highs: number[];
  labels: string[];
}

interface OpenTable {
  marginal?: MarginalHeader;
  querySet?: QuerySetHeader;
  values: Values;
  expected: number;
}

export class MalformedAnswer extends Error {}

// Of a dataset whose schema the reader does not see.
export const NO_ATTRIBUTES: Schema = { attributes: [] };

function labelOfInteger(
  { min, max, bin_width = "1" }: NonNullable<Attribute["integer"]>,
  code: number,
): string {
  const [low, high, width] = [BigInt(min), BigInt(max), BigInt(bin_width)];
  const first = low + BigInt(code) * width;
  const last = first + width - 1n > high ? high : first + width - 1n;
  if (first === last) return String(first);
  return last === high ? `[${first}, ${last}]` : `[${first}, ${last + 1n})`;
}

const MOST_STEP_DIGITS = 9;

// How many digits after the point the number has.
function digitsOf(value: number): number {
  for (let digits = 0; digits < MOST_STEP_DIGITS; digits += 1) {
    if (Math.round(value * 10 ** digits) / 10 ** digits === value) return digits;
  }
  return MOST_STEP_DIGITS;
}

// Even steps are computed as the server does, in whole units of the last digit.
function edgesOf({ edges, min, max, step }: NonNullable<Attribute["numeric"]>): number[] {
  if (edges.length > 0 || min === undefined || max === undefined || !step) return edges;
  const power = 10 ** Math.max(digitsOf(min), digitsOf(max), digitsOf(step));
  const [low, high, width] = [min, max, step].map((value) => Math.round(value * power)) as [
    number,
    number,
    number,
  ];
  return Array.from({ length: Math.floor((high - low) / width) + 1 }, (_, i) => (low + i * width) / power);
}

// Of the bins without that of missing values.
function valueLabelsOf({ categorical, integer, numeric, coded, date }: Attribute): string[] {
  if (categorical) {
    return categorical.catch_all === undefined
      ? categorical.values
      : [...categorical.values, categorical.catch_all];
  }
  if (integer) {
    const width = BigInt(integer.bin_width ?? "1");
    const bins = Number((BigInt(integer.max) - BigInt(integer.min)) / width) + 1;
    return Array.from({ length: bins }, (_, code) => labelOfInteger(integer, code));
  }
  if (numeric) {
    const edges = edgesOf(numeric);
    return edges
      .slice(1)
      .map(
        (high, i) =>
          `[${labelText(edges[i] as number)}, ${labelText(high)}${i === edges.length - 2 ? "]" : ")"}`,
      );
  }
  if (date) return dateLabelsOf(date);
  return Array.from({ length: Number(coded?.size ?? 0) }, (_, code) => String(code));
}

// The labels of an attribute's bins, in their order.
export function labelsOf(attribute: Attribute): string[] {
  const missing = attribute.missing?.bin;
  return missing === undefined ? valueLabelsOf(attribute) : [...valueLabelsOf(attribute), missing];
}

function valueBinsOf({ categorical, integer, numeric, coded, date }: Attribute): number {
  if (categorical) return categorical.values.length + (categorical.catch_all === undefined ? 0 : 1);
  if (integer) {
    return Number((BigInt(integer.max) - BigInt(integer.min)) / BigInt(integer.bin_width ?? "1")) + 1;
  }
  if (numeric) return edgesOf(numeric).length - 1;
  return date ? dateBinsOf(date) : Number(coded?.size ?? 0);
}

// How many bins an attribute has, without making their labels.
export function binsOf(attribute: Attribute): number {
  return valueBinsOf(attribute) + (attribute.missing?.bin === undefined ? 0 : 1);
}

// How many of the bins prefixes and ranges run over, the first ones: all but that of missing values and, of
// ordered categories, the catch-all.
export function runSizeOf(attribute: Attribute): number {
  const { categorical } = attribute;
  const leavesOut = categorical?.ordered === true && categorical.catch_all !== undefined;
  return valueBinsOf(attribute) - (leavesOut ? 1 : 0);
}

// Intervals with ends of their own: two for each number, in order, or none as before.
function appendIntervals({ interval_lows, interval_highs }: Slice, count: number, have: number, to: Values) {
  const [lows, highs] = [(interval_lows ?? []).map(Number), (interval_highs ?? []).map(Number)];
  if (lows.length === 0 && highs.length === 0 && (to.lows.length === 0 || count === 0)) return;
  const isWhole = lows.length === count && highs.length === count && to.lows.length === have;
  if (!isWhole || !lows.every((low, i) => low <= (highs[i] as number))) {
    throw new MalformedAnswer("intervals that are not those of the numbers beside them");
  }
  for (const low of lows) to.lows.push(low);
  for (const high of highs) to.highs.push(high);
}

function appendErrors(more: number[], count: number, have: number, all: number[]): void {
  if (more.length === 0) {
    if (all.length > 0) throw new MalformedAnswer("errors that are not those of the numbers beside them");
    return;
  }
  if (all.length !== have || (more.length !== 1 && more.length !== count)) {
    throw new MalformedAnswer("errors that are not those of the numbers beside them");
  }
  for (let i = 0; i < count; i += 1) all.push((more.length === 1 ? more[0] : more[i]) as number);
}

function addSlice(open: OpenTable, slice: Slice): void {
  const { values } = open;
  const have = values.counts.length + values.estimates.length;
  const count = slice.counts.length || slice.estimates.length;
  if (Number(slice.offset) !== have || have + count > open.expected) {
    throw new MalformedAnswer("numbers do not follow each other");
  }
  for (const number of slice.counts) values.counts.push(number);
  for (const number of slice.estimates) values.estimates.push(Number(number));
  if (values.counts.length > 0 && values.estimates.length > 0) {
    throw new MalformedAnswer("counts and estimates are mixed");
  }
  appendErrors(slice.standard_deviations.map(Number), count, have, values.deviations);
  appendErrors(slice.confidence_half_widths.map(Number), count, have, values.halfWidths);
  appendIntervals(slice, count, have, values);
  for (const label of slice.labels ?? []) values.labels.push(label);
}

const STATISTICS = "statistics";
const CLASSES_WITH_WORDS = ["predicates", "thresholds", "parities"];

function mechanismOf(marginal: MarginalHeader | undefined, querySet: QuerySetHeader | undefined): string {
  const mechanism = (marginal ?? querySet)?.noise?.mechanism;
  if (mechanism === "MECHANISM_DISCRETE_LAPLACE") return "laplace";
  return mechanism === "MECHANISM_DISCRETE_GAUSSIAN" ? "gaussian" : "";
}

function methodOf(
  { marginal, querySet, values }: OpenTable,
  isProcessed: boolean,
): "measured" | "derived" | "model" | "post-processed" {
  if (isProcessed) return "post-processed";
  if (querySet?.query_class === STATISTICS) return "derived";
  if (!(marginal ?? querySet)?.noise) return values.halfWidths.length > 0 ? "derived" : "model";
  return marginal || querySet?.strategy === "STRATEGY_DIRECT" ? "measured" : "derived";
}

function noiseWords(marginal: MarginalHeader | undefined, querySet: QuerySetHeader | undefined): string {
  const mechanism = (marginal ?? querySet)?.noise?.mechanism;
  if (mechanism === "MECHANISM_DISCRETE_LAPLACE") return "Laplace noise";
  return mechanism === "MECHANISM_DISCRETE_GAUSSIAN" ? "Gaussian noise" : "";
}

function marginalLabels(header: MarginalHeader, schema: Schema): (row: number) => string[] {
  const axes = header.attributes.map((name, i) => {
    const attribute = schema.attributes.find((candidate) => candidate.name === name);
    const labels = attribute ? labelsOf(attribute) : [];
    if (labels.length !== Number(header.sizes[i])) {
      throw new MalformedAnswer(`the answer's attribute ${name} is not the schema's`);
    }
    return labels;
  });
  return (row) => {
    const labels: string[] = [];
    let rest = row;
    for (let axis = axes.length - 1; axis >= 0; axis -= 1) {
      const of = axes[axis] as string[];
      labels.unshift(of[rest % of.length] as string);
      rest = Math.floor(rest / of.length);
    }
    return labels;
  };
}

function textOrNone(value: number): string {
  return Number.isNaN(value) ? "" : exactText(value);
}

function titleOf(marginal: MarginalHeader | undefined, querySet: QuerySetHeader | undefined): string {
  if (marginal) return marginal.attributes.join(" × ") || "number of records";
  const { query_class: queryClass = "", columns = [] } = querySet ?? {};
  if (queryClass !== STATISTICS) return `${queryClass} ${columns.join(", ")}`.trim();
  return columns.length > 1 ? `statistics by ${columns.slice(0, -1).join(", ")}` : STATISTICS;
}

function isSameGroup(one: Row, other: Row): boolean {
  return one.labels.slice(0, -1).every((label, i) => label === other.labels[i]);
}

// How many statistics each group has.
function statisticsOf(rows: Row[]): number {
  const [first] = rows;
  if (!first) return 0;
  const next = rows.findIndex((row) => !isSameGroup(row, first));
  return next < 0 ? rows.length : next;
}

// Each group has the same statistics, in the same order.
function checkGroups(columns: string[], rows: Row[]): void {
  const each = statisticsOf(rows);
  const fits = (row: Row, i: number) =>
    isSameGroup(row, rows[i - (i % each)] as Row) && row.labels.at(-1) === rows[i % each]?.labels.at(-1);
  if (columns.length === 0 || (each > 0 && rows.length % each !== 0) || !rows.every(fits)) {
    throw new MalformedAnswer("a group has other statistics than the first one");
  }
}

export interface Group {
  labels: string[];
  answers: Row[];
}

// The groups of a table of statistics, and the names of the statistics of each.
export function groupsOf({ rows }: AnswerTable): { names: string[]; groups: Group[] } {
  const each = statisticsOf(rows);
  const names = rows.slice(0, each).map((row) => row.labels.at(-1) ?? "");
  const groups = Array.from({ length: each === 0 ? 0 : rows.length / each }, (_, i): Group => {
    const answers = rows.slice(i * each, (i + 1) * each);
    return { labels: answers[0]?.labels.slice(0, -1) ?? [], answers };
  });
  return { names, groups };
}

// Whether a statistic of this name is of the measure: "mean(income)", "quantile(income, 0.25)".
export function isOfMeasure(statistic: string, { name }: Measure): boolean {
  const inner = statistic.slice(statistic.indexOf("(") + 1);
  return inner !== statistic && (inner.startsWith(`${name})`) || inner.startsWith(`${name}, `));
}

function measuresOf(rows: Row[], schema: Schema): Measure[] {
  const names = rows.slice(0, statisticsOf(rows)).map(({ labels }) => labels.at(-1) ?? "");
  return (schema.measures ?? []).filter((measure) => names.some((name) => isOfMeasure(name, measure)));
}

// The last attribute varies fastest.
function tableOf(open: OpenTable, header: AnswerHeader, schema: Schema): AnswerTable {
  const { marginal, querySet, values } = open;
  const size = values.counts.length + values.estimates.length;
  if (size !== open.expected) throw new MalformedAnswer(`${size} of ${open.expected} numbers have come`);
  const noise = marginal?.noise;
  const isProcessed = header.post_processing !== "";
  const isStatistics = querySet?.query_class === STATISTICS;
  const hasWidths = values.halfWidths.length > 0 || values.lows.length > 0;
  const hasIntervals = isProcessed
    ? values.lows.length > 0 && !isStatistics
    : hasWidths || noise !== undefined;
  const level = hasIntervals ? (noise?.confidence_level ?? header.confidence_level) : 0;
  const columns = marginal?.attributes ?? querySet?.columns ?? [];
  const ofMarginal = marginal ? marginalLabels(marginal, schema) : undefined;
  const rows = Array.from({ length: size }, (_, i): Row => {
    const estimate = values.estimates[i];
    const value = estimate ?? Number(values.counts[i]);
    const low = level === 0 ? undefined : values.lows[i];
    const high = level === 0 ? undefined : values.highs[i];
    const half =
      level === 0 || isProcessed ? undefined : (values.halfWidths[i] ?? noise?.confidence_half_width);
    const deviation =
      isProcessed || Number.isNaN(values.deviations[i])
        ? undefined
        : (values.deviations[i] ?? (level !== 0 ? noise?.standard_deviation : undefined));
    return {
      labels: ofMarginal ? ofMarginal(i) : values.labels.slice(i * columns.length, (i + 1) * columns.length),
      count: estimate === undefined ? (values.counts[i] as string) : textOrNone(estimate),
      value,
      deviation,
      lower: low ?? (half === undefined ? undefined : value - half),
      upper: high ?? (half === undefined ? undefined : value + half),
    };
  });
  if (isStatistics) checkGroups(columns, rows);
  return {
    name: marginal ? columns.join(",") : (querySet?.query_class ?? ""),
    title: titleOf(marginal, querySet),
    columns,
    rows,
    isMarginal: marginal !== undefined,
    isStatistics,
    level,
    noise: noiseWords(marginal, querySet),
    querySet: (marginal ?? querySet)?.query_set ?? 0,
    queryClass: marginal ? "marginals" : (querySet?.query_class ?? ""),
    firstAttribute: querySet && CLASSES_WITH_WORDS.includes(querySet.query_class) ? 1 : 0,
    method: methodOf(open, isProcessed),
    mechanism: mechanismOf(marginal, querySet),
    measures: isStatistics ? measuresOf(rows, schema) : [],
  };
}

// Throws MalformedAnswer for an answer that is not whole: a part of one is never shown.
export function assemble(chunks: AnswerChunk[], schema: Schema): Answer {
  const header = chunks[0]?.header;
  if (!header) throw new MalformedAnswer("it does not start with its header");
  const open: OpenTable[] = [];
  const start = (table: Omit<OpenTable, "values">) => {
    open.push({
      ...table,
      values: { counts: [], estimates: [], deviations: [], halfWidths: [], lows: [], highs: [], labels: [] },
    });
  };
  for (const chunk of chunks.slice(1)) {
    const last = open[open.length - 1];
    if (chunk.marginal) {
      const expected = chunk.marginal.sizes.reduce((product, size) => product * Number(size), 1);
      start({ marginal: chunk.marginal, expected });
    } else if (chunk.query_set) {
      start({ querySet: chunk.query_set, expected: Number(chunk.query_set.answer_count) });
    } else if (chunk.cells && last?.marginal) {
      addSlice(last, chunk.cells);
    } else if (chunk.answers && last?.querySet) {
      addSlice(last, chunk.answers);
    } else {
      throw new MalformedAnswer("a part without its beginning");
    }
  }
  if (open.length !== header.marginal_count + header.query_set_count)
    throw new MalformedAnswer("parts are missing");
  return { header, tables: open.map((table) => tableOf(table, header, schema)) };
}
