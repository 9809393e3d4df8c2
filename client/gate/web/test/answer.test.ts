import assert from "node:assert/strict";
import { test } from "node:test";
import { type AnswerTable, assemble, binsOf, labelsOf, MalformedAnswer, runSizeOf } from "../src/answer.ts";
import { remarkOf } from "../src/answer-chart.ts";
import { answerCsv, tableCsv } from "../src/answer-files.ts";
import type { AnswerChunk, AnswerHeader, Attribute, Noise, Schema, Strategy } from "../src/api/types.ts";
import { csvOf } from "../src/csv.ts";
import { attributeWords, constraintWords } from "../src/pages/dataset/attribute-words.ts";
import { header } from "./answers.ts";

const AGE: Attribute = { name: "age", integer: { min: "18", max: "97", bin_width: "10" } };
const SEX: Attribute = {
  name: "sex",
  categorical: { values: ["female", "male"], catch_all: "other, unknown" },
};
const INCOME: Attribute = { name: "income", numeric: { edges: [0, 10000, 110000, 500000] } };
const SCHEMA: Schema = { attributes: [AGE, SEX, INCOME] };
const NOISE: Noise = {
  mechanism: "MECHANISM_DISCRETE_GAUSSIAN",
  scale: "",
  sigma_squared: "1800",
  standard_deviation: 42.42640687119285,
  expected_absolute_error: 33.8,
  confidence_half_width: 83,
  confidence_level: 0.95,
};

function slice(counts: string[], offset = "0") {
  return { offset, counts, estimates: [], standard_deviations: [], confidence_half_widths: [] };
}

const MARGINAL: AnswerChunk[] = [
  header({ marginal_count: 1 }),
  { marginal: { attributes: ["sex", "income"], sizes: ["3", "3"], noise: NOISE, query_set: 0 } },
  { cells: slice(["1", "2", "3", "4"]) },
  { cells: slice(["5", "6", "7", "8", "-9"], "4") },
];

test("labels are those of the server", () => {
  assert.deepEqual(labelsOf(AGE).slice(0, 1), ["[18, 28)"]);
  assert.deepEqual(labelsOf(AGE).slice(-1), ["[88, 97]"]);
  assert.deepEqual(labelsOf(INCOME), ["[0, 10000)", "[10000, 110000)", "[110000, 500000]"]);
  assert.deepEqual(labelsOf(SEX), ["female", "male", "other, unknown"]);
  assert.deepEqual(labelsOf({ name: "n", integer: { min: "1", max: "3" } }), ["1", "2", "3"]);
  assert.deepEqual(labelsOf({ name: "n", coded: { size: "2" } }), ["0", "1"]);
  assert.deepEqual(labelsOf({ name: "n", numeric: { edges: [], min: 0, max: 0.3, step: 0.1 } }), [
    "[0, 0.1)",
    "[0.1, 0.2)",
    "[0.2, 0.3]",
  ]);
  for (const attribute of SCHEMA.attributes) assert.equal(binsOf(attribute), labelsOf(attribute).length);
});

function dates(from: string, to: string, bins: "DAY" | "WEEK" | "MONTH" | "QUARTER" | "YEAR"): Attribute {
  return { name: "visit", date: { from, to, bins, edges: [], time_zone: "" } };
}

test("labels of dates are those of the server", () => {
  const cases: [Attribute, string[]][] = [
    [dates("2018-12-31", "2019-01-07", "WEEK"), ["2019-W01", "2019-W02"]],
    [dates("2020-12-31", "2021-01-04", "WEEK"), ["2020-W53", "2021-W01"]],
    [dates("1969-12-30", "1970-01-04", "WEEK"), ["1970-W01"]],
    [dates("1969-11-05", "1970-01-01", "MONTH"), ["1969-11", "1969-12", "1970-01"]],
    [dates("1969-11-05", "1970-04-01", "QUARTER"), ["1969-Q4", "1970-Q1", "1970-Q2"]],
    [dates("2019-02-28", "2019-03-01T00:00:01", "DAY"), ["2019-02-28", "2019-03-01"]],
    [dates("2019-02-28", "2019-03-01T00:00:00", "DAY"), ["2019-02-28"]],
    [dates("0001-01-01", "0002-12-31", "YEAR"), ["0001", "0002"]],
    [dates("9998-07-01", "9999-12-31", "YEAR"), ["9998", "9999"]],
  ];
  for (const [attribute, labels] of cases) {
    assert.deepEqual(labelsOf(attribute), labels);
    assert.equal(binsOf(attribute), labels.length);
  }
  const edges = ["2019-01-01", "2019-06-01T06:00", "2020-01-01"];
  const listed = { from: "", to: "", bins: "BINS_UNSPECIFIED" as const, edges, time_zone: "" };
  assert.deepEqual(labelsOf({ name: "shift", date: listed }), [
    "[2019-01-01, 2019-06-01T06:00:00)",
    "[2019-06-01T06:00:00, 2020-01-01)",
  ]);
  assert.equal(
    attributeWords(dates("2018-12-31", "2019-01-07", "WEEK")),
    "date from 2018-12-31 to 2019-01-07 by week",
  );
});

