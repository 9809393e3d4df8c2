// The budget of one dataset: how it came to what is spent, by whom, and when it will be full.
import { useState } from "preact/hooks";
import type { Account, Budget, Dataset } from "../api/types.ts";
import { useCall } from "../api/use-call.ts";
import { useVerification } from "../api/verification.ts";
import { DatasetCrumb, DatasetTabs } from "../components/DatasetTabs.tsx";
import { SkeletonLines, Skeleton } from "../components/Empty.tsx";
import { CounterName, RuleName } from "../components/Gloss.tsx";
import { Link } from "../components/Link.tsx";
import { ErrorNotice, Notice } from "../components/Notice.tsx";
import { DataFacts } from "../components/DataFacts.tsx";
import { Card, Page } from "../components/Page.tsx";
import { Table } from "../components/Table.tsx";
import { Amount, Promise, Time } from "../components/Values.tsx";
import { VerificationMark } from "../components/VerificationMark.tsx";
import { Meter } from "../components/Meter.tsx";
import { compare, ratio } from "../decimal.ts";
import { grouped } from "../numbers.ts";
import { binsOf } from "../answer.ts";
import { to } from "../router.ts";
import type { PageProps } from "../routes.tsx";
import { DATASET_STATES, RULES, shortAccount } from "../words.ts";
import { Comparison } from "./dataset/Comparison.tsx";
import { Spending } from "./dataset/Spending.tsx";
import { LimitButton } from "./inbox/LimitButton.tsx";
import { attributeWords, constraintWords, measureWords } from "./dataset/attribute-words.ts";

function custodyWords(budget: Budget): string {
  if (budget.custody === "CUSTODY_SINGLE") return "one person: the owner approves changes of limits";
  if (budget.custody === "CUSTODY_TWO_PERSONS")
    return "two persons: one proposes a limit, another approves it";
  return "nobody proves who they are: development mode";
}

function Facts({
  name,
  dataset,
  budget,
}: {
  name: string;
  dataset: Dataset | undefined;
  budget: Budget | undefined;
}) {
  const verification = useVerification(name);
  return (
    <Card title="Promise">
      <DataFacts of={dataset} />
      <dl class="facts">
        <div>
          <dt>Protects</dt>
          <dd>{dataset?.public ? "nobody: it is public" : (budget?.protects ?? "")}</dd>
        </div>
        <div>
          <dt>Owner</dt>
          <dd>{dataset?.owner ?? ""}</dd>
        </div>
        <div>
          <dt>State</dt>
          <dd>
            {dataset ? DATASET_STATES[dataset.state] : ""}
            {dataset?.public ? ", public" : ""}
          </dd>
        </div>
        <div>
          <dt>Created</dt>
          <dd>
            <Time value={dataset?.create_time} />
          </dd>
        </div>
        {budget && (
          <div>
            <dt>Custody</dt>
            <dd>{custodyWords(budget)}</dd>
          </div>
        )}
        <div>
          <dt>History</dt>
          <dd>
            <VerificationMark verification={verification} />
          </dd>
        </div>
      </dl>
    </Card>
  );
}

interface AccountRow {
  account: Account;
  counter: Account["counters"][number];
}

