// Conditions as text, with a mark under the place of a mistake.
import type { Attribute } from "../api/types.ts";
import { readWhere } from "../where.ts";
import { MarkedLine } from "./Command.tsx";
import { TextField } from "./Field.tsx";

interface Props {
  label?: string;
  value: string;
  attributes: Attribute[];
  onInput: (text: string) => void;
}

export function WhereField({
  label = "Of the records with (all when empty)",
  value,
  attributes,
  onInput,
}: Props) {
  const { problem } = readWhere(value, attributes);
  return (
    <>
      <TextField
        label={label}
        hint={
          <>
            For example <code>(age &gt;= 65 or smoker = yes) and weight is not missing</code>. Values with
            blanks need quotes.
          </>
        }
        problem={problem?.message}
        mono
        value={value}
        onInput={onInput}
      />
      {problem && <MarkedLine text={`${value}\n${" ".repeat(problem.position)}^`} />}
    </>
  );
}
