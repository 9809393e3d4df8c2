// A question while it is being answered, and an answer that is not shown as a release.
import { useEffect, useMemo } from "preact/hooks";
import { assemble, NO_ATTRIBUTES } from "../../answer.ts";
import { attempt } from "../../attempt.ts";
import type { AnswerChunk, Dataset } from "../../api/types.ts";
import { usePaidRequest } from "../../api/use-paid-request.ts";
import { AnswerView } from "../../components/AnswerView.tsx";
import { SkeletonLines } from "../../components/Empty.tsx";
import { Link } from "../../components/Link.tsx";
import { ErrorNotice, Notice } from "../../components/Notice.tsx";
import { Card } from "../../components/Page.tsx";
import { FailedRequest, isTooMuch, PaidNotices } from "../../components/PaidRequest.tsx";
import { forgetPendingRequest } from "../../pending.ts";
import { navigate, to } from "../../router.ts";
import type { AnswerRequest } from "../Ask.tsx";
import { AnswerCard, FreeNotice } from "./AnswerCard.tsx";
import { SqlAnswer } from "./SqlAnswer.tsx";

interface Props {
  dataset: Dataset;
  request: AnswerRequest;
  pseudonym: string;
  isResumed: boolean;
  onClose: () => void;
}

function FreeAnswer({
  dataset,
  chunks,
  onClose,
}: {
  dataset: Dataset;
  chunks: AnswerChunk[];
  onClose: () => void;
}) {
  const schema = dataset.schema ?? NO_ATTRIBUTES;
  const answer = useMemo(() => attempt(() => assemble(chunks, schema)), [chunks, schema]);
  return (
    <AnswerCard onClose={onClose}>
      {answer instanceof Error ? (
        <Notice kind="bad" title="The answer cannot be read.">
          <p>{answer.message}</p>
        </Notice>
      ) : (
        <>
          <FreeNotice from={answer.header.free_from} />
          <AnswerView answer={answer} schema={schema} file={`answer-${dataset.name}`} />
        </>
      )}
    </AnswerCard>
  );
}

// Where the answer is stored, when it is shown there and not on this page.
function releaseOf(chunks: AnswerChunk[] | undefined, request: AnswerRequest): string {
  return request.selection ? "" : (chunks?.[0]?.header?.release_id ?? "");
}

export function Answering({ dataset, request, pseudonym, isResumed, onClose }: Props) {
  const { name } = dataset;
  const { answer, failure, isKept, sendAgain } = usePaidRequest({
    method: "QueryService/AnswerWorkload",
    request,
    place: name,
    pseudonym,
    isResumed,
    onAnswer: () => forgetPendingRequest(name),
  });
  const chunks = answer?.messages;
  const release = releaseOf(chunks, request);
  useEffect(() => {
    if (release !== "") navigate(to("/releases/:release", { release }));
  }, [release]);
  if (chunks && request.selection)
    return <SqlAnswer dataset={dataset} request={request} chunks={chunks} onClose={onClose} />;
  if (chunks && release === "") return <FreeAnswer dataset={dataset} chunks={chunks} onClose={onClose} />;
  return (
    <Card title="Answer">
      <PaidNotices isKept={isKept} isResumed={isResumed && !failure} what="question" />
      {failure ? (
        <FailedRequest
          failure={failure}
          requestId={request.request_id}
          back="Back to the question"
          onAgain={sendAgain}
          onClose={onClose}
        >
          <ErrorNotice error={failure.error} what="The answer" />
          {isTooMuch(failure) && (
            <p>
              Nothing was charged. Accept a larger error, or <Link href="/refused">see what was refused</Link>
              .
            </p>
          )}
        </FailedRequest>
      ) : (
        <SkeletonLines lines={8} label="The answer is being drawn" />
      )}
    </Card>
  );
}
