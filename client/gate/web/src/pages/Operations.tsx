// Requests that take long: the reader's, and for operators everybody's that wait or run.
import { useState } from "preact/hooks";
import { call } from "../api/client.ts";
import type { AnyOperation, Operation } from "../api/types.ts";
import { useLoad } from "../api/use-call.ts";
import { Button } from "../components/Button.tsx";
import { Empty, SkeletonLines } from "../components/Empty.tsx";
import { Link } from "../components/Link.tsx";
import { ErrorNotice, Notice } from "../components/Notice.tsx";
import { Card, Page } from "../components/Page.tsx";
import { Table, type Column } from "../components/Table.tsx";
import { Time } from "../components/Values.tsx";
import { counted } from "../numbers.ts";
import { commandAgain, isUnderWay, progressText } from "../operations.ts";
import { to } from "../router.ts";
import { hasRole, sessionState } from "../session.ts";
import { useStore } from "../store.ts";
import { OPERATION_STATES } from "../words.ts";
import { EndDialog } from "./operations/EndDialog.tsx";
import { Progress, StateMark } from "./operations/Progress.tsx";
import { useFastPoll } from "./operations/use-fast-poll.ts";

const OWN = 200;
const MOST_PAGES = 10;

async function loadOwn(signal: AbortSignal): Promise<Operation[]> {
  return (await call("OperationService/ListOperations", { page_size: OWN }, signal)).operations;
}

async function loadAll(signal: AbortSignal): Promise<AnyOperation[]> {
  const all: AnyOperation[] = [];
  let token = "";
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const answer = await call(
      "OperationService/ListAllOperations",
      { page_size: 1000, page_token: token },
      signal,
    );
    all.push(...answer.operations);
    token = answer.next_page_token;
    if (token === "") break;
  }
  return all;
}

interface Ending {
  operation: Operation;
  principal?: string;
}

function Outcome({ operation }: { operation: Operation }) {
  if (isUnderWay(operation)) return <Progress operation={operation} />;
  if (operation.release_id)
    return <Link href={to("/releases/:release", { release: operation.release_id })}>Show the release</Link>;
  if (operation.state === "FAILED") return <span class="wide-text">{operation.error}</span>;
  if (operation.state === "INTERRUPTED") {
    return (
      <div class="stack-s">
        <span class="wide-text">
          The server stopped before it had finished. Send the same request again with the id that it had: it
          costs nothing more.
        </span>
        <code class="command">{commandAgain(operation)}</code>
      </div>
    );
  }
  return null;
}

function columnsOf<Row>(of: (row: Row) => Operation): Column<Row>[] {
  return [
    {
      key: "dataset",
      title: "Dataset",
      value: (row) => of(row).dataset,
      cell: (row) => (
        <Link href={to("/datasets/:dataset", { dataset: of(row).dataset })}>{of(row).dataset}</Link>
      ),
    },
    { key: "kind", title: "Kind", value: (row) => of(row).kind, cell: (row) => of(row).kind },
    {
      key: "state",
      title: "State",
      value: (row) => OPERATION_STATES[of(row).state],
      cell: (row) => <StateMark operation={of(row)} />,
    },
    {
      key: "progress",
      title: "Progress",
      value: (row) => progressText(of(row)),
      sortable: false,
      cell: (row) => <Outcome operation={of(row)} />,
    },
    {
      key: "create_time",
      title: "Asked",
      value: (row) => of(row).create_time ?? "",
      cell: (row) => <Time value={of(row).create_time} relative />,
    },
  ];
}

