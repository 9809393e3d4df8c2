// All datasets at a glance.
import { useEffect, useRef, useState } from "preact/hooks";
import { useAllDatasets } from "../api/datasets.ts";
import { useInbox } from "../api/inbox.ts";
import type { Budget, Counter, Dataset, InboxItem } from "../api/types.ts";
import { useCall } from "../api/use-call.ts";
import { useVerification } from "../api/verification.ts";
import { Empty, Skeleton } from "../components/Empty.tsx";
import { Link } from "../components/Link.tsx";
import { Meter } from "../components/Meter.tsx";
import { ErrorNotice, Notice } from "../components/Notice.tsx";
import { Page } from "../components/Page.tsx";
import { Promise, useNow } from "../components/Values.tsx";
import { VerificationMark } from "../components/VerificationMark.tsx";
import { compare } from "../decimal.ts";
import { counterForecast, forecastText } from "../forecast.ts";
import { mainAccount, tightest } from "../main-account.ts";
import { counted } from "../numbers.ts";
import { to } from "../router.ts";
import { DATASET_STATES } from "../words.ts";

function ForecastText({ dataset, account, counter }: { dataset: string; account: string; counter: Counter }) {
  const { data } = useCall("BudgetService/GetBurnDown", { dataset, account, points: 200 }, { live: dataset });
  const now = useNow();
  if (!data) return <Skeleton height={2.75} width="9rem" />;
  const { when, why } = forecastText(counterForecast(data, counter, now));
  return (
    <>
      {when}
      <div class="small quiet">{why}</div>
    </>
  );
}

function requestsLeft(budget: Budget): string {
  if (!budget.last_request) return "you have asked nothing yet";
  const counts = budget.accounts
    .map((account) => account.requests_left_like_last)
    .filter((count): count is string => count !== undefined);
  if (counts.length === 0) return "your last one was free";
  return counted(
    counts.reduce((least, count) => (compare(count, least) < 0 ? count : least)),
    "more fits",
    "more fit",
  );
}

function Figures({ dataset, budget }: { dataset: string; budget: Budget }) {
  const main = mainAccount(budget);
  const counter = main && tightest(main.account.counters);
  if (!main || !counter) {
    return <p class="quiet">There is no account that you may see.</p>;
  }
  const { account, parts } = main;
  return (
    <>
      {account.part !== undefined && (
        <p class="small quiet">
          Part {account.part}
          {parts > 1 && `, the fullest of ${parts}`}
        </p>
      )}
      <Meter counter={counter} />
      <dl class="facts">
        <div>
          <dt>Promise</dt>
          <dd>
            <Promise promise={account.promise} />
          </dd>
        </div>
        <div>
          <dt>Questions like your last</dt>
          <dd>{requestsLeft(budget)}</dd>
        </div>
        <div>
          <dt>Budget used up</dt>
          <dd>
            <ForecastText dataset={dataset} account={account.name} counter={counter} />
          </dd>
        </div>
      </dl>
    </>
  );
}

function Verified({ dataset }: { dataset: string }) {
  return <VerificationMark verification={useVerification(dataset)} />;
}

function DatasetCard({ dataset, waiting }: { dataset: Dataset; waiting: number }) {
  const { name } = dataset;
  const {
    data: budget,
    error,
    reload,
  } = useCall("BudgetService/GetBudget", dataset.public ? undefined : { dataset: name }, { live: name });
  return (
    <article class="card dataset-card" aria-label={name}>
      <div class="card-head">
        <h2>
          <Link href={to("/datasets/:dataset", { dataset: name })}>{name}</Link>
        </h2>
        <span class="row small">
          {dataset.state !== "DATASET_STATE_SEALED" && (
            <span class="tag">{DATASET_STATES[dataset.state]}</span>
          )}
          <span class="quiet">owned by {dataset.owner}</span>
        </span>
      </div>
      {budget?.read_only && (
        <Notice kind="bad" title="Accepts no charge.">
          <p>{budget.read_only}</p>
        </Notice>
      )}
      {waiting > 0 && (
        <Notice kind="warn">
          <span>
            <Link href="/inbox">{counted(waiting, "decision waits", "decisions wait")} for you</Link>
          </span>
        </Notice>
      )}
      {error && !(error.isHidden && !budget) && (
        <ErrorNotice error={error} what="The budget" onRetry={reload} />
      )}
      {error?.isHidden && !budget && (
        <p class="quiet">You may see what was released to you, and not the budget.</p>
      )}
      {budget && (
        <div class="stack figures">
          <Figures dataset={name} budget={budget} />
        </div>
      )}
      {dataset.public && <p>Public: nothing is charged, and nobody is protected.</p>}
      {!budget && !error && !dataset.public && (
        <div class="figures loading">
          <Skeleton height={8} />
        </div>
      )}
      <div class="small verified">
        <Verified dataset={name} />
      </div>
    </article>
  );
}

// The card is loaded when it is about to be seen: somebody may have hundreds of datasets.
function DatasetItem({ dataset, waiting }: { dataset: Dataset; waiting: number }) {
  const item = useRef<HTMLLIElement>(null);
  const [isNear, setNear] = useState(false);
  useEffect(() => {
    const element = item.current;
    if (!element || isNear) return undefined;
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some((entry) => entry.isIntersecting)) setNear(true);
      },
      { rootMargin: "300px" },
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, [isNear]);
  return (
    <li ref={item}>
      {isNear ? (
        <DatasetCard dataset={dataset} waiting={waiting} />
      ) : (
        <div class="card dataset-card">
          <h2>{dataset.name}</h2>
        </div>
      )}
    </li>
  );
}

function waitingFor(items: InboxItem[] | undefined, dataset: string): number {
  return items?.filter((item) => item.dataset === dataset).length ?? 0;
}

function LoadingCards() {
  return (
    <ul class="datasets" role="status" aria-label="Loading the datasets">
      {[0, 1].map((i) => (
        <li key={i}>
          <div class="card dataset-card">
            <Skeleton width="40%" />
            <Skeleton height={0.75} />
            <Skeleton height={6} />
          </div>
        </li>
      ))}
    </ul>
  );
}

export function OverviewPage() {
  const { data, error, reload } = useAllDatasets();
  const { data: inbox, error: inboxError } = useInbox();
  // With what waits on them, so that nothing is put between later.
  const isReady = data !== undefined && (inbox !== undefined || inboxError !== undefined);
  return (
    <Page
      title="Overview"
      windowTitle="Overview"
      lead="What is left of each promise, and whether its history holds."
    >
      {error && <ErrorNotice error={error} what="The list of datasets" onRetry={reload} />}
      {data && data.unreadable.length > 0 && (
        <Notice kind="bad" title="Damage in the database has made datasets unreadable.">
          <p>{data.unreadable.join(", ")}</p>
        </Notice>
      )}
      {!isReady && !error && <LoadingCards />}
      {isReady && data.datasets.length === 0 && (
        <Empty
          title="You have access to no dataset."
          command="curator dataset create NAME --schema FILE --rule zcdp --epsilon 2 --delta 1e-9"
        >
          <p>
            Ask an owner for access, who gives it by name; or create a dataset of your own from the command
            line.
          </p>
        </Empty>
      )}
      {isReady && data.datasets.length > 0 && (
        <ul class="datasets">
          {data.datasets.map((dataset) => (
            <DatasetItem key={dataset.name} dataset={dataset} waiting={waitingFor(inbox, dataset.name)} />
          ))}
        </ul>
      )}
    </Page>
  );
}
