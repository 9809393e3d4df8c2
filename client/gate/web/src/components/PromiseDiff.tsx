// The promise of an account before and after a change of its limit, and what the change means.
import type { ComponentChildren } from "preact";
import type { Counter, LimitProposal } from "../api/types.ts";
import { add, compare, subtract } from "../decimal.ts";
import { differenceOf, factorText } from "../limit-change.ts";
import { CounterName, Gloss } from "./Gloss.tsx";
import { Amount } from "./Values.tsx";

function Difference({ before, after }: { before: string; after: string }) {
  const sign = compare(after, before);
  if (sign === 0) return <span class="quiet">as before</span>;
  const text = sign > 0 ? subtract(after, before) : subtract(before, after);
  return (
    <span class={sign > 0 ? "change more" : "change less"}>
      {sign > 0 ? "+" : "−"}
      <Amount value={text} />
    </span>
  );
}

interface Row {
  key: string;
  title: ComponentChildren;
  before: string;
  after: string;
}

function rowsOf(proposal: LimitProposal): Row[] {
  const { old_promise: before, new_promise: after } = proposal;
  const rows: Row[] = [];
  if (before && after) {
    rows.push({
      key: "epsilon",
      title: <Gloss term="epsilon" />,
      before: before.epsilon,
      after: after.epsilon,
    });
    if (before.delta || after.delta) {
      rows.push({
        key: "delta",
        title: <Gloss term="delta" />,
        before: before.delta || "0",
        after: after.delta || "0",
      });
    }
  }
  rows.push({
    key: "limit",
    title: (
      <>
        <Gloss term="limit" /> of <CounterName name={proposal.counter} />
      </>
    ),
    before: proposal.old_limit,
    after: proposal.new_limit,
  });
  return rows;
}

function Meaning({
  proposal,
  counter,
  protects,
}: {
  proposal: LimitProposal;
  counter: Counter | undefined;
  protects: string;
}) {
  const { amount, isRaise } = differenceOf(proposal);
  const { old_promise: before, new_promise: after } = proposal;
  const name = proposal.counter.replaceAll("_", " ");
  const left = counter && (isRaise ? add(counter.remaining, amount) : subtract(counter.remaining, amount));
  return (
    <ul class="meaning">
      <li>
        <Amount value={amount} unit={name} /> {isRaise ? "more" : "less"} may be spent
        {counter && left !== undefined && (
          <>
            : <Amount value={left} rounding="down" /> would be left instead of{" "}
            <Amount value={counter.remaining} rounding="down" />
          </>
        )}
        .
      </li>
      {before && after && before.epsilon !== after.epsilon && (
        <li>
          Anybody who is protected{protects && ` (${protects})`} changes the probability of any answers by a
          factor of at most <span class="number">{factorText(after.epsilon)}</span> instead of{" "}
          <span class="number">{factorText(before.epsilon)}</span>
          {after.delta && after.delta !== "0" && (
            <>
              , except with probability <Gloss term="delta" />
            </>
          )}
          .
        </li>
      )}
    </ul>
  );
}

interface Props {
  proposal: LimitProposal;
  // The counter as it is now, where the reader may see it.
  counter?: Counter | undefined;
  protects?: string;
}

export function PromiseDiff({ proposal, counter, protects = "" }: Props) {
  return (
    <div class="diff">
      <table>
        <caption class="visually-hidden">What the change would do to {proposal.account}</caption>
        <thead>
          <tr>
            <th scope="col">
              <span class="visually-hidden">Of the account</span>
            </th>
            <th scope="col" class="right">
              Now
            </th>
            <th scope="col" class="right">
              Then
            </th>
            <th scope="col" class="right">
              Change
            </th>
          </tr>
        </thead>
        <tbody>
          {rowsOf(proposal).map(({ key, title, before, after }) => (
            <tr key={key} class={before === after ? "same" : undefined}>
              <th scope="row">{title}</th>
              <td class="right">
                <Amount value={before} />
              </td>
              <td class="right">
                <strong>
                  <Amount value={after} />
                </strong>
              </td>
              <td class="right">
                <Difference before={before} after={after} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <Meaning proposal={proposal} counter={counter} protects={protects} />
    </div>
  );
}
