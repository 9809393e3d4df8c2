import assert from "node:assert/strict";
import { test } from "node:test";
import { assemble, groupsOf, MalformedAnswer, type AnswerTable } from "../src/answer.ts";
import { chartSvg, panelsOf, remarkOf } from "../src/answer-chart.ts";
import { answerCsv } from "../src/answer-files.ts";
import type { AnswerChunk, Schema, StatisticForecast } from "../src/api/types.ts";
import { csvOf } from "../src/csv.ts";
import { drawBars, spanOf } from "../src/error-bars.ts";
import {
  columnsFor,
  errorWords,
  groupCount,
  hasUnits,
  NO_STATISTICS,
  sharesOf,
  workloadOfStatistics,
} from "../src/pages/ask/statistics-question.ts";
import {
  clippedText,
  notesOf,
  rowsOf,
  statisticsCsv,
  statisticText,
  tablesOfStatistics,
} from "../src/statistics.ts";
import { markup } from "../src/svg.ts";
import { parseWhere } from "../src/where.ts";
import { onlyTable, statisticsChunks, type SentStatistic } from "./answers.ts";

const SCHEMA: Schema = {
  attributes: [
    { name: "region", categorical: { values: ["north", "<b>islands</b>"] } },
    { name: "age", integer: { min: "18", max: "97" } },
    { name: "size", integer: { min: "0", max: "99", bin_width: "10" } },
    { name: "weight", numeric: { edges: [0, 50, 100] } },
  ],
  measures: [{ name: "income", low: 0, high: 200000, resolution: 1 }],
};

const BY_REGION: SentStatistic[] = [
  [["north", "count"], 1204, 1190, 1218],
  [["north", "mean(income)"], 51204.25, 50871, "Infinity"],
  [["<b>islands</b>", "count"], -3, -17, 11],
  [["<b>islands</b>", "mean(income)"], "NaN", "-Infinity", "Infinity"],
];

function chunks(rows = BY_REGION, processed = ""): AnswerChunk[] {
  return statisticsChunks(rows, ["region"], { post_processing: processed });
}

function tableOf(rows?: SentStatistic[], processed?: string): AnswerTable {
  return onlyTable(chunks(rows, processed), SCHEMA);
}

test("statistics have a row for each group, and words for what is no number", () => {
  const { names, groups } = groupsOf(tableOf());
  assert.deepEqual(names, ["count", "mean(income)"]);
  assert.deepEqual(
    groups.map(({ labels, answers }) => [...labels, ...answers.map(statisticText)]),
    [
      ["north", "1204 [1190, 1218]", "51\u202f204 [50\u202f871, unbounded]"],
      ["<b>islands</b>", "-3 [-17, 11]", "none"],
    ],
  );
  assert.equal(tableOf().title, "statistics by region");
  assert.equal(tableOf().level, 0.95);
});

test("the CSV file names the statistic, and what is no number is empty", () => {
  const { header, rows } = answerCsv(assemble(chunks(), SCHEMA), SCHEMA);
  assert.equal(
    csvOf(header, rows).split("\n").slice(1).join("\n"),
    "0,statistics,count,1204,7,1190,1218,0.95,derived,,,north\n" +
      "0,statistics,mean(income),51204.25,7,50871,inf,0.95,derived,,,north\n" +
      "0,statistics,count,-3,7,-17,11,0.95,derived,,,<b>islands</b>\n" +
      "0,statistics,mean(income),,,-inf,inf,0.95,derived,,,<b>islands</b>\n",
  );
});

test("a table says to what its values were clipped, and so does the chart of each statistic", () => {
  const table = tableOf();
  assert.deepEqual(table.measures.map(clippedText), ["income clipped to 0..200000"]);
  const counts = BY_REGION.filter(([labels]) => labels[1] === "count");
  assert.deepEqual(tableOf(counts).measures, []);

  const [count, mean] = tablesOfStatistics(table);
  assert.ok(count && mean);
  assert.equal(remarkOf(count), "2 groups");
  assert.equal(remarkOf(mean), "2 groups, income clipped to 0..200000");
  assert.ok(!chartSvg(count).includes("clipped"));
  assert.match(chartSvg(mean), /<text [^>]*>2 groups, income clipped to 0\.\.200000<\/text>/);
});

test("the file of a table has a column for each end of an interval", () => {
  const { header, rows } = statisticsCsv(rowsOf(tableOf(), {}));
  assert.equal(
    csvOf(header, rows),
    "region,count,count low,count high,mean(income),mean(income) low,mean(income) high\n" +
      "north,1204,1190,1218,51204.25,50871,inf\n" +
      "<b>islands</b>,-3,-17,11,,-inf,inf\n",
  );
  const count: Schema = { attributes: [{ name: "count", categorical: { values: ["few"] } }] };
  const sent: SentStatistic[] = [[["few", "count"], 3, 1, 5]];
  const named = statisticsCsv(rowsOf(onlyTable(statisticsChunks(sent, ["count"]), count), {}));
  assert.deepEqual(named, {
    header: ["count (attribute)", "count", "count low", "count high"],
    rows: [["few", "3", "1", "5"]],
  });
});

