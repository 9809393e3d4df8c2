// When access to a dataset ends, as a dialog offers it: the time is never changed unless it was chosen.
import type { Grant } from "./api/types.ts";
import { dayText, secondsOf } from "./time.ts";

const DAY_MS = 86400000;
const SPANS = [30, 90, 180, 365, 730];
const AS_NOW = "as now";
const NEVER = "";

type Given = Pick<Grant, "expire_time"> | undefined;

// The end of what is given now; none where it has passed, as access cannot be given until then.
function coming(grant: Given, nowMs: number): string | undefined {
  const end = grant?.expire_time;
  return end !== undefined && Date.parse(end) > nowMs ? end : undefined;
}

export function expiryOptions(grant: Given, nowMs: number): { value: string; text: string }[] {
  const end = coming(grant, nowMs);
  return [
    ...(end === undefined ? [] : [{ value: AS_NOW, text: `as now: ${dayText(secondsOf(end))}` }]),
    { value: NEVER, text: "never" },
    ...SPANS.map((days) => ({ value: String(days), text: `in ${days} days` })),
  ];
}

// What is chosen when the dialog opens.
export function firstExpiry(grant: Given, nowMs: number): string {
  if (coming(grant, nowMs) !== undefined) return AS_NOW;
  return grant?.expire_time === undefined ? NEVER : String(SPANS[0]);
}

export function expireTimeOf(choice: string, grant: Given, nowMs: number): string | undefined {
  if (choice === NEVER) return undefined;
  if (choice === AS_NOW) return grant?.expire_time;
  return new Date(nowMs + Number(choice) * DAY_MS).toISOString();
}
