// Calls of the gate. Tokens and cookies never reach this code: the browser sends the session's cookie by
// itself.
import { ApiError, unreachable, type ErrorBody } from "./error.ts";
import type { Method, RequestOf, ResponseOf, Session } from "./types.ts";

// A principal may have 8 calls open at a time; another window of the same person needs some of them, too.
const MOST_AT_ONCE = 4;

// And 20 a second, 60 at once after a pause: a page with many parts loads them a little slower, instead of
// being refused.
const CALLS_PER_SECOND = 12;
const BURST = 40;

let csrf = "";
let open = 0;
let allowance = BURST;
let countedAt = 0;
const waiting: (() => void)[] = [];
const sessionLossListeners = new Set<() => void>();

let renewSession: (() => Promise<boolean>) | undefined;

// `renew` reads the session again, and says whether the same person is still signed in.
export function renewSessionWith(renew: () => Promise<boolean>): void {
  renewSession = renew;
}

export function setCsrf(token: string): void {
  csrf = token;
}

// Calls `listener` when an answer says that the session is over.
export function onSessionLoss(listener: () => void): () => void {
  sessionLossListeners.add(listener);
  return () => sessionLossListeners.delete(listener);
}

export function reportSessionLoss(): void {
  for (const listener of [...sessionLossListeners]) listener();
}

// How long the next call has to wait so that calls do not come faster than they may. Counts it.
function waitMs(): number {
  const now = performance.now();
  allowance = Math.min(BURST, allowance + ((now - countedAt) / 1000) * CALLS_PER_SECOND);
  countedAt = now;
  allowance -= 1;
  return allowance >= 0 ? 0 : (-allowance / CALLS_PER_SECOND) * 1000;
}

async function enter(): Promise<void> {
  if (open >= MOST_AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve));
  else open += 1;
  const wait = waitMs();
  if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
}

function leave(): void {
  const next = waiting.shift();
  if (next) next();
  else open -= 1;
}

async function bodyOf(response: Response): Promise<unknown> {
  try {
    return await response.json();
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    return undefined;
  }
}

async function send(path: string, init: RequestInit): Promise<unknown> {
  let response: Response;
  try {
    response = await fetch(path, {
      credentials: "same-origin",
      cache: "no-store",
      redirect: "error",
      ...init,
    });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw unreachable();
  }
  const body = await bodyOf(response);
  if (response.ok && body !== undefined) return body;
  const told = typeof body === "object" && body !== null ? (body as ErrorBody) : {};
  throw new ApiError(response.ok ? 502 : response.status, {
    message: `The server answered with HTTP status ${response.status} and nothing that can be read.`,
    ...told,
  });
}

function postOnce(path: string, body: unknown, signal?: AbortSignal): Promise<unknown> {
  const headers: Record<string, string> = { "Content-Type": "application/json" };
  if (csrf !== "") headers["X-Curator-CSRF"] = csrf;
  return send(path, { method: "POST", headers, body: JSON.stringify(body), ...(signal ? { signal } : {}) });
}

// Sent again once where only the token against forgery was old, and never in the name of another person.
async function post(path: string, body: unknown, signal?: AbortSignal): Promise<unknown> {
  try {
    return await postOnce(path, body, signal);
  } catch (error) {
    if (!(error instanceof ApiError) || error.reason !== "CSRF" || !(await renewSession?.())) throw error;
    signal?.throwIfAborted();
    return await postOnce(path, body, signal);
  }
}

// Calls one method of curatord. Rejects with an ApiError, or with the browser's AbortError.
export async function call<M extends Method>(
  method: M,
  request: RequestOf<M>,
  signal?: AbortSignal,
): Promise<ResponseOf<M>> {
  await enter();
  try {
    signal?.throwIfAborted();
    return (await post(`/api/v1/${method}`, request, signal)) as ResponseOf<M>;
  } catch (error) {
    if (error instanceof ApiError && error.isSessionLoss) reportSessionLoss();
    throw error;
  } finally {
    leave();
  }
}

export async function getSession(): Promise<Session> {
  return (await send("/api/v1/session", { method: "GET" })) as Session;
}

export async function signIn(proof: { name: string } | { token: string }): Promise<Session> {
  return (await post("/auth/login", proof)) as Session;
}

export async function signOut(): Promise<void> {
  await post("/auth/logout", {});
}

// Where the browser goes to log in with an identity provider. `fresh`: again, although there is a session.
export function loginAddress(alias: string, returnTo: string, fresh = false): string {
  const query = new URLSearchParams({ issuer: alias, return: returnTo });
  if (fresh) query.set("fresh", "1");
  return `/auth/login?${query}`;
}
