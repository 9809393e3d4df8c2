import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { Person, SIZES } from "../lib/browser.js";
import { PAGES, pathOf } from "../lib/pages.js";
import { ROOT } from "../lib/places.js";
import { development, production } from "../lib/world.js";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const SERIOUS = ["serious", "critical"];
const MOST_STOPS = 400;
const STOPS_AT_ONCE = 20;

// What axe finds, as sentences; by all rules, or by some.
async function findingsOf({ page }, rules) {
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(AXE);
  const options = { resultTypes: ["violations"], preload: false, ...(rules ? { runOnly: { type: "rule", values: rules } } : {}) };
  const violations = await page.evaluate(async (how) => (await window.axe.run(document, how)).violations, options);
  return violations.filter(({ impact }) => SERIOUS.includes(impact))
    .flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => `${id}: ${target.join(" ")}: ${failureSummary}`));
}

async function inTheme({ page }, theme, work) {
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: theme }, { name: "prefers-reduced-motion", value: "reduce" }]);
  // Colours change in one step, as motion is reduced.
  await page.evaluate(() => new Promise((resolve) => { requestAnimationFrame(() => requestAnimationFrame(resolve)); }));
  return await work();
}

// Elements that reach out of the window at its right side, where the document scrolls sideways. Charts are drawn anew for a width.
async function overflowing({ page }) {
  const fits = () => document.documentElement.scrollWidth <= document.documentElement.clientWidth;
  await page.waitForFunction(fits, { polling: "raf" }).catch(() => {});
  return await page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    if (scrollWidth <= clientWidth) return [];
    const wide = [...document.querySelectorAll("body *")].filter((element) => element.getBoundingClientRect().right > clientWidth + 1);
    return [`the document has ${scrollWidth} px`, ...wide.slice(0, 10).map((element) => `${element.tagName}.${element.getAttribute("class")}`)];
  });
}

// Follows the Tab key around the page. Controls that it does not reach, and stops whose focus cannot be seen.
async function keyboardProblems({ page }) {
  await page.evaluate(() => {
    // The next stop is the first one of the page, or of the dialog that is open.
    const marker = document.createElement("span");
    marker.tabIndex = -1;
    (document.querySelector("dialog[open]") ?? document.body).prepend(marker);
    marker.focus();
    marker.remove();
    window.stops = new Set();
    const name = (element) => {
      const words = element.getAttribute("aria-label") ?? element.labels?.[0]?.innerText ?? element.innerText ?? "";
      return `${element.tagName} "${words.slice(0, 40)}" ${element.getAttribute("class") ?? ""} ${element.type ?? ""}`;
    };
    // A choice may have its outline around the whole of its label.
    const hasOutline = (element) => [element, element.closest("label")].some((candidate) => {
      const { outlineStyle, outlineWidth, outlineColor } = candidate ? getComputedStyle(candidate) : { outlineStyle: "none" };
      return outlineStyle !== "none" && parseFloat(outlineWidth) >= 1 && !/, 0\)$|transparent/.test(outlineColor);
    });
    const problems = [];
    const look = ({ target: element }) => {
      if (window.stops.has(element)) return;
      window.stops.add(element);
      const { width, height, bottom, top } = element.getBoundingClientRect();
      const isInWindow = width > 0 && height > 0 && bottom > 0 && top < window.innerHeight;
      if (!hasOutline(element)) problems.push(`no visible focus: ${name(element)}`);
      if (!isInWindow) problems.push(`the focus is out of sight: ${name(element)}`);
    };
    document.addEventListener("focusin", look);
    window.keyboardProblems = () => {
      document.removeEventListener("focusin", look);
      const dialog = document.querySelector("dialog[open]");
      const controls = [...(dialog ?? document).querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex='0']")];
      const hasChosen = (radio) => controls.some((other) => other.type === "radio" && other.name === radio.name && window.stops.has(other));
      const unreached = controls.filter((element) => element.checkVisibility({ checkVisibilityCSS: true }) && !element.disabled && element.tabIndex >= 0)
        .filter((element) => !window.stops.has(element) && !(element.type === "radio" && hasChosen(element)))
        .map((element) => `the Tab key does not reach: ${name(element)}`);
      return [...problems, ...unreached];
    };
  });
  for (let [before, now] = [-1, 0]; now > before && now < MOST_STOPS;) {
    await Promise.all(Array.from({ length: STOPS_AT_ONCE }, () => page.keyboard.press("Tab")));
    [before, now] = [now, await page.evaluate(() => window.stops.size)];
  }
  return await page.evaluate(() => window.keyboardProblems());
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
  // Nothing but colours depends on the theme.
  for (const [theme, rules] of [["light", undefined], ["dark", ["color-contrast", "link-in-text-block"]]]) {
    problems.push(...(await inTheme(person, theme, () => findingsOf(person, rules))).map((finding) => `${theme}: ${finding}`));
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
