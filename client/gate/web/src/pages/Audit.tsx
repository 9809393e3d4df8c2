// What was asked, read or refused, and by whom.
import { useEffect, useState } from "preact/hooks";
import { call } from "../api/client.ts";
import type { AuditRecord } from "../api/types.ts";
import { useChange } from "../api/use-change.ts";
import { useLoad } from "../api/use-call.ts";
import { NO_SEARCH, queryOf, recordWords, requestOf, searchOf, type AuditSearch } from "../audit-query.ts";
import { Button } from "../components/Button.tsx";
import { ChangeNotice } from "../components/ChangeNotice.tsx";
import { Empty, SkeletonLines } from "../components/Empty.tsx";
import { SelectField, TextField } from "../components/Field.tsx";
import { ErrorNotice, Notice } from "../components/Notice.tsx";
import { Card, Page } from "../components/Page.tsx";
import { Table } from "../components/Table.tsx";
import { ShortId, Time } from "../components/Values.tsx";
import { counted } from "../numbers.ts";
import { IDENTITY_KINDS } from "../people.ts";
import { navigate, place, to } from "../router.ts";
import { hasRole, sessionState } from "../session.ts";
import { useStore } from "../store.ts";

const PAGE_SIZE = 50;
// A page of the server may be empty though others follow.
const MOST_EMPTY_PAGES = 10;

interface Found {
  records: AuditRecord[];
  next: string;
}

async function find(search: AuditSearch, token: string, signal?: AbortSignal): Promise<Found> {
  let found: Found = { records: [], next: token };
  for (let page = 0; page < MOST_EMPTY_PAGES; page += 1) {
    const request = { ...requestOf(search), page_size: PAGE_SIZE, page_token: found.next };
    const answer = await call("AuditService/ListAuditRecords", request, signal);
    found = { records: answer.records, next: answer.next_page_token };
    if (found.records.length > 0 || found.next === "") break;
  }
  return found;
}

function Filters({ search, onSearch }: { search: AuditSearch; onSearch: (search: AuditSearch) => void }) {
  const [form, setForm] = useState(search);
  useEffect(() => setForm(search), [JSON.stringify(search)]);
  const change = (part: Partial<AuditSearch>) => setForm((before) => ({ ...before, ...part }));
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        onSearch(form);
      }}
    >
      <div class="filters">
        <TextField label="Principal" value={form.principal} onInput={(principal) => change({ principal })} />
        <TextField label="Dataset" value={form.dataset} onInput={(dataset) => change({ dataset })} />
        <TextField
          label="Method"
          hint="such as BudgetService/GetBudget"
          value={form.method}
          onInput={(method) => change({ method })}
        />
        <SelectField
          label="Decision"
          value={form.decision}
          onChange={(decision) => change({ decision: decision as AuditSearch["decision"] })}
          options={[
            { value: "", text: "any" },
            { value: "ALLOWED", text: "allowed" },
            { value: "REFUSED", text: "refused" },
          ]}
        />
        <TextField
          label="Since"
          type="datetime-local"
          value={form.since}
          onInput={(since) => change({ since })}
        />
        <TextField
          label="Before"
          type="datetime-local"
          value={form.until}
          onInput={(until) => change({ until })}
        />
      </div>
      <div class="row">
        <Button type="submit" kind="primary">
          Search
        </Button>
        {Object.keys(queryOf(search)).length > 0 && (
          <Button onClick={() => onSearch(NO_SEARCH)}>Show all</Button>
        )}
      </div>
    </form>
  );
}

function DecisionMark({ record }: { record: AuditRecord }) {
  if (record.kind !== "CALL") return <span class="tag">{record.kind.toLowerCase()}</span>;
  return record.decision === "ALLOWED" ? (
    <span class="quiet">allowed</span>
  ) : (
    <span class="state warn">refused</span>
  );
}

