// Charges that did not fit: what was asked, what was left, what would have fitted.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { call } from "../api/client.ts";
import { useAllDatasets } from "../api/datasets.ts";
import { useInbox } from "../api/inbox.ts";
import { useOfAll } from "../api/of-all.ts";
import type { Refusal } from "../api/types.ts";
import { Button } from "../components/Button.tsx";
import { Empty, SkeletonLines } from "../components/Empty.tsx";
import { SelectField } from "../components/Field.tsx";
import { CounterName } from "../components/Gloss.tsx";
import { Link } from "../components/Link.tsx";
import { ErrorNotice, Notice } from "../components/Notice.tsx";
import { Card, Page } from "../components/Page.tsx";
import { Table } from "../components/Table.tsx";
import { Amount, Time } from "../components/Values.tsx";
import { compare, shorten } from "../decimal.ts";
import {
  fittingOf,
  lackingOf,
  methodWords,
  refusalRows,
  type RefusalRow,
  type RefusedAccount,
} from "../refusals.ts";
import { navigate, place, to } from "../router.ts";
import { sessionState } from "../session.ts";
import { useStore } from "../store.ts";
import { mayPropose, mayRequest } from "../who-may.ts";
import { shortAccount } from "../words.ts";
import { LimitDialog, type LimitStart } from "./inbox/LimitDialog.tsx";

const OF_EACH = 100;
const OF_ONE = 1000;

async function load(dataset: string, size: number, signal: AbortSignal): Promise<Refusal[]> {
  return (await call("BudgetService/ListRefusals", { dataset, page_size: size }, signal)).refusals;
}

interface Actions {
  may: (dataset: string) => "propose" | "request" | undefined;
  onRaise: (row: RefusalRow) => void;
}

// Where another request of the same method can be put together, and the word of its link.
function againOf(method: string): { pattern: string; verb: string } | undefined {
  if (method.endsWith("/AnswerWorkload")) return { pattern: "/datasets/:dataset/ask", verb: "Ask" };
  if (method.endsWith("/CreateSynthesis"))
    return { pattern: "/datasets/:dataset/synthesize", verb: "Synthesize" };
  return undefined;
}

function Fitted({ row, may }: { row: RefusalRow; may: Actions["may"] }) {
  const fitting = fittingOf(row.refusal);
  if (!fitting) return <span class="quiet">nothing</span>;
  const { unit, amount } = fitting;
  const text = (
    <>
      up to <Amount value={amount} unit={unit} rounding="down" />
    </>
  );
  const again = againOf(row.refusal.method);
  if (!again || may(row.dataset) === undefined) return text;
  return (
    <Link href={to(again.pattern, { dataset: row.dataset }, { [unit]: amount })}>
      {again.verb} for {text}
    </Link>
  );
}

// A line for each account that was full.
function Lines({ refusal, line }: { refusal: Refusal; line: (account: RefusedAccount) => ComponentChildren }) {
  return (
    <ul class="lines">
      {refusal.accounts.map((account) => (
        <li key={`${account.account} ${account.counter}`}>{line(account)}</li>
      ))}
    </ul>
  );
}

function joined({ refusal }: RefusalRow, text: (account: RefusedAccount) => string): string {
  return refusal.accounts.map(text).join(" ");
}

function RefusalTable({ rows, may, onRaise }: { rows: RefusalRow[] } & Actions) {
  const amount = (key: "asked" | "remaining", title: string) => ({
    key,
    title,
    right: true,
    value: (row: RefusalRow) => joined(row, (account) => account[key]),
    compare: (a: RefusalRow, b: RefusalRow) => compare(a.account[key], b.account[key]),
    cell: (row: RefusalRow) => (
      <Lines
        refusal={row.refusal}
        line={(account) => <Amount value={account[key]} rounding={key === "remaining" ? "down" : "up"} />}
      />
    ),
  });
  return (
    <Table
      caption="Refused charges"
      hideCaption
      file="refused"
      stacks
      rows={rows}
      rowKey={({ dataset, refusal }) => `${dataset} ${refusal.time} ${refusal.request_id}`}
      columns={[
        {
          key: "time",
          title: "When",
          value: ({ refusal }) => refusal.time ?? "",
          cell: ({ refusal }) => <Time value={refusal.time} seconds />,
        },
        {
          key: "dataset",
          title: "Dataset",
          value: ({ dataset }) => dataset,
          cell: ({ dataset }) => <Link href={to("/datasets/:dataset", { dataset })}>{dataset}</Link>,
        },
        {
          key: "principal",
          title: "Who",
          value: ({ refusal }) => refusal.principal,
          cell: ({ refusal }) => refusal.principal,
        },
        {
          key: "method",
          title: "Asked for a",
          value: ({ refusal }) => refusal.method,
          cell: ({ refusal }) => (
            <span class="nowrap" title={refusal.method}>
              {methodWords(refusal.method)}
            </span>
          ),
        },
        {
          key: "account",
          title: "Full account",
          value: (row) => joined(row, ({ account }) => account),
          cell: ({ refusal, dataset }) => (
            <Lines
              refusal={refusal}
              line={({ account }) => (
                <span class="nowrap" title={account}>
                  {shortAccount(account, dataset)}
                </span>
              )}
            />
          ),
        },
        {
          key: "counter",
          title: "Counts",
          value: (row) => joined(row, ({ counter }) => counter),
          cell: ({ refusal }) => (
            <Lines refusal={refusal} line={({ counter }) => <CounterName name={counter} />} />
          ),
        },
        amount("asked", "Asked"),
        amount("remaining", "Was left"),
        {
          key: "would_have_fitted",
          title: "Would have fitted",
          value: ({ refusal }) => {
            const fitting = fittingOf(refusal);
            return fitting ? `${fitting.unit} ${fitting.amount}` : "";
          },
          cell: (row) => (
            <span class="nowrap">
              <Fitted row={row} may={may} />
            </span>
          ),
        },
        {
          key: "actions",
          title: "Action",
          right: true,
          cell: (row) => {
            const kind = may(row.dataset);
            if (!kind) return null;
            const verb = kind === "propose" ? "Propose a raise" : "Request a raise";
            return (
              <Button kind="plain" label={`${verb}: ${row.account.account}`} onClick={() => onRaise(row)}>
                {verb}…
              </Button>
            );
          },
        },
      ]}
    />
  );
}

