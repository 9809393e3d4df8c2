// All tests, in one process, so that they share one Chromium.
import { after, before, describe } from "node:test";
import { startBrowser, stopBrowser } from "../lib/browser.js";
import { development, production, stopAll } from "../lib/world.js";

// The two rows run at once. They have different readers, as a principal may have only so many calls open.
const ROWS = {
  "as its readers use it,": ["live", "intervals", "ask", "statistics", "sql", "synthesize", "receipts", "facts", "pages"],
  "in trouble and under attack,": ["approvals", "security", "trouble"],
};

async function suitesOf(names) {
  return await Promise.all(names.map(async (name) => (await import(`./${name}.js`)).suite));
}

const rows = await Promise.all(Object.entries(ROWS).map(async ([title, names]) => [title, await suitesOf(names)]));

describe("The dashboard", { concurrency: true }, () => {
  before(async () => {
    // Both begin at once; the tests that need one wait for it and say what went wrong.
    development().catch(() => {});
    production().catch(() => {});
    await startBrowser();
  });
  after(async () => {
    await stopBrowser();
    await stopAll();
  });
  for (const [title, suites] of rows) {
    describe(title, { concurrency: 1 }, () => {
      for (const suite of suites) suite();
    });
  }
});
