// What a question costs at which error: found from public facts, free, before anything is paid.
import { useState } from "preact/hooks";
import type { Cost, Spend, Workload, WorkloadEstimate } from "../../api/types.ts";
import { useCall } from "../../api/use-call.ts";
import { Button } from "../../components/Button.tsx";
import { DataFacts } from "../../components/DataFacts.tsx";
import { Dialog } from "../../components/Dialog.tsx";
import { Skeleton } from "../../components/Empty.tsx";
import { Field, TextField } from "../../components/Field.tsx";
import { CounterName, Gloss } from "../../components/Gloss.tsx";
import { Link } from "../../components/Link.tsx";
import { ErrorNotice, Notice } from "../../components/Notice.tsx";
import { Card } from "../../components/Page.tsx";
import { Table } from "../../components/Table.tsx";
import { Amount, ShortId } from "../../components/Values.tsx";
import { firstCost, shareWords } from "../../costs.ts";
import { percent } from "../../decimal.ts";
import { roundedText } from "../../numbers.ts";
import { newRequestId } from "../../pending.ts";
import { errorOfShare, errorOfStep, ERROR_STEPS, spendOf, spendText, stepOfError } from "../../question.ts";
import { to } from "../../router.ts";
import { sessionState } from "../../session.ts";
import { useStore } from "../../store.ts";
import { useSettled } from "../../use-settled.ts";
import { eventText, shortAccount } from "../../words.ts";
import type { AnswerRequest } from "../Ask.tsx";
import { useAmountOfAddress } from "../refused/use-amount.ts";
import { choiceColumn, COST, FITS } from "./choice-columns.tsx";

const CONFIDENCE = 0.95;
const USUAL_ERROR = 100;

export function Costs({ dataset, costs }: { dataset: string; costs: Cost[] }) {
  return (
    <Table
      caption="What it costs"
      hideCaption
      stacks
      rows={costs}
      rowKey={(cost) => `${cost.account} ${cost.counter}`}
      empty={<p>It costs nothing.</p>}
      columns={[
        {
          key: "account",
          title: "Account",
          cell: (cost) => <span title={cost.account}>{shortAccount(cost.account, dataset)}</span>,
        },
        { key: "counter", title: "Counts", cell: (cost) => <CounterName name={cost.counter} /> },
        {
          key: "amount",
          title: "Cost",
          right: true,
          cell: (cost) => <Amount value={cost.amount} rounding="up" />,
        },
        {
          key: "remaining",
          title: "Left after",
          right: true,
          cell: (cost) =>
            cost.remaining === "" ? (
              <span class="state bad">does not fit</span>
            ) : (
              <Amount value={cost.remaining} rounding="down" />
            ),
        },
        { key: "share", title: "Share", cell: (cost) => <span class="small quiet">{shareWords(cost)}</span> },
      ]}
    />
  );
}

function Choices({ estimate, onChoose }: { estimate: WorkloadEstimate; onChoose: (error: number) => void }) {
  return (
    <Table
      caption="Other prices"
      stacks
      rows={estimate.choices}
      rowKey={(choice) => spendText(choice.spend)}
      columns={[
        {
          key: "max_error",
          title: "All within",
          compare: (a, b) => a.max_error - b.max_error,
          cell: (choice) => `±\u00a0${roundedText(choice.max_error)}`,
        },
        {
          key: "deviation",
          title: "Typical error",
          right: true,
          compare: (a, b) => a.standard_deviation - b.standard_deviation,
          cell: (choice) => roundedText(choice.standard_deviation),
        },
        COST,
        FITS,
        choiceColumn(
          (choice) => spendText(choice.spend) === spendText(estimate.spend),
          (choice) => `Choose an error of ${roundedText(choice.max_error)}`,
          (choice) => onChoose(choice.max_error),
        ),
      ]}
    />
  );
}

