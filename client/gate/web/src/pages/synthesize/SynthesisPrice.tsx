// What making the data costs, and how it would be done: found from public facts, free, before anything is
// paid.
import { useState } from "preact/hooks";
import type { SynthesisEstimate } from "../../api/synthesis-types.ts";
import type { Loaded } from "../../api/use-call.ts";
import { Button } from "../../components/Button.tsx";
import { DataFacts } from "../../components/DataFacts.tsx";
import { Dialog } from "../../components/Dialog.tsx";
import { Skeleton } from "../../components/Empty.tsx";
import { ErrorNotice } from "../../components/Notice.tsx";
import { Card } from "../../components/Page.tsx";
import { Amount } from "../../components/Values.tsx";
import { firstCost, shareWords } from "../../costs.ts";
import { bytesText, counted, grouped } from "../../numbers.ts";
import { eventText } from "../../words.ts";
import { Costs, Obstacles } from "../ask/Price.tsx";

function Figures({ estimate }: { estimate: SynthesisEstimate }) {
  const [cost] = estimate.costs;
  return (
    <div class="price-row">
      <div class="price">
        <span class="small quiet">Price</span>
        <span class="figure">{firstCost(estimate.costs)}</span>
        {cost && cost.remaining !== "" && (
          <span class="small quiet">
            <Amount value={cost.remaining} rounding="down" /> would be left
          </span>
        )}
        {cost && <span class="small quiet">{shareWords(cost)}</span>}
      </div>
      <div class="price">
        <span class="small quiet">Model</span>
        <span class="figure">{grouped(estimate.model_cells)}</span>
        <span class="small quiet">numbers in its tables</span>
      </div>
      <div class="price">
        <span class="small quiet">Work, predicted</span>
        <span class="figure">{grouped(estimate.predicted_cpu_seconds)}&nbsp;s</span>
        <span class="small quiet">
          of a processor, with {bytesText(Number(estimate.predicted_memory_bytes))} of memory
        </span>
      </div>
    </div>
  );
}

function Schedule({ schedule }: { schedule: string[] }) {
  return (
    <section class="stack-s" aria-label="Schedule">
      <h3>Schedule</h3>
      <ol class="schedule">
        {schedule.map((step, i) => (
          <li key={i}>{step}</li>
        ))}
      </ol>
    </section>
  );
}

function UsedSettings({ settings }: { settings: Record<string, string> }) {
  const all = Object.entries(settings).sort(([left], [right]) => left.localeCompare(right, "en"));
  if (all.length === 0) return null;
  return (
    <details>
      <summary>{counted(all.length, "setting")}, with what the method chooses</summary>
      <dl class="facts after-summary">
        {all.map(([key, value]) => (
          <div key={key}>
            <dt>{key}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}

function Confirm({
  dataset,
  estimate,
  onPay,
  onClose,
}: {
  dataset: string;
  estimate: SynthesisEstimate;
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
            Pay and synthesize
          </Button>
        </>
      }
    >
      <p>
        What is spent cannot be given back: a model is learned from noisy measurements, and stored. Samples of
        it are free.
      </p>
      <Costs dataset={dataset} costs={estimate.costs} />
    </Dialog>
  );
}

function Estimate({
  dataset,
  estimate,
  canPay,
  onPay,
}: {
  dataset: string;
  estimate: SynthesisEstimate;
  canPay: boolean;
  onPay: () => void;
}) {
  const [isAsking, setAsking] = useState(false);
  const isOff = !canPay || !estimate.fits || estimate.refused_by_rule !== "";
  return (
    <>
      <Figures estimate={estimate} />
      <DataFacts of={estimate} />
      <Obstacles dataset={dataset} estimate={estimate} advice="Spend less" what="synthesis" />
      <div class="actions">
        <Button kind="primary" disabled={isOff} onClick={() => setAsking(true)}>
          Pay {firstCost(estimate.costs)} and synthesize
        </Button>
      </div>
      {isAsking && (
        <Confirm dataset={dataset} estimate={estimate} onClose={() => setAsking(false)} onPay={onPay} />
      )}
      <Costs dataset={dataset} costs={estimate.costs} />
      <Schedule schedule={estimate.schedule} />
      <UsedSettings settings={estimate.settings} />
      <p class="small quiet">
        It protects {estimate.protects}, and would be recorded as {eventText(estimate.event)}. The price
        follows from public facts alone, and nothing has been charged.
      </p>
    </>
  );
}

interface Props {
  dataset: string;
  price: Loaded<SynthesisEstimate>;
  // What has to be given before there is a price.
  missing: string | undefined;
  // The price is that of what the page shows.
  isSettled: boolean;
  // What is wrong is said beside the fields.
  isPlaced: boolean;
  canPay: boolean;
  onPay: () => void;
}

export function SynthesisPrice({
  dataset,
  price: { data, error, loading, reload },
  missing,
  isSettled,
  isPlaced,
  canPay,
  onPay,
}: Props) {
  const isAsked = missing === undefined;
  // The price before stays in its place while the next one is on its way, and cannot be paid.
  const [last, setLast] = useState(data);
  if (data !== undefined && data !== last) setLast(data);
  if (!isAsked && last !== undefined) setLast(undefined);
  const shown = error && !data ? undefined : last;
  return (
    <Card title="Price">
      {!isAsked && <p class="quiet small">{missing}</p>}
      {isAsked && error && !isPlaced && isSettled && (
        <ErrorNotice error={error} what="The price" onRetry={reload} />
      )}
      {isAsked && error && isPlaced && (
        <p class="quiet small">There is no price: what is wrong is said beside the field above.</p>
      )}
      {isAsked && !shown && (!error || !isSettled) && <Skeleton height={20} />}
      {isAsked && shown && (
        <div class="stack" aria-busy={loading || !isSettled}>
          <Estimate
            dataset={dataset}
            estimate={shown}
            canPay={canPay && data !== undefined && shown === data}
            onPay={onPay}
          />
        </div>
      )}
    </Card>
  );
}
