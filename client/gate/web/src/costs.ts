// What a request cost its accounts.
import type { Cost } from "./api/types.ts";

export interface SameCost {
  amount: string;
  counter: string;
  // Each of them was charged this amount.
  accounts: string[];
}

// The same amount is one line, however many accounts were charged it.
export function sameCosts(costs: Cost[]): SameCost[] {
  const all = new Map<string, SameCost>();
  for (const { amount, counter, account } of costs) {
    const key = `${counter} ${amount}`;
    const known = all.get(key) ?? { amount, counter, accounts: [] };
    all.set(key, known);
    known.accounts.push(account);
  }
  return [...all.values()];
}