function OwnTable({ operations, onEnd }: { operations: Operation[]; onEnd: (ending: Ending) => void }) {
  return (
    <Table<Operation>
      caption="Your operations"
      hideCaption
      stacks
      file="operations"
      rows={operations}
      rowKey={(operation) => operation.id}
      columns={[
        ...columnsOf<Operation>((operation) => operation),
        {
          key: "summary",
          title: "What",
          value: (operation) => operation.summary,
          cell: (operation) => <span class="wide-text">{operation.summary}</span>,
        },
        {
          key: "actions",
          title: "Action",
          right: true,
          cell: (operation) =>
            isUnderWay(operation) && (
              <Button
                kind="plain"
                label={`Cancel the ${operation.kind} on ${operation.dataset}`}
                onClick={() => onEnd({ operation })}
              >
                Cancel…
              </Button>
            ),
        },
      ]}
    />
  );
}

function EverybodysTable({
  operations,
  onEnd,
}: {
  operations: AnyOperation[];
  onEnd: (ending: Ending) => void;
}) {
  const rows = operations.flatMap(({ principal, operation }) =>
    operation ? [{ principal, operation }] : [],
  );
  return (
    <Table
      caption="Everybody's operations"
      hideCaption
      stacks
      rows={rows}
      rowKey={({ operation }) => operation.id}
      columns={[
        {
          key: "principal",
          title: "Who",
          value: ({ principal }) => principal,
          cell: ({ principal }) => principal,
        },
        ...columnsOf<(typeof rows)[number]>(({ operation }) => operation),
        {
          key: "actions",
          title: "Action",
          right: true,
          cell: (row) =>
            isUnderWay(row.operation) && (
              <Button
                kind="plain"
                label={`Stop the ${row.operation.kind} of ${row.principal}`}
                onClick={() => onEnd(row)}
              >
                Stop…
              </Button>
            ),
        },
      ]}
      empty={<p class="quiet">Nothing waits or runs on this server.</p>}
    />
  );
}

export function OperationsPage() {
  const state = useStore(sessionState);
  const own = useLoad("own operations", loadOwn);
  const isOperator = hasRole(state, "OPERATOR");
  const all = useLoad(isOperator ? "all operations" : undefined, loadAll);
  const [ending, setEnding] = useState<Ending>();
  const [done, setDone] = useState("");
  const running = own.data?.filter(isUnderWay).length ?? 0;
  useFastPoll(running > 0, own.reload);
  useFastPoll((all.data?.length ?? 0) > 0, all.reload);
  const begin = (next: Ending) => {
    setDone("");
    setEnding(next);
  };
  return (
    <Page
      title="Operations"
      lead="Requests that take long, such as syntheses. They go on when you close this page."
      aside={
        running > 0 && (
          <span class="tag">{counted(running, "of yours is under way", "of yours are under way")}</span>
        )
      }
    >
      <div class="said" aria-live="polite">
        {done && <Notice kind="good" title={done} />}
      </div>
      <Card title="Yours">
        {own.error && (
          <ErrorNotice error={own.error} what="The list of your operations" onRetry={own.reload} />
        )}
        {!own.data && !own.error && <SkeletonLines lines={4} />}
        {own.data?.length === 0 && (
          <Empty title="You have started none." command="curator synth run DATASET --help">
            <p>
              Syntheses and large questions are listed here while they wait or run, and when they have ended.
            </p>
          </Empty>
        )}
        {own.data && own.data.length > 0 && <OwnTable operations={own.data} onEnd={begin} />}
        {own.data && own.data.length >= OWN && (
          <p class="small quiet">
            The newest {OWN}; <code>curator operation list</code> has all.
          </p>
        )}
      </Card>
      {isOperator && (
        <Card title="Everybody's, waiting or running">
          {all.error && (
            <ErrorNotice error={all.error} what="The list of all operations" onRetry={all.reload} />
          )}
          {!all.data && !all.error && <SkeletonLines lines={2} />}
          {all.data && <EverybodysTable operations={all.data} onEnd={begin} />}
        </Card>
      )}
      {ending && (
        <EndDialog
          operation={ending.operation}
          principal={ending.principal}
          onClose={() => setEnding(undefined)}
          onDone={(what) => {
            setEnding(undefined);
            setDone(what);
            own.reload();
            all.reload();
          }}
        />
      )}
    </Page>
  );
}
