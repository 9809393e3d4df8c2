// One Chromium for all tests, with a context of its own for each person: their cookies and storage are apart.
import puppeteer from "puppeteer-core";
import { CHROMIUM, scratchFolder } from "./places.js";
import { isRunning, START_MS, until } from "./processes.js";

// Far longer than anything takes on an idle machine.
const WAIT_MS = 60_000;
// Longer waits of the page (30 seconds between two looks at the server) pass this many times faster, where a test asks for it.
const HASTE = 30;

export const SIZES = {
  wide: { width: 1440, height: 900 },
  narrow: { width: 320, height: 700 },
  phone: { width: 360, height: 800 },
};

// The button that asks whether to pay, once it can be pressed.
export const PAY = "::-p-xpath(//button[starts-with(., 'Pay') and not(@aria-disabled)])";

let browser;

export async function startBrowser() {
  browser = await puppeteer.launch({
    executablePath: CHROMIUM,
    headless: true,
    pipe: true,
    timeout: START_MS,
    acceptInsecureCerts: true, // those of an authority of the test's own
    userDataDir: scratchFolder(),
    args: [
      ...(process.getuid() === 0 ? ["--no-sandbox"] : []), // Chromium has none for root
      "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",
      "--disable-background-networking", "--disable-component-update", "--disable-default-apps", "--disable-domain-reliability",
      "--disable-sync", "--disable-extensions", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--no-pings",
      "--metrics-recording-only", "--password-store=basic", "--use-mock-keychain", "--lang=en-GB",
    ],
    env: { ...process.env, TZ: "Europe/Berlin", LC_ALL: "C.UTF-8" },
  });
}

export async function stopBrowser() {
  const group = browser?.process()?.pid;
  await browser?.close();
  // Its helpers, which are of its group, may still write to its folder, which is removed at the end.
  if (group) await until("the end of all of Chromium's processes", () => !isRunning(group), { ms: WAIT_MS });
}

export class Person {
  #context;
  // Requests of the page: those without an answer, but for streams of events, and how many there were.
  #open = new Set();
  #sent = 0;

  // `origin`: the only one that the person's pages may ask anything of.
  static async arrive(origin, { isHasty = false, size = SIZES.wide } = {}) {
    const person = new Person();
    person.origin = origin;
    person.#context = await browser.createBrowserContext();
    await person.openPage({ isHasty, size });
    return person;
  }

  async openPage({ isHasty = false, size = SIZES.wide } = {}) {
    this.page = await this.#context.newPage();
    this.page.setDefaultTimeout(WAIT_MS);
    await this.page.setViewport(size);
    this.problems = [];
    this.#followRequests(this.page);
    await this.#collectProblems(this.page);
    if (isHasty) await this.page.evaluateOnNewDocument(hurry, HASTE);
    return this.page;
  }

  #followRequests(page) {
    page.on("request", (request) => {
      this.#sent += 1;
      if (request.resourceType() !== "eventsource") this.#open.add(request);
    });
    for (const end of ["requestfinished", "requestfailed"]) page.on(end, (request) => this.#open.delete(request));
    // Whatever the document before was waiting for.
    page.on("framenavigated", (frame) => {
      if (frame === page.mainFrame()) this.#open.clear();
    });
  }

