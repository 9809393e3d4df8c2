// What waits for the reader on all datasets.
import { call } from "./client.ts";
import type { InboxItem } from "./types.ts";
import { useLoad, type Loaded } from "./use-call.ts";

const MOST_PAGES = 20;

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

export function useInbox(): Loaded<InboxItem[]> {
  return useLoad("inbox", loadInbox);
}
