// What the model is to answer well.
import type { Dataset } from "../../api/types.ts";
import { ChoiceField, SelectField } from "../../components/Field.tsx";
import { Card } from "../../components/Page.tsx";
import { wayOf, type Draft } from "../../synthesis.ts";
import { Attributes } from "../ask/Attributes.tsx";

interface Props {
  dataset: Dataset;
  draft: Draft;
  problem: string | undefined;
  onDraft: (change: Partial<Draft>) => void;
}

const WAY_WORDS = ["each attribute alone", "every pair of them", "every three of them"];

function wayWords(k: number): string {
  return WAY_WORDS[k - 1] ?? `every ${k} of them`;
}

function ChosenMarginals({ dataset, draft, onDraft }: Omit<Props, "problem">) {
  const { attributes: chosen } = draft;
  const ways = Array.from({ length: Math.max(1, chosen.length) }, (_, i) => i + 1);
  return (
    <>
      <Attributes
        dataset={dataset}
        chosen={chosen}
        onChange={(change) => onDraft({ attributes: change(chosen) })}
      />
      {chosen.length === 0 ? (
        <p class="quiet small">Choose at least one attribute. The synthetic data has no others.</p>
      ) : (
        <div class="filters">
          <SelectField
            label="Marginals of"
            value={String(wayOf(draft))}
            options={ways.map((k) => ({ value: String(k), text: wayWords(k) }))}
            onChange={(k) => onDraft({ k: Number(k) })}
          />
        </div>
      )}
    </>
  );
}

export function WorkloadCard({ dataset, draft, problem, onDraft }: Props) {
  return (
    <Card title="What the model should answer well">
      <ChoiceField
        label="Counts of"
        name="workload"
        value={draft.workload}
        problem={problem}
        onChange={(value) => onDraft({ workload: value as Draft["workload"] })}
        options={[
          { value: "usual", text: "all pairs of attributes" },
          { value: "chosen", text: "attributes that you choose" },
        ]}
      />
      {draft.workload === "chosen" && <ChosenMarginals dataset={dataset} draft={draft} onDraft={onDraft} />}
    </Card>
  );
}
