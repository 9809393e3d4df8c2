// Several lines of text with a label.
import type { ComponentChildren } from "preact";
import { Field } from "./Field.tsx";

interface Props {
  label: string;
  hint?: ComponentChildren;
  problem?: string | undefined;
  rows?: number;
  // Code: in a font of one width, without a spelling checker.
  mono?: boolean;
  value: string;
  onInput: (value: string) => void;
  // Control and Enter.
  onSubmit?: () => void;
}

export function TextArea({ label, hint, problem, rows = 3, mono, value, onInput, onSubmit }: Props) {
  return (
    <Field label={label} hint={hint} problem={problem}>
      {(control) => (
        <textarea
          {...control}
          rows={rows}
          class={mono ? "mono" : undefined}
          spellcheck={!mono}
          autocapitalize={mono ? "off" : undefined}
          value={value}
          onInput={(event) => onInput(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || !onSubmit) return;
            event.preventDefault();
            onSubmit();
          }}
        />
      )}
    </Field>
  );
}
