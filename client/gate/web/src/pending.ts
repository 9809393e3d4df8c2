// A request that is paid for is kept in the browser's session storage before it is sent, and until its answer
// has come. After a reload the same request with the same id is sent again, and gets the same answer for the
// one price.
import type { ApiError } from "./api/error.ts";

export interface PendingRequest {
  // Of whom asked: histories call them so. Another person's request is never sent.
  pseudonym: string;
  requestId: string;
  body: unknown;
}

const PREFIX = "curator.ask.";

// A browser may forbid its storage; then a reload cannot find the request again.
function storage(): Storage | undefined {
  try {
    return window.sessionStorage;
  } catch {
    return undefined;
  }
}

// Whether it is kept: a browser may have no room, or no storage at all.
export function keepPendingRequest(dataset: string, request: PendingRequest): boolean {
  try {
    const store = storage();
    store?.setItem(PREFIX + dataset, JSON.stringify(request));
    return store !== undefined;
  } catch {
    return false;
  }
}

export function pendingRequest(dataset: string, pseudonym: string): PendingRequest | undefined {
  const text = storage()?.getItem(PREFIX + dataset);
  if (!text) return undefined;
  try {
    const request = JSON.parse(text) as PendingRequest;
    return request.pseudonym === pseudonym && typeof request.requestId === "string" ? request : undefined;
  } catch {
    return undefined;
  }
}

export function forgetPendingRequest(dataset: string): void {
  storage()?.removeItem(PREFIX + dataset);
}

export function forgetPendingRequests(): void {
  const store = storage();
  if (!store) return;
  const keys = Array.from({ length: store.length }, (_, i) => store.key(i) ?? "");
  for (const key of keys) if (key.startsWith(PREFIX)) store.removeItem(key);
}

// What a failure says about a request that is paid for. "refused": it was not charged, and is over. "waits":
// it was not begun, and is sent again. "unknown": it may have been charged, and only the same request with
// the same id finds out.
export type Outcome = "refused" | "waits" | "unknown";

const REFUSALS = ["INVALID_ARGUMENT", "FAILED_PRECONDITION", "PERMISSION_DENIED"];

// `wasUnknown`: an earlier attempt may have been charged, so that a refusal now does not say that it was not.
export function outcomeOf(error: ApiError, wasUnknown: boolean): Outcome {
  if (error.status === 0 || error.status === 499 || error.status >= 500) return "unknown";
  if (wasUnknown) return error.isPassing || error.isSessionLoss ? "waits" : "unknown";
  if (error.reason === "BUDGET_FULL") return "refused";
  if (error.reason === "CSRF" || error.reason === "CROSS_SITE" || error.isSessionLoss) return "waits";
  if (REFUSALS.includes(error.code)) return "refused";
  return error.isPassing ? "waits" : "unknown";
}

// A random UUID; crypto.randomUUID exists on secure origins only, and a development gate may have another
// one.
export function newRequestId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}
