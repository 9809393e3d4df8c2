import assert from "node:assert/strict";
import { webcrypto } from "node:crypto";
import { test } from "node:test";
import type { ChainLink, LedgerEntry } from "../src/api/types.ts";
import { hexOf } from "../src/bytes.ts";
import {
  canVerify,
  checkAlone,
  entryDocument,
  microseconds,
  NotAReceipt,
  parseReceipts,
  parseStatement,
  receiptLine,
  walkChain,
  type CheckedReceipt,
} from "../src/receipt.ts";

const subtle = webcrypto.subtle as unknown as SubtleCrypto;
const LEDGER = { ledgerId: "L", datasetId: "D" };

async function signer() {
  const pair = (await subtle.generateKey("Ed25519", true, ["sign", "verify"])) as CryptoKeyPair;
  const key = hexOf(new Uint8Array(await subtle.exportKey("raw", pair.publicKey)));
  const sign = async (statement: string) => {
    const signature = await subtle.sign("Ed25519", pair.privateKey, new TextEncoder().encode(statement));
    return { statement, signature: hexOf(new Uint8Array(signature)), publicKey: key };
  };
  return { key, sign };
}

function statement(part: Record<string, unknown> = {}): string {
  return JSON.stringify({
    document: "curator.receipt.v1",
    ledger_id: "L",
    dataset_id: "D",
    sequence: 2,
    entry_hash: "aa",
    charge_id: "C",
    request_id: "R",
    ...part,
  });
}

async function entry(sequence: number, previous: string): Promise<LedgerEntry> {
  const made: LedgerEntry = {
    sequence: String(sequence),
    kind: "CHARGED",
    actor: "~a",
    charge_id: "C",
    time: "2026-11-27T18:24:39.123Z",
    summary: "",
    payload: "AQID",
    previous_hash: previous,
    hash: "",
    dataset_id: "D",
    actor_name: "a",
    dataset: "demo",
  };
  const digest = new Uint8Array(await subtle.digest("SHA-256", entryDocument(made)));
  return { ...made, hash: Buffer.from(digest).toString("base64") };
}

async function chain(): Promise<ChainLink[]> {
  const links: ChainLink[] = [];
  let previous = Buffer.alloc(32).toString("base64");
  for (let sequence = 1; sequence <= 4; sequence += 1) {
    const made = await entry(sequence, previous);
    links.push({
      sequence: made.sequence,
      previous_hash: previous,
      hash: made.hash,
      is_repair: false,
      entry: made,
    });
    previous = made.hash;
  }
  return links;
}

function hexHash(link: ChainLink | undefined): string {
  return Buffer.from(link?.hash ?? "", "base64").toString("hex");
}

function receiptFor(link: ChainLink, part: Record<string, unknown> = {}): CheckedReceipt {
  return {
    statement: parseStatement(
      statement({ sequence: Number(link.sequence), entry_hash: hexHash(link), ...part }),
    ),
    problem: "",
  };
}

test("a receipt that the pinned key signed is believed", async () => {
  assert.equal(await canVerify(subtle), true);
  const { key, sign } = await signer();
  const checked = await checkAlone(subtle, await sign(statement()), key, LEDGER);
  assert.equal(checked.problem, "");
  assert.equal(checked.statement?.sequence, 2n);
});

test("a changed statement, another key, ledger or dataset are found", async () => {
  const [mine, other] = [await signer(), await signer()];
  const receipt = await mine.sign(statement());
  const forged = { ...receipt, statement: receipt.statement.replace('"sequence":2', '"sequence":3') };
  assert.match((await checkAlone(subtle, forged, mine.key, LEDGER)).problem, /forged or damaged/);
  assert.match((await checkAlone(subtle, receipt, other.key, LEDGER)).problem, /another key/);
  assert.match(
    (await checkAlone(subtle, await mine.sign(statement({ ledger_id: "M" })), mine.key, LEDGER)).problem,
    /another ledger/,
  );
  assert.match(
    (await checkAlone(subtle, await mine.sign(statement({ dataset_id: "E" })), mine.key, LEDGER)).problem,
    /another dataset/,
  );
  assert.match(
    (await checkAlone(subtle, await mine.sign(statement({ document: "x" })), mine.key, LEDGER)).problem,
    /states no charge/,
  );
});