function AccountsTable({
  dataset,
  accounts,
  chosen,
  onChoose,
}: {
  dataset: string;
  accounts: Account[];
  chosen: string;
  onChoose: (account: string) => void;
}) {
  const rows = accounts.flatMap((account) =>
    account.counters.map((counter): AccountRow => ({ account, counter })),
  );
  const amount = (key: "limit" | "spent" | "held" | "remaining", title: string) => ({
    key,
    title,
    right: true,
    value: ({ counter }: AccountRow) => counter[key],
    compare: (a: AccountRow, b: AccountRow) => compare(a.counter[key], b.counter[key]),
    cell: ({ counter }: AccountRow) => (
      <Amount
        value={counter[key]}
        rounding={key === "limit" ? "nearest" : key === "remaining" ? "down" : "up"}
      />
    ),
  });
  return (
    <Table
      caption={`Accounts of ${dataset}`}
      hideCaption
      file={`accounts-${dataset}`}
      rows={rows}
      rowKey={({ account, counter }) => `${account.name} ${counter.name}`}
      columns={[
        {
          key: "account",
          title: "Account",
          value: ({ account }) => account.name,
          cell: ({ account }) => (
            <button
              type="button"
              class="button plain"
              aria-pressed={account.name === chosen}
              onClick={() => onChoose(account.name)}
              title={account.name}
            >
              {shortAccount(account.name, dataset)}
            </button>
          ),
        },
        {
          key: "promise",
          title: "Promise",
          value: ({ account }) =>
            account.promise ? `epsilon ${account.promise.epsilon}, delta ${account.promise.delta}` : "",
          cell: ({ account }) => <Promise promise={account.promise} />,
        },
        {
          key: "rule",
          title: "Rule",
          value: ({ account }) => RULES[account.promise?.rule ?? "RULE_UNSPECIFIED"],
          cell: ({ account }) => <RuleName rule={RULES[account.promise?.rule ?? "RULE_UNSPECIFIED"]} />,
        },
        {
          key: "counter",
          title: "Counts",
          value: ({ counter }) => counter.name,
          cell: ({ counter }) => <CounterName name={counter.name} />,
        },
        {
          key: "share",
          title: "Spent and held",
          compare: (a, b) =>
            ratio(a.counter.spent, a.counter.limit) - ratio(b.counter.spent, b.counter.limit),
          cell: ({ counter }) => (
            <div class="account-meter">
              <Meter counter={counter} bare />
            </div>
          ),
        },
        amount("limit", "Limit"),
        amount("spent", "Spent"),
        amount("held", "Held"),
        amount("remaining", "Left"),
        {
          key: "requests_left_like_last",
          title: "Like your last",
          right: true,
          value: ({ account }) =>
            account.requests_left_like_last === undefined
              ? undefined
              : Number(account.requests_left_like_last),
          cell: ({ account }) =>
            account.requests_left_like_last === undefined ? "" : grouped(account.requests_left_like_last),
        },
      ]}
    />
  );
}

function Attributes({ dataset }: { dataset: Dataset }) {
  return (
    <Table
      caption={`Attributes of ${dataset.name}`}
      hideCaption
      rows={dataset.schema?.attributes ?? []}
      rowKey={(attribute) => attribute.name}
      columns={[
        {
          key: "attribute",
          title: "Attribute",
          value: (attribute) => attribute.name,
          cell: (attribute) => attribute.name,
        },
        { key: "kind", title: "Kind", value: attributeWords, cell: attributeWords },
        {
          key: "bins",
          title: "Bins",
          right: true,
          value: binsOf,
          cell: (attribute) => grouped(binsOf(attribute)),
        },
      ]}
    />
  );
}

function Measures({ dataset }: { dataset: Dataset }) {
  const measures = dataset.schema?.measures ?? [];
  if (measures.length === 0) return null;
  return (
    <Table
      caption={`Measures of ${dataset.name}: numbers that sums and means are taken of, clipped to these bounds`}
      rows={measures}
      rowKey={(measure) => measure.name}
      columns={[
        {
          key: "measure",
          title: "Measure",
          value: (measure) => measure.name,
          cell: (measure) => measure.name,
        },
        { key: "values", title: "Values", value: measureWords, cell: measureWords },
      ]}
    />
  );
}

function Constraints({ dataset }: { dataset: Dataset }) {
  const constraints = dataset.schema?.constraints ?? [];
  if (constraints.length === 0) return null;
  return (
    <Table
      caption={`Constraints of ${dataset.name}: every record keeps to them, and rows that do not are rejected at import`}
      rows={constraints}
      rowKey={constraintWords}
      columns={[
        { key: "constraint", title: "Constraint", value: constraintWords, cell: constraintWords },
      ]}
    />
  );
}

