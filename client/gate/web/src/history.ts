// The entries of a history that a page has: kept in order, without gaps or doubles of what came twice.
import type { LedgerEntry } from "./api/types.ts";

// Newest first.
export function merged(have: LedgerEntry[], more: LedgerEntry[]): LedgerEntry[] {
  const all = new Map<string, LedgerEntry>();
  for (const entry of [...have, ...more]) all.set(entry.sequence, entry);
  return [...all.values()].sort((a, b) => (BigInt(a.sequence) < BigInt(b.sequence) ? 1 : -1));
}

export type LinkState = "follows" | "broken" | "unseen";

// Whether an entry continues the one before it: "unseen" where that one is not here, because it is older or
// another's.
export function linkState(entries: LedgerEntry[], index: number): LinkState {
  const entry = entries[index] as LedgerEntry;
  const before = entries[index + 1];
  if (!before || BigInt(before.sequence) !== BigInt(entry.sequence) - 1n)
    return entry.sequence === "1" ? "follows" : "unseen";
  return before.hash === entry.previous_hash ? "follows" : "broken";
}
