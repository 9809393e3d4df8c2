// Statistics of groups: which ones, of which groups, of which records; then their price.
import { useState } from "preact/hooks";
import type { Dataset } from "../../api/types.ts";
import { Check, FieldGroup, TextField } from "../../components/Field.tsx";
import { Card } from "../../components/Page.tsx";
import { WhereField } from "../../components/WhereField.tsx";
import { counted } from "../../numbers.ts";
import type { AnswerRequest } from "../Ask.tsx";
import { Attributes } from "./Attributes.tsx";
import { StatisticsPrice } from "./StatisticsPrice.tsx";
import {
  columnsFor,
  groupCount,
  hasUnits,
  NO_STATISTICS,
  sharesOf,
  STATISTIC_KINDS,
  workloadOfStatistics,
  type ColumnChoice,
  type StatisticColumn,
  type StatisticKind,
  type StatisticsChoice,
} from "./statistics-question.ts";

const NOTHING: ColumnChoice = { kinds: [], quantiles: "" };

function toggled<Item>(items: Item[], item: Item): Item[] {
  return items.includes(item) ? items.filter((other) => other !== item) : [...items, item];
}

function ColumnStatistics({
  column,
  choice,
  onChange,
}: {
  column: StatisticColumn;
  choice: ColumnChoice;
  onChange: (choice: ColumnChoice) => void;
}) {
  const toggle = (kind: StatisticKind) => onChange({ ...choice, kinds: toggled(choice.kinds, kind) });
  const problem =
    sharesOf(choice.quantiles) === undefined
      ? "Decimals between 0 and 1 with at most three digits after the point, such as 0.25, 0.75"
      : undefined;
  return (
    <FieldGroup label={column.name} remark={column.words}>
      {!column.onlyQuantiles && (
        <div class="choices">
          {STATISTIC_KINDS.map((kind) => (
            <Check
              key={kind}
              label={kind}
              checked={choice.kinds.includes(kind)}
              onToggle={() => toggle(kind)}
            />
          ))}
        </div>
      )}
      <TextField
        label={`Quantiles of ${column.name}`}
        hint="For example 0.25, 0.75. None when empty."
        problem={problem}
        value={choice.quantiles}
        onInput={(quantiles) => onChange({ ...choice, quantiles })}
      />
    </FieldGroup>
  );
}

interface Props {
  dataset: Dataset;
  onAsk: (request: AnswerRequest) => void;
}

export function StatisticsQuestion({ dataset, onAsk }: Props) {
  const [choice, setChoice] = useState(NO_STATISTICS);
  const change = (part: Partial<StatisticsChoice>) => setChoice((before) => ({ ...before, ...part }));
  const { schema } = dataset;
  const attributes = schema?.attributes ?? [];
  const columns = columnsFor(schema);
  const workload = workloadOfStatistics(choice, schema);
  return (
    <>
      <Card title="Question">
        <FieldGroup label="Statistics">
          <div class="choices">
            <Check
              label="number of records"
              checked={choice.count}
              onToggle={() => change({ count: !choice.count })}
            />
            {hasUnits(schema) && (
              <Check
                label="number of distinct units"
                checked={choice.units}
                onToggle={() => change({ units: !choice.units })}
              />
            )}
          </div>
        </FieldGroup>
        {columns.map((column) => (
          <ColumnStatistics
            key={column.name}
            column={column}
            choice={choice.columns[column.name] ?? NOTHING}
            onChange={(next) => change({ columns: { ...choice.columns, [column.name]: next } })}
          />
        ))}
        {columns.length === 0 && (
          <p class="quiet small">
            This dataset has no measure and no attribute with numbers: sums and means need one.
          </p>
        )}
        <Attributes
          label="For each combination of"
          dataset={dataset}
          chosen={choice.by}
          onChange={(next) => setChoice((before) => ({ ...before, by: next(before.by) }))}
        />
        <WhereField value={choice.where} attributes={attributes} onInput={(where) => change({ where })} />
        <p class="quiet small">
          {workload
            ? `The answer has ${counted(groupCount(choice.by, attributes), "group")}.`
            : "Choose at least one statistic; what is typed must be as the examples are."}
        </p>
      </Card>
      {workload && <StatisticsPrice dataset={dataset.name} workload={workload} onAsk={onAsk} />}
    </>
  );
}
