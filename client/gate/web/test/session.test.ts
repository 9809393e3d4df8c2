import assert from "node:assert/strict";
import { afterEach, beforeEach, mock, test } from "node:test";
import { call, reportSessionLoss, signOut } from "../src/api/client.ts";
import { leave, loadSession, sessionState } from "../src/session.ts";

// What the gate answers to each address, and what it was asked.
let answers: Record<string, () => [number, unknown]>;
let asked: { path: string; csrf: string | undefined }[];

class NoStream {
  static CLOSED = 2;
  readyState = 0;
  addEventListener() {}
  close() {}
}

const SERVER = { version: "1", ledger_backend: "sqlite", development_mode: true };

function signedIn(principal: string, csrf: string): [number, unknown] {
  return [200, { signed_in: true, principal, csrf, server: SERVER }];
}

async function answer(path: string, init: RequestInit): Promise<Response> {
  const headers = init.headers as Record<string, string> | undefined;
  asked.push({ path, csrf: headers?.["X-Curator-CSRF"] });
  const known = answers[path];
  if (!known) throw new TypeError("no connection");
  const [status, body] = known();
  return new Response(JSON.stringify(body), { status });
}

async function passes(): Promise<void> {
  for (let i = 0; i < 20; i += 1) await Promise.resolve();
}

function timesAsked(path: string): number {
  return asked.filter((request) => request.path === path).length;
}

beforeEach(() => {
  answers = { "/api/v1/IdentityService/WhoAmI": () => [200, { pseudonym: "p" }] };
  asked = [];
  Object.assign(globalThis, { fetch: answer, EventSource: NoStream });
  mock.timers.enable({ apis: ["setTimeout"] });
});

afterEach(() => mock.timers.reset());

test("however many lose the session, it is loaded once at a time and repeated by one timer", async () => {
  await Promise.all([loadSession(), loadSession(), loadSession()]);
  await loadSession();
  assert.equal(timesAsked("/api/v1/session"), 2);
  mock.timers.tick(3000);
  await loadSession();
  assert.equal(timesAsked("/api/v1/session"), 3);
  answers["/api/v1/session"] = () => signedIn("ana", "1");
  await loadSession();
  mock.timers.tick(60000);
  assert.equal(timesAsked("/api/v1/session"), 4);
});

test("a call with an old token against forgery is sent again, once, for the same person", async () => {
  answers["/api/v1/session"] = () => signedIn("ana", "1");
  await loadSession();
  answers["/api/v1/session"] = () => signedIn("ana", "2");
  answers["/auth/logout"] = () =>
    asked.at(-1)?.csrf === "2" ? [200, {}] : [403, { code: "PERMISSION_DENIED", reason: "CSRF" }];
  await signOut();
  assert.deepEqual(
    asked.filter(({ path }) => path === "/auth/logout").map(({ csrf }) => csrf),
    ["1", "2"],
  );
});

test("nothing is sent again in the name of another person", async () => {
  answers["/api/v1/session"] = () => signedIn("ana", "1");
  await loadSession();
  answers["/api/v1/session"] = () => signedIn("olga", "2");
  answers["/api/v1/DatasetService/GetDataset"] = () => [403, { code: "PERMISSION_DENIED", reason: "CSRF" }];
  await assert.rejects(call("DatasetService/GetDataset", { dataset: "d" }), { reason: "CSRF" });
  assert.equal(timesAsked("/api/v1/DatasetService/GetDataset"), 1);
  assert.equal(sessionState.get().session?.principal, "olga");
});

test("a session that another window has replaced is found a moment later", async () => {
  answers["/api/v1/session"] = () => signedIn("ana", "1");
  await loadSession();
  answers["/api/v1/session"] = () => [200, { signed_in: false, server: SERVER }];
  reportSessionLoss();
  await loadSession();
  assert.equal(sessionState.get().wasLost, true);
  answers["/api/v1/session"] = () => signedIn("olga", "2");
  mock.timers.tick(1000);
  for (let i = 0; i < 10; i += 1) await new Promise((resolve) => setImmediate(resolve));
  assert.equal(sessionState.get().session?.principal, "olga");
  assert.equal(timesAsked("/api/v1/session"), 3);
});

test("who signs out without a connection is told so, and stays signed in", async () => {
  answers["/api/v1/session"] = () => signedIn("ana", "1");
  await loadSession();
  await assert.rejects(leave(), { status: 0 });
  assert.equal(sessionState.get().session?.principal, "ana");
});

test("a session that is over already is signed out", async () => {
  answers["/api/v1/session"] = () => signedIn("ana", "1");
  await loadSession();
  answers["/auth/logout"] = () => [401, { code: "UNAUTHENTICATED", reason: "NO_SESSION" }];
  answers["/api/v1/session"] = () => [200, { signed_in: false, server: SERVER }];
  await assert.doesNotReject(leave());
  await passes();
  assert.equal(sessionState.get().session?.signed_in, false);
});
