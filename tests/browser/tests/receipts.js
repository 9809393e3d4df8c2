import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { describe, it } from "node:test";
import { Person } from "../lib/browser.js";
import { development } from "../lib/world.js";

// Whether this Chromium has Ed25519, as scripts of its pages find out.
function hasEd25519({ page }) {
  return page.evaluate(async () => {
    try {
      await crypto.subtle.generateKey("Ed25519", false, ["sign", "verify"]);
      return true;
    } catch {
      return false;
    }
  });
}

async function check(person, receipts, key) {
  const { page } = person;
  await (await page.waitForSelector("textarea")).evaluate((area) => area.select());
  await page.keyboard.sendCharacter(receipts);
  await person.fill("The key that you trust", key);
  await person.press("Check");
}

async function open() {
  const world = await development();
  const ana = await Person.arrive(world.url);
  await ana.signInByName("ana", "/datasets/demo/history");
  await ana.settled();
  const receipts = await readFile(world.receipts, "utf8");
  const key = (await world.as("ana").json("ledger", "key")).public_key;
  return { ana, receipts, key };
}

export const suite = () => describe("checks receipts in the browser", () => {
  it("and finds the charge in the history, with the key that the reader pins, or says that this browser cannot", async () => {
    const { ana, receipts, key } = await open();
    if (await hasEd25519(ana)) {
      await check(ana, receipts, key);
      await ana.sees("The history contains the charge of this receipt.");
    } else {
      await ana.sees("This browser cannot verify signatures (Ed25519).");
    }
    await ana.leave();
  });

  it("and refuses a changed statement, a changed signature, and another key", async () => {
    const { ana, receipts, key } = await open();
    if (await hasEd25519(ana)) {
      const receipt = JSON.parse(receipts);
      const { statement, signature } = receipt;
      const other = (digit) => (digit === "0" ? "1" : "0");
      const changed = {
        statement: { ...receipt, statement: statement.replace(/"sequence":(\d+)/, (_, number) => `"sequence":${Number(number) + 1}`) },
        signature: { ...receipt, signature: other(signature[0]) + signature.slice(1) },
      };
      for (const [what, line] of Object.entries(changed)) {
        await check(ana, JSON.stringify(line), key);
        await ana.sees("1 of 1 receipts fails the check.");
        assert.match(await ana.text(".checks"), /forged or damaged/, `a changed ${what}`);
      }
      await check(ana, receipts, "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");
      await ana.sees("is signed with another key than the one that you trust");
    }
    await ana.leave();
  });
});
