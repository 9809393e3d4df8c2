import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { PAY, Person } from "../lib/browser.js";
import { units } from "../lib/decimals.js";
import { development } from "../lib/world.js";

// Up to the question whether to pay. The exact price that it shows.
async function askFor(person, attribute) {
  await person.pressOn(`::-p-xpath(//label[contains(@class, 'choice')][starts-with(normalize-space(.), '${attribute} ')]//input)`);
  await person.pressOn(PAY);
  await person.page.waitForSelector("dialog[open] data");
  return await person.page.$eval("dialog[open] tbody data", (amount) => amount.value);
}

async function pay(person) {
  await person.press("Pay and answer");
}

async function showsRelease({ page }) {
  await page.waitForFunction(() => location.pathname.startsWith("/releases/"));
  await page.waitForSelector("svg .mark");
}

export const suite = () => describe("asks", () => {
  before(async () => (await development()).makeDataset("asked", { seed: "3" }));

  it("at the price that it has shown before", async () => {
    const world = await development();
    const cli = world.as("ana");
    const ana = await Person.arrive(world.url);
    await ana.signInByName("ana", "/datasets/asked/ask");
    const before = units(await cli.spent("asked"));
    const price = await askFor(ana, "education");
    assert.equal(units(await cli.spent("asked")), before, "a price costs nothing");
    await pay(ana);
    await showsRelease(ana);
    assert.equal(units(await cli.spent("asked")) - before, units(price));
    await ana.leave();
  });

  it("once, although it is reloaded after the request was sent and before the answer came", async () => {
    const world = await development();
    const cli = world.as("ana");
    const ana = await Person.arrive(world.url);
    await ana.signInByName("ana", "/datasets/asked/ask");
    const [before, entriesBefore] = [units(await cli.spent("asked")), (await cli.history("asked")).length];
    const price = await askFor(ana, "region");

    // The server has answered, and the page never gets that answer.
    const network = await ana.page.createCDPSession();
    await network.send("Fetch.enable", { patterns: [{ urlPattern: "*/QueryService/AnswerWorkload", requestStage: "Response" }] });
    const answered = new Promise((resolve) => network.once("Fetch.requestPaused", resolve));
    await pay(ana);
    const { responseStatusCode, request } = await answered;
    assert.equal(responseStatusCode, 200);
    const sentAgain = new Promise((resolve) => network.once("Fetch.requestPaused", resolve));
    await ana.page.reload({ waitUntil: "domcontentloaded" });
    assert.equal(JSON.parse((await sentAgain).request.postData).request_id, JSON.parse(request.postData).request_id);
    await network.send("Fetch.disable");

    await showsRelease(ana);
    assert.equal(units(await cli.spent("asked")) - before, units(price), "it is paid for once");
    const made = (await cli.history("asked")).slice(entriesBefore).map(({ kind }) => kind);
    assert.deepEqual(made, ["CHARGED", "COMMITTED"]);
    await ana.go("/datasets/asked/ask");
    await ana.settled();
    assert.ok(!(await ana.text("main")).includes("sent again"), "and nothing is left of it in the browser");
    await ana.leave();
  });

  it("once, although an error hid whether it was charged and the next attempt was refused", async () => {
    const world = await development();
    const cli = world.as("ana");
    const ana = await Person.arrive(world.url);
    await ana.signInByName("ana", "/datasets/asked/ask");
    const before = units(await cli.spent("asked"));
    const price = await askFor(ana, "occupation");

    const network = await ana.page.createCDPSession();
    await network.send("Fetch.enable", { patterns: [{ urlPattern: "*/QueryService/AnswerWorkload", requestStage: "Response" }] });
    // Answers the page in the server's place. The id of the request.
    const answerNext = async (status, body, send) => {
      const paused = new Promise((resolve) => network.once("Fetch.requestPaused", resolve));
      await send();
      const { requestId, request } = await paused;
      await network.send("Fetch.fulfillRequest", { requestId, responseCode: status, body: Buffer.from(JSON.stringify(body)).toString("base64") });
      return JSON.parse(request.postData).request_id;
    };
    const first = await answerNext(500, { code: "INTERNAL", message: "something broke" }, () => pay(ana));
    await ana.sees("It may have been charged.", "main");
    const refusal = { code: "PERMISSION_DENIED", message: "access has ended" };
    assert.equal(await answerNext(403, refusal, () => ana.press("Send it again")), first);
    await ana.sees("Access has ended.", "main .notice");
    await network.send("Fetch.disable");

    await ana.press("Send it again");
    await showsRelease(ana);
    assert.equal(units(await cli.spent("asked")) - before, units(price), "it is paid for once");
    await ana.leave();
  });
});