function Parts({ dataset }: { dataset: Dataset }) {
  return (
    <Table
      caption={`Parts of ${dataset.name}, by ${dataset.partition?.attribute}`}
      rows={dataset.partition?.parts ?? []}
      rowKey={(part) => part.name}
      columns={[
        { key: "part", title: "Part", value: (part) => part.name, cell: (part) => part.name },
        {
          key: "labels",
          title: "Has",
          value: (part) => part.labels.join(","),
          cell: (part) => part.labels.join(", "),
        },
        {
          key: "state",
          title: "State",
          value: (part) => DATASET_STATES[part.state],
          cell: (part) => DATASET_STATES[part.state],
        },
      ]}
    />
  );
}

function Accounts({ name, budget }: { name: string; budget: Budget }) {
  const [chosen, setChosen] = useState("");
  const account = budget.accounts.find((candidate) => candidate.name === chosen) ?? budget.accounts[0];
  if (!account) {
    return (
      <Card title="Budget">
        <p class="quiet">There is no account that you may see.</p>
      </Card>
    );
  }
  return (
    <>
      <Spending dataset={name} accounts={budget.accounts} account={account} onChoose={setChosen} />
      <Card title="Accounts">
        <AccountsTable dataset={name} accounts={budget.accounts} chosen={account.name} onChoose={setChosen} />
        {budget.accounts.length >= 1000 && (
          <p class="small quiet">
            These are the first 1000; <code>curator account list {name}</code> has all.
          </p>
        )}
      </Card>
    </>
  );
}

// Access to answers may outlast that to the budget.
function StillReleased({ dataset }: { dataset: string }) {
  const { data } = useCall("QueryService/ListReleases", { dataset, page_size: 1 });
  if (!data || data.releases.length === 0) return null;
  return (
    <p>
      What was released to you is still under{" "}
      <Link href={to("/datasets/:dataset/releases", { dataset })}>Releases</Link>.
    </p>
  );
}

export function DatasetPage({ params }: PageProps) {
  const name = params["dataset"] ?? "";
  const { data: dataset, error: datasetError } = useCall("DatasetService/GetDataset", { dataset: name });
  const isPublic = dataset?.public === true;
  // A public dataset has none, so that it is asked for once it is known to be another one.
  const mayHaveBudget = !isPublic && (dataset !== undefined || datasetError !== undefined);
  const {
    data: budget,
    error,
    reload,
  } = useCall("BudgetService/GetBudget", mayHaveBudget ? { dataset: name } : undefined, { live: name });
  return (
    <Page
      title={name}
      crumb={<DatasetCrumb />}
      aside={dataset && <LimitButton dataset={dataset} />}
      tabs={<DatasetTabs dataset={name} />}
    >
      {budget?.read_only && (
        <Notice kind="bad" title="This dataset accepts no charge: the amounts below may be wrong.">
          <p>{budget.read_only}</p>
          <p>
            An owner repairs it with <code>curator ledger repair propose {name}</code>.
          </p>
        </Notice>
      )}
      {error && <ErrorNotice error={error} what="The budget" onRetry={reload} />}
      {error?.isHidden && !budget && <StillReleased dataset={name} />}
      {isPublic && (
        <Card title="Budget">
          <p>Public: nothing is charged, and nobody is protected.</p>
        </Card>
      )}
      {!budget && !error && !isPublic && (
        <>
          <div class="card">
            <Skeleton height={26} />
          </div>
          <div class="card">
            <SkeletonLines lines={4} />
          </div>
        </>
      )}
      {budget && <Accounts name={name} budget={budget} />}
      {(budget || isPublic) && <Facts name={name} dataset={dataset} budget={budget} />}
      {budget && budget.accounts.length > 0 && <Comparison dataset={name} />}
      {datasetError && !error && <ErrorNotice error={datasetError} what="The description" />}
      {dataset && (
        <Card title="Attributes">
          <Attributes dataset={dataset} />
          <Measures dataset={dataset} />
          <Constraints dataset={dataset} />
          {dataset.partition && <Parts dataset={dataset} />}
        </Card>
      )}
    </Page>
  );
}