test("a browser without Ed25519 is known as such", async () => {
  assert.equal(await canVerify(undefined), false);
  const without = { importKey: () => Promise.reject(new Error("NotSupported")) } as unknown as SubtleCrypto;
  assert.equal(await canVerify(without), false);
});

// An entry of a server's history.
test("an entry has the hash that the server gave it", async () => {
  const real: LedgerEntry = {
    sequence: "2",
    kind: "SEALED",
    actor: "~10c36071fb59e5e6e9a8eb0a4bfdc3b1",
    charge_id: "",
    time: "2026-11-27T18:24:38.973Z",
    summary: "",
    dataset: "demo",
    payload: Buffer.from(
      "000000000000001563757261746f722e6c65646765722e7365616c65640000000000000001000000000000000100000000000000209cb92790948045212c7b4db9d020bd06642f556bfc2f96de15d91055f41fcb58",
      "hex",
    ).toString("base64"),
    previous_hash: Buffer.from(
      "5b2d77c483f93dbb974d74f56032d57a3223a760429d44909dc9a0ecacdeeb64",
      "hex",
    ).toString("base64"),
    hash: "",
    dataset_id: "f18a6eeb-6192-4630-b803-011f5b0dd44b",
    actor_name: "owner",
  };
  const digest = await subtle.digest("SHA-256", entryDocument(real));
  assert.equal(
    hexOf(new Uint8Array(digest)),
    "9979665f5a6760c20dc7aa038f47a289c001a2ca9e551be4c2f76869da7f1718",
  );
});

test("an intact chain contains its receipts", async () => {
  const links = await chain();
  const receipts = links.map((link) => receiptFor(link));
  assert.deepEqual(await walkChain(subtle, links, receipts, links[3]?.hash ?? ""), []);
  assert.deepEqual(
    receipts.map((receipt) => receipt.problem),
    ["", "", "", ""],
  );
});

test("a chain that was cut, rewritten or has a gap is found", async () => {
  const links = await chain();
  const head = links[3]?.hash ?? "";
  const last = receiptFor(links[3] as ChainLink);
  assert.match(
    (await walkChain(subtle, links.slice(0, 3), [last], head)).join(),
    /does not lead to the head/,
  );
  assert.match(last.problem, /rolled back: entry 4 is missing; it ends with entry 3/);

  const rewritten = { ...receiptFor(links[1] as ChainLink, { entry_hash: "00" }) };
  await walkChain(subtle, links, [rewritten], head);
  assert.match(rewritten.problem, /rewritten/);

  const gap = [links[0], links[1], links[3]] as ChainLink[];
  assert.match((await walkChain(subtle, gap, [], head)).join(), /entry 3 is missing.*does not continue/);

  const content = links.map((link, i) =>
    i === 1 && link.entry ? { ...link, entry: { ...link.entry, payload: "AAAA" } } : link,
  );
  assert.match((await walkChain(subtle, content, [], head)).join(), /entry 2 does not have the hash/);
});

test("a repair accounts for what was lost", async () => {
  const links = await chain();
  const repair = {
    sequence: "7",
    previous_hash: links[2]?.hash ?? "",
    hash: links[3]?.hash ?? "",
    is_repair: true,
  };
  const lost: CheckedReceipt = { statement: parseStatement(statement({ sequence: 5 })), problem: "" };
  assert.deepEqual(await walkChain(subtle, [...links.slice(0, 3), repair], [lost], repair.hash), []);
  assert.match(lost.problem, /the repair in entry 7 accounts for it/);
});

test("lines of receipts are read and written", () => {
  const line = receiptLine({ statement: statement(), signature: "AP8=", public_key: "AAE=" });
  assert.deepEqual(parseReceipts(`\n${line}\n`), [
    { statement: statement(), signature: "00ff", publicKey: "0001" },
  ]);
  assert.throws(
    () => parseReceipts(`${line}nonsense`),
    new NotAReceipt("Line 2 is not a receipt, which is a JSON object with a statement and a signature."),
  );
  assert.equal(
    parseStatement(statement({ sequence: 1 }).replace('"sequence":1', '"sequence":9007199254740993'))
      ?.sequence,
    9007199254740993n,
  );
});

test("times count in microseconds", () => {
  assert.equal(microseconds("2026-11-27T18:24:39.123Z"), 1795803879123000n);
  assert.equal(microseconds("1970-01-01T00:00:00.000001999Z"), 1n);
  assert.equal(microseconds("1970-01-01T00:00:01Z"), 1000000n);
});
