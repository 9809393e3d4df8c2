// Proposals and requests that nobody can decide any more.
import type { LimitProposal } from "../../api/types.ts";
import { Link } from "../../components/Link.tsx";
import { Table } from "../../components/Table.tsx";
import { Amount, Time } from "../../components/Values.tsx";
import { compare } from "../../decimal.ts";
import { to } from "../../router.ts";
import { PROPOSAL_STATES, shortAccount } from "../../words.ts";

interface Row {
  dataset: string;
  proposal: LimitProposal;
}

// "epsilon 2 to 3": the part of the promise that changes.
function changes({ proposal }: Row): string {
  const { old_promise: before, new_promise: after } = proposal;
  if (!before || !after) return "";
  return before.epsilon === after.epsilon
    ? `delta ${before.delta} to ${after.delta}`
    : `epsilon ${before.epsilon} to ${after.epsilon}`;
}

function outcome({ proposal }: Row): string {
  const by = proposal.approved_by || proposal.ended_by;
  return `${PROPOSAL_STATES[proposal.state]}${by ? ` by ${by}` : ""}`;
}

export function PastTable({ rows }: { rows: Row[] }) {
  return (
    <Table
      caption="Decided proposals and requests"
      hideCaption
      file="decisions"
      rows={rows}
      rowKey={({ proposal }) => proposal.id}
      rowClass={({ proposal }) => (proposal.state === "OUTDATED" ? "outdated" : undefined)}
      columns={[
        {
          key: "time",
          title: "Proposed",
          value: ({ proposal }) => proposal.propose_time ?? "",
          cell: ({ proposal }) => <Time value={proposal.propose_time} />,
        },
        {
          key: "account",
          title: "Account",
          value: ({ proposal }) => proposal.account,
          cell: ({ dataset, proposal }) => {
            const short = shortAccount(proposal.account, dataset);
            return (
              <>
                <Link href={to("/datasets/:dataset", { dataset })}>{dataset}</Link>
                {short !== "the dataset" && ` ${short}`}
              </>
            );
          },
        },
        {
          key: "change",
          title: "Change",
          value: changes,
          cell: (row) => <span class="nowrap">{changes(row)}</span>,
        },
        {
          key: "new_limit",
          title: "New limit",
          right: true,
          value: ({ proposal }) => proposal.new_limit,
          compare: (a, b) => compare(a.proposal.new_limit, b.proposal.new_limit),
          cell: ({ proposal }) => <Amount value={proposal.new_limit} unit={proposal.counter} />,
        },
        {
          key: "by",
          title: "By",
          value: ({ proposal }) => proposal.proposed_by,
          cell: ({ proposal }) => proposal.proposed_by,
        },
        {
          key: "outcome",
          title: "Outcome",
          value: outcome,
          cell: (row) => (
            <span class="wide-text">
              {outcome(row)}
              {row.proposal.state === "OUTDATED" && <span class="quiet">: the limit has changed since</span>}
              {row.proposal.end_reason && <span class="quiet">: {row.proposal.end_reason}</span>}
            </span>
          ),
        },
        {
          key: "reason",
          title: "Reason",
          value: ({ proposal }) => proposal.reason,
          cell: ({ proposal }) => <span class="wide-text">{proposal.reason}</span>,
        },
      ]}
    />
  );
}
