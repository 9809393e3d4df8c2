// A question about a dataset: what it costs, how exact it will be, and then the answer.
import { useState } from "preact/hooks";
import type { Dataset, RequestOf } from "../api/types.ts";
import { useCall } from "../api/use-call.ts";
import { usePending } from "../api/use-pending.ts";
import { DatasetCrumb, DatasetTabs } from "../components/DatasetTabs.tsx";
import { SkeletonLines } from "../components/Empty.tsx";
import { ChoiceField } from "../components/Field.tsx";
import { ErrorNotice, Notice } from "../components/Notice.tsx";
import { Card, Page } from "../components/Page.tsx";
import { StateNotice } from "../components/StateNotice.tsx";
import { WhereField } from "../components/WhereField.tsx";
import { counted } from "../numbers.ts";
import { numbersOf, shapesFor, SHAPE_WORDS, workloadOf, type Shape } from "../question.ts";
import type { PageProps } from "../routes.tsx";
import { attributesOf, readWhere } from "../where.ts";
import { Attributes } from "./ask/Attributes.tsx";
import { Price } from "./ask/Price.tsx";
import { SqlQuestion } from "./ask/SqlQuestion.tsx";
import { StatisticsQuestion } from "./ask/StatisticsQuestion.tsx";
import { Answering } from "./ask/Answering.tsx";

export type AnswerRequest = RequestOf<"QueryService/AnswerWorkload">;

interface QuestionProps {
  dataset: Dataset;
  onAsk: (request: AnswerRequest) => void;
}

// Which of the questions the page puts together.
type Subject = "counts" | "statistics" | "sql";

// What is left of a question while it is being answered.
interface Draft {
  subject: Subject;
  sql: string;
}

const NO_DRAFT: Draft = { subject: "counts", sql: "" };

interface DraftProps extends QuestionProps {
  draft: Draft;
  onDraft: (draft: Draft) => void;
}

function Question({ dataset, onAsk, draft, onDraft }: DraftProps) {
  const { subject, sql } = draft;
  return (
    <>
      <Card title="What is asked">
        <ChoiceField
          label="Answer with"
          name="subject"
          value={subject}
          onChange={(value) => onDraft({ ...draft, subject: value as Subject })}
          options={[
            { value: "counts", text: "counts of records, value by value" },
            { value: "statistics", text: "sums, means and other statistics of groups" },
            { value: "sql", text: "what a statement in SQL selects" },
          ]}
        />
      </Card>
      {subject === "counts" && <CountsQuestion dataset={dataset} onAsk={onAsk} />}
      {subject === "statistics" && <StatisticsQuestion dataset={dataset} onAsk={onAsk} />}
      {subject === "sql" && (
        <SqlQuestion
          dataset={dataset}
          sql={sql}
          onInput={(text) => onDraft({ ...draft, sql: text })}
          onAsk={onAsk}
        />
      )}
    </>
  );
}

function CountsQuestion({ dataset, onAsk }: QuestionProps) {
  const [chosen, setChosen] = useState<string[]>([]);
  const [wanted, setWanted] = useState<Shape>("alone");
  const [where, setWhere] = useState("");
  const attributes = dataset.schema?.attributes ?? [];
  const { predicate, problem } = readWhere(where, attributes);
  const twice = predicate ? attributesOf(predicate).filter((name) => chosen.includes(name)) : [];
  const isAsked = (chosen.length > 0 || predicate !== undefined) && twice.length === 0 && !problem;
  const shapes = shapesFor(chosen, attributes, predicate !== undefined);
  const shape = shapes.includes(wanted) ? wanted : "alone";
  const numbers = numbersOf(shape, chosen, attributes);
  return (
    <>
      <Card title="Question">
        <Attributes dataset={dataset} chosen={chosen} onChange={setChosen} />
        {chosen.length > 0 && (
          <ChoiceField
            label="Count the records by"
            name="shape"
            value={shape}
            onChange={(value) => setWanted(value as Shape)}
            options={shapes.map((value) => ({ value, text: SHAPE_WORDS[value] }))}
          />
        )}
        <WhereField value={where} attributes={attributes} onInput={setWhere} />
        {twice.length > 0 && (
          <Notice kind="warn">
            <span>
              There is a condition on {twice.join(", ")}, and counts by it: leave one of the two out.
            </span>
          </Notice>
        )}
        <p class="quiet small">
          {isAsked
            ? `The answer has ${counted(chosen.length === 0 ? 1 : numbers, "number")}.`
            : "Choose at least one attribute, or write a condition."}{" "}
          Other questions (ranges, thresholds) can be asked with{" "}
          <code>curator workload answer {dataset.name}</code>.
        </p>
      </Card>
      {isAsked && (
        <Price dataset={dataset.name} workload={workloadOf(shape, chosen, predicate)} onAsk={onAsk} />
      )}
    </>
  );
}

export function AskPage({ params }: PageProps) {
  const name = params["dataset"] ?? "";
  const {
    data: dataset,
    error,
    reload,
  } = useCall("DatasetService/GetDataset", { dataset: name }, { live: name });
  const [draft, setDraft] = useState(NO_DRAFT);
  const { request, isResumed, pseudonym, begin, end } = usePending<AnswerRequest>(name);
  return (
    <Page
      title={name}
      windowTitle={`Ask ${name}`}
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
        <Answering
          key={request.request_id}
          dataset={dataset}
          request={request}
          pseudonym={pseudonym}
          isResumed={isResumed}
          onClose={end}
        />
      )}
      {dataset && !request && <Question dataset={dataset} onAsk={begin} draft={draft} onDraft={setDraft} />}
    </Page>
  );
}
