// The names of things as the command line and the documents have them.
import type { DatasetState, OperationState, ProposalState, Rule } from "./api/types.ts";

export const RULES: Record<Rule, string> = {
  RULE_UNSPECIFIED: "unknown",
  RULE_PURE: "pure",
  RULE_ADVANCED: "advanced",
  RULE_ZCDP: "zcdp",
};

export const DATASET_STATES: Record<DatasetState, string> = {
  DATASET_STATE_UNSPECIFIED: "unknown",
  DATASET_STATE_CREATED: "created",
  DATASET_STATE_SEALED: "sealed",
  DATASET_STATE_ARCHIVED: "archived",
};

export const PROPOSAL_STATES: Record<ProposalState, string> = {
  STATE_UNSPECIFIED: "unknown",
  PENDING: "waits for an approver",
  APPROVED: "approved",
  OUTDATED: "outdated",
  REQUESTED: "waits for the owner",
  REJECTED: "rejected",
  WITHDRAWN: "withdrawn",
  TAKEN_UP: "taken up",
};

export const OPERATION_STATES: Record<OperationState, string> = {
  STATE_UNSPECIFIED: "unknown",
  RUNNING: "running",
  DONE: "done",
  FAILED: "failed",
  INTERRUPTED: "interrupted",
  QUEUED: "queued",
};

// "CHARGED" as "charged", "LIMIT_PROPOSED" as "limit proposed".
export function kindWords(kind: string): string {
  return kind.toLowerCase().replaceAll("_", " ");
}

// Without the dataset's name, which the page has said: "the analyst “ana”".
export function shortAccount(name: string, dataset: string): string {
  const prefix = `dataset/${dataset}`;
  if (name === prefix) return "the dataset";
  if (!name.startsWith(`${prefix}/`)) return name;
  const parts = name.slice(prefix.length + 1).split("/");
  if (parts.length % 2 !== 0) return parts.join(" ");
  return parts.map((part, i) => (i % 2 === 0 ? `the ${part}` : `“${part}”`)).join(" ");
}

const TIMED_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

// "…9c1e44d2", "a81f03bb…"
export function shortId(id: string, length = 8): string {
  if (TIMED_ID.test(id)) return `…${id.slice(-8)}`;
  return id.length > length ? `${id.slice(0, length)}…` : id;
}

// What the server says, as a sentence: "no such dataset" as "No such dataset." A name of a field stays as it
// is.
export function sentence(text: string): string {
  const begun = /^[a-z]+(?=[ ,])/.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text;
  return /[.!?:…)\]"']$/.test(begun) || begun === "" ? begun : `${begun}.`;
}

// The text of an event, with parts that are alike as one:
// "3 x discrete Gaussian (sigma^2 = 2, L2^2 = 1) + nothing".
export function eventText(event: string): string {
  const parts = new Map<string, number>();
  let depth = 0;
  let part = "";
  const end = () => {
    parts.set(part, (parts.get(part) ?? 0) + 1);
    part = "";
  };
  for (const piece of event.split(" + ")) {
    part += (depth > 0 ? " + " : "") + piece;
    depth += piece.split("(").length - piece.split(")").length;
    if (depth <= 0) end();
  }
  if (part !== "") end();
  return [...parts]
    .map(([text, count]) => (count === 1 ? text : `${count} x ${/^\d+ x /.test(text) ? `(${text})` : text}`))
    .join(" + ");
}
