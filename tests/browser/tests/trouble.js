import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Person } from "../lib/browser.js";
import { Development } from "../lib/development.js";
import { production } from "../lib/world.js";

export const suite = () => describe("says in place what is wrong, and recovers by itself:", () => {
  let world;
  before(async () => {
    world = await Development.start();
    await world.makeDataset("demo", { people: "200" });
  });
  after(() => world?.stop());

  it("a session that is over, after which the same person goes on where they were", async () => {
    const ana = await Person.arrive(world.url, { isHasty: true });
    await ana.signInByName("ana", "/datasets/demo/history");
    await ana.sees("live", ".stream");
    // A gate that starts again has no sessions.
    await world.gate.kill();
    await world.startGate();
    await ana.sees("Your session has ended.");
    await ana.fill("Name", "ana");
    await ana.press("Sign in by name");
    await ana.sees("ana", ".side .who");
    await ana.sees("History", "main h2");
    assert.equal(new URL(ana.page.url()).pathname, "/datasets/demo/history");
    await ana.leave();
  });

  it("another person who signs in in a second window: nothing of the first one is shown under the new name", async () => {
    const person = await Person.arrive(world.url);
    await person.signInByName("olga", "/datasets/demo/access");
    await Promise.all([person.sees("Take away…", "main table"), person.sees("live", ".stream")]);
    await person.page.evaluate(() => {
      window.isMixed = false;
      new MutationObserver(() => {
        const who = document.querySelector(".side .who")?.textContent;
        if (who !== "olga" && document.querySelector("main table")) window.isMixed = true;
      }).observe(document.body, { subtree: true, childList: true, characterData: true });
    });
    const second = await person.newPage();
    await second.goto(`${world.url}/`, { waitUntil: "domcontentloaded" });
    await second.evaluate(() => fetch("/auth/login", {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ name: "ana" }),
    }));
    // A new entry of the history, so that the first window asks for something, also while it is behind the second one.
    await world.as("olga").text("dataset", "grant", "demo", "eva");
    await person.sees("ana", ".side .who");
    await person.sees("The owner of a dataset sees who has access to it.", "main");
    assert.equal(await person.page.evaluate(() => window.isMixed), false);
    await person.leave();
  });

  it("signing out without a connection, which keeps the session and a request that is paid for", async () => {
    const ana = await Person.arrive(world.url);
    await ana.signInByName("ana");
    const kept = () => ana.page.evaluate(() => sessionStorage.getItem("curator.ask.demo"));
    await ana.page.evaluate(() => sessionStorage.setItem("curator.ask.demo", "{}"));
    await ana.page.setOfflineMode(true);
    await ana.press("Sign out");
    await ana.sees("You are still signed in", ".side");
    assert.equal(await kept(), "{}");
    await ana.page.setOfflineMode(false);
    await ana.press("Sign out");
    await ana.sees("Sign in", "h1");
    assert.equal(await kept(), null);
    await ana.leave();
  });

  it("a server that is lost, on a page that is open and on one that is loaded then", async () => {
    const [open, loaded] = await Promise.all([Person.arrive(world.url), Person.arrive(world.url)]);
    await Promise.all([open.signInByName("ana", "/datasets/demo"), loaded.signInByName("ana")]);
    await Promise.all([open.settled(), loaded.settled(), open.sees("live", ".stream")]);
    await world.server.kill("SIGKILL");
    await open.sees("reconnecting", ".stream");
    await loaded.go("/datasets/demo");
    await loaded.sees("the server does not answer", "main .notice");
    await loaded.sees("reconnecting", ".stream");
    await open.sees("one record, added or removed", "main");
    await world.startServer();
    await Promise.all([open, loaded].map(async (person) => {
      await person.sees("live", ".stream");
      await person.sees("one record, added or removed", "main");
      await person.seesNoMore("the server does not answer", "main");
    }));
    await Promise.all([open.leave(), loaded.leave()]);
  });

  it("a gate that is lost", async () => {
    const ana = await Person.arrive(world.url, { isHasty: true });
    await ana.signInByName("ana", "/datasets/demo");
    await ana.sees("live", ".stream");
    await world.gate.kill();
    await ana.sees("reconnecting", ".stream");
    await world.startGate();
    await ana.sees("Your session has ended.");
    await ana.leave();
  });

  it("access that is taken away, until it is given again", async () => {
    const ana = await Person.arrive(world.url, { isHasty: true });
    await ana.signInByName("ana", "/datasets/demo");
    await ana.sees("one record, added or removed", "main");
    await world.as("olga").text("dataset", "revoke", "demo", "ana");
    await ana.sees("You may not see this", "main .notice");
    await ana.seesNoMore("one record, added or removed", "main");
    await world.as("olga").text("dataset", "grant", "demo", "ana");
    await ana.sees("one record, added or removed", "main");
    await ana.seesNoMore("You may not see this", "main");
    await ana.leave();
  });

  it("a history that may no longer be read, until it may be", async () => {
    const ana = await Person.arrive(world.url, { isHasty: true });
    await ana.signInByName("ana", "/datasets/demo/history");
    await ana.sees("live", ".stream");
    await world.as("olga").text("dataset", "revoke", "demo", "ana");
    await ana.sees("You", "main .notice");
    await world.as("olga").text("dataset", "grant", "demo", "ana");
    await world.as("ana").text("workload", "answer", "demo", "--marginals", "1", "--attributes", "sex", "--rho", "0.0001");
    await ana.sees("1 marginal, 2 cells", "tbody");
    await ana.leave();
  });

  it("a dataset that is not there, until it is", async () => {
    const olga = await Person.arrive(world.url, { isHasty: true });
    await olga.signInByName("olga", "/datasets/later");
    await olga.sees("There is nothing here, or you may not see it.", "main .notice");
    await world.makeDataset("later", { people: "200", seed: "2" });
    await olga.sees("one record, added or removed", "main");
    await olga.seesNoMore("There is nothing here", "main");
    await olga.leave();
  });

  it("a secret that is shown once, which Escape does not destroy before it was kept", async () => {
    const installation = await production();
    const ana = await Person.arrive(installation.url);
    await installation.logIn(ana, "ana", "/people");
    await ana.press("New API token…");
    await ana.fill("Label", "nightly report");
    await ana.press("Make the token");
    await ana.sees("It is shown this once.", "dialog[open]");
    const secret = await ana.text("dialog[open] .secret");
    for (let presses = 0; presses < 3; presses += 1) await ana.page.keyboard.press("Escape");
    assert.equal(await ana.text("dialog[open] .secret"), secret);
    await ana.press("I have kept it");
    await ana.sees("The API token nightly report was made.");
    assert.equal(await ana.page.$("dialog[open]"), null);
    await ana.leave();
  });

  it("an API token that was removed", async () => {
    const installation = await production();
    const cli = installation.as("ana");
    const { token, credential_id: id } = await cli.json("credential", "token", "--label", "a dashboard");
    const ana = await Person.arrive(installation.url);
    await ana.go("/datasets/census");
    await (await ana.page.waitForSelector("input[type=password]")).type(token);
    await ana.press("Sign in with the token");
    await ana.sees("live", ".stream");
    await cli.text("credential", "remove", id, "--reason", "a test");
    await ana.go("/datasets/census");
    await ana.page.waitForSelector("input[type=password]");
    await ana.leave();
  });
});
