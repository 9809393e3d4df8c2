// All tests, in one process, so that they share one Chromium.
import { after, before, describe } from "node:test";
import { startBrowser, stopBrowser } from "../lib/browser.js";
import { development, production, stopAll } from "../lib/world.js";

const SUITES = ["live", "intervals", "ask", "receipts", "trouble", "security", "approvals", "pages"];

const suites = await Promise.all(SUITES.map((name) => import(`./${name}.js`)));

describe("The dashboard", () => {
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
  for (const { suite } of suites) suite();
});
