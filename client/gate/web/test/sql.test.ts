import assert from "node:assert/strict";
import { test } from "node:test";
import { MalformedAnswer } from "../src/answer.ts";
import { ApiError } from "../src/api/error.ts";
import type { Dataset, Double, Schema, Selection, Translation } from "../src/api/types.ts";
import { csvOf } from "../src/csv.ts";
import { clippedOfSql, exampleSql, meaningOf, sqlProblemOf } from "../src/sql.ts";
import {
  cellText,
  cellValue,
  groupsText,
  rowsOf,
  statisticsCsv,
  type StatisticsRows,
} from "../src/statistics.ts";
import { parseWhere } from "../src/where.ts";
import { whereText } from "../src/where-text.ts";
import { onlyTable, statisticsChunks, type SentStatistic } from "./answers.ts";

const SCHEMA: Schema = {
  attributes: [
    { name: "region", categorical: { values: ["north", "<b>islands</b>"] } },
    { name: "age", integer: { min: "18", max: "97" } },
  ],
  measures: [{ name: "income", low: 0, high: 200000, resolution: 1 }],
};

// As the gate writes it, with fields that are empty.
const TRANSLATION: Translation = {
  workload: {
    query_sets: [
      {
        statistics: {
          statistics: [
            { count: { of: "" } },
            { quantiles: { of: "income", at: ["0.25", "0.75"] } },
            { mean: "income" },
          ],
          by: ["region"],
          where: {
            all_of: [],
            expression: {
              condition: {
                attribute: "age",
                in: [],
                compare: { operator: "GREATER_OR_EQUAL", value: "18" },
                is_missing: false,
              },
            },
          },
        },
      },
    ],
  },
  selection: {
    columns: [
      { name: "avg", source: { statistic: 3 } },
      { name: "region", source: { attribute: "region" } },
      { name: "n", source: { statistic: 0 } },
    ],
    having: { compare: { statistic: 0, operator: "GREATER", value: 100 } },
    order_by: [
      { source: { statistic: 3 }, descending: true },
      { source: { attribute: "region" }, descending: false },
    ],
    limit: "10",
    offset: "1",
  },
  explain: false,
};

function sqlError(description: string, field = "sql"): ApiError {
  return new ApiError(400, {
    code: "INVALID_ARGUMENT",
    message: description,
    fields: [{ field, description }],
  });
}

test("a refusal is split into its words and the place that is marked", () => {
  const words = 'there is no column "regoin"; did you mean region?';
  const place = "LINE 2: WHERE regoin = 'north'\n              ^";
  assert.deepEqual(sqlProblemOf(sqlError(`${words}\n${place}`)), { words, place });
  assert.deepEqual(sqlProblemOf(sqlError("SELECT has an empty list")), {
    words: "SELECT has an empty list",
    place: "",
  });
  const twoLines = sqlProblemOf(sqlError(`no column "a\nb"\n${place}`));
  assert.deepEqual(twoLines, { words: 'no column "a\nb"', place });
  assert.equal(sqlProblemOf(sqlError("has no bins", "workload.query_sets[0]")), undefined);
  assert.equal(sqlProblemOf(new ApiError(503, { code: "UNAVAILABLE" })), undefined);
});

test("the example names the dataset and its columns, quoted where they need it", () => {
  const dataset = { name: "census", schema: SCHEMA } as Dataset;
  assert.equal(exampleSql(dataset), "SELECT region, COUNT(*), AVG(income) FROM census GROUP BY region");
  const [first] = SCHEMA.attributes;
  const odd = {
    attributes: [{ ...first, name: 'a "b"' }],
    measures: [{ name: "order", low: 0, high: 1, resolution: 1 }],
  };
  assert.equal(
    exampleSql({ name: "my-data", schema: odd } as Dataset),
    'SELECT "a ""b""", COUNT(*), AVG("order") FROM "my-data" GROUP BY "a ""b"""',
  );
  assert.equal(
    exampleSql({ name: "empty", schema: { attributes: [] } } as unknown as Dataset),
    "SELECT COUNT(*) FROM empty",
  );
});

test("a statement is said in words", () => {
  assert.deepEqual(meaningOf(TRANSLATION, SCHEMA), {
    statistics: [
      "n: number of records",
      "quantile 0.25 of income, clipped to 0..200000 (not shown)",
      "quantile 0.75 of income, clipped to 0..200000 (not shown)",
      "avg: mean of income, clipped to 0..200000",
    ],
    groups: "each value of region: 2 groups, also those without records",
    records: "age >= 18",
    shown: [
      "groups with n > 100",
      "by avg, largest first; then by region",
      "at most 10 groups after the first 1 group",
    ],
  });
  assert.deepEqual(clippedOfSql(TRANSLATION, SCHEMA), ["income clipped to 0..200000"]);
});

test("a statement of all records without an order says so", () => {
  const statistics = [
    { count: { of: "age" } },
    { sum: "age" },
    { variance: "age" },
    { median: "age" },
    { distinct_units: {} },
  ];
  const plain: Translation = {
    workload: { query_sets: [{ statistics: { statistics, by: [] } }] },
    explain: true,
  };
  assert.deepEqual(meaningOf(plain, SCHEMA), {
    statistics: [
      "number of values of age (not shown)",
      "sum of age (not shown)",
      "variance of age (not shown)",
      "median of age (not shown)",
      "number of distinct units (not shown)",
    ],
    groups: "one group of all these records",
    records: "all",
    shown: [],
  });
  assert.deepEqual(clippedOfSql(plain, SCHEMA), []);
  assert.equal(
    meaningOf({ workload: { query_sets: [{ prefixes: { attribute: "age" } }] }, explain: false }, SCHEMA),
    undefined,
  );
});

