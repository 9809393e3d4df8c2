// How much is spent, in what the rule of the dataset counts.
import type { Rule } from "../../api/types.ts";
import { Button } from "../../components/Button.tsx";
import { ChoiceField, TextField } from "../../components/Field.tsx";
import { Card } from "../../components/Page.tsx";
import { percent } from "../../decimal.ts";
import { takesDelta, unitOf, unitsOf, type Draft, type Problems, type Share } from "../../synthesis.ts";

interface Props {
  draft: Draft;
  rule: Rule | undefined;
  shares: Share[];
  problems: Problems;
  onDraft: (change: Partial<Draft>) => void;
}

const UNIT_WORDS = { rho: "rho, for Gaussian noise", epsilon: "epsilon, for a pure mechanism" };
const HINTS = { rho: "A decimal such as 0.01.", epsilon: "A decimal such as 0.5." };

export function AmountCard({ draft, rule, shares, problems, onDraft }: Props) {
  const unit = unitOf(draft, rule);
  const units = unitsOf(rule);
  return (
    <Card title="Amount to spend">
      {units.length > 1 && (
        <ChoiceField
          label="Paid in"
          name="unit"
          value={unit}
          // The same number is another amount in another unit.
          onChange={(value) => onDraft({ unit: value as Draft["unit"], amount: "" })}
          options={units.map((value) => ({ value, text: UNIT_WORDS[value] }))}
        />
      )}
      <div class="filters">
        <TextField
          label={`Amount of ${unit}`}
          hint={HINTS[unit]}
          problem={problems.amount}
          value={draft.amount}
          onInput={(amount) => onDraft({ amount })}
        />
        {takesDelta(rule) && (
          <TextField
            label="Delta"
            hint="A decimal such as 1e-10, for Gaussian noise. Without it the mechanism is pure."
            problem={problems.delta}
            value={draft.delta}
            onInput={(delta) => onDraft({ delta })}
          />
        )}
      </div>
      {shares.length > 0 && (
        <div class="row">
          <span class="small quiet">Of what is left:</span>
          {shares.map(({ percent: share, amount }) => (
            <Button
              key={share}
              kind="plain"
              label={`Spend ${percent(share / 100)} of what is left: ${amount} ${unit}`}
              onClick={() => onDraft({ amount })}
            >
              {percent(share / 100)}
            </Button>
          ))}
        </div>
      )}
    </Card>
  );
}