function Figures({ estimate }: { estimate: WorkloadEstimate }) {
  const deviations = [
    ...estimate.marginals.map((marginal) => marginal.noise?.standard_deviation ?? 0),
    ...estimate.query_sets.map((set) => set.largest_standard_deviation),
  ];
  const typical = deviations.length > 0 ? Math.max(...deviations) : 0;
  const [cost] = estimate.costs;
  return (
    <div class="price-row">
      <div class="price">
        <span class="small quiet">Price</span>
        <span class="figure" title={spendText(estimate.spend)}>
          {firstCost(estimate.costs)}
        </span>
        {cost && cost.remaining !== "" && (
          <span class="small quiet">
            <Amount value={cost.remaining} rounding="down" /> would be left
          </span>
        )}
        {cost && <span class="small quiet">{shareWords(cost)}</span>}
      </div>
      <div class="price">
        <span class="small quiet">Every number within</span>
        <span class="figure">±&nbsp;{roundedText(estimate.max_error)}</span>
        <span class="small quiet">with a probability of {percent(CONFIDENCE)}, all together</span>
      </div>
      <div class="price">
        <span class="small quiet">Typical error</span>
        <span class="figure">{roundedText(typical)}</span>
        <span class="small quiet">standard deviation of a number</span>
      </div>
    </div>
  );
}

function Confirm({
  dataset,
  estimate,
  onPay,
  onClose,
}: {
  dataset: string;
  estimate: WorkloadEstimate;
  onPay: () => void;
  onClose: () => void;
}) {
  return (
    <Dialog
      title={`Pay ${firstCost(estimate.costs)}?`}
      onClose={onClose}
      foot={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" onClick={onPay}>
            Pay and answer
          </Button>
        </>
      }
    >
      <p>What is spent cannot be given back: the answer is drawn and stored. Looking at it again is free.</p>
      <Costs dataset={dataset} costs={estimate.costs} />
    </Dialog>
  );
}

interface Props {
  dataset: string;
  workload: Workload;
  onAsk: (request: AnswerRequest) => void;
}

// The slider and the price below it are those of a new answer alone.
export function FreeOffer({
  estimate,
  disabled,
  onAsk,
}: {
  estimate: WorkloadEstimate;
  disabled: boolean;
  onAsk: () => void;
}) {
  const { free_from: from } = estimate;
  return (
    <Notice kind="good" title="Earlier answers determine this one: it is free.">
      <p>
        From{" "}
        {from.map((id, i) => (
          <span key={id}>
            {i > 0 && ", "}
            <Link href={to("/releases/:release", { release: id })}>
              <ShortId value={id} />
            </Link>
          </span>
        ))}
        . Its error is that of {from.length === 1 ? "this release" : "these releases"}, and not the one chosen
        below: the interval of each number comes with the answer.
      </p>
      <div>
        <Button kind="primary" disabled={disabled} onClick={onAsk}>
          Answer for free
        </Button>
      </div>
    </Notice>
  );
}

// Why it cannot be paid. `advice`: what would make it fit.
export function Obstacles({
  dataset,
  estimate,
  advice,
  what,
}: {
  dataset: string;
  estimate: Pick<WorkloadEstimate, "fits" | "refused_by_rule">;
  advice: string;
  what: string;
}) {
  return (
    <>
      {!estimate.fits && (
        <Notice kind="warn" title="There is not enough left for this.">
          <span>
            {advice}, or ask the owner to raise the limit:{" "}
            <code>curator account limit request {dataset}</code>
          </span>
        </Notice>
      )}
      {estimate.refused_by_rule !== "" && (
        <Notice kind="warn" title={`The owner refuses this ${what}.`}>
          <span>
            Its rule is called <code>{estimate.refused_by_rule}</code>.
          </span>
        </Notice>
      )}
    </>
  );
}

export function Pay({
  dataset,
  estimate,
  canAsk,
  onPay,
}: {
  dataset: string;
  estimate: WorkloadEstimate;
  canAsk: boolean;
  onPay: () => void;
}) {
  const [isAsking, setAsking] = useState(false);
  const canPay = estimate.fits && estimate.refused_by_rule === "" && canAsk;
  return (
    <>
      <DataFacts of={estimate} />
      <Obstacles dataset={dataset} estimate={estimate} advice="Accept a larger error" what="question" />
      <div class="actions">
        <Button
          kind={estimate.free_from.length > 0 ? "normal" : "primary"}
          disabled={!canPay}
          onClick={() => setAsking(true)}
        >
          Pay {firstCost(estimate.costs)} and answer
        </Button>
      </div>
      {isAsking && (
        <Confirm dataset={dataset} estimate={estimate} onClose={() => setAsking(false)} onPay={onPay} />
      )}
    </>
  );
}