test("missing values have the last bin, which is in no run, and neither is the catch-all of an order", () => {
  const missing = { tokens: ["", "NA"], bin: "unknown" };
  const visit = { ...dates("2019-01-15", "2019-06-30", "QUARTER"), missing };
  assert.deepEqual(labelsOf(visit), ["2019-Q1", "2019-Q2", "unknown"]);
  assert.deepEqual([binsOf(visit), runSizeOf(visit)], [3, 2]);
  const pain = { values: ["none", "low"], catch_all: "other", ordered: true };
  const ordered = { name: "pain", categorical: pain, missing };
  assert.deepEqual(labelsOf(ordered), ["none", "low", "other", "unknown"]);
  assert.equal(runSizeOf(ordered), 2);
  assert.equal(runSizeOf({ name: "pain", categorical: { ...pain, ordered: false } }), 3);
  assert.equal(binsOf({ name: "rejected", coded: { size: "2" }, missing: { tokens: [""] } }), 2);
  assert.equal(attributeWords(ordered), "ordered categories: none, low, other, or missing: unknown");
});

test("constraints are said as what records keep to", () => {
  assert.equal(constraintWords({ order: { lower: "start", upper: "end", strict: false } }), "start ≤ end");
  assert.equal(constraintWords({ order: { lower: "start", upper: "end", strict: true } }), "start < end");
  const pairs = ["a", "b", "c", "d", "e"].map((value) => ({ values: [value, "1"] }));
  assert.equal(
    constraintWords({ allowed_pairs: { attributes: ["city", "state"], pairs } }),
    "city, state: a, 1; b, 1; c, 1; d, 1 and 1 more pair",
  );
});

test("a marginal's last attribute varies fastest, and its slices are joined", () => {
  const { tables } = assemble(MARGINAL, SCHEMA);
  assert.deepEqual(tables[0]?.rows.map((row) => row.labels).slice(2, 5), [
    ["female", "[110000, 500000]"],
    ["male", "[0, 10000)"],
    ["male", "[10000, 110000)"],
  ]);
  assert.equal(tables[0]?.rows[8]?.lower, -92);
  assert.equal(tables[0]?.rows[8]?.upper, 74);
});

const FIXED =
  "query_set,query_class,query,estimate,standard_deviation,low,high,confidence_level,method,noise," +
  "post_processing";

test("the words of a predicate are no column of the CSV file", () => {
  const answer = assemble(
    [
      header({ query_set_count: 1, post_processing: "integer" }),
      {
        query_set: {
          query_set: 3,
          query_class: "predicates",
          columns: ["where", "sex"],
          answer_count: "1",
          strategy: "STRATEGY_DIRECT",
          strategy_words: "",
          measurement_count: "1",
          noise: NOISE,
        },
      },
      {
        answers: {
          offset: "0",
          counts: ["4"],
          estimates: [],
          labels: ["age in [20, 29], zone = 3", "female"],
          standard_deviations: [2],
          confidence_half_widths: [4],
        },
      },
    ],
    SCHEMA,
  );
  const { header: names, rows } = answerCsv(answer, SCHEMA);
  const lines = csvOf(names, rows).split("\n");
  assert.equal(lines[0], `${FIXED},sex`);
  assert.equal(
    lines[1],
    '3,predicates,"age in [20, 29], zone = 3",4,,,,,post-processed,gaussian,integer,female',
  );
});

test("the CSV file is that of the command line", () => {
  const { header: names, rows } = answerCsv(assemble(MARGINAL, SCHEMA), SCHEMA);
  const lines = csvOf(names, rows).split("\n");
  assert.equal(lines[0], `${FIXED},sex,income`);
  assert.equal(
    lines[1],
    '0,marginals,"sex,income",1,42.42640687119285,-82,84,0.95,measured,gaussian,,female,"[0, 10000)"',
  );
  assert.equal(
    lines[9],
    '0,marginals,"sex,income",-9,42.42640687119285,-92,74,0.95,measured,gaussian,,"other, unknown",' +
      '"[110000, 500000]"',
  );
});

