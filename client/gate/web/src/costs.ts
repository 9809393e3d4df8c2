// What a request cost its accounts.
import type { Cost } from "./api/types.ts";
import { percent, shorten } from "./decimal.ts";

export interface SameCost {
  amount: string;
  counter: string;
  // Each of them was charged this amount.
  accounts: string[];
  // The largest share of a promise that it was; 0 where the server does not say it.
  share: number;
}

// "4.2 % of the promise, 7 % of what was left"; empty where the server does not say it.
export function shareWords({ remaining, share_of_promise: cost = 0, share_left: left = 0 }: Cost): string {
  if (cost <= 0) return "";
  const ofPromise = `${percent(cost)} of the promise`;
  return remaining === "" ? ofPromise : `${ofPromise}, ${percent(cost / (cost + left))} of what was left`;
}

// "0.0123 rho", of the first counter.
export function firstCost(costs: Cost[]): string {
  const [cost] = costs;
  return cost ? `${shorten(cost.amount, 4, "up")} ${cost.counter.replaceAll("_", " ")}` : "nothing";
}

// The same amount is one line, however many accounts were charged it.
export function sameCosts(costs: Cost[]): SameCost[] {
  const all = new Map<string, SameCost>();
  for (const { amount, counter, account, share_of_promise: share = 0 } of costs) {
    const key = `${counter} ${amount}`;
    const known = all.get(key) ?? { amount, counter, accounts: [], share: 0 };
    all.set(key, known);
    known.accounts.push(account);
    known.share = Math.max(known.share, share);
  }
  return [...all.values()];
}
