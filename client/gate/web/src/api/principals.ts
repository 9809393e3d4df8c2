// All principals of the server, for administrators.
import { isAdministrator, sessionState } from "../session.ts";
import { useStore } from "../store.ts";
import { call } from "./client.ts";
import type { PrincipalInfo } from "./types.ts";
import { useLoad, type Loaded } from "./use-call.ts";

const MOST_PAGES = 10;

async function loadPrincipals(signal: AbortSignal): Promise<PrincipalInfo[]> {
  const all: PrincipalInfo[] = [];
  let token = "";
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const answer = await call(
      "IdentityService/ListPrincipals",
      { page_size: 1000, page_token: token },
      signal,
    );
    all.push(...answer.principals);
    token = answer.next_page_token;
    if (token === "") break;
  }
  return all;
}

// Loads nothing for others than administrators.
export function usePrincipals(): Loaded<PrincipalInfo[]> {
  const state = useStore(sessionState);
  return useLoad(isAdministrator(state) ? "principals" : undefined, loadPrincipals);
}
