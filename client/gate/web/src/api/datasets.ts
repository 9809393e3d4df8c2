// All datasets that the reader may see.
import { call } from "./client.ts";
import type { Dataset } from "./types.ts";
import { useLoad, type Loaded } from "./use-call.ts";

export interface AllDatasets {
  datasets: Dataset[];
  // Names of those that damage in the database has made unreadable.
  unreadable: string[];
}

const PAGE_SIZE = 1000;
const MOST_PAGES = 20;

async function loadAll(signal: AbortSignal): Promise<AllDatasets> {
  const all: AllDatasets = { datasets: [], unreadable: [] };
  let token = "";
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const answer = await call(
      "DatasetService/ListDatasets",
      { page_size: PAGE_SIZE, page_token: token },
      signal,
    );
    all.datasets.push(...answer.datasets);
    all.unreadable.push(...answer.unreadable);
    token = answer.next_page_token;
    if (token === "") break;
  }
  return all;
}

export function useAllDatasets(): Loaded<AllDatasets> {
  return useLoad("all datasets", loadAll);
}
