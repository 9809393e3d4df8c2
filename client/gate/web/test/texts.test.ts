import assert from "node:assert/strict";
import { test } from "node:test";
import { bytesOfBase64, bytesOfHex, hexOf, hexOfBase64 } from "../src/bytes.ts";
import { csvOf, parseCsv } from "../src/csv.ts";
import { drawBars, spanOf } from "../src/error-bars.ts";
import { linkState, merged } from "../src/history.ts";
import type { LedgerEntry } from "../src/api/types.ts";
import { limitChanges, spendingSvg, type StepPoint } from "../src/line-chart.ts";
import {
  numbersOf,
  shapesFor,
  spendOf,
  spendText,
  workloadOf,
  errorOfStep,
  stepOfError,
} from "../src/question.ts";
import { match, to } from "../src/router.ts";
import { numberAxis, stepOf, timeAxis } from "../src/scale.ts";
import { markup, type Shape } from "../src/svg.ts";
import { relativeText } from "../src/time.ts";
import { eventText, shortAccount } from "../src/words.ts";

test("CSV fields with commas, quotes and line breaks survive", () => {
  const rows = [
    ["a,b", 'say "x"', "two\nlines", ""],
    ["1", "2", "3", "4"],
  ];
  assert.deepEqual(parseCsv(csvOf(["p", "q", "r", "s"], rows)).slice(1), rows);
  assert.deepEqual(parseCsv("a,b\r\n1,\r\n"), [
    ["a", "b"],
    ["1", ""],
  ]);
  assert.deepEqual(parseCsv("a"), [["a"]]);
});

test("addresses are matched and made", () => {
  assert.deepEqual(match("/datasets/:dataset/history", "/datasets/a%2Fb/history"), { dataset: "a/b" });
  assert.equal(match("/datasets/:dataset", "/datasets/a/history"), undefined);
  assert.deepEqual(match("/", "/"), {});
  assert.equal(match("/x/:y", "/x/%"), undefined);
  assert.equal(to("/datasets/:dataset", { dataset: "a/b" }, { tab: "1" }), "/datasets/a%2Fb?tab=1");
});

test("bytes are converted both ways, and malformed digits are refused", () => {
  assert.equal(hexOf(bytesOfBase64("AP8Q")), "00ff10");
  assert.equal(hexOfBase64("AP8Q"), "00ff10");
  assert.equal(hexOfBase64("*"), "");
  assert.deepEqual([...(bytesOfHex("00fF") ?? [])], [0, 255]);
  for (const digits of ["", "0", "xy"]) assert.equal(bytesOfHex(digits), undefined, digits);
});

test("text in a drawing cannot become markup", () => {
  const text = markup({ tag: "text", attributes: { "data-label": '"><script>' }, text: "<b>&\u0001" });
  assert.equal(text, '<text data-label="&quot;&gt;&lt;script&gt;">&lt;b&gt;&amp;?</text>');
});

test("axes have round ticks that hold all values", () => {
  assert.equal(stepOf(0, 97, 5), 20);
  const axis = numberAxis(-3, 97, 0, 100, 5);
  assert.ok(axis.low <= -3 && axis.high >= 97);
  assert.ok(axis.ticks.includes(0));
  assert.equal(axis.at(axis.low), 0);
  assert.equal(axis.at(axis.high), 100);
  const days = timeAxis(1_800_000_000, 1_800_000_000 + 10 * 86400, 0, 100, 7);
  assert.ok(days.ticks.length >= 4 && days.ticks.length <= 7);
});

function marksOf(shapes: Shape[]): Shape[] {
  return shapes.filter((shape) => shape.attributes?.["class"] === "mark");
}

