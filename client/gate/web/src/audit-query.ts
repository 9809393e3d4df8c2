// A search of the audit, as the address of the page has it and as the server wants it.
import type { AuditRecord, RequestOf } from "./api/types.ts";

export interface AuditSearch {
  principal: string;
  dataset: string;
  method: string;
  decision: "" | "ALLOWED" | "REFUSED";
  // Of the reader's zone, as a field for date and time has them: "2026-11-27T18:24".
  since: string;
  until: string;
}

export const NO_SEARCH: AuditSearch = {
  principal: "",
  dataset: "",
  method: "",
  decision: "",
  since: "",
  until: "",
};

const KEYS = Object.keys(NO_SEARCH) as (keyof AuditSearch)[];

export function searchOf(query: URLSearchParams): AuditSearch {
  const text = (key: keyof AuditSearch) => query.get(key)?.trim() ?? "";
  const decision = text("decision");
  return {
    principal: text("principal"),
    dataset: text("dataset"),
    method: text("method"),
    decision: decision === "ALLOWED" || decision === "REFUSED" ? decision : "",
    since: text("since"),
    until: text("until"),
  };
}

// Without what is empty.
export function queryOf(search: AuditSearch): Record<string, string> {
  return Object.fromEntries(KEYS.map((key) => [key, search[key].trim()]).filter(([, value]) => value !== ""));
}

function timestamp(local: string): string | undefined {
  const time = new Date(local);
  return local === "" || Number.isNaN(time.getTime()) ? undefined : time.toISOString();
}

export function requestOf(search: AuditSearch): RequestOf<"AuditService/ListAuditRecords"> {
  const [since, until] = [timestamp(search.since), timestamp(search.until)];
  return {
    principal: search.principal,
    dataset: search.dataset,
    method: search.method,
    ...(search.decision ? { decision: search.decision } : {}),
    ...(since ? { since_time: since } : {}),
    ...(until ? { until_time: until } : {}),
  };
}

// What a record says, besides its fields of a call.
export function recordWords(record: AuditRecord): string {
  const count = `${record.count} ${record.count === "1" ? "call" : "calls"}`;
  switch (record.kind) {
    case "GAP":
      return `${count} missing: they came faster than they were written, or the store failed`;
    case "REFUSALS":
      return `${record.count} more refusals, which were only counted`;
    case "STARTED":
      return "a server has begun to record";
    case "STOPPED":
      return "a server has ended in order";
    default:
      return record.status === "OK"
        ? ""
        : [...new Set([record.status, record.reason])].filter(Boolean).join(", ");
  }
}
