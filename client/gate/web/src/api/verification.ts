// Whether a dataset's history holds, as the server found by its last pass. An owner's question starts a new
// pass, and a principal may have two a minute: so the pages ask one after the other, and again after ten
// minutes.
import { call } from "./client.ts";
import type { Verification } from "./types.ts";
import { useLoad, type Loaded } from "./use-call.ts";

const FRESH_MS = 600000;

const found = new Map<string, { at: number; verification: Verification }>();
let last: Promise<unknown> = Promise.resolve();

async function verify(dataset: string, signal: AbortSignal): Promise<Verification> {
  const known = found.get(dataset);
  if (known && Date.now() - known.at < FRESH_MS) return known.verification;
  const before = last;
  let done = () => {};
  last = new Promise<void>((resolve) => (done = resolve));
  try {
    await before;
    const verification = await call("BudgetService/VerifyLedger", { dataset }, signal);
    found.set(dataset, { at: Date.now(), verification });
    return verification;
  } finally {
    done();
  }
}

// The next load asks the server again, also when its last answer is not old.
export function forgetVerification(dataset: string): void {
  found.delete(dataset);
}

export function forgetVerifications(): void {
  found.clear();
}

export function useVerification(dataset: string): Loaded<Verification> {
  return useLoad(`verification ${dataset}`, (signal) => verify(dataset, signal));
}
