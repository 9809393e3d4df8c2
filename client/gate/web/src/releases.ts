// The releases of a dataset that a page has.
import type { Release } from "./api/types.ts";

// Newest first, as the server lists them: ids begin with their time.
function byTime(left: Release, right: Release): number {
  const difference = Date.parse(right.create_time ?? "") - Date.parse(left.create_time ?? "");
  return difference || (left.id < right.id ? 1 : -1);
}

// What was loaded stays when newer releases push it off the newest page. `isWhole`: the page has all there
// are.
export function withNewest(have: Release[], newest: Release[], isWhole: boolean): Release[] {
  if (isWhole) return [...newest].sort(byTime);
  const oldest = [...newest].sort(byTime).pop();
  // What is not older than the page and not on it was removed.
  const older = oldest ? have.filter((release) => byTime(oldest, release) < 0) : have;
  return withEarlier(newest, older);
}

export function withEarlier(have: Release[], more: Release[]): Release[] {
  const all = new Map([...have, ...more].map((release) => [release.id, release]));
  return [...all.values()].sort(byTime);
}
