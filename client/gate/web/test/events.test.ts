import assert from "node:assert/strict";
import { afterEach, beforeEach, mock, test } from "node:test";
import { forgetWatched, startEvents, stopEvents, streamState, watchDataset } from "../src/api/events.ts";

// The streams that were opened, by their addresses.
let opened: string[];
// Of calls that have no answer yet.
let answers: ((sequence: string | undefined) => void)[];

class Stream {
  static CLOSED = 2;
  readyState = 0;
  constructor(address: string) {
    opened.push(decodeURIComponent(address).replace(/^.*watch=/, ""));
  }
  addEventListener() {}
  close() {}
}

// Answers with the newest entry; undefined: the server cannot be reached.
function answer(): Promise<Response> {
  return new Promise((resolve, reject) => {
    answers.push((sequence) => {
      if (sequence === undefined) reject(new TypeError("no connection"));
      else resolve(new Response(JSON.stringify({ messages: [{ sequence }] })));
    });
  });
}

async function passes(ms: number): Promise<void> {
  for (let i = 0; i < 20; i += 1) await new Promise((resolve) => setImmediate(resolve));
  mock.timers.tick(ms);
  for (let i = 0; i < 20; i += 1) await new Promise((resolve) => setImmediate(resolve));
}

const SETTLED_MS = 100;

beforeEach(() => {
  opened = [];
  answers = [];
  Object.assign(globalThis, { fetch: answer, EventSource: Stream });
  mock.timers.enable({ apis: ["setTimeout"] });
  startEvents();
});

afterEach(() => {
  stopEvents();
  forgetWatched();
  mock.timers.reset();
});

test("a page that watches nothing has a stream at once", async () => {
  await passes(SETTLED_MS);
  assert.deepEqual(opened, [""]);
});

test("the stream begins when the places of all histories are known: a live page misses nothing", async () => {
  watchDataset("demo", {});
  watchDataset("census", {});
  await passes(SETTLED_MS);
  assert.deepEqual(opened, []);
  answers[0]?.("7");
  await passes(SETTLED_MS);
  assert.deepEqual(opened, [], "census is not followed yet");
  answers[1]?.("0");
  await passes(SETTLED_MS);
  assert.deepEqual(opened, ["demo:7,census:0"]);
});

test("a place that the server could not say is asked for again; the page is not live before", async () => {
  watchDataset("demo", {});
  await passes(SETTLED_MS);
  answers[0]?.(undefined);
  await passes(SETTLED_MS);
  assert.deepEqual(opened, []);
  assert.equal(streamState.get(), "reconnecting");
  await passes(1000);
  assert.equal(answers.length, 2);
  answers[1]?.("7");
  await passes(SETTLED_MS);
  assert.deepEqual(opened, ["demo:7"]);
});

test("a page that is live before it watches anything is not when the server says no place", async () => {
  await passes(SETTLED_MS);
  watchDataset("demo", {});
  await passes(SETTLED_MS);
  answers[0]?.(undefined);
  await passes(SETTLED_MS);
  assert.equal(streamState.get(), "reconnecting");
  await passes(1000);
  answers[1]?.("7");
  await passes(SETTLED_MS);
  assert.deepEqual(opened, ["", "demo:7"]);
});

test("a history whose place is missing does not keep others from being followed", async () => {
  watchDataset("demo", {});
  watchDataset("census", {});
  await passes(SETTLED_MS);
  answers[0]?.("7");
  answers[1]?.(undefined);
  await passes(SETTLED_MS);
  assert.deepEqual(opened, ["demo:7"]);
  await passes(1000);
  answers[2]?.("9");
  await passes(SETTLED_MS);
  assert.deepEqual(opened, ["demo:7", "demo:7,census:9"]);
});

test("nothing is asked for again that nobody watches any more", async () => {
  const leave = watchDataset("demo", {});
  await passes(SETTLED_MS);
  answers[0]?.(undefined);
  leave();
  await passes(SETTLED_MS);
  await passes(60_000);
  assert.equal(answers.length, 1);
  assert.deepEqual(opened, [""]);
});
