// The dialogs that decide: approve, reject, withdraw, publish. Each request has an id of its own, so that a
// second click and a repetition after a lost connection do nothing twice.
import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { LimitProposal } from "../../api/types.ts";
import { useCall } from "../../api/use-call.ts";
import { useChange } from "../../api/use-change.ts";
import { Button } from "../../components/Button.tsx";
import { ChangeNotice } from "../../components/ChangeNotice.tsx";
import { Dialog } from "../../components/Dialog.tsx";
import { PromiseDiff } from "../../components/PromiseDiff.tsx";
import { TextArea } from "../../components/TextArea.tsx";
import { differenceOf } from "../../limit-change.ts";
import { newRequestId } from "../../pending.ts";
import { to } from "../../router.ts";
import { shortAccount } from "../../words.ts";

export interface DecideProps {
  dataset: string;
  proposal: LimitProposal;
  onClose: () => void;
  // With what was done, as a sentence.
  onDone: (what: string) => void;
}

function accountWords(dataset: string, { account }: LimitProposal): string {
  const short = shortAccount(account, dataset);
  return short === "the dataset" ? dataset : `${short} on ${dataset}`;
}

function verbOf(proposal: LimitProposal): string {
  return differenceOf(proposal).isRaise ? "Raise" : "Lower";
}

export function ApproveDialog({ dataset, proposal, onClose, onDone }: DecideProps) {
  const [requestId] = useState(newRequestId);
  const { data: budget } = useCall("BudgetService/GetBudget", { dataset }, { live: dataset });
  const counter = budget?.accounts
    .find(({ name }) => name === proposal.account)
    ?.counters.find(({ name }) => name === proposal.counter);
  const { start, busy, error } = useChange(async () => {
    await call("BudgetService/ApproveLimitChange", {
      dataset,
      proposal_id: proposal.id,
      request_id: requestId,
    });
    onDone(`You approved it: the limit of ${accountWords(dataset, proposal)} has changed.`);
  });
  return (
    <Dialog
      title={`${verbOf(proposal)} the limit of ${accountWords(dataset, proposal)}?`}
      onClose={onClose}
      foot={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" busy={busy} onClick={() => void start()}>
            Approve
          </Button>
        </>
      }
    >
      <PromiseDiff proposal={proposal} counter={counter} protects={budget?.protects ?? ""} />
      <blockquote class="reason">{proposal.reason}</blockquote>
      <p class="small quiet">
        Proposed by {proposal.proposed_by}. It takes effect at once. What is spent under a raised limit cannot
        be taken back, and the history names you as who approved it.
      </p>
      <ChangeNotice
        error={error}
        what="It was not approved."
        back={to("/inbox", {}, { decide: proposal.id })}
      />
    </Dialog>
  );
}

export function RejectDialog({ dataset, proposal, onClose, onDone }: DecideProps) {
  const [requestId] = useState(newRequestId);
  const [reason, setReason] = useState("");
  const { start, busy, error } = useChange(async () => {
    await call("BudgetService/RejectLimitChange", {
      dataset,
      proposal_id: proposal.id,
      request_id: requestId,
      reason: reason.trim(),
    });
    onDone(`You rejected what ${proposal.proposed_by} ${proposal.is_request ? "asked for" : "proposed"}.`);
  });
  return (
    <Dialog
      title={proposal.is_request ? "Reject the request" : "Reject the proposal"}
      onClose={onClose}
      foot={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="danger" busy={busy} disabled={reason.trim() === ""} onClick={() => void start()}>
            Reject
          </Button>
        </>
      }
    >
      <p>
        The limit of {accountWords(dataset, proposal)} stays as it is. {proposal.proposed_by} can read your
        reason.
      </p>
      <TextArea label="Reason" hint="The history keeps it for ever." value={reason} onInput={setReason} />
      <ChangeNotice error={error} what="It was not rejected." />
    </Dialog>
  );
}

export function WithdrawDialog({ dataset, proposal, onClose, onDone }: DecideProps) {
  const [requestId] = useState(newRequestId);
  const what = proposal.is_request ? "request" : "proposal";
  const { start, busy, error } = useChange(async () => {
    await call("BudgetService/WithdrawLimitChange", {
      dataset,
      proposal_id: proposal.id,
      request_id: requestId,
    });
    onDone(`You withdrew your ${what}.`);
  });
  return (
    <Dialog
      title={`Withdraw your ${what}?`}
      onClose={onClose}
      foot={
        <>
          <Button onClick={onClose}>Keep it</Button>
          <Button kind="danger" busy={busy} onClick={() => void start()}>
            Withdraw
          </Button>
        </>
      }
    >
      <p>Nobody can decide it afterwards. The limit of {accountWords(dataset, proposal)} stays as it is.</p>
      <ChangeNotice error={error} what="It was not withdrawn." />
    </Dialog>
  );
}

export function PublishDialog({ dataset, onClose, onDone }: Omit<DecideProps, "proposal">) {
  const [requestId] = useState(newRequestId);
  const { start, busy, error } = useChange(async () => {
    await call("DatasetService/PublishDataset", { dataset, request_id: requestId });
    onDone(`You published ${dataset}.`);
  });
  return (
    <Dialog
      title={`Publish ${dataset} without any guarantee?`}
      onClose={onClose}
      foot={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="danger" busy={busy} onClick={() => void start()}>
            Publish, for good
          </Button>
        </>
      }
    >
      <p>
        Its owner declared it public: exact answers about every record, nothing charged, nobody protected.
        This cannot be undone. Publish it only when you know where the records come from, and that they are
        public already.
      </p>
      <ChangeNotice error={error} what="It was not published." />
    </Dialog>
  );
}
