import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { before, describe, it } from "node:test";
import { PAY, Person } from "../lib/browser.js";
import { units } from "../lib/decimals.js";
import { ROOT } from "../lib/places.js";
import { development } from "../lib/world.js";

const SOURCES = join(ROOT, "client/gate/web/src");
const OWN_CHOICE = "auto";
const METHOD = "How the model is learned";

async function arrive(query = "") {
  const { url } = await development();
  const ana = await Person.arrive(url);
  await ana.signInByName("ana", `/datasets/synthesized/synthesize${query}`);
  await ana.control(METHOD, "combobox");
  return ana;
}

async function choose(person, method) {
  const field = await person.control(METHOD, "combobox");
  await field.select(method);
}

// A small model of one method, which is soon made.
async function order(person, rho) {
  await choose(person, "mwem");
  await person.pressOn("::-p-xpath(//summary[. = 'Settings of the method'])");
  await person.fill("rounds", "2");
  await person.fill("Amount of rho", rho);
}

// Up to the question whether to pay. The exact price that it shows.
async function askWhetherToPay(person) {
  await person.pressOn(PAY);
  await person.page.waitForSelector("dialog[open] data");
  return await person.page.$eval("dialog[open] tbody data", (amount) => amount.value);
}

async function showsRelease(person) {
  await person.sees("The synthetic data is ready.");
  await person.press("Show the release", "link");
  await person.page.waitForFunction(() => location.pathname.startsWith("/releases/"));
  await person.sees("synthetic rows", "main");
}

// Holds the answers of a method back from the person's page: they can be passed on, replaced, or never come.
async function holdAnswers(person, method) {
  const network = await person.page.createCDPSession();
  await network.send("Fetch.enable", { patterns: [{ urlPattern: `*/${method}`, requestStage: "Response" }] });
  return {
    next: () => new Promise((resolve) => network.once("Fetch.requestPaused", ({ requestId, request, responseStatusCode }) => {
      resolve({ id: requestId, body: JSON.parse(request.postData), status: responseStatusCode });
    })),
    answer: (id, body) => network.send("Fetch.fulfillRequest", {
      requestId: id, responseCode: 200, body: Buffer.from(JSON.stringify(body)).toString("base64"),
    }),
    pass: (id) => network.send("Fetch.continueResponse", { requestId: id }),
    end: () => network.send("Fetch.disable"),
  };
}

function sourcesOf(folder) {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => [entry.name, readFileSync(join(entry.parentPath ?? entry.path, entry.name), "utf8")]);
}

