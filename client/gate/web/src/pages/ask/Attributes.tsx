// A choice of attributes, in the order of the schema.
import type { Dataset } from "../../api/types.ts";
import { binsOf } from "../../answer.ts";
import { Check, FieldGroup } from "../../components/Field.tsx";
import { counted } from "../../numbers.ts";

interface Props {
  label?: string;
  dataset: Dataset;
  chosen: string[];
  onChange: (change: (names: string[]) => string[]) => void;
}

export function Attributes({ label = "Attributes", dataset, chosen, onChange }: Props) {
  const attributes = dataset.schema?.attributes ?? [];
  const toggle = (name: string) =>
    onChange((names) =>
      attributes
        .map((attribute) => attribute.name)
        .filter((other) => (other === name) !== names.includes(other)),
    );
  return (
    <FieldGroup label={label}>
      <div class="choices">
        {attributes.map((attribute) => (
          <Check
            key={attribute.name}
            label={attribute.name}
            remark={counted(binsOf(attribute), "value")}
            checked={chosen.includes(attribute.name)}
            onToggle={() => toggle(attribute.name)}
          />
        ))}
      </div>
    </FieldGroup>
  );
}
