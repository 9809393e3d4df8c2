import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Person } from "../lib/browser.js";
import { Development } from "../lib/development.js";
import { development } from "../lib/world.js";

const SOON_MS = 2000;

function charge(cli, dataset, rho = "0.0001") {
  return cli.json("workload", "answer", dataset, "--marginals", "1", "--attributes", "sex", "--rho", rho);
}

// The numbers of the entries that the page of a history shows, newest first.
function shownSequences(person) {
  return person.page.$$eval("tbody th", (cells) => cells.map((cell) => Number(cell.innerText)));
}

async function showsEntry(person, sequence) {
  await person.page.waitForFunction(
    (wanted) => [...document.querySelectorAll("tbody th")].some((cell) => cell.innerText === wanted),
    { polling: "mutation" }, String(sequence),
  );
}

// From now on the page notes when it first shows each amount and each number of an entry.
function noteArrivals({ page }) {
  return page.evaluate(() => {
    window.arrivals = {};
    const look = () => {
      const shown = [...document.querySelectorAll("data"), ...document.querySelectorAll("tbody th")];
      for (const element of shown) window.arrivals[element.value ?? element.innerText] ??= Date.now();
    };
    look();
    new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true });
  });
}

async function arrivalOf({ page }, text) {
  const noted = await page.waitForFunction((wanted) => window.arrivals[wanted], { polling: "mutation" }, text);
  return await noted.jsonValue();
}

async function historyIsWhole(person, cli, dataset) {
  const sequences = (await cli.history(dataset)).map(({ sequence }) => sequence).reverse();
  await showsEntry(person, sequences[0]);
  assert.deepEqual(await shownSequences(person), sequences, "each entry once, in order");
}

export const suite = () => describe("in development mode", () => {
  it("signs in by name and draws the burn-down of the demonstration's dataset", async () => {
    const world = await development();
    const olga = await Person.arrive(world.url);
    await olga.signInByName("olga", "/datasets/demo");
    await olga.page.waitForSelector(".plot canvas");
    await olga.page.waitForFunction(() => {
      const canvas = document.querySelector(".plot canvas");
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      return canvas.width > 0 && data.some((byte) => byte !== 0);
    });
    await (await olga.page.waitForSelector("figure.chart .chart-tools button")).click();
    await olga.page.waitForSelector("figure.chart table");
    const header = await olga.all("figure.chart thead th");
    const rows = await olga.page.$$eval("figure.chart tbody tr", (all) => all.map((row) => [...row.cells].map((cell) => cell.innerText)));
    const spent = header.findIndex((title) => title.toLowerCase().includes("spent"));
    assert.equal(rows.at(-1)[spent], await world.as("ana").spent("demo"), "the last point is what the command line says");
    assert.ok(rows.length >= 2, `points from the beginning on, and not ${JSON.stringify(rows)}`);
    await olga.leave();
  });

  it("shows a charge of the command line within two seconds without a reload, in the numbers and in the history", async () => {
    const world = await development();
    await world.makeDataset("watched", { seed: "2" });
    const cli = world.as("ana");
    const [numbers, history] = await Promise.all([Person.arrive(world.url), Person.arrive(world.url)]);
    await Promise.all([numbers.signInByName("ana", "/datasets/watched"), history.signInByName("olga", "/datasets/watched/history")]);
    await Promise.all([numbers.sees("live", ".stream"), history.sees("live", ".stream"), numbers.settled(), history.settled()]);
    await Promise.all([noteArrivals(numbers), noteArrivals(history)]);

    await charge(cli, "watched");
    const charged = Date.now();
    const [spent, entries] = await Promise.all([cli.spent("watched"), cli.history("watched")]);
    // What they have noted would be gone after a reload.
    for (const [person, text] of [[numbers, spent], [history, String(entries.at(-1).sequence)]]) {
      const late = await arrivalOf(person, text) - charged;
      assert.ok(late <= SOON_MS, `${text} came ${late} ms after the charge`);
    }
    await Promise.all([numbers.leave(), history.leave()]);
  });

  it("shows a charge that is made after its first look at the numbers, and before it follows the history", async () => {
    const world = await development();
    await world.makeDataset("followed", { seed: "4" });
    const cli = world.as("ana");
    const before = await cli.spent("followed");
    const ana = await Person.arrive(world.url);
    // It looks at nothing by itself, as it does every 30 seconds.
    await ana.page.evaluateOnNewDocument(() => {
      const original = window.setTimeout;
      window.setTimeout = (callback, ms, ...rest) => (ms >= 30_000 ? 0 : original(callback, ms, ...rest));
    });
    // The page asks where the history ends, and the question is held up.
    const network = await ana.page.createCDPSession();
    network.on("Fetch.requestPaused", ({ requestId, request }) => {
      if (JSON.parse(request.postData).dataset !== "followed") network.send("Fetch.continueRequest", { requestId }).catch(() => {});
    });
    await network.send("Fetch.enable", { patterns: [{ urlPattern: "*/BudgetService/ListLedgerEntries" }] });
    await ana.signInByName("ana", "/datasets/followed");
    const shows = (amount) => ana.page.waitForFunction(
      (wanted) => [...document.querySelectorAll("main data")].some(({ value }) => value === wanted), { polling: "mutation" }, amount,
    );
    await shows(before);
    await charge(cli, "followed");
    await network.send("Fetch.disable");
    await shows(await cli.spent("followed"));
    await ana.leave();
  });

  it("says that it reconnects when the server is killed, and goes on without a lost or doubled entry", async () => {
    const world = await Development.start();
    await world.makeDataset("demo", { people: "200" });
    const cli = world.as("ana");
    await charge(cli, "demo");
    const ana = await Person.arrive(world.url);
    await ana.signInByName("ana", "/datasets/demo/history");
    await ana.sees("live", ".stream");
    await historyIsWhole(ana, cli, "demo");
    await ana.page.evaluate(() => { window.isTheSame = true; });

    // The server dies with charges under way: some are made, and the others are not.
    const underWay = Promise.allSettled([charge(cli, "demo"), charge(cli, "demo"), charge(cli, "demo")]);
    await charge(cli, "demo");
    await world.server.kill("SIGKILL");
    await underWay;
    await ana.sees("reconnecting", ".stream");

    await world.startServer();
    await Promise.all([charge(cli, "demo"), charge(cli, "demo")]);
    await ana.sees("live", ".stream");
    await charge(cli, "demo");
    await historyIsWhole(ana, cli, "demo");
    assert.equal(await ana.page.evaluate(() => window.isTheSame), true, "it was not loaded again");
    await ana.leave();
    await world.stop();
  });
});