// The history keeps the reason for ever, so it names nobody.
function startOf({ dataset, refusal, account }: RefusalRow): LimitStart {
  const what = methodWords(refusal.method);
  const counter = account.counter.replaceAll("_", " ");
  const left = shorten(account.remaining);
  return {
    dataset,
    account: account.account,
    reason: `A ${what} was refused: it asked for ${shorten(account.asked)} ${counter}, and ${left} was left.`,
    lacking: { counter: account.counter, amount: lackingOf(account) },
  };
}

export function RefusedPage() {
  const state = useStore(sessionState);
  const { query } = useStore(place);
  const me = state.session?.principal ?? "";
  const { data: all, error: listError, reload: reloadList } = useAllDatasets();
  const { data: inbox } = useInbox();
  const chosen = query.get("dataset") ?? "";
  const [raising, setRaising] = useState<RefusalRow>();
  const [done, setDone] = useState("");

  const datasets = (all?.datasets ?? []).filter((dataset) => !dataset.public);
  const names = all && (chosen === "" ? datasets.map(({ name }) => name) : [chosen]);
  const size = chosen === "" ? OF_EACH : OF_ONE;
  const { data, error, reload } = useOfAll(
    `refusals ${size}`,
    names,
    (dataset, signal) => load(dataset, size, signal),
    { poll: true },
  );
  const rows = data && refusalRows(data);
  const isCut = data !== undefined && [...data.values()].some((list) => list.length >= size);

  const may = (name: string) => {
    const dataset = datasets.find((candidate) => candidate.name === name);
    if (!dataset) return undefined;
    if (mayPropose(dataset, me)) return "propose" as const;
    return mayRequest(dataset, state, inbox ?? []) ? ("request" as const) : undefined;
  };
  const kind = raising && may(raising.dataset);
  const of = raising && datasets.filter(({ name }) => name === raising.dataset);

  return (
    <Page
      title="Refused"
      lead="Requests that did not fit into an account. Nothing was charged, and nothing was read for them."
    >
      <div class="said" aria-live="polite">
        {done && <Notice kind="good" title={done} />}
      </div>
      {listError && <ErrorNotice error={listError} what="The list of datasets" onRetry={reloadList} />}
      {error && <ErrorNotice error={error} what="The list of refused requests" onRetry={reload} />}
      <Card>
        {datasets.length > 1 && (
          <div class="filters">
            <SelectField
              label="Dataset"
              value={chosen}
              onChange={(dataset) =>
                navigate(to("/refused", {}, dataset ? { dataset } : {}), { replace: true })
              }
              options={[
                { value: "", text: "all" },
                ...datasets.map(({ name }) => ({ value: name, text: name })),
              ]}
            />
          </div>
        )}
        {!rows && !error && !listError && <SkeletonLines lines={5} />}
        {rows?.length === 0 && (
          <Empty title="No request was refused for want of budget.">
            <p>
              When one does not fit, it is listed here with what was left, and you can ask for a raise from
              there.
            </p>
          </Empty>
        )}
        {rows && rows.length > 0 && (
          <RefusalTable
            rows={rows}
            may={may}
            onRaise={(row) => {
              setDone("");
              setRaising(row);
            }}
          />
        )}
        {rows && rows.length > 0 && (
          <p class="small quiet">
            {isCut && `The newest ${size} of ${chosen === "" ? "each dataset" : chosen}. `}
            From the audit, which may lack some. What was left then need not be what is left now.
          </p>
        )}
      </Card>
      {raising && kind && of && (
        <LimitDialog
          kind={kind}
          datasets={of}
          start={startOf(raising)}
          onClose={() => setRaising(undefined)}
          onDone={() => {
            setRaising(undefined);
            setDone(
              kind === "propose"
                ? "Proposed: it waits for an approver, in the inbox."
                : "Sent: it waits for the owner, in the inbox.",
            );
          }}
        />
      )}
    </Page>
  );
}
