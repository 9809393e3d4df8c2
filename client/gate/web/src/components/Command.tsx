// A command or a listing, line by line as it is; it scrolls in its frame, also by the keyboard.

export function Command({ text, label = "Command" }: { text: string; label?: string }) {
  return (
    <pre class="command" tabIndex={0} role="region" aria-label={label}>
      {text}
    </pre>
  );
}
