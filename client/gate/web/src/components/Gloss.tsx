// A word with a short explanation, on hover, on focus and on touch. Escape closes it.
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";

const TEXTS = {
  epsilon:
    "Epsilon bounds how much all answers together can reveal about anyone who is protected: the smaller, " +
    "the stronger. With epsilon 0 the answers would not depend on the data.",
  delta:
    "Delta is the probability with which the bound that epsilon gives may fail. It should be far smaller " +
    "than one divided by the number of people.",
  rho:
    "Rho is the amount that accounts under the rule zCDP count. Costs in rho add up exactly. The limit " +
    "follows from the promised epsilon and delta.",
  epsilon_squared:
    "The sum of the squares of the epsilons, which the rule of advanced composition counts beside their " +
    "sum.",
  spent: "Charged for good: the records were read for it, or may have been.",
  held: "Reserved by requests that wait or have not started. What is not used is given back.",
  left: "What can still be spent: the limit without what is spent and held.",
  limit: "The most that may ever be spent. Raising it takes a proposal and the approval of a second person.",
  promise:
    "What the owner guarantees about all charges together: nobody who is protected is revealed by more " +
    "than this.",
  pure: "The rule of pure composition: epsilons are added up.",
  advanced:
    "The rule of advanced composition: sums of epsilons and of their squares give a smaller total, with a " +
    "delta.",
  zcdp: "The rule of zero-concentrated differential privacy (zCDP): costs are counted in rho.",
  anchor:
    "A file outside the database with the newest hash of each history. It shows when an older copy of the " +
    "database was put back.",
  interval: "Holds the true number with the stated probability. It says nothing about who is in the data.",
  release: "An answer that was paid for and stored. Looking at it again is free.",
  receipt:
    "A statement that the server signed: which charge was made, and which entry of the history records " +
    "it.",
} as const;

export type Term = keyof typeof TEXTS;

const GAP = 6;

export function Gloss({ term, children }: { term: Term; children?: ComponentChildren }) {
  const id = useId();
  const [isOpen, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const tip = useRef<HTMLSpanElement>(null);

  useEffect(() => {
    const [anchor, box] = [button.current, tip.current];
    if (!isOpen || !anchor || !box) return undefined;
    const at = anchor.getBoundingClientRect();
    const left = Math.max(GAP, Math.min(at.left, window.innerWidth - box.offsetWidth - GAP));
    const fitsBelow = at.bottom + GAP + box.offsetHeight < window.innerHeight;
    box.style.left = `${left}px`;
    box.style.top = `${fitsBelow ? at.bottom + GAP : at.top - GAP - box.offsetHeight}px`;
    const close = () => setOpen(false);
    const onKey = (event: KeyboardEvent) => event.key === "Escape" && close();
    window.addEventListener("scroll", close, { capture: true, passive: true });
    window.addEventListener("keydown", onKey);
    return () => {
      window.removeEventListener("scroll", close, { capture: true });
      window.removeEventListener("keydown", onKey);
    };
  }, [isOpen]);

  return (
    <>
      <button
        type="button"
        class="gloss"
        ref={button}
        aria-describedby={isOpen ? id : undefined}
        onMouseEnter={() => setOpen(true)}
        onMouseLeave={() => setOpen(false)}
        onFocus={() => setOpen(true)}
        onBlur={() => setOpen(false)}
        onClick={() => setOpen(true)}
      >
        {children ?? term.replace("_", " ")}
      </button>
      {isOpen && (
        <span class="tooltip" role="tooltip" id={id} ref={tip}>
          {TEXTS[term]}
        </span>
      )}
    </>
  );
}

// The counter's name with its explanation where there is one.
export function CounterName({ name }: { name: string }) {
  return name in TEXTS ? <Gloss term={name as Term} /> : <>{name.replaceAll("_", " ")}</>;
}

export function RuleName({ rule }: { rule: string }) {
  return rule in TEXTS ? <Gloss term={rule as Term} /> : <>{rule}</>;
}
