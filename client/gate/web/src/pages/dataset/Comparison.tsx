// The charges so far, counted by other rules: on demand, for it takes the server some work.
import { useState } from "preact/hooks";
import type { CalculatedEpsilon, HistoryComparison } from "../../api/types.ts";
import { useCall } from "../../api/use-call.ts";
import { Button } from "../../components/Button.tsx";
import { SkeletonLines } from "../../components/Empty.tsx";
import { Gloss } from "../../components/Gloss.tsx";
import { ErrorNotice } from "../../components/Notice.tsx";
import { Card } from "../../components/Page.tsx";
import { Table } from "../../components/Table.tsx";
import { Amount } from "../../components/Values.tsx";
import { compare } from "../../decimal.ts";
import { counted } from "../../numbers.ts";

function Calculated({ comparison }: { comparison: HistoryComparison }) {
  const computed = comparison.calculated.filter((row) => row.epsilon !== "");
  const others = comparison.calculated.filter((row) => row.epsilon === "");
  const whose = comparison.own_charges_only ? "Your" : "All";
  if (comparison.not_computed !== "") return <p>{comparison.not_computed}</p>;
  return (
    <>
      <p>
        {whose} {counted(comparison.charges, "charge")} so far, as <Gloss term="epsilon" /> at{" "}
        <Gloss term="delta" /> {comparison.delta}. For information only: no request is admitted or refused by
        this.
      </p>
      <Table<CalculatedEpsilon>
        caption="Epsilon by other rules"
        hideCaption
        file="comparison"
        rows={computed}
        rowKey={(row) => row.calculator}
        columns={[
          { key: "calculator", title: "Rule", value: (row) => row.calculator, cell: (row) => row.calculator },
          {
            key: "epsilon",
            title: "Epsilon",
            right: true,
            value: (row) => row.epsilon,
            compare: (a, b) => compare(a.epsilon, b.epsilon),
            cell: (row) => (
              <Amount value={row.epsilon} digits={5} rounding={row.is_lower_bound ? "down" : "up"} />
            ),
          },
          {
            key: "bound",
            title: "Bound",
            value: (row) => (row.is_lower_bound ? "lower" : "upper"),
            cell: (row) => (row.is_lower_bound ? "lower" : "upper"),
          },
          {
            key: "valid",
            title: "Valid for requests",
            value: (row) => (row.adaptive ? "adaptive" : "fixed schedule"),
            cell: (row) => (row.adaptive ? "that depended on earlier answers" : "that were fixed beforehand"),
          },
          { key: "remark", title: "Remark", value: (row) => row.remark, cell: (row) => row.remark },
        ]}
      />
      {others.length > 0 && (
        <details>
          <summary class="small">{counted(others.length, "rule")} cannot count these charges</summary>
          <dl class="facts">
            {others.map((row) => (
              <div key={row.calculator}>
                <dt>{row.calculator}</dt>
                <dd class="small">{row.remark}</dd>
              </div>
            ))}
          </dl>
        </details>
      )}
    </>
  );
}

function Loaded({ dataset }: { dataset: string }) {
  const { data, error, reload } = useCall(
    "BudgetService/GetBudget",
    { dataset, with_comparison: true },
    { poll: false },
  );
  if (error && !data) return <ErrorNotice error={error} what="The comparison" onRetry={reload} />;
  if (!data) return <SkeletonLines lines={6} />;
  return data.comparison ? <Calculated comparison={data.comparison} /> : <p>There is nothing to compare.</p>;
}

export function Comparison({ dataset }: { dataset: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Card title="By other rules">
      {isOpen ? (
        <Loaded dataset={dataset} />
      ) : (
        <>
          <p class="quiet">
            What the charges so far amount to when they are counted by other rules of composition.
          </p>
          <div>
            <Button onClick={() => setOpen(true)}>Compare</Button>
          </div>
        </>
      )}
    </Card>
  );
}