test("each mark has its exact numbers", () => {
  const marks = [
    { labels: ["a"], value: 10.25, exact: "10.25", lower: 0.1 + 0.2, upper: 20 },
    { labels: ["b"], value: -5, exact: "-5", lower: undefined, upper: undefined },
  ];
  const { shapes } = drawBars(marks, 400);
  const [first, second] = marksOf(shapes);
  assert.equal(first?.attributes?.["data-lower"], "0.30000000000000004");
  assert.equal(first?.attributes?.["data-upper"], "20");
  assert.equal(first?.attributes?.["data-value"], "10.25");
  assert.equal(second?.attributes?.["data-lower"], undefined);
  assert.deepEqual(spanOf(marks), { low: -5, high: 20 });
});

test("a long value leaves room for those of other attributes", () => {
  const marks = ["none", "university"].map((education) => ({
    labels: ["the far and rather distant islands", education],
    value: 1,
    exact: "1",
    lower: undefined,
    upper: undefined,
  }));
  const namesAt = (width: number) =>
    marksOf(drawBars(marks, width).shapes).map(
      ({ children = [] }) => children.find(({ attributes }) => attributes?.["class"] === "name")?.text,
    );
  assert.deepEqual(namesAt(760), ["the far and rather distan…, none", "the far and rather …, university"]);
  assert.deepEqual(namesAt(320), ["the far and…, none", "the far…, univers…"]);
});

test("the numbers of an axis are whole and apart on a narrow screen", () => {
  const mark = { labels: ["the far and rather distant islands"], exact: "", lower: undefined, upper: undefined };
  const { shapes } = drawBars([-300000, 27e6].map((value) => ({ ...mark, value })), 320);
  const CHARACTER = 6.5;
  const numbers = shapes
    .filter(({ attributes }) => attributes?.["class"] === "tick")
    .map(({ text = "", attributes }) => {
      const half = (text.length * CHARACTER) / 2;
      return { text, from: Number(attributes?.["x"]) - half, to: Number(attributes?.["x"]) + half };
    });
  assert.deepEqual(numbers.map(({ text }) => text), ["0", "40\u202f000\u202f000"]);
  assert.ok(numbers.every(({ from, to }, i) => from > (numbers[i - 1]?.to ?? 0) && to <= 320));
});

function point(time: number, limit: string, spent: string): StepPoint {
  const exact = { time: new Date(time * 1000).toISOString(), limit, spent, held: "0" };
  return { time, limit: Number(limit), spent: Number(spent), held: 0, exact };
}

test("changes of a limit are found, and a chart is a file without a script", () => {
  const points = [point(0, "1", "0"), point(10, "1", "0.5"), point(20, "2", "0.5")];
  assert.deepEqual(
    limitChanges(points).map(({ time }) => time),
    [20],
  );
  const svg = spendingSvg({
    title: "Spending <x>",
    unit: "rho",
    points,
    now: 30,
    forecast: { until: 40, slow: 0, rate: 0.01, fast: 0.02 },
  });
  assert.ok(svg.includes("<title>Spending &lt;x&gt; (rho)</title>"));
  assert.ok(svg.includes("line-limit-ahead\" "), "the limit goes on as far as the forecast");
  assert.ok(!svg.includes("NaN"));
  assert.ok(!spendingSvg({ title: "Empty", unit: "rho", points: [], now: 30 }).includes("NaN"));
});

function entry(sequence: string, hash: string, previous: string): LedgerEntry {
  return {
    sequence,
    hash,
    previous_hash: previous,
    kind: "CHARGED",
    actor: "~a",
    charge_id: "",
    summary: "",
    payload: "",
    dataset_id: "d",
    actor_name: "a",
    dataset: "demo",
  };
}

test("entries that come twice are there once, newest first", () => {
  const entries = merged(
    [entry("9", "i", "h"), entry("10", "j", "i")],
    [entry("10", "j", "i"), entry("2", "b", "a")],
  );
  assert.deepEqual(
    entries.map(({ sequence }) => sequence),
    ["10", "9", "2"],
  );
  assert.equal(linkState(entries, 0), "follows");
  assert.equal(linkState(entries, 1), "unseen");
  assert.equal(linkState([entry("10", "j", "x"), entry("9", "i", "h")], 0), "broken");
});

