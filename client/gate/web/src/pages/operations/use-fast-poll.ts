// What is under way is looked at more often than the rest.
import { useEffect } from "preact/hooks";

const FAST_POLL_MS = 2000;

// Loads again every two seconds while something is under way and the page is visible.
export function useFastPoll(isNeeded: boolean, reload: () => void): void {
  useEffect(() => {
    if (!isNeeded) return undefined;
    const timer = setInterval(() => {
      if (document.visibilityState === "visible") reload();
    }, FAST_POLL_MS);
    return () => clearInterval(timer);
  }, [isNeeded, reload]);
}