test("a column of an attribute that is called as one of the numbers has a name of its own", () => {
  const count: Attribute = { name: "count", categorical: { values: ["none", "some"] } };
  const schema = { attributes: [count, SEX] };
  const [table] = assemble(
    [
      header({ marginal_count: 1 }),
      { marginal: { attributes: ["count", "sex"], sizes: ["2", "3"], noise: NOISE, query_set: 0 } },
      { cells: slice(["1", "2", "3", "4", "5", "6"]) },
    ],
    schema,
  ).tables;
  assert.ok(table);
  const { header: names, rows } = tableCsv(table);
  assert.deepEqual(names, ["count (attribute)", "sex", "count", "standard_deviation", "lower", "upper"]);
  assert.deepEqual(rows[3]?.slice(0, 3), ["some", "female", "4"]);
});

function prefixesBy(strategy: Strategy) {
  const { tables } = assemble(
    [
      header({ query_set_count: 1 }),
      {
        query_set: {
          query_set: 0,
          query_class: "prefixes",
          columns: ["income"],
          answer_count: "2",
          strategy,
          strategy_words: "",
          measurement_count: "3",
          noise: NOISE,
        },
      },
      {
        answers: {
          offset: "0",
          counts: [],
          estimates: [10.5, 20],
          labels: ["[0, 1)", "[0, 2]"],
          standard_deviations: [2],
          confidence_half_widths: [4],
        },
      },
    ],
    SCHEMA,
  );
  return tables[0];
}

test("answers of other classes have their own labels and errors", () => {
  const table = prefixesBy("STRATEGY_TREE");
  assert.equal(table?.rows[0]?.count, "10.5");
  assert.equal(table?.rows[1]?.upper, 24);
  assert.equal(table?.rows[1]?.deviation, 2);
});

test("answers are derived unless each has noise of its own", () => {
  assert.equal(prefixesBy("STRATEGY_DIRECT")?.method, "measured");
  assert.equal(prefixesBy("STRATEGY_TREE")?.method, "derived");
  assert.equal(prefixesBy("STRATEGY_RESIDUAL")?.method, "derived");
});

test("processed answers have no intervals", () => {
  const [first, ...rest] = MARGINAL;
  const { tables } = assemble(
    [{ header: { ...(first?.header as AnswerHeader), post_processing: "integer" } }, ...rest],
    SCHEMA,
  );
  assert.equal(tables[0]?.rows[0]?.lower, undefined);
  assert.equal(tables[0]?.rows[0]?.deviation, undefined);
});

test("processed answers have the intervals that come with them", () => {
  const [first, marginal] = MARGINAL;
  const sent = {
    ...slice(["0", "4", "2", "3", "5", "6", "7", "8", "9"]),
    interval_lows: [0, 0, 1, 2, 3, 4, 5, 6, 7],
    interval_highs: [3, 87, 9, 9, 9, 9, 9, 9, 9],
  };
  const { tables } = assemble(
    [
      { header: { ...(first?.header as AnswerHeader), post_processing: "non-negative" } },
      marginal as AnswerChunk,
      { cells: sent },
    ],
    SCHEMA,
  );
  const [table] = tables as [AnswerTable];
  assert.equal(table.level, NOISE.confidence_level);
  assert.deepEqual(
    table.rows.slice(0, 2).map(({ lower, upper }) => [lower, upper]),
    [
      [0, 3],
      [0, 87],
    ],
  );
  assert.equal(table.rows[0]?.deviation, undefined);
  assert.doesNotMatch(remarkOf(table), /within/);
});

test("an answer that is not whole is refused", () => {
  assert.throws(() => assemble(MARGINAL.slice(0, 3), SCHEMA), MalformedAnswer);
  assert.throws(() => assemble(MARGINAL.slice(1), SCHEMA), MalformedAnswer);
  assert.throws(() => assemble(MARGINAL.slice(0, 1), SCHEMA), MalformedAnswer);
  assert.throws(() => assemble([...MARGINAL, { cells: slice(["1"], "9") }], SCHEMA), MalformedAnswer);
  assert.throws(
    () =>
      assemble([MARGINAL[0] as AnswerChunk, MARGINAL[1] as AnswerChunk, MARGINAL[3] as AnswerChunk], SCHEMA),
    MalformedAnswer,
  );
  assert.throws(() => assemble(MARGINAL, { attributes: [AGE, SEX] }), MalformedAnswer);
});
