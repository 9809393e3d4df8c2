// A change that a button makes: at most one at a time, and what became of it.
import { useRef, useState } from "preact/hooks";
import { asApiError, type ApiError } from "./error.ts";

export interface Change<Args extends unknown[]> {
  busy: boolean;
  error: ApiError | undefined;
  // Does nothing while an earlier one is under way. Whether it succeeded.
  start(...args: Args): Promise<boolean>;
  forget(): void;
}

export function useChange<Args extends unknown[]>(make: (...args: Args) => Promise<unknown>): Change<Args> {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError>();
  // A second click may come before the first one is rendered.
  const isUnderWay = useRef(false);
  const start = async (...args: Args) => {
    if (isUnderWay.current) return false;
    isUnderWay.current = true;
    setBusy(true);
    setError(undefined);
    try {
      await make(...args);
      return true;
    } catch (thrown) {
      setError(asApiError(thrown));
      return false;
    } finally {
      isUnderWay.current = false;
      setBusy(false);
    }
  };
  return { busy, error, start, forget: () => setError(undefined) };
}
