// Operations, in words.
import type { Operation } from "./api/types.ts";

export function isUnderWay({ state }: Operation): boolean {
  return state === "RUNNING" || state === "QUEUED";
}

// "next in the queue", "3rd in the queue", "72 %"
export function progressText(operation: Operation): string {
  if (operation.state === "QUEUED") {
    const position = Number(operation.queue_position);
    if (position === 0) return "waits";
    return position === 1 ? "next in the queue" : `${ordinal(position)} in the queue`;
  }
  return `${Math.floor(operation.percent)} %`;
}

function ordinal(number: number): string {
  const teens = number % 100 >= 11 && number % 100 <= 13;
  const ending = teens ? "th" : (["th", "st", "nd", "rd"][number % 10] ?? "th");
  return `${number}${ending}`;
}

// What a cancellation does to the cost.
export function costOfCancelling({ state }: Operation): string {
  return state === "QUEUED"
    ? "It has not started: nothing was read, and its cost is given back."
    : "It has started: what it cost stays spent, and there will be no release.";
}

// What sends an interrupted request again: the same words, and the id that it had.
export function commandAgain({ kind, dataset, request_id: id }: Operation): string {
  const verb = kind === "synthesis" ? "synth run" : "workload answer";
  return `curator ${verb} ${dataset} … --request-id ${id}`;
}
