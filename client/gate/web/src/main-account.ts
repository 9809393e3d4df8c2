// Of which account a dataset's card speaks.
import type { Account, Budget, Counter } from "./api/types.ts";
import { compare, ratio } from "./decimal.ts";

// The counter that will be full first.
export function tightest(counters: Counter[]): Counter | undefined {
  return counters.reduce<Counter | undefined>((least, counter) => {
    if (compare(counter.limit, "0") <= 0 && least) return least;
    if (!least) return counter;
    return ratio(counter.remaining, counter.limit) < ratio(least.remaining, least.limit) ? counter : least;
  }, undefined);
}

function shareLeft({ counters }: Account): number {
  const counter = tightest(counters);
  return counter ? ratio(counter.remaining, counter.limit) : Infinity;
}

// The account that the promise of the dataset is about: its own, or that of its part with the least left.
export function mainAccount({ accounts }: Budget): { account: Account; parts: number } | undefined {
  const own = accounts.find(
    (account) => account.analyst === undefined && account.group === undefined && account.part === undefined,
  );
  const parts = accounts.filter((account) => account.part !== undefined);
  const account =
    own ?? [...parts].sort((left, right) => shareLeft(left) - shareLeft(right)).find(() => true);
  return account && { account, parts: parts.length };
}
