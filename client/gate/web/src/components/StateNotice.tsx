// Why a dataset answers nothing now.
import type { Dataset } from "../api/types.ts";
import { Notice } from "./Notice.tsx";

function stateProblem(dataset: Dataset): string {
  if (dataset.state === "DATASET_STATE_CREATED")
    return "It is not sealed yet: prices can be seen, and answers come once its owner has sealed it.";
  if (dataset.state === "DATASET_STATE_ARCHIVED")
    return "It is archived: it answers no new question, and its releases remain.";
  return "";
}

export function StateNotice({ dataset }: { dataset: Dataset | undefined }) {
  const problem = dataset ? stateProblem(dataset) : "";
  if (problem === "") return null;
  return (
    <Notice kind="warn">
      <span>{problem}</span>
    </Notice>
  );
}
