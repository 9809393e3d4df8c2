// The history of a dataset: newest first, and each new entry as it is made.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { call } from "../api/client.ts";
import { asApiError, type ApiError } from "../api/error.ts";
import { onLive, watchDataset } from "../api/events.ts";
import type { LedgerEntry } from "../api/types.ts";
import { useVerification, forgetVerification } from "../api/verification.ts";
import { hexOfBase64 } from "../bytes.ts";
import { Button } from "../components/Button.tsx";
import { DatasetCrumb, DatasetTabs } from "../components/DatasetTabs.tsx";
import { Empty, SkeletonLines } from "../components/Empty.tsx";
import { SelectField, TextField } from "../components/Field.tsx";
import { Gloss } from "../components/Gloss.tsx";
import { Icon } from "../components/icons.tsx";
import { Link as PageLink } from "../components/Link.tsx";
import { ErrorNotice, Notice } from "../components/Notice.tsx";
import { Card, Page } from "../components/Page.tsx";
import { Table } from "../components/Table.tsx";
import { Name, ShortId, Time } from "../components/Values.tsx";
import { VerificationMark } from "../components/VerificationMark.tsx";
import { linkState, merged } from "../history.ts";
import { grouped } from "../numbers.ts";
import { to } from "../router.ts";
import type { PageProps } from "../routes.tsx";
import { kindWords } from "../words.ts";
import { ReceiptCheck } from "./history/ReceiptCheck.tsx";

const PAGE = 50;
const MOST_ENTRIES = 1000;
const RETRY_MS = 3000;
const REFUSED_RETRY_MS = 30000;

interface History {
  entries: LedgerEntry[];
  // Whether entries before the first one may be there.
  hasEarlier: boolean;
  isLoaded: boolean;
  isLoading: boolean;
  error: ApiError | undefined;
  ended: string;
  // Of entries that came while the page was open.
  arrived: Set<string>;
}

const NOTHING: History = {
  entries: [],
  hasEarlier: false,
  isLoaded: false,
  isLoading: true,
  error: undefined,
  ended: "",
  arrived: new Set(),
};

function useHistory(dataset: string): { history: History; loadEarlier: () => void; reload: () => void } {
  const [history, setHistory] = useState(NOTHING);
  const newest = useRef(0n);
  const update = (part: (before: History) => Partial<History>) =>
    setHistory((before) => ({ ...before, ...part(before) }));

  const take = (messages: LedgerEntry[], isArrival: boolean) => {
    for (const { sequence } of messages)
      if (BigInt(sequence) > newest.current) newest.current = BigInt(sequence);
    update((before) => {
      const all = merged(before.entries, messages);
      const entries = all.slice(0, MOST_ENTRIES);
      const isShown = new Set(entries.map((entry) => entry.sequence));
      const arrivals = isArrival ? messages.map((entry) => entry.sequence) : [];
      return {
        entries,
        hasEarlier: before.hasEarlier || all.length > entries.length,
        arrived: new Set([...before.arrived, ...arrivals].filter((sequence) => isShown.has(sequence))),
      };
    });
  };

  const load = async (before?: LedgerEntry) => {
    update(() => ({ isLoading: true }));
    try {
      const { messages } = await call("BudgetService/ListLedgerEntries", {
        dataset,
        newest: PAGE,
        ...(before ? { before_sequence: before.sequence } : {}),
      });
      take(messages, false);
      update((had) => ({
        isLoaded: true,
        isLoading: false,
        error: undefined,
        hasEarlier: before || !had.isLoaded ? messages.length === PAGE : had.hasEarlier,
      }));
    } catch (thrown) {
      const error = asApiError(thrown);
      // What the reader may no longer see is not shown any longer.
      update(() => ({
        error,
        isLoading: false,
        ...(error.isHidden ? { entries: [], isLoaded: false, hasEarlier: false } : {}),
      }));
    }
  };

  useEffect(() => {
    void load();
    const leaveDataset = watchDataset(dataset, {
      entry: (entry) => take([entry], true),
      // What came between the page's first load and the beginning of the watch.
      ready: (position) => {
        update(() => ({ ended: "" }));
        if (position > newest.current) void load();
      },
      ended: (message) => update(() => ({ ended: message })),
    });
    const leaveLive = onLive(() => void load());
    return () => {
      leaveDataset();
      leaveLive();
    };
  }, [dataset]);

  useEffect(() => {
    if (!history.error) return undefined;
    const timer = setTimeout(() => void load(), history.error.isPassing ? RETRY_MS : REFUSED_RETRY_MS);
    return () => clearTimeout(timer);
  }, [history.error]);

  return {
    history,
    reload: () => void load(),
    loadEarlier: () => void load(history.entries[history.entries.length - 1]),
  };
}

