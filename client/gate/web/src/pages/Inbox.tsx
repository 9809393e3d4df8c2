// What waits for the reader, what of theirs waits for others, and what was decided.
import { useState } from "preact/hooks";
import { call } from "../api/client.ts";
import { useAllDatasets } from "../api/datasets.ts";
import { useInbox } from "../api/inbox.ts";
import { useOfAll } from "../api/of-all.ts";
import { usePrincipals } from "../api/principals.ts";
import type { Dataset, InboxItem, LimitProposal } from "../api/types.ts";
import { Button } from "../components/Button.tsx";
import { Empty, SkeletonLines } from "../components/Empty.tsx";
import { ErrorNotice, Notice } from "../components/Notice.tsx";
import { Card, Page } from "../components/Page.tsx";
import { pendingParts } from "../people.ts";
import { navigate, place } from "../router.ts";
import { sessionState } from "../session.ts";
import { useStore } from "../store.ts";
import { mayPropose, mayRequest } from "../who-may.ts";
import { ApproveDialog, PublishDialog, RejectDialog, WithdrawDialog } from "./inbox/decide.tsx";
import { LimitDialog, type LimitStart } from "./inbox/LimitDialog.tsx";
import { PastTable } from "./inbox/PastTable.tsx";
import { PendingPeople } from "./inbox/PendingPeople.tsx";
import { ProposalItem, PublicationItem } from "./inbox/ProposalItem.tsx";

const SHOWN_OF_EACH = 50;

type Open =
  | { what: "approve" | "reject" | "withdraw"; dataset: string; proposal: LimitProposal }
  | { what: "publish"; dataset: string }
  | { what: "propose"; start: LimitStart }
  | { what: "request"; start: LimitStart };

interface OfDataset {
  dataset: string;
  proposal: LimitProposal;
}

function isOpenState({ state }: LimitProposal): boolean {
  return state === "PENDING" || state === "REQUESTED";
}

function newestFirst(left: OfDataset, right: OfDataset): number {
  return (right.proposal.propose_time ?? "").localeCompare(left.proposal.propose_time ?? "");
}

function Dialogs({
  open,
  owned,
  used,
  onClose,
  onDone,
}: {
  open: Open | undefined;
  owned: Dataset[];
  used: Dataset[];
  onClose: () => void;
  onDone: (what: string) => void;
}) {
  if (!open) return null;
  if (open.what === "publish")
    return <PublishDialog dataset={open.dataset} onClose={onClose} onDone={onDone} />;
  if (open.what === "propose" || open.what === "request") {
    const isProposal = open.what === "propose";
    return (
      <LimitDialog
        kind={open.what}
        datasets={isProposal ? owned : used}
        start={open.start}
        onClose={onClose}
        onDone={() =>
          onDone(isProposal ? "Proposed: it waits for an approver." : "Sent: it waits for the owner.")
        }
      />
    );
  }
  const Chosen = { approve: ApproveDialog, reject: RejectDialog, withdraw: WithdrawDialog }[open.what];
  return <Chosen dataset={open.dataset} proposal={open.proposal} onClose={onClose} onDone={onDone} />;
}

function WaitingItems({ items, onOpen }: { items: InboxItem[]; onOpen: (open: Open) => void }) {
  return (
    <ul class="decisions" aria-label="Limits and publications">
      {items.map(({ dataset, proposal }) =>
        proposal ? (
          <ProposalItem key={proposal.id} dataset={dataset} proposal={proposal} waitsForReader>
            {proposal.is_request ? (
              <Button
                kind="primary"
                onClick={() => onOpen({ what: "propose", start: { dataset, takesUp: proposal } })}
              >
                Propose it…
              </Button>
            ) : (
              <Button kind="primary" onClick={() => onOpen({ what: "approve", dataset, proposal })}>
                Approve…
              </Button>
            )}
            <Button onClick={() => onOpen({ what: "reject", dataset, proposal })}>Reject…</Button>
          </ProposalItem>
        ) : (
          <PublicationItem key={`publish ${dataset}`} dataset={dataset}>
            <Button kind="primary" onClick={() => onOpen({ what: "publish", dataset })}>
              Publish…
            </Button>
          </PublicationItem>
        ),
      )}
    </ul>
  );
}

