import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { PAY, Person, SIZES } from "../lib/browser.js";
import { parseCsv } from "../lib/csv.js";
import { units } from "../lib/decimals.js";
import { development } from "../lib/world.js";

const SCHEMA = {
  attributes: [{ name: "region", categorical: { values: ["north", "<b>moon</b>", "south"] } }],
  measures: [{ name: "wage", low: 0, high: 100, resolution: 1 }],
};

// North has 400 records, south 800, the moon none. Its mean is no number or unbounded, unless the noise alone makes its count clear
// of 0, as in one answer of sixty.
const RECORDS = `region,wage\n${Array.from({ length: 1200 }, (_, i) => `${i % 3 === 0 ? "north" : "south"},${i % 120}\n`).join("")}`;

// As the page rounds numbers below 1000.
const rounded = (text) => String(Number(Number(text).toPrecision(4)));

// A mean as the page shows it, by the command line's texts.
function meanText(estimate, low, high) {
  if (estimate === "") return "none";
  if (low === "-inf" && high === "inf") return `${rounded(estimate)} [unbounded]`;
  return `${rounded(estimate)} [${rounded(low)}, ${rounded(high)}]`;
}

const STATEMENT = `SELECT AVG(wage) AS "<i>earns</i>", region, COUNT(*) AS n FROM payroll GROUP BY region HAVING COUNT(*) < 5000 ORDER BY n DESC`;

async function arrive(world) {
  const ana = await Person.arrive(world.url);
  await ana.signInByName("ana", "/datasets/payroll/ask");
  await ana.press("what a statement in SQL selects", "radio");
  return ana;
}

// Control and Enter send it.
async function write(person, sql) {
  await (await person.control("Statement", "textbox")).focus();
  const { keyboard } = person.page;
  await keyboard.down("Control");
  await keyboard.press("KeyA");
  await keyboard.up("Control");
  await keyboard.type(sql);
  await keyboard.down("Control");
  await keyboard.press("Enter");
  await keyboard.up("Control");
}

export const suite = () => describe("asks in SQL", () => {
  before(async () => (await development()).makeTable("payroll", SCHEMA, RECORDS));

  it("and sees the line of a mistake, with a mark under its place", async () => {
    const world = await development();
    const spent = units(await world.as("ana").spent("payroll"));
    const ana = await arrive(world);
    await write(ana, "SELECT region, COUNT(*) FROM payroll WHERE regoin = '<img src=x>' GROUP BY region");
    await ana.sees("did you mean region?", ".problem");
    const [line, mark] = (await ana.page.$eval("pre.command", ({ textContent }) => textContent)).split("\n");
    assert.ok(line.startsWith("LINE 1: ") && line.includes("'<img src=x>'"));
    assert.ok(line.slice(mark.indexOf("^")).startsWith("regoin"));
    assert.equal(await ana.page.$("main img"), null);
    await ana.page.setViewport(SIZES.phone);
    await write(ana, `SELECT region, COUNT(*) FROM payroll WHERE ${"region = 'north' OR ".repeat(3)}regoin = 'south' GROUP BY region`);
    await ana.page.waitForFunction(() => document.querySelector("pre.command")?.textContent.includes("OR regoin"));
    const frame = await ana.page.$eval("pre.command", ({ textContent, scrollLeft, scrollWidth, clientWidth }) => {
      const lines = textContent.split("\n");
      const at = (scrollWidth * lines[1].length) / Math.max(...lines.map(({ length }) => length));
      return { isScrolled: scrollLeft > 0, isSeen: at > scrollLeft && at < scrollLeft + clientWidth };
    });
    assert.deepEqual(frame, { isScrolled: true, isSeen: true });
    assert.ok(await ana.page.$eval("textarea", (area) => area.getAttribute("aria-describedby").split(" ").every((id) => document.getElementById(id))));
    assert.equal(await ana.page.$(PAY), null);
    assert.equal(units(await world.as("ana").spent("payroll")), spent);
    await ana.leave();
  });

  it("with EXPLAIN for the price alone", async () => {
    const world = await development();
    const ana = await arrive(world);
    await write(ana, "EXPLAIN SELECT AVG(wage) FROM payroll");
    await ana.sees("asks for the price alone");
    await ana.sees("/ records in the group");
    assert.equal(await ana.page.$(PAY), null);
    await ana.leave();
  });

  it("with the price first, and sees the rows of the statement in its order", async () => {
    const world = await development();
    const cli = world.as("ana");
    const before = units(await cli.spent("payroll"));
    const ana = await arrive(world);
    await write(ana, STATEMENT);
    await ana.sees("<i>earns</i>: mean of wage, clipped to 0..100");
    await ana.sees("groups with n < 5000");
    await ana.page.waitForSelector(PAY);
    assert.equal(units(await cli.spent("payroll")), before, "a price costs nothing");
    await ana.pressOn(PAY);
    const price = await (await ana.page.waitForSelector("dialog[open] tbody data")).evaluate(({ value }) => value);
    await ana.press("Pay and answer");
    await ana.sees("Download CSV");
    assert.equal(units(await cli.spent("payroll")) - before, units(price));

    const { release_id, request_id } = (await cli.json("release", "list", "payroll")).releases[0];
    await ana.sees(request_id, "main .facts");
    await ana.sees("% of its promise", "main .facts");
    assert.deepEqual(await ana.all("main thead th", "textContent"), ["<i>earns</i>", "region", "n"]);
    const { header, rows } = parseCsv(await cli.text("--output", "csv", "release", "show", release_id));
    const [query, region, estimate, low, high] = ["query", "region", "estimate", "low", "high"].map((name) => header.indexOf(name));
    const counts = rows.filter((row) => row[query] === "count").sort((a, b) => Number(b[estimate]) - Number(a[estimate]));
    const shown = await ana.page.$$eval("main tbody tr", (found) => found.map(({ cells }) => [...cells].map(({ textContent }) => textContent)));
    assert.deepEqual(shown.map(([, ...rest]) => rest), counts.map((row) => [row[region], `${row[estimate]} [${row[low]}, ${row[high]}]`]));
    assert.deepEqual(shown.map(([, name]) => name), ["south", "north", "<b>moon</b>"]);
    assert.match(shown[0][0], /^\d+(\.\d+)? \[\d+(\.\d+)?, \d+(\.\d+)?\]$/);
    const means = new Map(rows.filter((row) => row[query] !== "count").map((row) => [row[region], row]));
    const expected = shown.map(([, name]) => means.get(name)).map((row) => meanText(row[estimate], row[low], row[high]));
    assert.deepEqual(shown.map(([mean]) => mean), expected);

    await ana.press("Ask another question");
    assert.equal(await ana.page.$eval("textarea", ({ value }) => value), STATEMENT, "the statement is still there");
    await ana.leave();
  });

  it("although nothing translates at first", async () => {
    const world = await development();
    const ana = await arrive(world);
    const network = await ana.page.createCDPSession();
    await network.send("Fetch.enable", { patterns: [{ urlPattern: "*/QueryService/TranslateSql", requestStage: "Response" }] });
    const paused = new Promise((resolve) => network.once("Fetch.requestPaused", resolve));
    await write(ana, "SELECT COUNT(*) FROM payroll");
    const { requestId } = await paused;
    const body = Buffer.from(JSON.stringify({ code: "UNAVAILABLE", message: "this server translates no SQL" })).toString("base64");
    await network.send("Fetch.fulfillRequest", { requestId, responseCode: 503, body });
    await ana.sees("This server translates no SQL.", "main .notice");
    await network.send("Fetch.disable");
    await ana.sees("number of records", "main dl");
    await ana.leave();
  });
});
