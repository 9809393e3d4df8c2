// The chart of one account's spending, with its forecast.
import { useMemo, useState } from "preact/hooks";
import type { Account, BurnDown, Counter } from "../../api/types.ts";
import { useCall } from "../../api/use-call.ts";
import { ChartFrame } from "../../components/ChartFrame.tsx";
import { Skeleton } from "../../components/Empty.tsx";
import { SelectField } from "../../components/Field.tsx";
import { Gloss } from "../../components/Gloss.tsx";
import { LineChart } from "../../components/LineChart.tsx";
import { Meter } from "../../components/Meter.tsx";
import { ErrorNotice } from "../../components/Notice.tsx";
import { Card } from "../../components/Page.tsx";
import { Amount, Promise, useNow } from "../../components/Values.tsx";
import { percent, toNumber } from "../../decimal.ts";
import { counterForecast, forecastText, type Forecast } from "../../forecast.ts";
import { spendingSvg, spendingTable, type SpendingChart, type StepPoint } from "../../line-chart.ts";
import { secondsOf } from "../../time.ts";
import { shortAccount } from "../../words.ts";

const DAY = 86400;
const POINTS = 1000;

const RANGES = [
  { value: "all", text: "from the beginning" },
  { value: "90", text: "the last 90 days" },
  { value: "30", text: "the last 30 days" },
  { value: "7", text: "the last 7 days" },
];

function stepPoints(burnDown: BurnDown, counter: string, from: number): StepPoint[] {
  const points = burnDown.counters.find((candidate) => candidate.name === counter)?.points ?? [];
  const steps = points.map((exact) => ({
    time: secondsOf(exact.time),
    limit: toNumber(exact.limit),
    spent: toNumber(exact.spent),
    held: toNumber(exact.held),
    exact,
  }));
  const before = steps.filter((point) => point.time < from).pop();
  const inside = steps.filter((point) => point.time >= from);
  return before && from > 0 ? [{ ...before, time: from }, ...inside] : steps;
}

// The forecast is drawn as far ahead as a third of what lies behind, or until the limit is reached for sure.
function drawnForecast(
  forecast: Forecast | undefined,
  points: StepPoint[],
  now: number,
): SpendingChart["forecast"] {
  const first = points[0];
  if (!forecast || !first || forecast.fast <= 0) return undefined;
  const ahead = Math.min(Math.max((now - first.time) / 3, DAY), Math.max(forecast.latest, 3600));
  return { until: now + ahead, slow: forecast.slow, rate: forecast.rate, fast: forecast.fast };
}

function Chart({
  title,
  file,
  burnDown,
  counter,
  days,
}: {
  title: string;
  file: string;
  burnDown: BurnDown;
  counter: Counter;
  days: string;
}) {
  const now = useNow();
  const forecast = useMemo(() => counterForecast(burnDown, counter, now), [burnDown, counter, now]);
  const chart = useMemo((): SpendingChart => {
    const points = stepPoints(burnDown, counter.name, days === "all" ? 0 : now - Number(days) * DAY);
    return {
      title,
      unit: counter.name.replaceAll("_", " "),
      points,
      now,
      forecast: drawnForecast(forecast, points, now),
    };
  }, [burnDown, counter.name, days, forecast, now, title]);
  const { when, why } = forecastText(forecast);
  const legend = (
    <>
      <li>
        <span class="swatch spent" />
        spent
      </li>
      <li>
        <span class="swatch held" />
        held
      </li>
      <li>
        <span class="swatch limit" />
        limit (changes are dotted)
      </li>
      {chart.forecast && (
        <li>
          <span class="swatch forecast" />
          forecast, in its band
        </li>
      )}
    </>
  );
  return (
    <>
      <p>
        <strong>Budget used up: {when}</strong> <span class="quiet">({why})</span>
      </p>
      <ChartFrame
        title={title}
        file={file}
        data={() => spendingTable(chart)}
        svg={() => spendingSvg(chart)}
        legend={legend}
      >
        <LineChart chart={chart} />
      </ChartFrame>
    </>
  );
}

// What was used of the promise, as the promise says it.
function Used({ account: { promise, epsilon_used: used = "", share_spent: share = 0 } }: { account: Account }) {
  if (used === "") return null;
  return (
    <p class="small">
      {percent(share)} <Gloss term="spent" />: <Amount value={used} unit="epsilon" rounding="up" /> used so far of{" "}
      <Promise promise={promise} />
    </p>
  );
}

interface Props {
  dataset: string;
  accounts: Account[];
  account: Account;
  onChoose: (account: string) => void;
}

export function Spending({ dataset, accounts, account, onChoose }: Props) {
  const [counterName, setCounterName] = useState("");
  const [days, setDays] = useState("all");
  const counter = account.counters.find((candidate) => candidate.name === counterName) ?? account.counters[0];
  const { data, error, reload } = useCall(
    "BudgetService/GetBurnDown",
    { dataset, account: account.name, points: POINTS },
    { live: dataset },
  );
  if (!counter) return null;
  const whose = shortAccount(account.name, dataset);
  return (
    <Card title="Budget">
      <Meter counter={counter} />
      <Used account={account} />
      <div class="filters">
        {accounts.length > 1 && (
          <SelectField
            label="Account"
            value={account.name}
            onChange={onChoose}
            options={accounts.map(({ name }) => ({ value: name, text: shortAccount(name, dataset) }))}
          />
        )}
        {account.counters.length > 1 && (
          <SelectField
            label="Counts"
            value={counter.name}
            onChange={setCounterName}
            options={account.counters.map(({ name }) => ({ value: name, text: name.replaceAll("_", " ") }))}
          />
        )}
        <SelectField label="Time" value={days} onChange={setDays} options={RANGES} />
      </div>
      {error && <ErrorNotice error={error} what="The burn-down" onRetry={reload} />}
      {!data && !error && <Skeleton height={26} />}
      {data && (
        <Chart
          title={`Burn-down of ${whose}`}
          file={`burn-down-${dataset}`}
          burnDown={data}
          counter={counter}
          days={days}
        />
      )}
      <p class="small quiet">
        The forecast is the median rate of the last days (Theil and Sen) with a band of 80 %; a{" "}
        <Gloss term="limit">limit</Gloss> that is raised later changes it. Of accounts that others spend from, too,
        analysts see the past by the hour.
      </p>
    </Card>
  );
}
