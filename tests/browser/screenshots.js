// Pictures of the main pages, for the documentation.
import { statSync } from "node:fs";
import { join } from "node:path";
import { Person, SIZES, startBrowser, stopBrowser } from "./lib/browser.js";
import { Development } from "./lib/development.js";

const MOST_BYTES = 150_000;
const WIDE = { width: 1440, height: 820 };

const PICTURES = [
  { name: "overview", path: "/", variants: ["light", "phone"] },
  { name: "dataset", path: "/datasets/demo", who: "olga", variants: ["light", "dark", "phone"] },
  { name: "history", path: "/datasets/demo/history", who: "olga", variants: ["light"] },
  { name: "release", path: (world) => `/releases/${world.releases.oneWay}`, variants: ["light", "dark"] },
  { name: "ask", path: "/datasets/demo/ask", variants: ["light", "phone"], prepare: choose },
  { name: "inbox", path: "/inbox", who: "olga", variants: ["light", "dark"] },
];

const VARIANTS = {
  light: { size: WIDE, theme: "light", name: "1440" },
  dark: { size: WIDE, theme: "dark", name: "1440-dark" },
  phone: { size: SIZES.phone, theme: "light", name: "360" },
};

async function choose({ page }) {
  for (const choice of (await page.$$("label.choice input[type=checkbox]")).slice(0, 2)) await choice.press("Space");
  await page.waitForSelector(".price-row");
}

async function take(world, folder, { name, path, who = "ana", prepare }, { size, theme, name: variant }) {
  const person = await Person.arrive(world.url, { size });
  await person.page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: theme }, { name: "prefers-reduced-motion", value: "reduce" }]);
  await person.signInByName(who, typeof path === "function" ? path(world) : path);
  await person.page.waitForNetworkIdle({ concurrency: 1 }); // the stream of events
  await person.settled();
  await prepare?.(person);
  if (size !== SIZES.phone) await person.sees("live", ".stream"); // a phone has it in its menu
  await person.page.evaluate(() => document.activeElement?.blur());
  const file = join(folder, `${name}-${variant}.png`);
  await person.page.screenshot({ path: file });
  const { size: bytes } = statSync(file);
  console.log(`${file}: ${bytes} bytes`);
  if (bytes > MOST_BYTES) process.exitCode = 1;
  await person.leave();
}

const folder = process.env.CURATOR_SCREENSHOTS;
const world = await Development.start();
try {
  await world.makeDemo();
  await startBrowser();
  for (const picture of PICTURES) for (const variant of picture.variants) await take(world, folder, picture, VARIANTS[variant]);
} finally {
  await stopBrowser();
  await world.stop();
}