function Records({ records }: { records: AuditRecord[] }) {
  return (
    <Table
      caption="Records of the audit"
      hideCaption
      file="audit"
      rows={records}
      rowKey={({ id }) => id}
      columns={[
        {
          key: "time",
          title: "When",
          value: ({ time }) => time ?? "",
          cell: ({ time }) => <Time value={time} seconds />,
        },
        {
          key: "principal",
          title: "Who",
          value: ({ principal }) => principal,
          cell: ({ principal }) => principal || <span class="quiet">nobody known</span>,
        },
        {
          key: "method",
          title: "Method",
          value: ({ method }) => method,
          cell: ({ method }) => <code>{method}</code>,
        },
        { key: "dataset", title: "Dataset", value: ({ dataset }) => dataset, cell: ({ dataset }) => dataset },
        {
          key: "decision",
          title: "Decision",
          value: ({ decision }) => decision.toLowerCase(),
          cell: (record) => <DecisionMark record={record} />,
        },
        {
          key: "outcome",
          title: "Outcome",
          value: recordWords,
          cell: (record) =>
            record.kind === "CALL" ? <Outcome text={recordWords(record)} /> : recordWords(record),
        },
        {
          key: "peer",
          title: "From",
          value: ({ peer }) => peer,
          cell: ({ peer }) => <span class="nowrap">{peer.replaceAll("_", " ")}</span>,
        },
        {
          key: "identity_kind",
          title: "By",
          value: ({ identity_kind: kind }) => IDENTITY_KINDS[kind],
          cell: ({ identity_kind: kind }) => <span class="nowrap">{IDENTITY_KINDS[kind]}</span>,
        },
        {
          key: "request_id",
          title: "Request",
          value: ({ request_id: id }) => id,
          cell: ({ request_id: id }) =>
            id ? (
              <span class="nowrap">
                <ShortId value={id} />
              </span>
            ) : (
              ""
            ),
        },
        {
          key: "server",
          title: "Server",
          value: ({ server }) => server,
          cell: ({ server }) => (
            <span class="nowrap">
              <ShortId value={server} length={12} />
            </span>
          ),
        },
      ]}
    />
  );
}

// "PERMISSION_DENIED" as "permission denied".
function Outcome({ text }: { text: string }) {
  return (
    <span class="nowrap" title={text}>
      {text.toLowerCase().replaceAll("_", " ")}
    </span>
  );
}

function Search({ search }: { search: AuditSearch }) {
  const key = `audit ${JSON.stringify(search)}`;
  const { data, error, loading, reload } = useLoad(key, (signal) => find(search, "", signal), {
    poll: false,
  });
  const [older, setOlder] = useState<Found & { after: Found }>();
  // Older records belong to the newest ones that they were loaded after.
  const more = older && older.after === data ? older : undefined;
  const next = more ? more.next : (data?.next ?? "");
  const {
    start,
    busy,
    error: olderError,
  } = useChange(async () => {
    if (!data) return;
    const found = await find(search, next);
    setOlder({ after: data, records: [...(more?.records ?? []), ...found.records], next: found.next });
  });
  const records = data && [...data.records, ...(more?.records ?? [])];
  return (
    <Card
      title="Records"
      aside={
        <Button kind="plain" busy={loading} onClick={reload}>
          Load again
        </Button>
      }
    >
      {error && <ErrorNotice error={error} what="The audit" onRetry={reload} />}
      {!records && !error && <SkeletonLines lines={8} />}
      {records?.length === 0 && (
        <Empty title="No record has all of these.">
          <p>
            Names and methods must be whole, such as BudgetService/GetBudget; leave a field empty to have any.
          </p>
        </Empty>
      )}
      {records && records.length > 0 && (
        <>
          <Records records={records} />
          <div class="row small quiet">
            <span>
              {counted(records.length, "record")}, newest first
              {next ? ". The file has those that are shown." : ": all there are."}
            </span>
            {next !== "" && (
              <Button busy={busy} onClick={() => void start()}>
                Load older ones
              </Button>
            )}
          </div>
          <ChangeNotice error={olderError} what="Older records were not loaded." />
        </>
      )}
    </Card>
  );
}

export function AuditPage() {
  const state = useStore(sessionState);
  const { query } = useStore(place);
  const search = searchOf(query);
  return (
    <Page
      title="Audit"
      lead="A record for each call: who asked for what, and whether it was allowed. None has an answer."
    >
      {hasRole(state, "AUDITOR") ? (
        <>
          <Card title="Search">
            <Filters search={search} onSearch={(wanted) => navigate(to("/audit", {}, queryOf(wanted)))} />
          </Card>
          <Search search={search} />
        </>
      ) : (
        <Notice title="Auditors of the server read the audit.">
          <p>
            An administrator makes one, and a second administrator approves it. Your own refused requests are
            under Refused.
          </p>
        </Notice>
      )}
    </Page>
  );
}
