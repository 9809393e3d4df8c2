// What a change of a limit means, for those who decide it.
import type { BudgetLimit, LimitProposal } from "./api/types.ts";
import { add, compare, subtract } from "./decimal.ts";
import { exactText, roundedText } from "./numbers.ts";

export interface LimitDifference {
  // Of the counter: how much more, or less, may be spent.
  amount: string;
  isRaise: boolean;
}

export function differenceOf({ old_limit: before, new_limit: after }: LimitProposal): LimitDifference {
  const isRaise = compare(after, before) >= 0;
  return { amount: isRaise ? subtract(after, before) : subtract(before, after), isRaise };
}

// By how much the probability of an answer may differ with and without who is protected: e to the power of
// epsilon, rounded up.
export function factorText(epsilon: string): string {
  const factor = Math.exp(Number(epsilon));
  if (!Number.isFinite(factor)) return "inf";
  if (factor >= 1e15) return exactText(Number(factor.toPrecision(3)));
  const digits = Math.max(0, 2 - Math.floor(Math.log10(factor)));
  const step = 10 ** digits;
  return roundedText(Math.ceil(factor * step - 1e-9) / step);
}

// The epsilon to which (rho)-zCDP amounts at this delta, by the usual bound.
function epsilonOfRho(rho: number, delta: number): number {
  return rho + 2 * Math.sqrt(rho * Math.log(1 / delta));
}

export interface Wanted {
  epsilon?: string;
  delta?: string;
}

// A promise whose counter has room for `lacking` more, for a first guess: exact under the pure rule, else a
// little more than is needed. The server says what the limit would be.
export function promiseWith(promise: BudgetLimit, counter: string, limit: string, lacking: string): Wanted {
  if (counter === "delta") return { delta: add(promise.delta || "0", lacking) };
  const [delta, before] = [Number(promise.delta), Number(limit)];
  if (promise.rule === "RULE_PURE" || before <= 0) return { epsilon: add(promise.epsilon, lacking) };
  const after = before + Number(lacking);
  if (promise.rule === "RULE_ZCDP" && delta > 0 && delta < 1) {
    // The server's bound is sharper than this one, and the more so the larger rho is.
    return {
      epsilon: upTo(Number(promise.epsilon) + epsilonOfRho(after, delta) - epsilonOfRho(before, delta)),
    };
  }
  // The limit of the sum of squares grows a little slower than the square of epsilon.
  return {
    epsilon: upTo(Number(promise.epsilon) * (after / before) ** (counter === "epsilon_squared" ? 0.53 : 1)),
  };
}

// At most three significant digits, rounded up, without an exponent.
function upTo(value: number): string {
  const scale = Math.max(0, 2 - Math.floor(Math.log10(value)));
  return (Math.ceil(value * 10 ** scale - 1e-9) / 10 ** scale)
    .toFixed(scale)
    .replace(/(\.\d*?)0+$/, "$1")
    .replace(/\.$/, "");
}
