// A value once it has not changed for a while: what the reader types and drags is asked for when they pause.
import { useEffect, useState } from "preact/hooks";

const PAUSE_MS = 300;

export function useSettled<Value>(value: Value): Value {
  const [settled, setSettled] = useState(value);
  const key = JSON.stringify(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [key]);
  return settled;
}
