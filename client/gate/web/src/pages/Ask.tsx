// A question about a dataset: what it costs, how exact it will be, and then the answer.
import { useEffect, useState } from "preact/hooks";
import type { Dataset, RequestOf } from "../api/types.ts";
import { useCall } from "../api/use-call.ts";
import { DatasetCrumb, DatasetTabs } from "../components/DatasetTabs.tsx";
import { SkeletonLines } from "../components/Empty.tsx";
import { ChoiceField } from "../components/Field.tsx";
import { ErrorNotice, Notice } from "../components/Notice.tsx";
import { Card, Page } from "../components/Page.tsx";
import { binsOf } from "../answer.ts";
import { counted } from "../numbers.ts";
import { pendingRequest } from "../pending.ts";
import { numbersOf, shapesFor, SHAPE_WORDS, workloadOf, type Shape } from "../question.ts";
import type { PageProps } from "../routes.tsx";
import { sessionState } from "../session.ts";
import { useStore } from "../store.ts";
import { Price } from "./ask/Price.tsx";
import { Answering } from "./ask/Answering.tsx";

export type AnswerRequest = RequestOf<"QueryService/AnswerWorkload">;

function Attributes({
  dataset,
  chosen,
  onChange,
}: {
  dataset: Dataset;
  chosen: string[];
  onChange: (change: (names: string[]) => string[]) => void;
}) {
  const attributes = dataset.schema?.attributes ?? [];
  const toggle = (name: string) =>
    onChange((names) =>
      attributes
        .map((attribute) => attribute.name)
        .filter((other) => (other === name) !== names.includes(other)),
    );
  return (
    <fieldset class="field">
      <legend class="small">
        <strong>Attributes</strong>
      </legend>
      <div class="choices">
        {attributes.map((attribute) => (
          <label class="choice" key={attribute.name}>
            <input
              type="checkbox"
              checked={chosen.includes(attribute.name)}
              onChange={() => toggle(attribute.name)}
            />
            <span>
              {attribute.name} <span class="quiet small">{counted(binsOf(attribute), "value")}</span>
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

function Question({ dataset, onAsk }: { dataset: Dataset; onAsk: (request: AnswerRequest) => void }) {
  const [chosen, setChosen] = useState<string[]>([]);
  const [wanted, setWanted] = useState<Shape>("alone");
  const attributes = dataset.schema?.attributes ?? [];
  const shapes = shapesFor(chosen, attributes);
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
        <p class="quiet small">
          {chosen.length === 0
            ? "Choose at least one attribute."
            : `The answer has ${counted(numbers, "number")}.`}{" "}
          Other questions (ranges, thresholds, conditions) can be asked with{" "}
          <code>curator workload answer {dataset.name}</code>.
        </p>
      </Card>
      {chosen.length > 0 && (
        <Price dataset={dataset.name} workload={workloadOf(shape, chosen)} onAsk={onAsk} />
      )}
    </>
  );
}

function stateProblem(dataset: Dataset): string {
  if (dataset.state === "DATASET_STATE_CREATED")
    return "It is not sealed yet: prices can be seen, and answers come once its owner has sealed it.";
  if (dataset.state === "DATASET_STATE_ARCHIVED")
    return "It is archived: it answers no new question, and its releases remain.";
  return "";
}

export function AskPage({ params }: PageProps) {
  const name = params["dataset"] ?? "";
  const { who } = useStore(sessionState);
  const {
    data: dataset,
    error,
    reload,
  } = useCall("DatasetService/GetDataset", { dataset: name }, { live: name });
  const [request, setRequest] = useState<AnswerRequest>();
  const [isResumed, setResumed] = useState(false);
  const pseudonym = who?.pseudonym ?? "";
  useEffect(() => {
    const pending = pseudonym === "" ? undefined : pendingRequest(name, pseudonym);
    if (!pending) return;
    setRequest(pending.body as AnswerRequest);
    setResumed(true);
  }, [name, pseudonym]);
  const problem = dataset ? stateProblem(dataset) : "";
  return (
    <Page
      title={name}
      windowTitle={`Ask ${name}`}
      crumb={<DatasetCrumb />}
      tabs={<DatasetTabs dataset={name} />}
    >
      {error && <ErrorNotice error={error} what="The description" onRetry={reload} />}
      {problem !== "" && (
        <Notice kind="warn">
          <span>{problem}</span>
        </Notice>
      )}
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
          onClose={() => {
            setRequest(undefined);
            setResumed(false);
          }}
        />
      )}
      {dataset && !request && <Question dataset={dataset} onAsk={setRequest} />}
    </Page>
  );
}
