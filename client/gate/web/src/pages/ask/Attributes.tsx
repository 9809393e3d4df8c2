// A choice of attributes, in the order of the schema.
import type { Dataset } from "../../api/types.ts";
import { binsOf } from "../../answer.ts";
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
    <fieldset class="field">
      <legend class="small">
        <strong>{label}</strong>
      </legend>
      <div class="choices">
        {attributes.map((attribute) => (
          <label class="choice" key={attribute.name}>
            <input
              type="checkbox"
              checked={chosen.includes(attribute.name)}
              onChange={() => toggle(attribute.name)}
            />
            <span>
              {attribute.name} <span class="quiet small">{counted(binsOf(attribute), "value")}</span>
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
