// The price of statistics: what some shares of what is left would buy, and the one that is chosen. There is
// no error to choose by: a mean's depends on how many records are in its group.
import { useState } from "preact/hooks";
import type { Choice, Selection, StatisticForecast, Workload } from "../../api/types.ts";
import { useCall } from "../../api/use-call.ts";
import { DataFacts } from "../../components/DataFacts.tsx";
import { Skeleton } from "../../components/Empty.tsx";
import { ErrorNotice } from "../../components/Notice.tsx";
import { Card } from "../../components/Page.tsx";
import { Table } from "../../components/Table.tsx";
import { levelText } from "../../confidence.ts";
import { percent } from "../../decimal.ts";
import { counted } from "../../numbers.ts";
import { newRequestId } from "../../pending.ts";
import { spendOf, spendText } from "../../question.ts";
import { sessionState } from "../../session.ts";
import { useStore } from "../../store.ts";
import { eventText } from "../../words.ts";
import type { AnswerRequest } from "../Ask.tsx";
import { choiceColumn, COST, FITS } from "./choice-columns.tsx";
import { Costs, FreeOffer, Pay } from "./Price.tsx";
import { errorWords } from "./statistics-question.ts";

const CONFIDENCE = 0.95;
// Statistics in the table of prices; all are in that of the chosen one.
const MOST_SHOWN = 3;

interface Props {
  dataset: string;
  workload: Workload;
  // Of a statement in SQL: what is shown of the answer.
  selection?: Selection;
  // A statement that begins with EXPLAIN.
  onlyPrice?: boolean;
  onAsk: (request: AnswerRequest) => void;
}

function Choices({
  choices,
  chosen,
  onChoose,
}: {
  choices: Choice[];
  chosen: Choice | undefined;
  onChoose: (choice: Choice) => void;
}) {
  const statistics = choices[0]?.statistics ?? [];
  const more = statistics.length > MOST_SHOWN;
  return (
    <Table<Choice>
      caption={`Prices${more ? `, with the errors of the first ${MOST_SHOWN} statistics` : ""}`}
      stacks
      rows={choices}
      rowKey={(choice) => spendText(choice.spend)}
      empty={<p>There is not enough left for a price.</p>}
      columns={[
        {
          key: "share",
          title: "Price",
          cell: ({ share_of_left: share }) =>
            share === undefined ? "" : `${percent(share)} of what is left`,
        },
        COST,
        ...statistics.slice(0, MOST_SHOWN).map(({ statistic }, i) => ({
          key: `statistic ${i}`,
          title: statistic,
          right: true,
          cell: (choice: Choice) => {
            const forecast = choice.statistics?.[i];
            return forecast ? errorWords(forecast) : "";
          },
        })),
        FITS,
        choiceColumn(
          (choice) => choice === chosen,
          (choice) => `Choose the price ${spendText(choice.spend)}`,
          onChoose,
        ),
      ]}
    />
  );
}

function Forecasts({ forecasts }: { forecasts: StatisticForecast[] }) {
  return (
    <Table<StatisticForecast>
      caption="What each statistic will be off by"
      stacks
      rows={forecasts}
      rowKey={(forecast) => `${forecast.query_set} ${forecast.statistic}`}
      columns={[
        { key: "statistic", title: "Statistic", cell: ({ statistic }) => statistic },
        {
          key: "within",
          title: `${levelText(CONFIDENCE)} within`,
          right: true,
          cell: (forecast) => errorWords(forecast),
        },
        { key: "groups", title: "Groups", right: true, cell: ({ groups }) => counted(groups, "group") },
        { key: "words", title: "Measured as", cell: ({ words }) => words },
      ]}
    />
  );
}

export function StatisticsPrice({ dataset, workload, selection, onlyPrice, onAsk }: Props) {
  const { who } = useStore(sessionState);
  const [wanted, setWanted] = useState<string>();
  const question = { dataset, workload, confidence_level: CONFIDENCE };
  const ladder = useCall("QueryService/EstimateWorkload", question, { live: dataset });
  const choices = ladder.data?.choices ?? [];
  const chosen = choices.find((choice) => spendText(choice.spend) === wanted) ?? choices[0];
  const price = useCall(
    "QueryService/EstimateWorkload",
    chosen?.spend ? { ...question, spend: spendOf(chosen.spend) } : undefined,
    { live: dataset },
  );
  const error = ladder.error ?? price.error;
  const shown = price.data;
  const canAsk = shown !== undefined && who !== undefined;
  const ask = (part: Pick<AnswerRequest, "spend" | "prefer_free">) =>
    onAsk({ request_id: newRequestId(), ...question, ...(selection ? { selection } : {}), ...part });
  return (
    <Card title="Price">
      {error && (
        <ErrorNotice error={error} what="The price" onRetry={ladder.error ? ladder.reload : price.reload} />
      )}
      {!ladder.data && !error && <Skeleton height={20} />}
      {ladder.data && (
        <Choices
          choices={choices}
          chosen={chosen}
          onChoose={(choice) => setWanted(spendText(choice.spend))}
        />
      )}
      {shown && chosen?.spend && (
        <div class="stack" aria-busy={price.loading}>
          {shown.free_from.length > 0 && !onlyPrice && (
            <FreeOffer estimate={shown} disabled={!canAsk} onAsk={() => ask({ prefer_free: true })} />
          )}
          <Forecasts forecasts={shown.statistics ?? []} />
          <p class="small quiet">
            The error of a mean or a variance is so much divided by the number of records in its group, which
            is not known before. Intervals that come with the answer say how far each number is off.
          </p>
          {onlyPrice ? (
            <>
              <DataFacts of={shown} />
              <p>The statement begins with EXPLAIN, which asks for the price alone: no answer is drawn.</p>
            </>
          ) : (
            <Pay
              dataset={dataset}
              estimate={shown}
              canAsk={canAsk}
              onPay={() => ask(shown.spend ? { spend: spendOf(shown.spend) } : {})}
            />
          )}
          <Costs dataset={dataset} costs={shown.costs} />
          <p class="small quiet">
            It would be recorded as {eventText(shown.event)}. The price follows from public facts alone, and
            nothing has been charged.
          </p>
        </div>
      )}
    </Card>
  );
}