test("conditions on groups keep their parentheses", () => {
  const compare = (statistic: number, operator: string, value: Double) => ({
    compare: { statistic, operator, value },
  });
  const having = {
    all_of: {
      conditions: [
        { any_of: { conditions: [compare(0, "LESS", 5), compare(3, "EQUAL", 0.5)] } },
        { not: compare(0, "NOT_EQUAL", 7) },
      ],
    },
  };
  const meaning = meaningOf({ ...TRANSLATION, selection: { ...TRANSLATION.selection, having } }, SCHEMA);
  assert.equal(meaning?.shown[0], "groups with (n < 5 or avg = 0.5) and not (n <> 7)");
});

test("conditions on records are texts that mean the same", () => {
  for (const text of [
    "age >= 18",
    "age in [30, 40]",
    'region in {north, "the \\"south\\""}',
    "region is missing",
    "(age <= 20 or age >= 60) and not (region in {north})",
    'region != "and"',
  ]) {
    const predicate = parseWhere(text);
    assert.equal(whereText(predicate), text);
    assert.deepEqual(parseWhere(whereText(predicate)), predicate);
  }
  const compared = {
    condition: { attribute: "visit day", compare: { operator: "LESS" as const, value: "2019-03-31" } },
  };
  assert.equal(whereText({ expression: { not: compared } }), 'not ("visit day" < 2019-03-31)');
  assert.equal(whereText({}), "");
});

const ROWS: SentStatistic[] = [
  [["<b>islands</b>", "avg"], "NaN", "-Infinity", "Infinity"],
  [["<b>islands</b>", "n"], 104, 90, 118],
  [["north", "avg"], 51204.25, 50871, "Infinity"],
  [["north", "n"], 1204, 1190, 1218],
];
const SELECTION = TRANSLATION.selection as Selection;

// What the server sends for a selection: the statistics of its columns, under their names.
function rowsFor(sent: SentStatistic[], selection: Selection): StatisticsRows {
  return rowsOf(onlyTable(statisticsChunks(sent), SCHEMA), selection);
}

test("the rows have the columns of the list, in its order and that of the answer", () => {
  const shown = rowsFor(ROWS, SELECTION);
  assert.deepEqual(
    shown.columns.map(({ name }) => name),
    ["avg", "region", "n"],
  );
  assert.deepEqual(
    shown.rows.map((row) => row.map(cellText)),
    [
      ["none", "<b>islands</b>", "104 [90, 118]"],
      ["51\u202f204 [50\u202f871, unbounded]", "north", "1204 [1190, 1218]"],
    ],
  );
  assert.deepEqual(
    shown.rows.map((row) => row.map(cellValue)),
    [
      [undefined, "<b>islands</b>", "104"],
      ["51204.25", "north", "1204"],
    ],
  );
  assert.equal(groupsText(shown), "2 groups, 95\u00a0% intervals");
  const { header, rows } = statisticsCsv(shown);
  assert.equal(
    csvOf(header, rows),
    "avg,avg low,avg high,region,n,n low,n high\n" +
      ",-inf,inf,<b>islands</b>,104,90,118\n51204.25,50871,inf,north,1204,1190,1218\n",
  );
});

test("a column that is called as another one keeps its own values", () => {
  const renamed: Selection = {
    columns: [
      { name: "where", source: { attribute: "region" } },
      { name: "region", source: { statistic: 0 } },
    ],
  };
  const sent = ROWS.filter(([labels]) => labels[1] === "n").map(([[group], ...rest]): SentStatistic => [
    [group ?? "", "region"],
    ...rest,
  ]);
  assert.deepEqual(
    rowsFor(sent, renamed).rows.map((row) => row.map(cellText)),
    [
      ["<b>islands</b>", "104 [90, 118]"],
      ["north", "1204 [1190, 1218]"],
    ],
  );
});

test("what is selected twice is in both columns", () => {
  const twice: Selection = {
    columns: [
      { name: "n", source: { statistic: 0 } },
      { name: "region", source: { attribute: "region" } },
      { name: "again", source: { statistic: 0 } },
      { name: "where", source: { attribute: "region" } },
    ],
  };
  const sent: SentStatistic[] = [
    [["north", "n"], 1204, 1190, 1218],
    [["north", "again"], 1204, 1190, 1218],
  ];
  assert.deepEqual(
    rowsFor(sent, twice).rows.map((row) => row.map(cellText)),
    [["1204 [1190, 1218]", "north", "1204 [1190, 1218]", "north"]],
  );
});

test("a selection without columns has all that was asked for", () => {
  const shown = rowsFor(ROWS, { limit: "2" });
  assert.deepEqual(
    shown.columns.map(({ name }) => name),
    ["region", "avg", "n"],
  );
  assert.deepEqual(
    shown.rows.map((row) => row.map(cellText)),
    [
      ["<b>islands</b>", "none", "104 [90, 118]"],
      ["north", "51\u202f204 [50\u202f871, unbounded]", "1204 [1190, 1218]"],
    ],
  );
});

test("no group may be left, and then the columns are still those of the list", () => {
  const shown = rowsFor([], SELECTION);
  assert.deepEqual(
    shown.columns.map(({ name }) => name),
    ["avg", "region", "n"],
  );
  assert.deepEqual(shown.rows, []);
});

test("an answer without a column of the list is not shown", () => {
  const others: Selection[] = [
    { columns: [{ name: "average", source: { statistic: 3 } }] },
    { columns: [{ name: "age", source: { attribute: "age" } }] },
  ];
  for (const selection of others) assert.throws(() => rowsFor(ROWS, selection), MalformedAnswer);
});
