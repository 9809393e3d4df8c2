// Sends a request that is paid for, until its answer is there. It is kept before it is sent, and always has
// the same id: it is paid for once, however often it is sent.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { assemble, NO_ATTRIBUTES } from "../../answer.ts";
import { attempt } from "../../attempt.ts";
import { call } from "../../api/client.ts";
import { asApiError, type ApiError } from "../../api/error.ts";
import { onLive } from "../../api/events.ts";
import type { AnswerChunk, Dataset } from "../../api/types.ts";
import { AnswerView } from "../../components/AnswerView.tsx";
import { Button } from "../../components/Button.tsx";
import { SkeletonLines } from "../../components/Empty.tsx";
import { Link } from "../../components/Link.tsx";
import { ErrorNotice, Notice } from "../../components/Notice.tsx";
import { Card } from "../../components/Page.tsx";
import { forgetPendingRequest, keepPendingRequest, outcomeOf, type Outcome } from "../../pending.ts";
import { navigate, to } from "../../router.ts";
import type { AnswerRequest } from "../Ask.tsx";
import { AnswerCard, FreeNotice } from "./AnswerCard.tsx";
import { SqlAnswer } from "./SqlAnswer.tsx";

const FIRST_RETRY_MS = 1000;
const LAST_RETRY_MS = 30000;

interface Props {
  dataset: Dataset;
  request: AnswerRequest;
  pseudonym: string;
  isResumed: boolean;
  onClose: () => void;
}

interface Failure {
  error: ApiError;
  outcome: Outcome;
  // It is sent again by itself.
  isRepeated: boolean;
}

interface Sent {
  chunks?: AnswerChunk[];
  failure?: Failure;
}

interface Sending extends Sent {
  isKept: boolean;
  sendAgain: () => void;
}

function useAnswer({ dataset: { name }, request, pseudonym, isResumed }: Props): Sending {
  const [sent, setSent] = useState<Sent>({});
  const [isKept, setKept] = useState(true);
  const again = useRef(() => {});
  useEffect(() => {
    let isOver = false;
    let isSending = false;
    // One that was under way when the page was left may have been charged.
    let wasUnknown = isResumed;
    // Otherwise the reader sends it again.
    let isRepeated = true;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let retryMs = FIRST_RETRY_MS;
    const send = async () => {
      if (isSending || isOver) return;
      isSending = true;
      clearTimeout(timer);
      try {
        const { messages } = await call("QueryService/AnswerWorkload", request);
        forgetPendingRequest(name);
        if (isOver) return;
        isOver = true;
        const release = messages[0]?.header?.release_id ?? "";
        if (release !== "" && !request.selection) navigate(to("/releases/:release", { release }));
        else setSent({ chunks: messages });
      } catch (thrown) {
        const error = asApiError(thrown);
        const outcome = outcomeOf(error, wasUnknown);
        wasUnknown ||= outcome === "unknown";
        if (outcome === "refused") forgetPendingRequest(name);
        if (isOver) return;
        isRepeated = error.isPassing;
        setSent({ failure: { error, outcome, isRepeated } });
        if (isRepeated) {
          timer = setTimeout(send, Math.max(retryMs, (error.retrySeconds ?? 0) * 1000));
          retryMs = Math.min(retryMs * 2, LAST_RETRY_MS);
        }
      } finally {
        isSending = false;
      }
    };
    setKept(keepPendingRequest(name, { pseudonym, requestId: request.request_id, body: request }));
    again.current = () => {
      setSent({});
      void send();
    };
    void send();
    const leaveLive = onLive(() => {
      if (isRepeated) void send();
    });
    return () => {
      isOver = true;
      clearTimeout(timer);
      leaveLive();
    };
  }, []);
  return { ...sent, isKept, sendAgain: () => again.current() };
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

function Failed({
  failure: { error, outcome, isRepeated },
  request,
  onAgain,
  onClose,
}: {
  failure: Failure;
  request: AnswerRequest;
  onAgain: () => void;
  onClose: () => void;
}) {
  const isUnknown = outcome === "unknown";
  return (
    <>
      <ErrorNotice error={error} what="The answer" />
      {isRepeated && (
        <p>
          It is sent again with the same request id, so it is paid for once: <code>{request.request_id}</code>
        </p>
      )}
      {isUnknown && !isRepeated && (
        <p>
          It may have been charged. Sent again with the same request id it is paid for once, and its answer
          comes if there is one: <code>{request.request_id}</code>
        </p>
      )}
      {error.reason === "BUDGET_FULL" && outcome === "refused" && (
        <p>
          Nothing was charged. Accept a larger error, or <Link href="/refused">see what was refused</Link>.
        </p>
      )}
      {!isRepeated && (
        <div class="actions">
          {outcome !== "refused" && (
            <Button kind="primary" onClick={onAgain}>
              Send it again
            </Button>
          )}
          <Button onClick={onClose}>{outcome === "refused" ? "Back to the question" : "Give it up"}</Button>
        </div>
      )}
    </>
  );
}

export function Answering(props: Props) {
  const { dataset, request, isResumed, onClose } = props;
  const { chunks, failure, isKept, sendAgain } = useAnswer(props);
  if (chunks && request.selection)
    return <SqlAnswer dataset={dataset} request={request} chunks={chunks} onClose={onClose} />;
  if (chunks) return <FreeAnswer dataset={dataset} chunks={chunks} onClose={onClose} />;
  return (
    <Card title="Answer">
      {!isKept && (
        <Notice kind="warn" title="This browser keeps nothing: do not reload.">
          <p>
            After a reload this page could not find the question again, and you would pay for another answer.
          </p>
        </Notice>
      )}
      {isResumed && !failure && (
        <Notice title="A question was under way when the page was left.">
          <p>It is sent again with the same id, so it is paid for once.</p>
        </Notice>
      )}
      {failure ? (
        <Failed
          failure={failure}
          request={request}
          onAgain={sendAgain}
          onClose={() => {
            forgetPendingRequest(dataset.name);
            onClose();
          }}
        />
      ) : (
        <SkeletonLines lines={8} label="The answer is being drawn" />
      )}
    </Card>
  );
}
