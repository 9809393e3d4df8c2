// What waits for the reader on all datasets.
import { useRef } from "preact/hooks";
import { call } from "./client.ts";
import { useAllDatasets } from "./datasets.ts";
import { useEntries } from "./of-all.ts";
import type { InboxItem, LedgerEntry } from "./types.ts";
import { useLoad, type Loaded } from "./use-call.ts";

const MOST_PAGES = 20;
const DEBOUNCE_MS = 200;

async function loadInbox(signal: AbortSignal): Promise<InboxItem[]> {
  const items: InboxItem[] = [];
  let token = "";
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const answer = await call("BudgetService/ListInbox", { page_size: 1000, page_token: token }, signal);
    items.push(...answer.items);
    token = answer.next_page_token;
    if (token === "") break;
  }
  return items;
}

// Charges, which are by far the most, change no inbox.
function mayChangeInbox({ kind }: LedgerEntry): boolean {
  return /^(LIMIT|PUBLISHED|DATASET|PART_SEALED|OWNER_ACTION|REPAIRED)/.test(kind);
}

export function useInbox(): Loaded<InboxItem[]> {
  const loaded = useLoad("inbox", loadInbox);
  const { data } = useAllDatasets();
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEntries(
    data?.datasets.map(({ name }) => name),
    (_, entry) => {
      if (!mayChangeInbox(entry)) return;
      clearTimeout(timer.current);
      timer.current = setTimeout(loaded.reload, DEBOUNCE_MS);
    },
  );
  return loaded;
}