  // Of a page: errors of scripts and of the console, violations of the content policy, and requests to other origins.
  async #collectProblems(page) {
    // Of its own origin: an identity provider's pages are its own matter.
    const add = (problem) => {
      if (page.url().startsWith(`${this.origin}/`)) this.problems.push(`${page.url()}: ${problem}`);
    };
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warn") add(`console: ${message.text()} ${message.location().url ?? ""}`);
    });
    page.on("pageerror", (error) => add(`error: ${error}`));
    page.on("request", (request) => {
      const { protocol, origin } = new URL(request.url());
      const isMove = request.isNavigationRequest() && request.frame() === page.mainFrame();
      if (protocol !== "data:" && protocol !== "blob:" && origin !== this.origin && !isMove) add(`request to ${request.url()}`);
    });
    await page.exposeFunction("reportViolation", (text) => add(`violation of the content policy: ${text}`));
    await page.evaluateOnNewDocument(() => {
      document.addEventListener("securitypolicyviolation", (event) => {
        window.reportViolation(`${event.effectiveDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber}`);
      });
    });
  }

  async go(path) {
    await this.page.goto(this.origin + path, { waitUntil: "domcontentloaded" });
  }

  // In development mode.
  async signInByName(name, path = "/") {
    await this.go(path);
    await this.fill("Name", name);
    await this.press("Sign in by name");
    await this.sees(name, ".side .who");
  }

  // The element that is found by what a reader of the screen hears.
  async control(name, role = "button") {
    return await this.page.waitForSelector(`::-p-aria([name="${name}"][role="${role}"])`, { visible: true });
  }

  async fill(label, text, role = "textbox") {
    const field = await this.control(label, role);
    await field.evaluate((element) => element.select());
    await field.type(text);
  }

  // By the keyboard, so that nothing depends on where it lies, and what above it.
  async press(name, role = "button") {
    await this.#press(await this.control(name, role));
  }

  // The same of the first element that fits `selector`.
  async pressOn(selector) {
    await this.#press(await this.page.waitForSelector(selector, { visible: true }));
  }

  async #press(element) {
    // A button is off until what it needs is there.
    const isOn = (button) => button.getAttribute("aria-disabled") !== "true";
    await this.page.waitForFunction(isOn, { polling: "mutation" }, element);
    const type = await element.evaluate((control) => control.type);
    await element.press(type === "checkbox" || type === "radio" ? "Space" : "Enter");
  }

  // Waits until an element that fits `selector` has this text.
  async sees(text, selector = "body") {
    try {
      await this.page.waitForFunction(
        (wanted, where) => [...document.querySelectorAll(where)].some((element) => element.innerText.includes(wanted)),
        { polling: "mutation" }, text, selector,
      );
    } catch (error) {
      throw new Error(`${this.page.url()} does not show "${text}" in ${selector}, but:\n${await this.text()}`, { cause: error });
    }
  }

  async seesNoMore(text, selector = "body") {
    await this.page.waitForFunction(
      (wanted, where) => ![...document.querySelectorAll(where)].some((element) => element.innerText.includes(wanted)),
      { polling: "mutation" }, text, selector,
    );
  }

  text(selector = "body") {
    return this.page.$eval(selector, (element) => element.innerText);
  }

  // Of all elements that fit, `property` of each.
  all(selector, property = "innerText") {
    return this.page.$$eval(selector, (elements, name) => elements.map((element) => element[name]), property);
  }

  // Nothing is loaded any more: no skeleton is left, no answer is missing, and the fonts are there. What is drawn of the last
  // answers may ask for more.
  async settled() {
    for (let sent; sent !== this.#sent;) {
      sent = this.#sent;
      await this.page.waitForFunction(
        () => document.querySelector("h1") && !document.querySelector("[class*=skeleton], [aria-busy=true]"),
        { polling: "mutation" },
      );
      await until("the answers of all calls", () => this.#open.size === 0, { ms: WAIT_MS });
      await this.page.evaluate(drawTwice);
    }
    await this.page.evaluate(() => document.fonts.ready.then(() => true));
  }

  // What a page of the session sends: { status, body }.
  fetch(path, options) {
    return this.page.evaluate(async (address, init) => {
      const { csrf } = await (await fetch("/api/v1/session")).json();
      const headers = { "Content-Type": "application/json", "X-Curator-CSRF": csrf, ...init.headers };
      const response = await fetch(address, { method: "POST", ...init, headers });
      return { status: response.status, body: await response.json() };
    }, path, options);
  }

  call(method, request) {
    return this.fetch(`/api/v1/${method}`, { body: JSON.stringify(request) });
  }

  cookies() {
    return this.#context.cookies();
  }

  newPage() {
    return this.#context.newPage();
  }

  async leave() {
    await this.#context.close();
  }
}

// Two frames, and what components do after each.
async function drawTwice() {
  for (let frame = 0; frame < 2; frame += 1) {
    await new Promise((resolve) => { requestAnimationFrame(() => setTimeout(resolve)); });
  }
}

function hurry(factor) {
  const LONG_MS = 3000;
  for (const name of ["setTimeout", "setInterval"]) {
    const original = window[name];
    window[name] = (callback, ms, ...rest) => original(callback, ms >= LONG_MS ? ms / factor : ms, ...rest);
  }
}
