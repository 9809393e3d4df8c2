// A question in SQL: a statement, what it means or why it is refused, and its price.
import { useState } from "preact/hooks";
import type { ApiError } from "../../api/error.ts";
import type { Dataset } from "../../api/types.ts";
import { useCall } from "../../api/use-call.ts";
import { Button } from "../../components/Button.tsx";
import { MarkedLine } from "../../components/Command.tsx";
import { SkeletonLines } from "../../components/Empty.tsx";
import { ErrorNotice, Notice } from "../../components/Notice.tsx";
import { Card } from "../../components/Page.tsx";
import { TextArea } from "../../components/TextArea.tsx";
import { exampleSql, meaningOf, sqlProblemOf, type Meaning } from "../../sql.ts";
import type { AnswerRequest } from "../Ask.tsx";
import { StatisticsPrice } from "./StatisticsPrice.tsx";

function MeaningFacts({ meaning }: { meaning: Meaning }) {
  const { statistics, groups, records, shown } = meaning;
  return (
    <Card title="What it asks">
      <dl class="facts wide">
        <div>
          <dt>Statistics</dt>
          <dd>
            {statistics.map((each) => (
              <div key={each}>{each}</div>
            ))}
          </dd>
        </div>
        <div>
          <dt>For</dt>
          <dd>{groups}</dd>
        </div>
        <div>
          <dt>Records</dt>
          <dd>{records}</dd>
        </div>
        {shown.length > 0 && (
          <div>
            <dt>Shown of the answer</dt>
            <dd>
              {shown.map((each) => (
                <div key={each}>{each}</div>
              ))}
              <div class="small quiet">
                Chosen among the noisy answers. All groups are paid for, and the release has them all.
              </div>
            </dd>
          </div>
        )}
      </dl>
    </Card>
  );
}

// Of an error that is not one of the statement.
function TranslationNotice({ error, onRetry }: { error: ApiError; onRetry: () => void }) {
  if (error.code !== "UNAVAILABLE" || error.reason === "UNREACHABLE")
    return <ErrorNotice error={error} what="The translation" onRetry={onRetry} />;
  return (
    <Notice kind="warn" title="Statements cannot be translated now.">
      <p>{error.message}</p>
      <p class="quiet">It is tried again by itself until it succeeds.</p>
    </Notice>
  );
}

interface Props {
  dataset: Dataset;
  sql: string;
  onInput: (sql: string) => void;
  onAsk: (request: AnswerRequest) => void;
}

export function SqlQuestion({ dataset, sql, onInput, onAsk }: Props) {
  // Translated when the reader asks for it: a statement that is being written has mistakes.
  const [read, setRead] = useState<string>();
  const isRead = read === sql;
  const { data, error, loading, reload } = useCall(
    "QueryService/TranslateSql",
    isRead ? { dataset: dataset.name, sql } : undefined,
    { poll: false },
  );
  const problem = error && sqlProblemOf(error);
  const meaning = data && meaningOf(data, dataset.schema);
  const submit = () => {
    if (sql.trim() !== "") setRead(sql);
  };
  return (
    <>
      <Card title="Question">
        <form
          class="stack"
          onSubmit={(event) => {
            event.preventDefault();
            submit();
          }}
        >
          <TextArea
            label="Statement"
            hint={
              <>
                One SELECT, for example <code>{exampleSql(dataset)}</code>
              </>
            }
            problem={problem?.words}
            rows={6}
            mono
            value={sql}
            onInput={onInput}
            onSubmit={submit}
          />
          {problem && problem.place !== "" && <MarkedLine text={problem.place} />}
          <div class="actions">
            <Button type="submit" disabled={sql.trim() === ""} busy={loading}>
              Show what it costs
            </Button>
          </div>
        </form>
        {error && !problem && <TranslationNotice error={error} onRetry={reload} />}
        {loading && <SkeletonLines lines={3} label="The statement is being translated" />}
        <p class="quiet small">
          A part of PostgreSQL's SELECT: grouping columns, COUNT, SUM, AVG, VARIANCE and percentile_cont, with
          WHERE, GROUP BY, HAVING, ORDER BY and LIMIT. Nothing is charged before you have seen the price and
          accepted it.
        </p>
      </Card>
      {data && meaning && data.workload && (
        <>
          <MeaningFacts meaning={meaning} />
          <StatisticsPrice
            dataset={dataset.name}
            workload={data.workload}
            selection={data.selection ?? {}}
            onlyPrice={data.explain}
            onAsk={onAsk}
          />
        </>
      )}
    </>
  );
}