function Link({ entries, index }: { entries: LedgerEntry[]; index: number }) {
  const state = linkState(entries, index);
  const entry = entries[index] as LedgerEntry;
  const title = {
    follows: "continues the entry before it",
    broken: "does not continue the entry before it",
    unseen: "the entry before it is not shown here",
  }[state];
  return (
    <span class="hash">
      <ShortId value={hexOfBase64(entry.hash)} length={10} />
      {state !== "unseen" && (
        <span class={`state ${state === "follows" ? "good" : "bad"}`} title={title}>
          <Icon name={state === "follows" ? "check" : "cross"} />
          <span class="visually-hidden">{title}</span>
        </span>
      )}
    </span>
  );
}

// What was released is one step away.
function Summary({ text }: { text: string }) {
  const id = /^release ([0-9a-f-]{36})$/.exec(text)?.[1];
  if (id === undefined) return <>{text}</>;
  return (
    <>
      release <PageLink href={to("/releases/:release", { release: id })}>{id}</PageLink>
    </>
  );
}

interface EntryRow {
  entry: LedgerEntry;
  index: number;
}

function Entries({
  dataset,
  history,
  loadEarlier,
}: {
  dataset: string;
  history: History;
  loadEarlier: () => void;
}) {
  const { entries, arrived } = history;
  const [kind, setKind] = useState("");
  const [actor, setActor] = useState("");
  const kinds = useMemo(() => [...new Set(entries.map((entry) => entry.kind))].sort(), [entries]);
  const shown = entries
    .map((entry, index): EntryRow => ({ entry, index }))
    .filter(({ entry }) => kind === "" || entry.kind === kind)
    .filter(
      ({ entry }) =>
        actor === "" || `${entry.actor_name} ${entry.actor}`.toLowerCase().includes(actor.toLowerCase()),
    );
  return (
    <>
      <div class="filters">
        <SelectField
          label="Kind"
          value={kind}
          onChange={setKind}
          options={[
            { value: "", text: "all kinds" },
            ...kinds.map((value) => ({ value, text: kindWords(value) })),
          ]}
        />
        <TextField
          label="By (name or pseudonym)"
          type="search"
          value={actor}
          onInput={setActor}
        />
      </div>
      <Table<EntryRow>
        caption={`${shown.length} of ${entries.length} entries that are loaded, newest first`}
        file={`history-${dataset}`}
        rows={shown}
        rowKey={({ entry }) => entry.sequence}
        rowClass={({ entry }) => (arrived.has(entry.sequence) ? "new" : undefined)}
        empty={
          <Empty title="No entry fits these filters.">
            <p>Choose other ones, or load earlier entries.</p>
          </Empty>
        }
        columns={[
          {
            key: "sequence",
            title: "Entry",
            right: true,
            value: ({ entry }) => Number(entry.sequence),
            cell: ({ entry }) => entry.sequence,
          },
          {
            key: "time",
            title: "When",
            value: ({ entry }) => entry.time,
            cell: ({ entry }) => <Time value={entry.time} seconds />,
          },
          {
            key: "kind",
            title: "What",
            value: ({ entry }) => entry.kind,
            cell: ({ entry }) => <span class="nowrap">{kindWords(entry.kind)}</span>,
          },
          {
            key: "actor_name",
            title: "By",
            value: ({ entry }) => entry.actor_name,
            cell: ({ entry }) => (
              <Name value={entry.actor_name} title={`${entry.actor_name} (${entry.actor})`} />
            ),
          },
          {
            key: "summary",
            title: "Summary",
            value: ({ entry }) => entry.summary,
            cell: ({ entry }) => (
              <span class="summary">
                <Summary text={entry.summary} />
              </span>
            ),
          },
          {
            key: "charge_id",
            title: "Charge",
            value: ({ entry }) => entry.charge_id,
            cell: ({ entry }) => (entry.charge_id === "" ? "" : <ShortId value={entry.charge_id} />),
          },
          {
            key: "hash",
            title: "Hash",
            sortable: false,
            value: ({ entry }) => hexOfBase64(entry.hash),
            cell: ({ index }) => <Link entries={entries} index={index} />,
          },
        ]}
      />
      {history.hasEarlier && entries.length >= MOST_ENTRIES && (
        <p class="small quiet">
          These are the newest {grouped(MOST_ENTRIES)}; <code>curator ledger show {dataset}</code> has all.
        </p>
      )}
      {history.hasEarlier && entries.length < MOST_ENTRIES && (
        <div>
          <Button busy={history.isLoading} onClick={loadEarlier}>
            Load earlier entries
          </Button>
        </div>
      )}
    </>
  );
}

