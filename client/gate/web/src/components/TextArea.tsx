// Several lines of text with a label.
import { Field } from "./Field.tsx";

interface Props {
  label: string;
  hint?: string;
  value: string;
  onInput: (value: string) => void;
}

export function TextArea({ label, hint, value, onInput }: Props) {
  return (
    <Field label={label} hint={hint}>
      {(control) => (
        <textarea
          {...control}
          rows={3}
          value={value}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}
