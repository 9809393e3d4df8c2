import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { Person, SIZES } from "../lib/browser.js";
import { PAGES, pathOf } from "../lib/pages.js";
import { ROOT } from "../lib/places.js";
import { development, production } from "../lib/world.js";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const SERIOUS = ["serious", "critical"];
const MOST_STOPS = 400;

// What axe finds, as sentences.
async function findingsOf({ page }) {
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(AXE);
  const violations = await page.evaluate(async () => (await window.axe.run(document, { resultTypes: ["violations"], preload: false })).violations);
  return violations.filter(({ impact }) => SERIOUS.includes(impact))
    .flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => `${id}: ${target.join(" ")}: ${failureSummary}`));
}

async function inTheme({ page }, theme, work) {
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: theme }, { name: "prefers-reduced-motion", value: "reduce" }]);
  // Colours change in one step, as motion is reduced.
  await page.evaluate(() => new Promise((resolve) => { requestAnimationFrame(() => requestAnimationFrame(resolve)); }));
  return await work();
}

// Elements that reach out of the window at its right side, where the document scrolls sideways.
function overflowing({ page }) {
  return page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    if (scrollWidth <= clientWidth) return [];
    const wide = [...document.querySelectorAll("body *")].filter((element) => element.getBoundingClientRect().right > clientWidth + 1);
    return [`the document has ${scrollWidth} px`, ...wide.slice(0, 10).map((element) => `${element.tagName}.${element.getAttribute("class")}`)];
  });
}

// Follows the Tab key around the page. Controls that it does not reach, and stops whose focus cannot be seen.
async function keyboardProblems({ page }) {
  await page.evaluate(() => {
    document.activeElement?.blur();
    getSelection()?.removeAllRanges();
    window.scrollTo(0, 0);
    window.stops = new Set();
    const name = (element) => `${element.tagName} "${(element.getAttribute("aria-label") ?? element.innerText ?? "").slice(0, 40)}" ${element.getAttribute("class") ?? ""}`;
    window.lookAtFocus = () => {
      const element = document.activeElement;
      if (!element || element === document.body || window.stops.has(element)) return { isOver: true };
      window.stops.add(element);
      const { outlineStyle, outlineWidth, outlineColor, boxShadow } = getComputedStyle(element);
      const { width, height, bottom, top } = element.getBoundingClientRect();
      const hasOutline = outlineStyle !== "none" && parseFloat(outlineWidth) >= 1 && !/, 0\)$|transparent/.test(outlineColor);
      const isInWindow = width > 0 && height > 0 && bottom > 0 && top < window.innerHeight;
      const problems = [];
      if (!hasOutline && boxShadow === "none") problems.push(`no visible focus: ${name(element)}`);
      if (!isInWindow) problems.push(`the focus is out of sight: ${name(element)}`);
      return { problems };
    };
    window.unreached = () => {
      const dialog = document.querySelector("dialog[open]");
      const controls = [...(dialog ?? document).querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex='0']")];
      const hasChosen = (radio) => controls.some((other) => other.type === "radio" && other.name === radio.name && window.stops.has(other));
      return controls.filter((element) => element.checkVisibility({ checkVisibilityCSS: true }) && !element.disabled && element.tabIndex >= 0)
        .filter((element) => !window.stops.has(element) && !(element.type === "radio" && hasChosen(element)))
        .map((element) => `the Tab key does not reach: ${name(element)}`);
    };
  });
  const problems = [];
  for (let stop = 0; stop < MOST_STOPS; stop += 1) {
    await page.keyboard.press("Tab");
    const seen = await page.evaluate(() => window.lookAtFocus());
    if (seen.isOver) break;
    problems.push(...seen.problems);
  }
  return [...problems, ...(await page.evaluate(() => window.unreached()))];
}

async function skipLinkWorks({ page }) {
  await page.evaluate(() => document.activeElement?.blur());
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute("href")), "#main", "the first stop is the link to the content");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => location.hash === "#main" && document.activeElement.closest("#main") !== null);
}

// The page in every respect, with what is open on it.
async function isSound(person, { isDialog = false, mayFail = false } = {}) {
  const { page } = person;
  await person.settled();
  const problems = [];
  for (const theme of ["light", "dark"]) {
    problems.push(...(await inTheme(person, theme, () => findingsOf(person))).map((finding) => `${theme}: ${finding}`));
  }
  problems.push(...(await keyboardProblems(person)).map((problem) => `keyboard: ${problem}`));
  await page.setViewport(SIZES.narrow);
  problems.push(...(await overflowing(person)).map((problem) => `320 px wide: ${problem}`));
  await page.setViewport(SIZES.wide);
  // An error that a page is about is an error in the console, too: the browser's own.
  problems.push(...person.problems.filter((problem) => !(mayFail && problem.includes("Failed to load resource"))));
  person.problems.length = 0;
  assert.deepEqual(problems, [], isDialog ? "with what is open" : page.url());
}

export const suite = () => describe("every page", () => {
  const readers = new Map();
  // One reader of each name, who stays signed in.
  async function reader(world, { who, isOfProduction }) {
    if (!readers.has(who)) {
      const person = await Person.arrive(world.url);
      readers.set(who, person);
      if (isOfProduction) await world.logIn(person, who);
      else if (who !== "") await person.signInByName(who);
      person.problems.length = 0;
    }
    return readers.get(who);
  }
  before(async () => {
    const world = await development();
    await world.as("olga").text("account", "limit", "propose", "demo", "--epsilon", "2.5", "--reason", "a second study");
    await world.as("ana").text("account", "limit", "request", "demo", "--epsilon", "3", "--reason", "the thesis needs more");
  });
  after(async () => {
    for (const person of readers.values()) await person.leave();
  });

  it("is in the list of these tests", () => {
    const routes = readFileSync(join(ROOT, "client/gate/web/src/routes.tsx"), "utf8");
    const patterns = [...routes.matchAll(/pattern: "([^"]+)"/g)].map(([, pattern]) => pattern);
    assert.ok(patterns.length > 10, "the routes are written as this test reads them");
    const listed = PAGES.map(({ pattern }) => pattern).filter((pattern) => pattern.startsWith("/"));
    assert.deepEqual([...new Set(listed)].sort(), patterns.sort());
  });

  for (const page of PAGES) {
    const world = page.isOfProduction ? production : development;
    const name = page.path && page.pattern.includes("release") ? `${page.pattern} (${page.path({ releases: new Proxy({}, { get: (_, kind) => kind }) }).split("/").pop()})` : page.pattern;
    it(`keeps to its content policy, asks nobody else, has no error, and is accessible: ${name}`, async () => {
      const person = await reader(await world(), page);
      await person.go(pathOf(page, await world()));
      await isSound(person, page);
    });
    for (const [what, open] of Object.entries(page.states ?? {})) {
      it(`and with ${what}: ${name}`, async () => {
        const person = await reader(await world(), page);
        await person.go(pathOf(page, await world()));
        await person.settled();
        await open(person);
        await isSound(person, { isDialog: true });
      });
    }
  }

  it("has a link that skips the navigation", async () => {
    const person = await reader(await development(), { who: "ana" });
    await person.go("/datasets/demo");
    await person.settled();
    await skipLinkWorks(person);
  });
});
