// The one stream of events of the page: new entries of the histories that pages watch, and whether the server
// is reached.
//
// The stream is opened again when the set of watched datasets changes, after the last entries that came. The
// browser resumes it by itself after an interruption.
import { createStore } from "../store.ts";
import { call, reportSessionLoss } from "./client.ts";
import { asApiError } from "./error.ts";
import type { LedgerEntry } from "./types.ts";

export type StreamState = "off" | "live" | "reconnecting";

export interface Watcher {
  // An entry that came after the watch began.
  entry?(entry: LedgerEntry): void;
  // The history is known to have had this last entry when the watch began.
  ready?(position: bigint): void;
  // No more of this dataset: access ended, or it does not exist.
  ended?(message: string): void;
}

interface Watched {
  watchers: Set<Watcher>;
  position: bigint | undefined;
  ended: boolean;
  // Its place in the history is asked for again then, as the server could not say it.
  again: ReturnType<typeof setTimeout> | undefined;
}

const MOST_DATASETS = 100;
const SETTLE_MS = 50;
const RETURN_MS = 30000;
const FIRST_RETRY_MS = 1000;
const LAST_RETRY_MS = 30000;

export const streamState = createStore<StreamState>("off");

const watched = new Map<string, Watched>();
const liveListeners = new Set<() => void>();
let source: EventSource | undefined;
let openedFor = "";
let settleTimer: ReturnType<typeof setTimeout> | undefined;
let retryTimer: ReturnType<typeof setTimeout> | undefined;
let retryMs = FIRST_RETRY_MS;
let enabled = false;
// Calls that ask for a place and have no answer yet.
let asking = 0;

// Calls `listener` when the server is reached again.
export function onLive(listener: () => void): () => void {
  liveListeners.add(listener);
  return () => liveListeners.delete(listener);
}

function setState(state: StreamState): void {
  const before = streamState.get();
  streamState.set(state);
  if (state === "live" && before !== "live") {
    retryMs = FIRST_RETRY_MS;
    for (const listener of [...liveListeners]) listener();
  }
}

function positions(): [string, bigint][] {
  const known: [string, bigint][] = [];
  for (const [dataset, { position, ended }] of watched) {
    if (position !== undefined && !ended && known.length < MOST_DATASETS) known.push([dataset, position]);
  }
  return known;
}

function watchedNames(): string {
  return positions()
    .map(([dataset]) => dataset)
    .join(",");
}

function close(): void {
  source?.close();
  source = undefined;
  clearTimeout(retryTimer);
}

function dataOf(event: Event): Record<string, unknown> {
  return JSON.parse((event as MessageEvent<string>).data) as Record<string, unknown>;
}

function takeEntry(event: Event): void {
  const { dataset, entry } = dataOf(event) as { dataset: string; entry: LedgerEntry };
  const of = watched.get(dataset);
  if (!of) return;
  const sequence = BigInt(entry.sequence);
  if (of.position !== undefined && sequence <= of.position) return;
  of.position = sequence;
  for (const watcher of [...of.watchers]) watcher.entry?.(entry);
}

function takeEnd(event: Event): void {
  const { dataset, message } = dataOf(event) as { dataset: string; message: string };
  const of = watched.get(dataset);
  if (!of) return;
  of.ended = true;
  openedFor = watchedNames();
  for (const watcher of [...of.watchers]) watcher.ended?.(message);
  scheduleReturn(dataset, of);
}

// Access may be given again: then the watch goes on after the last entry that came.
function scheduleReturn(dataset: string, of: Watched): void {
  setTimeout(() => {
    if (enabled && of.ended && watched.get(dataset) === of) void findPosition(dataset, of);
  }, RETURN_MS);
}

// The browser gives up when the answer is an error instead of a stream: try again by ourselves.
function onError(): void {
  setState("reconnecting");
  if (source?.readyState !== EventSource.CLOSED) return;
  close();
  // The stream does not say why it was refused; a call does, where the session is over.
  void call("IdentityService/WhoAmI", {}).catch(() => undefined);
  retryTimer = setTimeout(openStream, retryMs);
  retryMs = Math.min(retryMs * 2, LAST_RETRY_MS);
}

