// A command or a listing, line by line as it is; it scrolls in its frame, also by the keyboard.
import { useLayoutEffect, useRef } from "preact/hooks";

export function Command({ text, label = "Command" }: { text: string; label?: string }) {
  return (
    <pre class="command" tabIndex={0} role="region" aria-label={label}>
      {text}
    </pre>
  );
}

// The line of a mistake, and below it a mark at its place, which is in sight although the line may be longer
// than the frame.
export function MarkedLine({ text }: { text: string }) {
  const frame = useRef<HTMLPreElement>(null);
  useLayoutEffect(() => {
    const pre = frame.current;
    if (!pre) return;
    const lengths = text.split("\n").map((line) => line.length);
    pre.scrollLeft = (pre.scrollWidth * (lengths.at(-1) ?? 0)) / Math.max(...lengths) - pre.clientWidth / 2;
  }, [text]);
  return (
    <pre class="command" tabIndex={0} role="region" aria-label="Place of the mistake" ref={frame}>
      {text}
    </pre>
  );
}
