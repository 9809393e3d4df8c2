import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, it } from "node:test";
import { Person } from "../lib/browser.js";
import { production } from "../lib/world.js";

const AN_HOUR = 3600;

async function propose(olga, epsilon, reason) {
  await olga.press("Propose a change…");
  await (await olga.page.waitForSelector("dialog[open] input:not([type=radio])")).type(epsilon);
  await olga.fill("Reason", reason);
  await olga.press("Propose");
  await olga.sees("it waits for an approver");
}

async function approveIn(vera, reason) {
  await vera.pressOn(`::-p-xpath(//li[contains(@class, 'decision')][contains(., '${reason}')]//button[starts-with(., 'Approve')])`);
  await vera.page.waitForSelector("dialog[open]");
  await vera.press("Approve");
}

// The limit of the dataset's own account.
async function limitOf(world) {
  const { accounts } = await world.as("olga").json("budget", "show", "census");
  return accounts.find(({ account }) => account === "dataset/census").epsilon;
}

export const suite = () => describe("with an identity provider, behind haproxy,", () => {
  it("an owner proposes a raise, and an approver sees it live in another browser and approves it", async () => {
    const world = await production();
    const [olga, vera] = await Promise.all([Person.arrive(world.url), Person.arrive(world.url)]);
    await world.logIn(olga, "olga", "/inbox");
    await world.logIn(vera, "vera", "/inbox");
    await Promise.all([vera.sees("Nothing waits for you."), vera.sees("live", ".stream")]);

    await propose(olga, "3", "a second study");
    await olga.go("/datasets/census");
    await Promise.all([olga.sees("epsilon 2", "main table"), olga.sees("live", ".stream")]);
    await approveIn(vera, "a second study");
    await vera.sees("You approved it");
    assert.equal(await limitOf(world), "3");
    await olga.sees("epsilon 3", "main table");
    for (const person of [olga, vera]) {
      assert.deepEqual(person.problems, []);
      await person.leave();
    }
  });

  it("an analyst never sees the button of a proposal that is open, and a direct request gets 403", async () => {
    const world = await production();
    const { proposal: id } = await world.as("olga").json("account", "limit", "propose", "census", "--epsilon", "3.5", "--reason", "a third study");
    const ana = await Person.arrive(world.url);
    await world.logIn(ana, "ana", "/inbox");
    for (const path of ["/inbox", "/datasets/census", "/datasets/census/history", "/"]) {
      await ana.go(path);
      await ana.sees("live", ".stream");
      await ana.settled();
      assert.deepEqual((await ana.all("button")).filter((text) => /approve/i.test(text)), [], path);
    }
    for (const only of [true, false]) {
      const answer = await ana.call("BudgetService/ApproveLimitChange", { dataset: "census", proposal_id: id, validate_only: only, request_id: randomUUID() });
      assert.equal(answer.status, 403, JSON.stringify(answer.body));
      assert.equal(answer.body.code, "PERMISSION_DENIED");
    }
    assert.notEqual(await limitOf(world), "3.5");
    await world.as("olga").text("account", "limit", "withdraw", "census", id);
    await ana.leave();
  });

  it("an approver whose login is old is asked to log in again, and approves after it", async () => {
    const world = await production();
    await world.as("olga").text("account", "limit", "propose", "census", "--epsilon", "4", "--reason", "a fourth study");
    const vera = await Person.arrive(world.url);
    await world.logIn(vera, "vera", "/inbox");
    await world.hasLoggedIn("vera", AN_HOUR);
    // The provider still knows her, and says that she logged in an hour ago.
    await vera.press("Sign out");
    await vera.page.waitForSelector("a.button[href*='/auth/login']");
    await world.logIn(vera, "vera", "/inbox");
    await approveIn(vera, "a fourth study");
    await vera.page.waitForSelector("a.button[href*='fresh=1']");
    assert.notEqual(await limitOf(world), "4");

    await vera.pressOn("a.button[href*='fresh=1']");
    await vera.page.waitForSelector("input[name=username]");
    await vera.page.type("input[name=username]", "vera");
    await vera.page.keyboard.press("Enter");
    // She is back at the same question.
    await vera.page.waitForSelector("dialog[open]");
    await vera.press("Approve");
    await vera.sees("You approved it");
    assert.equal(await limitOf(world), "4");
    await vera.leave();
  });
});