function openStream(): void {
  close();
  if (!enabled) return;
  const watch = positions()
    .map(([dataset, position]) => `${dataset}:${position}`)
    .join(",");
  openedFor = watchedNames();
  source = new EventSource(`/api/v1/events?watch=${encodeURIComponent(watch)}`);
  source.addEventListener("state", (event) => {
    setState(dataOf(event)["state"] === "live" ? "live" : "reconnecting");
  });
  source.addEventListener("entry", takeEntry);
  source.addEventListener("ended", takeEnd);
  source.addEventListener("signed_out", () => {
    stopEvents();
    reportSessionLoss();
  });
  source.addEventListener("error", onError);
}

// A stream that follows nothing is live whatever becomes of the server. So the page has none before the
// places are known: what it calls live is followed.
function hasPlaces(): boolean {
  if (asking > 0) return false;
  return positions().length > 0 || ![...watched.values()].some(({ again }) => again !== undefined);
}

function settle(): void {
  clearTimeout(settleTimer);
  settleTimer = setTimeout(() => {
    if (enabled && hasPlaces() && (source === undefined || watchedNames() !== openedFor)) openStream();
  }, SETTLE_MS);
}

function scheduleAgain(dataset: string, of: Watched, ms: number): void {
  if (!enabled || watched.get(dataset) !== of) return;
  of.again = setTimeout(() => {
    of.again = undefined;
    if (!enabled || watched.get(dataset) !== of) return;
    void findPosition(dataset, of, Math.min(ms * 2, LAST_RETRY_MS));
  }, ms);
}

async function findPosition(dataset: string, of: Watched, nextMs = FIRST_RETRY_MS): Promise<void> {
  clearTimeout(of.again);
  of.again = undefined;
  asking += 1;
  try {
    const { messages } = await call("BudgetService/ListLedgerEntries", { dataset, newest: 1 });
    const last = messages[messages.length - 1];
    of.position ??= BigInt(last?.sequence ?? "0");
    of.ended = false;
    for (const watcher of [...of.watchers]) watcher.ready?.(of.position);
  } catch (thrown) {
    const error = asApiError(thrown);
    if (enabled && error.isUnreachable && openedFor === "") {
      // Also where the page had a stream before it watched anything.
      close();
      setState("reconnecting");
    }
    if (of.ended) scheduleReturn(dataset, of);
    else if (error.isPassing) scheduleAgain(dataset, of, nextMs);
    // Where the place is refused there is nothing to watch: the page's own calls say why, and what is polled
    // still comes. The next time that the server is reached, the place is looked for again.
  } finally {
    asking -= 1;
    settle();
  }
}

function findMissingPositions(): void {
  for (const [dataset, of] of watched) {
    if (of.position === undefined && !of.ended) void findPosition(dataset, of);
  }
}

onLive(findMissingPositions);

// Watches the history of a dataset until the returned function is called. Of what the reader may see of it.
export function watchDataset(dataset: string, watcher: Watcher): () => void {
  let of = watched.get(dataset);
  if (of === undefined) {
    of = { watchers: new Set(), position: undefined, ended: false, again: undefined };
    watched.set(dataset, of);
    void findPosition(dataset, of);
  }
  const { watchers, position } = of;
  watchers.add(watcher);
  if (position !== undefined) watcher.ready?.(position);
  return () => {
    watchers.delete(watcher);
    // A page that follows at once may watch the same dataset: then the stream stays as it is.
    setTimeout(() => {
      if (watchers.size === 0 && watched.get(dataset)?.watchers === watchers) {
        watched.delete(dataset);
        settle();
      }
    }, SETTLE_MS);
  };
}

// For another person: nothing that was watched for the one before is asked for again.
export function forgetWatched(): void {
  watched.clear();
  openedFor = "";
  close();
  if (enabled) settle();
}

export function startEvents(): void {
  if (enabled) return;
  enabled = true;
  settle();
}

// A page that the browser keeps for going back must not keep the connection: a browser has six of them for
// one server.
if (typeof window !== "undefined") {
  window.addEventListener("pagehide", close);
  window.addEventListener("pageshow", (event) => {
    if (event.persisted && enabled) openStream();
  });
}

export function stopEvents(): void {
  enabled = false;
  close();
  setState("off");
}
