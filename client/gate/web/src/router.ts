// Addresses of pages. A pattern has fixed parts and ":name" parts: "/datasets/:dataset/history".
import { createStore } from "./store.ts";

export type Params = Record<string, string>;

export interface Place {
  path: string;
  query: URLSearchParams;
}

function here(): Place {
  return { path: location.pathname, query: new URLSearchParams(location.search) };
}

export const place = createStore<Place>(
  typeof location === "undefined" ? { path: "/", query: new URLSearchParams() } : here(),
);

// The values of the pattern's ":name" parts when the path fits the pattern.
export function match(pattern: string, path: string): Params | undefined {
  const wanted = pattern.split("/").filter((part) => part !== "");
  const given = path.split("/").filter((part) => part !== "");
  if (wanted.length !== given.length) return undefined;
  const params: Params = {};
  for (let i = 0; i < wanted.length; i += 1) {
    const part = wanted[i] as string;
    const value = given[i] as string;
    if (!part.startsWith(":")) {
      if (part !== value) return undefined;
      continue;
    }
    try {
      params[part.slice(1)] = decodeURIComponent(value);
    } catch {
      return undefined;
    }
  }
  return params;
}

// The address of a page, its values encoded: to("/datasets/:dataset", { dataset: "demo" }).
export function to(pattern: string, params: Params = {}, query: Record<string, string> = {}): string {
  const path = pattern.replace(/:([a-z_]+)/gi, (_, name: string) => encodeURIComponent(params[name] ?? ""));
  const text = new URLSearchParams(query).toString();
  return text === "" ? path : `${path}?${text}`;
}

export function navigate(address: string, { replace = false } = {}): void {
  if (replace) history.replaceState(null, "", address);
  else history.pushState(null, "", address);
  place.set(here());
}

export function startRouter(): void {
  window.addEventListener("popstate", () => place.set(here()));
}
