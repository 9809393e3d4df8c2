import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Person } from "../lib/browser.js";
import { parseCsv } from "../lib/csv.js";
import { until } from "../lib/processes.js";
import { development } from "../lib/world.js";

const LEVELS = ["0.8", "0.9", "0.95", "0.99"];

async function ofCommandLine(cli, release, level) {
  const { header, rows } = parseCsv(await cli.text("--output", "csv", "release", "show", release, "--confidence", level));
  const columns = ["estimate", "low", "high"].map((name) => header.indexOf(name));
  assert.ok(columns.every((column) => column >= 0), `the command line has other columns: ${header}`);
  return rows.map((row) => columns.map((column) => row[column]));
}

function ofPage(person) {
  return person.page.$$eval("svg .mark", (marks) => marks.map(({ dataset }) => [dataset.value, dataset.lower, dataset.upper]));
}

export const suite = () => describe("shows intervals", () => {
  for (const [kind, title] of [["oneWay", "one-way marginals"], ["twoWay", "two-way marginals"], ["queries", "other queries"]]) {
    it(`of ${title} that equal the command line's to the last digit, at each confidence level`, async () => {
      const world = await development();
      const ana = await Person.arrive(world.url);
      await ana.signInByName("ana", `/releases/${world.releases[kind]}`);
      await ana.page.waitForSelector("svg .mark");
      for (const level of LEVELS) {
        await ana.pressOn(`input[name="level"][value="${level}"]`);
        const expected = await ofCommandLine(world.as("ana"), world.releases[kind], level);
        assert.ok(expected.length > 0 && expected.every((row) => row.every((cell) => cell !== "")));
        // The bars of the level before stay until those of this one are there.
        await until("bars of another level", async () => String(await ofPage(ana)) === String(expected)).catch(() => {});
        assert.deepEqual(await ofPage(ana), expected, `at ${level}`);
      }
      await ana.leave();
    });
  }
});
