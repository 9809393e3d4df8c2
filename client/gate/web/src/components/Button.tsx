import type { ComponentChildren } from "preact";

interface Props {
  kind?: "normal" | "primary" | "danger" | "plain";
  type?: "button" | "submit";
  // While what it started is under way: it cannot be pressed again, and keeps the focus.
  busy?: boolean;
  disabled?: boolean;
  label?: string;
  onClick?: () => void;
  children: ComponentChildren;
}

export function Button({
  kind = "normal",
  type = "button",
  busy,
  disabled,
  label,
  onClick,
  children,
}: Props) {
  const isOff = busy || disabled;
  return (
    <button
      type={type}
      class={kind === "normal" ? "button" : `button ${kind}`}
      aria-disabled={isOff ? "true" : undefined}
      aria-busy={busy ? "true" : undefined}
      aria-label={label}
      onClick={(event) => {
        if (isOff) event.preventDefault();
        else onClick?.();
      }}
    >
      {children}
    </button>
  );
}
