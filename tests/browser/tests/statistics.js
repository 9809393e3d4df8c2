import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { PAY, Person } from "../lib/browser.js";
import { parseCsv } from "../lib/csv.js";
import { units } from "../lib/decimals.js";
import { development } from "../lib/world.js";

const SCHEMA = {
  attributes: [{ name: "region", categorical: { values: ["north", "<b>moon</b>"] } }],
  measures: [{ name: "wage", low: 0, high: 100, resolution: 1 }],
};

// North has 400 records, the moon none.
const RECORDS = `region,wage\n${Array.from({ length: 400 }, (_, i) => `north,${i % 120}\n`).join("")}`;

export const suite = () => describe("asks for statistics", () => {
  before(async () => (await development()).makeTable("wages", SCHEMA, RECORDS));

  it("with their price first, and shows what the command line shows", async () => {
    const world = await development();
    const cli = world.as("ana");
    const ana = await Person.arrive(world.url);
    await ana.signInByName("ana", "/datasets/wages/ask");
    const spent = units(await cli.spent("wages"));
    await ana.press("sums, means and other statistics of groups", "radio");
    await ana.press("mean", "checkbox");
    await ana.press("number of records", "checkbox");
    await ana.press("region 2 values", "checkbox");
    await ana.sees("/ records in the group");
    await ana.page.waitForSelector(PAY);
    assert.equal(units(await cli.spent("wages")), spent, "a price costs nothing");
    await ana.pressOn(PAY);
    await ana.press("Pay and answer");
    await ana.page.waitForFunction(() => location.pathname.startsWith("/releases/"));
    await ana.page.waitForSelector("svg .mark");
    await ana.sees("wage clipped to 0..100");
    await ana.sees("<b>moon</b>", "main table");
    await ana.sees("2 groups, wage clipped to 0..100", "figure h3");

    const release = (await cli.json("release", "list", "wages")).releases[0].release_id;
    const { header, rows } = parseCsv(await cli.text("--output", "csv", "release", "show", release));
    const [query, estimate] = ["query", "estimate"].map((name) => header.indexOf(name));
    const marks = await ana.page.$$eval("svg .mark", (shown) => shown.map(({ dataset }) => dataset.value));
    const expected = ["count", "mean(wage)"].flatMap((name) => rows.filter((row) => row[query] === name).map((row) => row[estimate]));
    assert.deepEqual(marks, expected);
    await ana.leave();
  });
});