export const suite = () => describe("makes synthetic data", () => {
  before(async () => (await development()).makeDataset("synthesized", { seed: "7" }));

  it("by every method that the server has, in its order, none of which the page knows", async () => {
    const ana = await arrive();
    const { body: { synthesizers } } = await ana.call("SynthesisService/ListSynthesizers", {});
    const methods = synthesizers.map(({ method }) => method);
    assert.ok(methods.length > 1);
    const field = await ana.control(METHOD, "combobox");
    assert.deepEqual(await field.$$eval("option", (options) => options.map(({ value }) => value)), methods);
    assert.equal(await field.evaluate(({ value }) => value), methods.includes(OWN_CHOICE) ? OWN_CHOICE : methods[0]);
    for (const { method, summary, settings } of synthesizers) {
      await choose(ana, method);
      await ana.sees(summary.slice(1), ".hint");
      const labels = await ana.all(".settings label", "textContent");
      assert.deepEqual(labels, settings.map(({ key }) => key), method);
    }
    const named = new RegExp(`["'\`](${methods.filter((method) => method !== OWN_CHOICE).join("|")})["'\`]`);
    const sources = sourcesOf(SOURCES);
    assert.ok(sources.length > 50);
    assert.deepEqual(sources.filter(([, text]) => named.test(text)).map(([name]) => name), []);
    await ana.leave();
  });

  it("also by a method that is new, with the server's own choice before any other", async () => {
    const ana = await arrive();
    const answers = await holdAnswers(ana, "SynthesisService/ListSynthesizers");
    const asked = answers.next();
    await ana.page.reload({ waitUntil: "domcontentloaded" });
    await answers.answer((await asked).id, { synthesizers: [
      { method: "newest", summary: "made yesterday", settings: [{ key: "depth", summary: "how deep", default_value: "3" }] },
      { method: OWN_CHOICE, summary: "chosen by the server", settings: [] },
    ] });
    await answers.end();
    await ana.sees("Chosen by the server.", ".hint");
    const field = await ana.control(METHOD, "combobox");
    assert.deepEqual(await field.$$eval("option", (options) => options.map(({ value }) => value)), ["newest", OWN_CHOICE]);
    assert.equal(await field.evaluate(({ value }) => value), OWN_CHOICE);
    await choose(ana, "newest");
    assert.deepEqual(await ana.all(".settings label", "textContent"), ["depth"]);
    await ana.leave();
  });

  it("at the price that it has shown before, and shows how far it is and where it is stored", async () => {
    const cli = (await development()).as("ana");
    const ana = await arrive();
    const [before, entriesBefore] = [units(await cli.spent("synthesized")), (await cli.history("synthesized")).length];
    await order(ana, "0.002");
    const price = await askWhetherToPay(ana);
    assert.equal(units(await cli.spent("synthesized")), before, "a price costs nothing");
    await ana.sees("2 times", ".schedule");

    const answers = await holdAnswers(ana, "SynthesisService/CreateSynthesis");
    const sent = answers.next();
    await ana.press("Pay and synthesize");
    const { id, body } = await sent;
    assert.deepEqual(body.spec, { method: "mwem", spend: { rho: "0.002" }, settings: { rounds: "2" } }, "what was not changed is not sent");
    await answers.pass(id);
    await answers.end();
    assert.equal(await ana.page.evaluate(() => document.activeElement.innerText.startsWith("Synthesis")), true, "it has the focus");
    await showsRelease(ana);
    assert.equal(units(await cli.spent("synthesized")) - before, units(price));
    const made = (await cli.history("synthesized")).slice(entriesBefore).map(({ kind }) => kind);
    assert.deepEqual(made, ["RESERVED", "STARTED", "COMMITTED"]);
    await ana.leave();
  });

  it("of marginals of the attributes that are chosen", async () => {
    const ana = await arrive();
    await order(ana, "0.001");
    await ana.press("attributes that you choose", "radio");
    await ana.sees("Choose at least one attribute to see the price.");
    const answers = await holdAnswers(ana, "SynthesisService/EstimateSynthesis");
    const sent = answers.next();
    await ana.press("sex 2 values", "checkbox");
    const first = await sent;
    assert.deepEqual(first.body.spec.workload, { query_sets: [{ marginals: { all_k_way: { k: 1, attributes: ["sex"] } } }] });
    await answers.pass(first.id);
    await answers.end();
    for (const name of ["region 5 values", "education 5 values"]) await ana.press(name, "checkbox");
    await ana.sees("every pair of them", "select");
    await ana.page.waitForSelector(PAY);
    const price = await askWhetherToPay(ana);
    await ana.press("Pay and synthesize");
    await ana.sees("The synthetic data is ready.");
    assert.ok(units(price) > 0n);
    await ana.press("Show the release", "link");
    await ana.sees("over 3 marginals", "h1");
    await ana.leave();
  });

  it("once, although it is reloaded after the request was sent and before the answer came", async () => {
    const cli = (await development()).as("ana");
    const ana = await arrive("?rho=0.001");
    const [before, entriesBefore] = [units(await cli.spent("synthesized")), (await cli.history("synthesized")).length];
    await choose(ana, "mwem");
    const price = await askWhetherToPay(ana);
    const answers = await holdAnswers(ana, "SynthesisService/CreateSynthesis");
    const answered = answers.next();
    await ana.press("Pay and synthesize");
    const first = await answered;
    assert.equal(first.status, 200);
    const sentAgain = answers.next();
    await ana.page.reload({ waitUntil: "domcontentloaded" });
    assert.deepEqual((await sentAgain).body, first.body);
    await answers.end();
    await showsRelease(ana);
    assert.equal(units(await cli.spent("synthesized")) - before, units(price), "it is paid for once");
    const made = (await cli.history("synthesized")).slice(entriesBefore).map(({ kind }) => kind);
    assert.deepEqual(made, ["RESERVED", "STARTED", "COMMITTED"]);
    await ana.go("/datasets/synthesized/synthesize");
    await ana.control(METHOD, "combobox");
    await ana.leave();
  });

  it("with the id that it had, after the server was stopped before it had finished", async () => {
    const ana = await arrive();
    await order(ana, "0.001");
    await askWhetherToPay(ana);
    const created = await holdAnswers(ana, "SynthesisService/CreateSynthesis");
    const sent = created.next();
    const looks = await holdAnswers(ana, "OperationService/GetOperation");
    const looked = looks.next();
    await ana.press("Pay and synthesize");
    const first = await sent;
    await created.pass(first.id);
    const look = await looked;
    await looks.answer(look.id, { id: look.body.operation_id, dataset: "synthesized", kind: "synthesis", state: "INTERRUPTED" });
    await looks.end();
    await ana.sees("costs nothing more");
    const sentAgain = created.next();
    await ana.press("Send it again");
    const second = await sentAgain;
    assert.deepEqual(second.body, first.body);
    await created.pass(second.id);
    await showsRelease(ana);
    await ana.leave();
  });

  it("not for an amount or a setting that is wrong, which it says beside the field", async () => {
    const cli = (await development()).as("ana");
    const ana = await arrive();
    const entriesBefore = (await cli.history("synthesized")).length;
    await order(ana, "0.001");
    await ana.page.waitForSelector(PAY);
    const isBeside = async (label, text) => {
      await ana.sees(text, ".problem");
      const field = await ana.control(label, "textbox");
      const described = await field.evaluate((input) => [
        input.getAttribute("aria-invalid"),
        ...input.getAttribute("aria-describedby").split(" ").map((id) => document.getElementById(id).innerText),
      ]);
      assert.equal(described[0], "true", label);
      assert.ok(described.some((each) => each.includes(text)), `${label}: ${described}`);
      assert.equal(await ana.page.$(PAY), null, "and nothing can be paid");
    };
    await ana.fill("Amount of rho", "0");
    await isBeside("Amount of rho", "Must be greater than 0.");
    await ana.fill("Amount of rho", "unknown");
    await isBeside("Amount of rho", "Must be a decimal number");
    await ana.fill("Amount of rho", "0.001");
    await ana.fill("rounds", "unknown");
    await isBeside("rounds", "Must be a whole number");
    await ana.fill("rounds", "2");
    await ana.fill("Amount of rho", "9");
    await ana.sees("There is not enough left for this.");
    assert.equal(await ana.page.$(PAY), null, "and nothing can be paid");
    assert.equal((await cli.history("synthesized")).length, entriesBefore, "nothing was charged");
    await ana.leave();
  });
});
