// Refused charges: what would have fitted, and what was missing.
import type { Refusal } from "./api/types.ts";
import { compare, subtract } from "./decimal.ts";

export type RefusedAccount = Refusal["accounts"][number];

export interface RefusalRow {
  dataset: string;
  refusal: Refusal;
  // The first one that was full, by which rows are sorted; the others are in the refusal.
  account: RefusedAccount;
}

// Newest first, a row for each refused request.
export function refusalRows(byDataset: ReadonlyMap<string, Refusal[]>): RefusalRow[] {
  const rows = [...byDataset].flatMap(([dataset, refusals]) =>
    refusals.flatMap((refusal) =>
      refusal.accounts.slice(0, 1).map((account) => ({ dataset, refusal, account })),
    ),
  );
  const time = ({ refusal }: RefusalRow) => Date.parse(refusal.time ?? "") || 0;
  return rows.sort((left, right) => time(right) - time(left));
}

export function lackingOf({ asked, remaining }: RefusedAccount): string {
  return subtract(asked, remaining);
}

// The largest decimal with 9 digits whose square is not more.
export function rootBelow(text: string): string {
  const scaled = BigInt(Math.floor(Math.sqrt(Math.max(0, Number(text))) * 1e9));
  const candidate = scaled > 0n ? scaled - 1n : 0n;
  return String(Number(candidate) / 1e9);
}

export interface Fitting {
  // As a question may be priced.
  unit: "rho" | "epsilon";
  amount: string;
}

// The largest price that all full accounts had room for; undefined where their counters are not that of one
// price, or nothing was left.
export function fittingOf({ accounts }: Refusal): Fitting | undefined {
  let least: Fitting | undefined;
  for (const { counter, remaining } of accounts) {
    const unit =
      counter === "rho" ? ("rho" as const) : counter.startsWith("epsilon") ? ("epsilon" as const) : undefined;
    if (!unit || (least && least.unit !== unit)) return undefined;
    const amount = counter === "epsilon_squared" ? rootBelow(remaining) : remaining;
    if (!least || compare(amount, least.amount) < 0) least = { unit, amount };
  }
  return least && compare(least.amount, "0") > 0 ? least : undefined;
}

// "AnswerWorkload" as "question"
export function methodWords(method: string): string {
  const name = method.slice(method.indexOf("/") + 1);
  if (name === "AnswerWorkload") return "question";
  if (name === "CreateSynthesis") return "synthesis";
  if (name.endsWith("ReserveBudget")) return "reservation";
  return name;
}
