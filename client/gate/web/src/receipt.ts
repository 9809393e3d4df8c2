// Checks of receipts and of the hash chain, without relying on the server's word: what `curator ledger verify
// --receipts` does.
import type { ChainLink, LedgerEntry } from "./api/types.ts";
import { bytesOfBase64, bytesOfHex, hexOf, hexOfBase64 } from "./bytes.ts";

export interface ReceiptLine {
  statement: string;
  // Hexadecimal.
  signature: string;
  publicKey: string;
}

export interface Statement {
  ledgerId: string;
  datasetId: string;
  sequence: bigint;
  // Hexadecimal.
  entryHash: string;
  chargeId: string;
  requestId: string;
}

// What became of one receipt; `problem` is empty when the history contains its charge.
export interface CheckedReceipt {
  statement: Statement | undefined;
  problem: string;
}

export class NotAReceipt extends Error {}

function textIn(object: Record<string, unknown>, key: string): string {
  const value = object[key];
  return typeof value === "string" ? value : "";
}

function objectOf(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

// One receipt a line, as `--receipt FILE` writes them. Throws NotAReceipt, with the number of the line.
export function parseReceipts(text: string): ReceiptLine[] {
  const lines = text
    .split(/\r?\n/)
    .map((line, i) => ({ line: line.trim(), number: i + 1 }))
    .filter(({ line }) => line !== "");
  return lines.map(({ line, number }) => {
    const object = objectOf(line) ?? {};
    const receipt = {
      statement: textIn(object, "statement"),
      signature: textIn(object, "signature"),
      publicKey: textIn(object, "public_key"),
    };
    if (receipt.statement === "" || !bytesOfHex(receipt.signature)) {
      throw new NotAReceipt(
        `Line ${number} is not a receipt, which is a JSON object with a statement and a signature.`,
      );
    }
    return receipt;
  });
}

// One line of such a file, from a receipt of an answer.
export function receiptLine(receipt: { statement: string; signature: string; public_key: string }): string {
  const { statement, signature, public_key: key } = receipt;
  const line = { statement, signature: hexOfBase64(signature), public_key: hexOfBase64(key) };
  return `${JSON.stringify(line)}\n`;
}

// The sequence number is read from the text: a double would lose digits of a large one.
export function parseStatement(text: string): Statement | undefined {
  const object = objectOf(text);
  const sequence = /"sequence"\s*:\s*(\d+)\s*[,}]/.exec(text)?.[1];
  if (!object || textIn(object, "document") !== "curator.receipt.v1" || sequence === undefined)
    return undefined;
  return {
    ledgerId: textIn(object, "ledger_id"),
    datasetId: textIn(object, "dataset_id"),
    sequence: BigInt(sequence),
    entryHash: textIn(object, "entry_hash").toLowerCase(),
    chargeId: textIn(object, "charge_id"),
    requestId: textIn(object, "request_id"),
  };
}

// ---- Signatures -------------------------------------------------------------------------------------------

async function importKey(subtle: SubtleCrypto, key: Uint8Array<ArrayBuffer>): Promise<CryptoKey> {
  return await subtle.importKey("raw", key, "Ed25519", false, ["verify"]);
}

// Whether this browser verifies Ed25519. Not on insecure origins, where browsers have no WebCrypto.
export async function canVerify(subtle: SubtleCrypto | undefined): Promise<boolean> {
  if (!subtle) return false;
  try {
    // The encoding of the neutral element: any point will do.
    const point = new Uint8Array(32);
    point[0] = 1;
    await importKey(subtle, point);
    return true;
  } catch {
    return false;
  }
}

async function isSignedBy(subtle: SubtleCrypto, keyHex: string, receipt: ReceiptLine): Promise<boolean> {
  const [key, signature] = [bytesOfHex(keyHex), bytesOfHex(receipt.signature)];
  if (!key || key.length !== 32 || !signature) return false;
  try {
    const imported = await importKey(subtle, key);
    return await subtle.verify("Ed25519", imported, signature, new TextEncoder().encode(receipt.statement));
  } catch {
    return false;
  }
}

// The statement, when the pinned key has signed it and it is about this ledger and dataset.
export async function checkAlone(
  subtle: SubtleCrypto,
  receipt: ReceiptLine,
  pinnedKey: string,
  { ledgerId, datasetId }: { ledgerId: string; datasetId: string },
): Promise<CheckedReceipt> {
  if (!(await isSignedBy(subtle, pinnedKey, receipt))) {
    const other = receipt.publicKey.toLowerCase();
    const isOther =
      other !== "" && other !== pinnedKey.toLowerCase() && (await isSignedBy(subtle, other, receipt));
    return {
      statement: undefined,
      problem: isOther
        ? `is signed with another key than the one that you trust: ${other}`
        : "is forged or damaged: its signature is not that of its statement",
    };
  }
  const statement = parseStatement(receipt.statement);
  if (!statement) return { statement, problem: "is signed, and states no charge" };
  if (statement.ledgerId !== ledgerId)
    return {
      statement,
      problem: `is of another ledger, ${statement.ledgerId}; this server's is ${ledgerId}`,
    };
  if (statement.datasetId !== datasetId)
    return { statement, problem: `is of another dataset, ${statement.datasetId}` };
  return { statement, problem: "" };
}

