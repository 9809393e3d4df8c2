// Amounts, times, promises and ids: short for reading, exact on hover.
import { useEffect, useState } from "preact/hooks";
import type { BudgetLimit } from "../api/types.ts";
import { shorten, type Rounding } from "../decimal.ts";
import { relativeText, secondsOf, timeText } from "../time.ts";
import { shortId } from "../words.ts";
import { Gloss } from "./Gloss.tsx";

// An exact decimal amount.
export function Amount({
  value,
  unit,
  digits = 4,
  rounding,
}: {
  value: string;
  unit?: string;
  digits?: number;
  rounding?: Rounding;
}) {
  const short = shorten(value, digits, rounding);
  const suffix = unit ? ` ${unit.replaceAll("_", " ")}` : "";
  return (
    <data class="number" value={value} title={`exactly ${value}${suffix}`}>
      {short}
      {suffix}
    </data>
  );
}

// Of a principal, a dataset or an account: cut where it is very long, whole on hover.
export function Name({ value, title = value }: { value: string; title?: string }) {
  return (
    <span class="name" title={title}>
      {value}
    </span>
  );
}

const TICK_MS = 15000;

// Follows the time, so that "3 minutes ago" stays true.
export function useNow(): number {
  const [now, setNow] = useState(() => Date.now() / 1000);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now() / 1000), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  return now;
}

// In the reader's zone; exact, in UTC, on hover.
export function Time({
  value,
  relative,
  seconds,
}: {
  value: string | undefined;
  relative?: boolean;
  seconds?: boolean;
}) {
  const now = useNow();
  if (!value) return <span class="quiet">never</span>;
  const at = secondsOf(value);
  return (
    <time class="nowrap" dateTime={value} title={value}>
      {relative ? relativeText(at, now) : timeText(at, seconds)}
    </time>
  );
}

// "epsilon 2, delta 1e-9"
export function Promise({ promise }: { promise: BudgetLimit | undefined }) {
  if (!promise) return <span class="quiet">none</span>;
  const hasDelta = promise.delta !== "" && promise.delta !== "0";
  return (
    <span class="number">
      <Gloss term="epsilon" /> {promise.epsilon}
      {hasDelta && (
        <>
          , <Gloss term="delta" /> {promise.delta}
        </>
      )}
    </span>
  );
}

// The beginning of a long id or hash, all of it on hover. Ids that begin with the time (UUIDs of version 7)
// begin alike when they were made together, so that their end is shown.
export function ShortId({ value, length = 8 }: { value: string; length?: number }) {
  if (value === "") return <span class="quiet">none</span>;
  return <code title={value}>{shortId(value, length)}</code>;
}