test("words that a table has are explained, and no others", () => {
  const wordsOf = (rows: SentStatistic[]) =>
    notesOf(rowsOf(tableOf(rows), {})).map((note) => note.split(":")[0]);
  assert.deepEqual(wordsOf(BY_REGION), ["None", "Unbounded"]);
  assert.deepEqual(wordsOf(BY_REGION.slice(0, 2)), ["Unbounded"]);
  assert.deepEqual(wordsOf(BY_REGION.slice(2)), ["None"]);
  assert.deepEqual(wordsOf(BY_REGION.slice(0, 1)), []);
});

test("post-processed statistics have no intervals", () => {
  const table = tableOf(BY_REGION, "integer");
  assert.equal(table.level, 0);
  assert.deepEqual(table.rows.map(statisticText), ["1204", "51\u202f204", "-3", "none"]);
});

test("answers that are not those of groups are not shown", () => {
  const broken: ((sent: AnswerChunk[]) => void)[] = [
    ([, , slice]) => slice?.answers?.interval_highs?.pop(),
    ([, , slice]) => delete slice?.answers?.interval_lows,
    ([, , slice]) => slice?.answers?.interval_lows?.splice(0, 1, "NaN"),
    ([, , slice]) => slice?.answers?.interval_lows?.splice(0, 1, 9999),
    ([, , slice]) => slice?.answers?.labels?.splice(7, 1, "sum(income)"),
    ([, , slice]) => slice?.answers?.labels?.splice(6, 1, "north"),
  ];
  for (const [i, change] of broken.entries()) {
    const sent = chunks();
    change(sent);
    assert.throws(() => assemble(sent, SCHEMA), MalformedAnswer, `change ${i}`);
  }
});

test("a chart of a statistic has finite places, and escapes its labels", () => {
  const mean = tablesOfStatistics(tableOf())[1];
  assert.ok(mean);
  assert.equal(mean.title, "mean(income) by region");
  const marks = panelsOf(mean).flatMap((panel) => panel.marks);
  assert.deepEqual(spanOf(marks), { low: 0, high: 51204.25 });
  const drawn = drawBars(marks, 600).shapes.map(markup).join("");
  assert.ok(!/="(NaN|-?Infinity)"/.test(drawn), drawn);
  assert.ok(drawn.includes("(50\u202f871 to unbounded)"));
  assert.ok(drawn.includes("&lt;b&gt;islands&lt;/b&gt;: none"));
  assert.ok(!drawn.includes("<b>"));
});

test("statistics can be of measures and of attributes with numbers", () => {
  assert.deepEqual(
    columnsFor(SCHEMA).map(({ name, onlyQuantiles }) => [name, onlyQuantiles]),
    [
      ["income", false],
      ["age", false],
      ["size", true],
      ["weight", true],
    ],
  );
  assert.deepEqual(columnsFor(undefined), []);
  assert.equal(groupCount(["region", "weight"], SCHEMA.attributes), 4);
  assert.equal(hasUnits(SCHEMA), false);
  assert.equal(hasUnits({ ...SCHEMA, unit: { record: {} } }), false);
  assert.equal(hasUnits({ ...SCHEMA, unit: { person: {} } }), true);
});

test("shares of quantiles are decimals between 0 and 1", () => {
  assert.deepEqual(sharesOf(" 0.25, .5;0.75 0.25"), ["0.25", "0.5", "0.75"]);
  assert.deepEqual(sharesOf(""), []);
  for (const text of ["1", "0", "0.0", "25%", "0.2505", "1.5", "-0.1", "half"])
    assert.equal(sharesOf(text), undefined, text);
});

test("what is chosen becomes one set of statistics", () => {
  const income = { kinds: ["mean" as const, "sum" as const], quantiles: "0.5" };
  const choice = {
    ...NO_STATISTICS,
    count: true,
    units: true,
    columns: { income },
    by: ["region"],
    where: "age = 18",
  };
  assert.deepEqual(workloadOfStatistics(choice, SCHEMA), {
    query_sets: [
      {
        statistics: {
          statistics: [
            { count: {} },
            { sum: "income" },
            { mean: "income" },
            { quantiles: { of: "income", at: ["0.5"] } },
            { distinct_units: {} },
          ],
          by: ["region"],
          where: parseWhere("age = 18"),
        },
      },
    ],
  });
  assert.equal(workloadOfStatistics(NO_STATISTICS, SCHEMA), undefined);
  const unread = { ...choice, columns: { income: { ...income, quantiles: "25%" } } };
  assert.equal(workloadOfStatistics(unread, SCHEMA), undefined);
  assert.equal(workloadOfStatistics({ ...choice, where: "age =" }, SCHEMA), undefined);
});

test("the error of a mean is said to be divided by the records of its group", () => {
  const forecast: StatisticForecast = {
    query_set: 0,
    statistic: "mean(income)",
    words: "",
    standard_deviation: 1e6,
    confidence_half_width: 2e6,
    unit: "VALUE_TIMES_RECORDS",
    groups: "2",
  };
  assert.equal(errorWords(forecast), "±\u00a02\u202f000\u202f000 / records in the group");
  const rank = { ...forecast, unit: "RANK" as const, confidence_half_width: 15 };
  assert.equal(errorWords(rank), "±\u00a015 records in rank");
  assert.equal(errorWords({ ...forecast, unit: "RECORDS", confidence_half_width: 6 }), "±\u00a06 records");
  assert.equal(errorWords({ ...forecast, unit: "RECORDS", confidence_half_width: 1 }), "±\u00a01 record");
  assert.equal(errorWords({ ...forecast, unit: "VALUE" }), "±\u00a02\u202f000\u202f000");
});