function ErrorSlider({ wanted, onChange }: { wanted: number; onChange: (error: number) => void }) {
  return (
    <Field
      label={`Largest error that you accept: ±\u00a0${roundedText(wanted)} records`}
      hint="Smaller errors cost more of the budget."
    >
      {(control) => (
        <input
          {...control}
          type="range"
          min={ERROR_STEPS.least}
          max={ERROR_STEPS.most}
          step={1}
          value={stepOfError(wanted)}
          aria-valuetext={`${roundedText(wanted)} records`}
          onInput={(event) => onChange(errorOfStep(Number(event.currentTarget.value)))}
        />
      )}
    </Field>
  );
}

// The same error as a share of a number of records that the reader takes the table to have.
function ErrorShare({ onChange }: { onChange: (error: number) => void }) {
  const [rows, setRows] = useState("");
  const [share, setShare] = useState("");
  const change = (nextRows: string, nextShare: string) => {
    setRows(nextRows);
    setShare(nextShare);
    const error = errorOfShare(nextRows, nextShare);
    if (error !== undefined) onChange(error);
  };
  const isWrong = rows !== "" && share !== "" && errorOfShare(rows, share) === undefined;
  return (
    <div class="filters">
      <TextField
        label="Or in percent"
        type="number"
        value={share}
        onInput={(value) => change(rows, value)}
        problem={isWrong ? "A percentage up to 100, of a whole number of records." : undefined}
      />
      <TextField
        label="of so many assumed records"
        type="number"
        value={rows}
        onInput={(value) => change(value, share)}
        hint="The table's own number is private: take a public one, or one of an answer."
      />
    </div>
  );
}

export function Price({ dataset, workload, onAsk }: Props) {
  const { who } = useStore(sessionState);
  const [wanted, setWanted] = useState(USUAL_ERROR);
  const settled = useSettled(wanted);
  useAmountOfAddress(dataset, workload, setWanted);
  const { data, error, loading, reload } = useCall(
    "QueryService/EstimateWorkload",
    {
      dataset,
      workload,
      target: { max_error: settled, confidence: CONFIDENCE },
      confidence_level: CONFIDENCE,
    },
    { live: dataset },
  );
  // The price before stays in its place while the next one is on its way, and cannot be paid.
  const [last, setLast] = useState(data);
  if (data !== undefined && data !== last) setLast(data);
  const shown = error && !data ? undefined : last;
  const isSettled = data !== undefined && settled === wanted;
  const canAsk = isSettled && who !== undefined;
  const isFree = shown !== undefined && shown.free_from.length > 0;
  const ask = (part: { spend?: Partial<Spend>; prefer_free?: boolean }) =>
    onAsk({ request_id: newRequestId(), dataset, workload, confidence_level: CONFIDENCE, ...part });
  return (
    <Card title="Price">
      {isFree && (
        <>
          <FreeOffer estimate={shown} disabled={!canAsk} onAsk={() => ask({ prefer_free: true })} />
          <h3>A new answer instead</h3>
        </>
      )}
      <ErrorSlider wanted={wanted} onChange={setWanted} />
      <ErrorShare onChange={setWanted} />
      {error && <ErrorNotice error={error} what="The price" onRetry={reload} />}
      {!shown && !error && <Skeleton height={20} />}
      {shown && (
        <div class="stack" aria-busy={loading || !isSettled}>
          <Figures estimate={shown} />
          <Pay
            dataset={dataset}
            estimate={shown}
            canAsk={canAsk}
            onPay={() => ask(shown.spend ? { spend: spendOf(shown.spend) } : {})}
          />
          <Costs dataset={dataset} costs={shown.costs} />
          <Choices estimate={shown} onChoose={setWanted} />
          <p class="small quiet">
            It would be recorded as {eventText(shown.event)}. The price follows from public facts alone, and
            nothing has been charged. What is <Gloss term="spent" /> cannot be given back.
          </p>
        </div>
      )}
    </Card>
  );
}
