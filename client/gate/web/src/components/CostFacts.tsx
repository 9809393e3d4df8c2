// What an answer of a dataset cost, as lines of a list of facts.
import type { Cost } from "../api/types.ts";
import { sameCosts } from "../costs.ts";
import { percent } from "../decimal.ts";
import { shortAccount } from "../words.ts";
import { Amount } from "./Values.tsx";

export function CostFacts({ dataset, costs }: { dataset: string; costs: Cost[] }) {
  return (
    <>
      {sameCosts(costs).map(({ amount, counter, accounts, share }) => (
        <div key={`${counter} ${amount}`}>
          <dt>Cost</dt>
          <dd title={accounts.join(", ")}>
            <Amount value={amount} unit={counter} rounding="up" />
            {accounts.length === 1
              ? ` on ${shortAccount(accounts[0] ?? "", dataset)}`
              : ` on each of ${accounts.length} accounts`}
            {share > 0 && `, ${percent(share)} of ${accounts.length === 1 ? "its promise" : "a promise"}`}
          </dd>
        </div>
      ))}
    </>
  );
}
