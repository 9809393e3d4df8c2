// Marks that go with a word: they are never the only bearer of a meaning.

export type IconName = "check" | "cross" | "warning" | "clock";

const SHAPES: Record<IconName, string> = {
  check: "M3 8.5l3.2 3.2L13 5",
  cross: "M4 4l8 8M12 4l-8 8",
  warning: "M8 2.5L14.5 13.5H1.5ZM8 6.5v3.5M8 11.8v.4",
  clock: "M8 2a6 6 0 1 0 .01 0ZM8 5v3.2l2.2 1.4",
};

export function Icon({ name }: { name: IconName }) {
  return (
    <svg viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path
        d={SHAPES[name]}
        fill="none"
        stroke="currentColor"
        stroke-width="1.8"
        stroke-linecap="round"
        stroke-linejoin="round"
      />
    </svg>
  );
}

export function Brand() {
  return (
    <>
      <svg viewBox="0 0 32 32" aria-hidden="true" focusable="false">
        <circle class="ring" cx="16" cy="16" r="11" />
        <path class="arc" d="M16 5a11 11 0 1 1-9.53 5.5" />
      </svg>
      <span>Curator</span>
    </>
  );
}