// What the address asks to decide, once: after a fresh login the reader is back at the same question.
function asked(items: InboxItem[] | undefined, id: string | null): Open | undefined {
  const item = items?.find(({ proposal }) => proposal && !proposal.is_request && proposal.id === id);
  return item?.proposal ? { what: "approve", dataset: item.dataset, proposal: item.proposal } : undefined;
}

export function InboxPage() {
  const state = useStore(sessionState);
  const { query } = useStore(place);
  const me = state.session?.principal ?? "";
  const inbox = useInbox();
  const { data: all } = useAllDatasets();
  const datasets = all?.datasets ?? [];
  const names = all?.datasets.filter((dataset) => !dataset.public).map(({ name }) => name);
  const proposals = useOfAll(
    "proposals",
    names,
    async (dataset, signal) =>
      (await call("BudgetService/ListLimitProposals", { dataset, page_size: SHOWN_OF_EACH }, signal))
        .proposals,
  );
  const people = usePrincipals();
  const parts = pendingParts(people.data ?? []);
  const ownParts = parts.filter(({ by }) => by === me);
  const [chosen, setOpen] = useState<Open>();
  const [done, setDone] = useState("");

  const open = chosen ?? asked(inbox.data, query.get("decide"));
  const close = () => {
    setOpen(undefined);
    if (query.has("decide")) navigate("/inbox", { replace: true });
  };
  const onDone = (what: string) => {
    close();
    setDone(what);
    inbox.reload();
    proposals.reload();
    people.reload();
  };
  const begin = (next: Open) => {
    setDone("");
    setOpen(next);
  };

  const known: OfDataset[] = [...(proposals.data ?? [])].flatMap(([dataset, list]) =>
    list.map((proposal) => ({ dataset, proposal })),
  );
  known.sort(newestFirst);
  const mine = known.filter(({ proposal }) => isOpenState(proposal) && proposal.proposed_by === me);
  const past = known.filter(({ proposal }) => !isOpenState(proposal));
  const owned = datasets.filter((dataset) => mayPropose(dataset, me));
  const used = datasets.filter((dataset) => mayRequest(dataset, state, inbox.data ?? []));

  return (
    <Page
      title="Inbox"
      lead="Decisions that wait for you on all datasets, and what of yours waits for others."
      aside={
        <>
          {used.length > 0 && (
            <Button onClick={() => begin({ what: "request", start: {} })}>Request a raise…</Button>
          )}
          {owned.length > 0 && (
            <Button onClick={() => begin({ what: "propose", start: {} })}>Propose a change…</Button>
          )}
        </>
      }
    >
      <div class="said" aria-live="polite">
        {done && <Notice kind="good" title={done} />}
      </div>
      {inbox.error && <ErrorNotice error={inbox.error} what="The inbox" onRetry={inbox.reload} />}
      <Card title="Waits for you">
        {!inbox.data && !inbox.error && <SkeletonLines lines={4} />}
        {inbox.data && inbox.data.length > 0 && <WaitingItems items={inbox.data} onOpen={begin} />}
        {people.error && (
          <ErrorNotice error={people.error} what="What waits among people" onRetry={people.reload} />
        )}
        <PendingPeople parts={parts.filter(({ by }) => by !== me)} onDone={onDone} />
        {inbox.data?.length === 0 && parts.every(({ by }) => by === me) && (
          <Empty title="Nothing waits for you.">
            <p>
              What owners propose comes here by itself when you may approve it, and what analysts ask for when
              you own the dataset.
            </p>
          </Empty>
        )}
      </Card>
      {(mine.length > 0 || ownParts.length > 0) && (
        <Card title="Yours, waiting for others">
          <PendingPeople isOwn parts={ownParts} onDone={onDone} />
          <ul class="decisions">
            {mine.map(({ dataset, proposal }) => (
              <ProposalItem key={proposal.id} dataset={dataset} proposal={proposal}>
                <Button onClick={() => begin({ what: "withdraw", dataset, proposal })}>Withdraw…</Button>
              </ProposalItem>
            ))}
          </ul>
        </Card>
      )}
      {proposals.error && (
        <ErrorNotice error={proposals.error} what="The list of proposals" onRetry={proposals.reload} />
      )}
      {past.length > 0 && (
        <Card title="Decided">
          <PastTable rows={past} />
        </Card>
      )}
      <Dialogs open={open} owned={owned} used={used} onClose={close} onDone={onDone} />
    </Page>
  );
}