test("questions become workloads with the numbers that they announce", () => {
  const attributes = [
    { name: "a", coded: { size: "3" } },
    { name: "b", coded: { size: "4" } },
    { name: "c", coded: { size: "5" } },
  ];
  assert.deepEqual(shapesFor(["a"], attributes), ["alone", "upto"]);
  assert.deepEqual(shapesFor(["a", "b"], attributes), ["alone", "together"]);
  const pain = { values: ["none", "low"], catch_all: "other", ordered: true };
  const missing = { tokens: [""], bin: "?" };
  const ordered = { name: "pain", categorical: pain, missing };
  assert.equal(numbersOf("upto", ["pain"], [ordered]), 2);
  assert.equal(numbersOf("alone", ["pain"], [ordered]), 4);
  assert.deepEqual(shapesFor(["one"], [{ name: "one", coded: { size: "1" }, missing }]), ["alone"]);
  assert.equal(numbersOf("pairs", ["a", "b", "c"], attributes), 12 + 15 + 20);
  assert.equal(numbersOf("together", ["a", "b", "c"], attributes), 60);
  assert.deepEqual(workloadOf("upto", ["a"]), { query_sets: [{ prefixes: { attribute: "a" } }] });
  assert.deepEqual(workloadOf("alone", ["a", "b"]), {
    query_sets: [{ marginals: { sets: [{ names: ["a"] }, { names: ["b"] }] } }],
  });
});

test("a spend is sent with its own parts alone", () => {
  assert.deepEqual(spendOf({ rho: "0.1", epsilon: "", delta: "" }), { rho: "0.1" });
  assert.equal(spendText({ rho: "", epsilon: "1", delta: "1e-9" }), "epsilon 1, delta 1e-9");
  assert.equal(spendText(undefined), "nothing");
});

test("the slider's steps have their errors back", () => {
  for (const error of [1, 10, 100, 1000]) assert.equal(errorOfStep(stepOfError(error)), error);
});

test("times are relative in words", () => {
  assert.equal(relativeText(1000, 1005), "just now");
  assert.equal(relativeText(0, 3 * 3600), "3 hours ago");
  assert.equal(relativeText(86400, 0), "in 1 day");
  assert.equal(relativeText(30 * 86400 - 60, 0), "in 30 days", "what comes is rounded");
  assert.equal(relativeText(0, 30 * 86400 - 60), "29 days ago", "what is past is whole");
  assert.equal(relativeText(3600 - 20, 0), "in 1 hour");
  assert.equal(relativeText(86400 - 60, 0), "in 1 day");
  assert.equal(relativeText(100, 0), "in 2 minutes");
});

test("accounts are named without their dataset", () => {
  assert.equal(shortAccount("dataset/demo", "demo"), "the dataset");
  assert.equal(shortAccount("dataset/demo/analyst/ana", "demo"), "the analyst “ana”");
  assert.equal(shortAccount("dataset/demo/part/3", "demo"), "the part “3”");
  assert.equal(shortAccount("dataset/other", "demo"), "dataset/other");
});

test("parts of an event that are alike are one part", () => {
  const tree = "discrete Gaussian (sigma^2 = 400/7, L2^2 = 1)";
  const count = "discrete Gaussian (sigma^2 = 40/3, L2^2 = 1)";
  const both = `on disjoint parts (${tree} + ${tree} | ${tree})`;
  assert.equal(eventText(count), count);
  assert.equal(eventText([tree, count, tree, tree].join(" + ")), `3 x ${tree} + ${count}`);
  assert.equal(eventText([both, `2 x ${tree}`, both].join(" + ")), `2 x ${both} + 2 x ${tree}`);
  assert.equal(eventText(`2 x ${tree} + 2 x ${tree}`), `2 x (2 x ${tree})`);
  assert.equal(eventText("nothing"), "nothing");
});
