// Synthetic data of a dataset: how it is made, what that costs, and then the making of it.
import { useState } from "preact/hooks";
import type { Dataset, RequestOf } from "../api/types.ts";
import { useCall } from "../api/use-call.ts";
import { usePending } from "../api/use-pending.ts";
import { DatasetCrumb, DatasetTabs } from "../components/DatasetTabs.tsx";
import { SkeletonLines } from "../components/Empty.tsx";
import { ErrorNotice } from "../components/Notice.tsx";
import { Page } from "../components/Page.tsx";
import { StateNotice } from "../components/StateNotice.tsx";
import { newRequestId } from "../pending.ts";
import { place } from "../router.ts";
import type { PageProps } from "../routes.tsx";
import { sessionState } from "../session.ts";
import { useStore } from "../store.ts";
import {
  chosenMethod,
  missingOf,
  NO_DRAFT,
  problemsOf,
  ruleOf,
  sharesOfLeft,
  specOf,
  unitOf,
  type Draft,
} from "../synthesis.ts";
import { useSettled } from "../use-settled.ts";
import { spendIn } from "./refused/use-amount.ts";
import { AmountCard } from "./synthesize/AmountCard.tsx";
import { Making } from "./synthesize/Making.tsx";
import { MethodCard } from "./synthesize/MethodCard.tsx";
import { SynthesisPrice } from "./synthesize/SynthesisPrice.tsx";
import { WorkloadCard } from "./synthesize/WorkloadCard.tsx";

export type SynthesisRequest = RequestOf<"SynthesisService/CreateSynthesis">;

interface OrderProps {
  dataset: Dataset;
  draft: Draft;
  onDraft: (change: Partial<Draft>) => void;
  onPay: (request: SynthesisRequest) => void;
}

function Order({ dataset, draft, onDraft, onPay }: OrderProps) {
  const { name } = dataset;
  const { who, session } = useStore(sessionState);
  const list = useCall("SynthesisService/ListSynthesizers", {}, { poll: false });
  const budget = useCall("BudgetService/GetBudget", { dataset: name }, { live: name });
  const methods = list.data?.synthesizers ?? [];
  const method = chosenMethod(draft, methods);
  const rule = ruleOf(budget.data);
  // Which amounts there are is not known before the rule is.
  const spec = budget.data || budget.error ? specOf(draft, method, rule) : undefined;
  const settled = useSettled(spec);
  const isSettled = JSON.stringify(settled) === JSON.stringify(spec);
  const price = useCall(
    "SynthesisService/EstimateSynthesis",
    spec && settled && { dataset: name, spec: settled },
    { live: name },
  );
  const problems = problemsOf(isSettled ? price.error : undefined, method, rule);
  const unit = unitOf(draft, rule);
  return (
    <>
      {list.error && <ErrorNotice error={list.error} what="The list of methods" onRetry={list.reload} />}
      <MethodCard methods={methods} method={method} draft={draft} problems={problems} onDraft={onDraft} />
      <WorkloadCard dataset={dataset} draft={draft} problem={problems.workload} onDraft={onDraft} />
      <AmountCard
        draft={draft}
        rule={rule}
        shares={sharesOfLeft(budget.data, unit, session?.principal ?? "")}
        problems={problems}
        onDraft={onDraft}
      />
      <SynthesisPrice
        dataset={name}
        price={price}
        missing={missingOf(draft)}
        isSettled={isSettled}
        isPlaced={problems.isPlaced}
        canPay={isSettled && who !== undefined}
        onPay={() => spec && onPay({ request_id: newRequestId(), dataset: name, spec })}
      />
    </>
  );
}

function firstDraft(query: URLSearchParams): Draft {
  const spend = spendIn(query);
  if (!spend) return NO_DRAFT;
  return "rho" in spend
    ? { ...NO_DRAFT, unit: "rho", amount: spend.rho }
    : { ...NO_DRAFT, unit: "epsilon", amount: spend.epsilon };
}

export function SynthesizePage({ params }: PageProps) {
  const name = params["dataset"] ?? "";
  const { query } = useStore(place);
  const {
    data: dataset,
    error,
    reload,
  } = useCall("DatasetService/GetDataset", { dataset: name }, { live: name });
  const [draft, setDraft] = useState(() => firstDraft(query));
  const kept = `synthesis of ${name}`;
  const { request, isResumed, pseudonym, begin, end } = usePending<SynthesisRequest>(kept);
  return (
    <Page
      title={name}
      windowTitle={`Synthesize ${name}`}
      crumb={<DatasetCrumb />}
      tabs={<DatasetTabs dataset={name} />}
    >
      {error && <ErrorNotice error={error} what="The description" onRetry={reload} />}
      <StateNotice dataset={dataset} />
      {!dataset && !error && (
        <div class="card">
          <SkeletonLines lines={4} />
        </div>
      )}
      {dataset && request && (
        <Making
          key={request.request_id}
          request={request}
          place={kept}
          pseudonym={pseudonym}
          isResumed={isResumed}
          onClose={end}
        />
      )}
      {dataset && !request && (
        <Order
          dataset={dataset}
          draft={draft}
          onDraft={(change) => setDraft((before) => ({ ...before, ...change }))}
          onPay={begin}
        />
      )}
    </Page>
  );
}
