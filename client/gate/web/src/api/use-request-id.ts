// The id of a request that a dialog may send more than once.
import { useRef } from "preact/hooks";
import { newRequestId } from "../pending.ts";

// An order that is sent again has the id that it had: it is made once. Another order has another id.
export function requestIds(make: () => string = newRequestId): (order: unknown) => string {
  let last: { text: string; id: string } | undefined;
  return (order) => {
    const text = JSON.stringify(order);
    if (last?.text !== text) last = { text, id: make() };
    return last.id;
  };
}

export function useRequestId(): (order: unknown) => string {
  const ids = useRef<((order: unknown) => string) | undefined>(undefined);
  ids.current ??= requestIds();
  return ids.current;
}
