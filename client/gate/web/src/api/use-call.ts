// The data of a page: loads it, keeps it fresh, and repeats what failed.
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { call } from "./client.ts";
import { asApiError, type ApiError } from "./error.ts";
import { onLive, watchDataset } from "./events.ts";
import { Kept } from "./kept.ts";
import type { Method, RequestOf, ResponseOf } from "./types.ts";

export interface Loaded<Data> {
  // The newest that came; stays while it is loaded again, also when that fails.
  data: Data | undefined;
  error: ApiError | undefined;
  loading: boolean;
  reload(): void;
}

export interface Freshness {
  // Load again soon after each new entry in the history of this dataset.
  live?: string;
  // Load again every 30 seconds while the page is visible. On by default.
  poll?: boolean;
}

const POLL_MS = 30000;
const DEBOUNCE_MS = 200;
const FIRST_RETRY_MS = 1000;
const LAST_RETRY_MS = 30000;
const MOST_KEPT = 8 * 1024 * 1024;

// What was answered last. In memory alone.
const kept = new Kept(MOST_KEPT);
// Counts the persons whose answers these are: an answer for the one before may still be on its way.
let generation = 0;

export function forgetAnswers(): void {
  kept.clear();
  generation += 1;
}

// One load at a time, of what `load` fetches; `key` names it, and undefined is nothing.
export function useLoad<Data>(
  key: string | undefined,
  load: (signal: AbortSignal) => Promise<Data>,
  { live, poll = true }: Freshness = {},
): Loaded<Data> {
  const [state, setState] = useState<{
    key: string | undefined;
    data?: Data;
    error?: ApiError;
    loading: boolean;
  }>({ key: undefined, loading: false });
  const loader = useRef(load);
  loader.current = load;
  const again = useRef<() => void>(() => {});

  useEffect(() => {
    if (key === undefined) {
      setState({ key, loading: false });
      return;
    }
    let running: AbortController | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let retryMs = FIRST_RETRY_MS;
    let failed = false;
    let loadedAt = 0;

    const start = async () => {
      clearTimeout(timer);
      running?.abort();
      const mine = (running = new AbortController());
      const begun = generation;
      setState((before) => ({
        ...(before.key === key ? before : { key, ...keptFor<Data>(key) }),
        loading: true,
      }));
      try {
        const data = await loader.current(mine.signal);
        if (mine.signal.aborted || begun !== generation) return;
        kept.set(key, data);
        failed = false;
        retryMs = FIRST_RETRY_MS;
        loadedAt = Date.now();
        setState({ key, data, loading: false });
        if (poll) timer = setTimeout(whenVisible, POLL_MS);
      } catch (thrown) {
        if (mine.signal.aborted) return;
        const error = asApiError(thrown);
        failed = error.isPassing;
        if (error.isHidden) {
          // What the reader may no longer see is not shown any longer.
          kept.delete(key);
          setState({ key, error, loading: false });
        } else {
          setState((before) => ({ ...before, error, loading: false }));
        }
        if (error.isPassing) {
          timer = setTimeout(start, Math.max(retryMs, (error.retrySeconds ?? 0) * 1000));
          retryMs = Math.min(retryMs * 2, LAST_RETRY_MS);
        } else if (poll) {
          timer = setTimeout(whenVisible, POLL_MS);
        }
      }
    };
    const whenVisible = () => {
      if (document.visibilityState === "visible") void start();
    };
    const onVisible = () => {
      if (poll && document.visibilityState === "visible" && Date.now() - loadedAt > POLL_MS) void start();
    };
    const soon = () => {
      clearTimeout(timer);
      timer = setTimeout(start, DEBOUNCE_MS);
    };

    again.current = () => void start();
    // Of the history, entries after a place come by themselves, once that is known. The place is asked for
    // first; data that were there before its answer may lack entries up to it, and are loaded again.
    const leaveDataset =
      live === undefined
        ? undefined
        : watchDataset(live, {
            entry: soon,
            ready: () => {
              if (loadedAt !== 0) soon();
            },
          });
    void start();
    document.addEventListener("visibilitychange", onVisible);
    const leaveLive = onLive(() => {
      if (failed) void start();
    });
    return () => {
      running?.abort();
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", onVisible);
      leaveLive();
      leaveDataset?.();
    };
  }, [key, live, poll]);

  const reload = useCallback(() => again.current(), []);
  // The first rendering for a new key shows what was kept for it, never the data of another one.
  if (state.key !== key)
    return { error: undefined, loading: key !== undefined, reload, data: keptFor<Data>(key).data };
  return { data: state.data, error: state.error, loading: state.loading, reload };
}

function keptFor<Data>(key: string | undefined): { data?: Data } {
  return key !== undefined && kept.has(key) ? { data: kept.get(key) as Data } : {};
}

// Calls a method; no call while the request is undefined.
export function useCall<M extends Method>(
  method: M,
  request: RequestOf<M> | undefined,
  freshness: Freshness = {},
): Loaded<ResponseOf<M>> {
  const key = request === undefined ? undefined : `${method} ${JSON.stringify(request)}`;
  return useLoad(key, (signal) => call(method, request as RequestOf<M>, signal), freshness);
}
