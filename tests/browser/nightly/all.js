// What takes too long for every change: many dashboards, and a long history.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { after, before, describe, it } from "node:test";
import { Person, startBrowser, stopBrowser } from "../lib/browser.js";
import { Development } from "../lib/development.js";
import { until } from "../lib/processes.js";
import { Reader } from "../lib/reader.js";

// Smaller numbers try the tests themselves.
const DASHBOARDS = Number(process.env.CURATOR_DASHBOARDS ?? 500);
const ENTRIES = Number(process.env.CURATOR_ENTRIES ?? 1_000_000);
const TABS = 5;
const SESSIONS_OF_EACH = 5;
const IDLE_MS = 30_000;
const MOST_MEMORY = 200 * 1024 * 1024;
const MOST_CPU = 0.05;
const MOST_PAINT_MS = 300;
const LOADS = 5;
const TICKS_PER_SECOND = 100;

async function memoryOf(program) {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(await readFile(`/proc/${program.pid}/status`, "utf8"));
  return Number(kilobytes) * 1024;
}

async function secondsOf(program) {
  const fields = (await readFile(`/proc/${program.pid}/stat`, "utf8")).replace(/^.*\) /, "").split(" ");
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

async function signInMany(world, number) {
  const readers = [];
  for (let i = 0; i < number; i += 1) {
    const name = `reader${Math.floor(i / SESSIONS_OF_EACH)}`;
    if (i % SESSIONS_OF_EACH === 0) await world.as("olga").text("dataset", "grant", "demo", name);
    readers.push(await Reader.signIn(world.url, name));
  }
  return readers;
}

// Charges of many analysts until the history has so many entries; each charge leaves two.
async function makeHistory(world, readers, entries) {
  let left = Math.ceil(entries / 2);
  const work = async (reader) => {
    while ((left -= 1) >= 0) {
      const answer = await reader.call("QueryService/AnswerWorkload", {
        request_id: randomUUID(), dataset: "demo", spend: { rho: "0.00000001" },
        workload: { query_sets: [{ marginals: { sets: [{ names: ["sex"] }] } }] },
      });
      if (answer.status !== 200) throw new Error(answer.body);
    }
  };
  await Promise.all(readers.flatMap((reader) => [reader, reader, reader, reader]).map(work));
}

async function firstPaints(person, path) {
  const times = [];
  for (let load = 0; load < LOADS; load += 1) {
    await person.go(path);
    times.push(await person.page.evaluate(() => new Promise((resolve) => {
      new PerformanceObserver((list) => {
        for (const { name, startTime } of list.getEntries()) if (name === "first-contentful-paint") resolve(startTime);
      }).observe({ type: "paint", buffered: true });
    })));
    await person.settled();
  }
  return times.sort((a, b) => a - b);
}

describe("At night the dashboard", () => {
  before(startBrowser);
  after(stopBrowser);

  it(`is open ${DASHBOARDS} times with little memory and processor time, and each gets what it may see`, async (t) => {
    const world = await Development.start();
    await world.makeDataset("demo", { people: "200" });
    const readers = await signInMany(world, DASHBOARDS - TABS);
    const tabs = [];
    for (let i = 0; i < TABS; i += 1) {
      tabs.push(await Person.arrive(world.url));
      await tabs.at(-1).signInByName("olga", "/datasets/demo/history");
    }
    await Promise.all(readers.map((reader) => reader.follow("demo:0")));
    await Promise.all(tabs.map((tab) => tab.sees("live", ".stream")));

    const before = await secondsOf(world.server);
    await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
    const share = (await secondsOf(world.server) - before) / (IDLE_MS / 1000);
    const memory = await memoryOf(world.gate);
    t.diagnostic(`gate ${Math.round(memory / 1024 / 1024)} MB, server ${(100 * share).toFixed(1)} % of a core`);
    assert.ok(memory < MOST_MEMORY, `the gate has ${memory} bytes`);
    assert.ok(share < MOST_CPU, `the server used ${share} of a core`);

    const [first] = readers;
    assert.equal((await first.call("BudgetService/GetBudget", { dataset: "demo" })).status, 200);
    await makeHistory(world, [first], 2);
    // The history of somebody's charges is theirs, and the owner's.
    const theirs = readers.slice(0, SESSIONS_OF_EACH);
    await until("the entries at each session of who charged", () => theirs.every(({ entries }) => entries.length === 2));
    await Promise.all(tabs.map((tab) => tab.sees("1 marginal, 2 cells", "tbody")));
    assert.ok(readers.slice(SESSIONS_OF_EACH).every(({ entries }) => entries.length === 0), "nobody else got them");

    for (const reader of readers) reader.leave();
    for (const tab of tabs) await tab.leave();
    await world.stop();
  });

  it(`paints within ${MOST_PAINT_MS} ms with a history of ${ENTRIES} entries`, async (t) => {
    const world = await Development.start(["--charges-per-day=1000000000"]);
    await world.makeDataset("demo", { people: "200" });
    const readers = await signInMany(world, 8 * SESSIONS_OF_EACH);
    const start = Date.now();
    await makeHistory(world, readers.filter((_, i) => i % SESSIONS_OF_EACH === 0), ENTRIES);
    t.diagnostic(`${ENTRIES} entries in ${Math.round((Date.now() - start) / 1000)} s`);
    const olga = await Person.arrive(world.url);
    await olga.signInByName("olga");
    for (const path of ["/", "/datasets/demo", "/datasets/demo/history", "/datasets/demo/releases"]) {
      const times = await firstPaints(olga, path);
      t.diagnostic(`${path}: ${times.map(Math.round).join(", ")} ms`);
      const median = times[Math.floor(LOADS / 2)];
      assert.ok(median < MOST_PAINT_MS, `${path}: ${median} ms`);
    }
    await olga.leave();
    await world.stop();
  });
});
