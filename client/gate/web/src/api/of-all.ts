// Something of each of several datasets. Only what has changed is loaded again.
import { useEffect, useRef } from "preact/hooks";
import { watchDataset } from "./events.ts";
import { asApiError } from "./error.ts";
import type { LedgerEntry } from "./types.ts";
import { useLoad, type Loaded } from "./use-call.ts";

// Each dataset takes a call to find its place in the history, and a principal may make 60 calls at once.
const MOST_WATCHED = 40;
const MOST_LOADED = 100;
const DEBOUNCE_MS = 200;
const POLL_STALE_MS = 25000;

// Calls `take` with each entry that comes to the history of one of the datasets.
export function useEntries(
  datasets: string[] | undefined,
  take: (dataset: string, entry: LedgerEntry) => void,
): void {
  const taker = useRef(take);
  taker.current = take;
  const key = datasets?.slice(0, MOST_WATCHED).join(",") ?? "";
  useEffect(() => {
    const leave = key
      .split(",")
      .filter(Boolean)
      .map((dataset) => watchDataset(dataset, { entry: (entry) => taker.current(dataset, entry) }));
    return () => leave.forEach((each) => each());
  }, [key]);
}

interface Held<Data> {
  data: Data | undefined;
  at: number;
}

// By dataset; those of which the reader may not see it are absent. At most the first 100.
export function useOfAll<Data>(
  name: string,
  datasets: string[] | undefined,
  load: (dataset: string, signal: AbortSignal) => Promise<Data>,
  { poll = false }: { poll?: boolean } = {},
): Loaded<ReadonlyMap<string, Data>> {
  const held = useRef(new Map<string, Held<Data>>());
  const stale = useRef(new Set<string>());
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const names = datasets?.slice(0, MOST_LOADED);

  const loadOne = async (dataset: string, signal: AbortSignal) => {
    stale.current.delete(dataset);
    try {
      held.current.set(dataset, { data: await load(dataset, signal), at: Date.now() });
    } catch (thrown) {
      if (signal.aborted) stale.current.add(dataset);
      if (signal.aborted || !asApiError(thrown).isHidden) throw thrown;
      held.current.set(dataset, { data: undefined, at: Date.now() });
    }
  };

  const loaded = useLoad<ReadonlyMap<string, Data>>(
    names && `${name} of ${names.join(",")}`,
    async (signal) => {
      const oldest = Date.now() - POLL_STALE_MS;
      const isOld = (dataset: string) => {
        const known = held.current.get(dataset);
        return !known || stale.current.has(dataset) || (poll && known.at < oldest);
      };
      const results = await Promise.allSettled(
        (names ?? []).filter(isOld).map((dataset) => loadOne(dataset, signal)),
      );
      const failed = results.find((result) => result.status === "rejected");
      if (failed) throw failed.reason;
      const all = new Map<string, Data>();
      for (const dataset of names ?? []) {
        const data = held.current.get(dataset)?.data;
        if (data !== undefined) all.set(dataset, data);
      }
      return all;
    },
    { poll },
  );

  useEntries(names, (dataset) => {
    stale.current.add(dataset);
    clearTimeout(timer.current);
    timer.current = setTimeout(loaded.reload, DEBOUNCE_MS);
  });
  useEffect(() => () => clearTimeout(timer.current), []);

  const reload = () => {
    for (const dataset of held.current.keys()) stale.current.add(dataset);
    loaded.reload();
  };
  return { ...loaded, reload };
}