function Verified({ dataset }: { dataset: string }) {
  const verification = useVerification(dataset);
  const again = () => {
    forgetVerification(dataset);
    verification.reload();
  };
  const { data } = verification;
  return (
    <Card
      title="Verification"
      aside={
        <Button kind="plain" busy={verification.loading} onClick={again}>
          Verify again
        </Button>
      }
    >
      <VerificationMark verification={verification} />
      {data && (
        <dl class="facts">
          <div>
            <dt>
              <Gloss term="anchor">Anchored</Gloss> up to entry
            </dt>
            <dd>{data.anchored_sequence}</dd>
          </div>
          <div>
            <dt>Head of the chain</dt>
            <dd>
              <ShortId value={hexOfBase64(data.head_hash)} length={16} />
            </dd>
          </div>
          <div>
            <dt>Ledger</dt>
            <dd>
              <ShortId value={data.ledger_id} length={13} />
            </dd>
          </div>
        </dl>
      )}
      <p class="small quiet">
        The server recomputed the chain and all balances from the entries alone. It does so daily, and for the
        owner on demand. That is its own word: a <Gloss term="receipt" /> and{" "}
        <code>curator ledger verify {dataset} --receipts FILE --key HEX</code> check it from outside.
      </p>
    </Card>
  );
}

export function HistoryPage({ params }: PageProps) {
  const dataset = params["dataset"] ?? "";
  const { history, loadEarlier, reload } = useHistory(dataset);
  return (
    <Page
      title={dataset}
      windowTitle={`History of ${dataset}`}
      crumb={<DatasetCrumb />}
      tabs={<DatasetTabs dataset={dataset} />}
      aside={
        <a class="button plain" href="#receipts">
          Check receipts
        </a>
      }
    >
      {history.error && <ErrorNotice error={history.error} what="The history" onRetry={reload} />}
      {history.ended !== "" && (
        <Notice kind="warn" title="You no longer get new entries of this history.">
          <p>{history.ended}</p>
        </Notice>
      )}
      <Card title="History">
        {!history.isLoaded && !history.error && <SkeletonLines lines={24} />}
        {history.isLoaded && history.entries.length === 0 && (
          <Empty title="There is no entry that you may see.">
            <p>What you ask of this dataset will be here.</p>
          </Empty>
        )}
        {history.entries.length > 0 && (
          <Entries dataset={dataset} history={history} loadEarlier={loadEarlier} />
        )}
      </Card>
      {(history.isLoaded || history.error) && (
        <div class="columns" id="receipts">
          <Verified dataset={dataset} />
          <ReceiptCheck dataset={dataset} />
        </div>
      )}
    </Page>
  );
}
