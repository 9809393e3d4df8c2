// A question that begins at a price: "?rho=0.01" or "?epsilon=0.5" in the address, as links from refused
// requests have it.
import { useEffect, useRef } from "preact/hooks";
import type { Workload } from "../../api/types.ts";
import { useCall } from "../../api/use-call.ts";
import { isDecimal } from "../../decimal.ts";
import { place } from "../../router.ts";
import { useStore } from "../../store.ts";

const CONFIDENCE = 0.95;
// The price of an error is rounded up: a little more error keeps it below the amount.
const ROOM = 1.001;

export function spendIn(query: URLSearchParams): { rho: string } | { epsilon: string } | undefined {
  const [rho, epsilon] = [query.get("rho") ?? "", query.get("epsilon") ?? ""];
  if (isDecimal(rho)) return { rho };
  return isDecimal(epsilon) ? { epsilon } : undefined;
}

// Calls `onError` with the error that the amount of the address buys, once.
export function useAmountOfAddress(
  dataset: string,
  workload: Workload,
  onError: (error: number) => void,
): void {
  const { query } = useStore(place);
  const spend = spendIn(query);
  const isUsed = useRef(false);
  const { data } = useCall(
    "QueryService/EstimateWorkload",
    spend && !isUsed.current ? { dataset, workload, spend, confidence_level: CONFIDENCE } : undefined,
    { poll: false },
  );
  useEffect(() => {
    if (!data || isUsed.current || !(data.max_error > 0)) return;
    isUsed.current = true;
    onError(data.max_error * ROOM);
  }, [data]);
}
