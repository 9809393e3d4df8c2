// One proposal, request or publication that waits.
import type { ComponentChildren } from "preact";
import type { LimitProposal } from "../../api/types.ts";
import { Link } from "../../components/Link.tsx";
import { PromiseDiff } from "../../components/PromiseDiff.tsx";
import { Time } from "../../components/Values.tsx";
import { differenceOf } from "../../limit-change.ts";
import { to } from "../../router.ts";
import { PROPOSAL_STATES, shortAccount } from "../../words.ts";

export function ProposalItem({
  dataset,
  proposal,
  waitsForReader = false,
  children,
}: {
  dataset: string;
  proposal: LimitProposal;
  waitsForReader?: boolean;
  children: ComponentChildren;
}) {
  const short = shortAccount(proposal.account, dataset);
  const verb = differenceOf(proposal).isRaise ? "Raise" : "Lower";
  return (
    <li class="decision" data-proposal={proposal.id}>
      <div class="decision-head">
        <h3>
          {verb} the limit of {short !== "the dataset" && `${short} on `}
          <Link href={to("/datasets/:dataset", { dataset })}>{dataset}</Link>
        </h3>
        <span class="tag">{waitsForReader ? "waits for you" : PROPOSAL_STATES[proposal.state]}</span>
      </div>
      <p class="small quiet">
        {proposal.is_request ? "Asked for" : "Proposed"} by <strong>{proposal.proposed_by}</strong>,{" "}
        <Time value={proposal.propose_time} relative />
      </p>
      <blockquote class="reason">{proposal.reason}</blockquote>
      <PromiseDiff proposal={proposal} />
      <div class="row">{children}</div>
    </li>
  );
}

export function PublicationItem({ dataset, children }: { dataset: string; children: ComponentChildren }) {
  return (
    <li class="decision">
      <div class="decision-head">
        <h3>
          Publish <Link href={to("/datasets/:dataset", { dataset })}>{dataset}</Link>
        </h3>
        <span class="tag">waits for an approver</span>
      </div>
      <p>Its owner declared it public. Until somebody publishes it, nobody can use it as a public dataset.</p>
      <div class="row">{children}</div>
    </li>
  );
}