// ---- The chain --------------------------------------------------------------------------------------------

// Microseconds since 1970 of an RFC 3339 time with up to nine digits of a second.
export function microseconds(time: string): bigint {
  const fraction = /\.(\d{1,9})/.exec(time)?.[1] ?? "";
  const whole = BigInt(Date.parse(time.replace(/\.\d+/, ""))) * 1000n;
  return whole + BigInt(fraction.padEnd(6, "0").slice(0, 6));
}

function integerBytes(value: bigint): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigInt64(0, value);
  return bytes;
}

// What the hash of an entry covers.
export function entryDocument(entry: LedgerEntry): Uint8Array<ArrayBuffer> {
  const parts: Uint8Array[] = [];
  const addBytes = (bytes: Uint8Array) => parts.push(integerBytes(BigInt(bytes.length)), bytes);
  const addText = (text: string) => addBytes(new TextEncoder().encode(text));
  addText("curator.ledger.entry");
  parts.push(integerBytes(1n));
  addText(entry.dataset_id);
  parts.push(integerBytes(BigInt(entry.sequence)));
  addText(entry.kind);
  addText(entry.charge_id);
  addBytes(bytesOfBase64(entry.payload));
  addText(entry.actor);
  parts.push(integerBytes(microseconds(entry.time ?? "1970-01-01T00:00:00Z")));
  addBytes(bytesOfBase64(entry.previous_hash));
  const all = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

async function contentFinding(subtle: SubtleCrypto, link: ChainLink): Promise<string> {
  const { entry } = link;
  if (!entry) return "";
  const hash = hexOf(new Uint8Array(await subtle.digest("SHA-256", entryDocument(entry))));
  const isSame =
    hash === hexOfBase64(link.hash) && entry.hash === link.hash && entry.sequence === link.sequence;
  return isSame ? "" : `entry ${link.sequence} does not have the hash of its content`;
}

function followFindings(before: ChainLink, link: ChainLink): string[] {
  const [last, next] = [BigInt(before.sequence), BigInt(link.sequence)];
  const isNext = link.is_repair ? next > last : next === last + 1n;
  return [
    ...(isNext ? [] : [`entry ${last + 1n} is missing`]),
    ...(link.previous_hash === before.hash ? [] : [`entry ${next} does not continue entry ${last}`]),
  ];
}

function missing(statement: Statement, links: ChainLink[]): string {
  const repair = links.find((link) => link.is_repair && BigInt(link.sequence) > statement.sequence);
  if (repair)
    return `entry ${statement.sequence} is lost: the repair in entry ${repair.sequence} accounts for it`;
  const last = links[links.length - 1];
  const end = last ? `; it ends with entry ${last.sequence}` : "";
  return `the history was rolled back: entry ${statement.sequence} is missing${end}`;
}

// Follows the chain from the first receipt's entry to the head, and sets the problems of the receipts that it
// does not contain. `headHash` (base64) is what the server said of the chain before. Returns what is wrong
// with the chain itself.
export async function walkChain(
  subtle: SubtleCrypto,
  links: ChainLink[],
  receipts: CheckedReceipt[],
  headHash: string,
): Promise<string[]> {
  const findings: string[] = [];
  for (const [i, link] of links.entries()) {
    const before = links[i - 1];
    if (before) findings.push(...followFindings(before, link));
    const content = await contentFinding(subtle, link);
    if (content !== "") findings.push(content);
  }
  const bySequence = new Map(links.map((link) => [BigInt(link.sequence), link]));
  for (const receipt of receipts) {
    const { statement } = receipt;
    if (!statement || receipt.problem !== "") continue;
    const link = bySequence.get(statement.sequence);
    if (!link) receipt.problem = missing(statement, links);
    else if (hexOfBase64(link.hash) !== statement.entryHash) {
      const hashes = `has the hash ${hexOfBase64(link.hash)}, and the receipt says ${statement.entryHash}`;
      receipt.problem = `the history was rewritten: entry ${link.sequence} ${hashes}`;
    }
  }
  if (links.length > 0 && !links.some((link) => link.hash === headHash)) {
    findings.push("the chain does not lead to the head that the server reported");
  }
  return findings;
}
