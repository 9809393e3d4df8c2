// A table as people have it, with dates, missing values and an order, whose owner had seen records when it chose the ranges.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { before, describe, it } from "node:test";
import { Person } from "../lib/browser.js";
import { ROOT } from "../lib/places.js";
import { run } from "../lib/processes.js";
import { development } from "../lib/world.js";

const SAID = "chosen by somebody who had seen records";

export const suite = () => describe("shows of a table as people have it", () => {
  const releases = {};
  let ana;

  before(async () => {
    const world = await development();
    const schema = JSON.parse(readFileSync(join(ROOT, "deploy/demo-clinic-schema.json")));
    const path = await world.file("clinic.json", JSON.stringify({ ...schema, domainFromRecords: true }));
    const table = await world.file("clinic.csv", await run(join(ROOT, "deploy/demo-clinic"), ["--rows", "500"]));
    const [olga, analyst] = [world.as("olga"), world.as("ana")];
    await olga.text("dataset", "create", "clinic", "--schema", path, "--rule", "zcdp", "--epsilon", "3", "--delta", "1e-9");
    await olga.text("dataset", "import", "clinic", table);
    await olga.text("dataset", "seal", "clinic");
    await olga.text("dataset", "grant", "clinic", "ana");
    const out = join(world.folder, "clinic-answer.csv");
    releases.answer = (await analyst.json("workload", "answer", "clinic", "--marginals", "1", "--rho", "0.01", "--out", out)).release_id;
    await analyst.text("synth", "run", "clinic", "--method", "mwem", "--rho", "0.01", "--set", "rounds=2", "--out", out);
    releases.synthesis = (await analyst.json("release", "list", "clinic")).releases.find(({ kind }) => kind === "synthesis").release_id;
    ana = await Person.arrive(world.url);
    await ana.signInByName("ana");
  });

  it("its kinds, and that the guarantee does not cover its ranges", async () => {
    await ana.go("/datasets/clinic");
    await ana.sees(SAID);
    await ana.sees("date from 2019-01-01 to 2020-12-31 by quarter, in Europe/Berlin, or missing: unknown");
    await ana.sees("ordered categories: none, low, high, or missing: unknown");
  });

  it("the same before somebody pays", async () => {
    await ana.go("/datasets/clinic/ask");
    await ana.pressOn("label.choice input[type=checkbox]");
    await ana.sees(SAID);
  });

  it("the same beside an answer, whose bins are quarters and missing values", async () => {
    await ana.go(`/releases/${releases.answer}`);
    await ana.sees(SAID);
    await ana.page.waitForSelector("::-p-xpath(//*[name() = 'text' and . = '2020-Q4'])");
    await ana.page.waitForSelector("::-p-xpath(//*[name() = 'text' and . = 'unknown'])");
  });

  it("the same beside a synthetic population", async () => {
    await ana.go(`/releases/${releases.synthesis}`);
    await ana.sees("How it was made");
    await ana.sees(SAID);
    await ana.leave();
  });
});
