// Sends a request that is paid for, until its answer is there. It is kept before it is sent, and always has
// the same id: it is paid for once, however often it is sent.
import { useEffect, useMemo, useState } from "preact/hooks";
import { assemble } from "../../answer.ts";
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
import { forgetPendingRequest, keepPendingRequest } from "../../pending.ts";
import { navigate, to } from "../../router.ts";
import type { AnswerRequest } from "../Ask.tsx";

const FIRST_RETRY_MS = 1000;
const LAST_RETRY_MS = 30000;

interface Props {
  dataset: Dataset;
  request: AnswerRequest;
  pseudonym: string;
  isResumed: boolean;
  onClose: () => void;
}

interface Outcome {
  chunks?: AnswerChunk[];
  error?: ApiError;
}

function useAnswer({ dataset: { name }, request, pseudonym }: Props): Outcome {
  const [outcome, setOutcome] = useState<Outcome>({});
  useEffect(() => {
    let isOver = false;
    let isSending = false;
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
        if (release !== "") navigate(to("/releases/:release", { release }));
        else setOutcome({ chunks: messages });
      } catch (thrown) {
        const error = asApiError(thrown);
        // Without a session it stays kept: it goes on when the same person has signed in again.
        if (!error.isPassing && !error.isSessionLoss) forgetPendingRequest(name);
        if (isOver) return;
        setOutcome({ error });
        if (error.isPassing) {
          timer = setTimeout(send, Math.max(retryMs, (error.retrySeconds ?? 0) * 1000));
          retryMs = Math.min(retryMs * 2, LAST_RETRY_MS);
        }
      } finally {
        isSending = false;
      }
    };
    keepPendingRequest(name, { pseudonym, requestId: request.request_id, body: request });
    void send();
    const leaveLive = onLive(() => void send());
    return () => {
      isOver = true;
      clearTimeout(timer);
      leaveLive();
    };
  }, []);
  return outcome;
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
  const answer = useMemo(() => {
    try {
      return assemble(chunks, dataset.schema ?? { attributes: [] });
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    }
  }, [chunks, dataset]);
  return (
    <Card
      title="Answer"
      aside={
        <Button kind="plain" onClick={onClose}>
          Ask another question
        </Button>
      }
    >
      {answer instanceof Error ? (
        <Notice kind="bad" title="The answer cannot be read.">
          <p>{answer.message}</p>
        </Notice>
      ) : (
        <>
          <Notice kind="good" title="Made from earlier releases: nothing was charged.">
            <span>
              {answer.header.free_from.map((id, i) => (
                <span key={id}>
                  {i > 0 && ", "}
                  <Link href={to("/releases/:release", { release: id })}>{id}</Link>
                </span>
              ))}
            </span>
          </Notice>
          <AnswerView
            answer={answer}
            schema={dataset.schema ?? { attributes: [] }}
            file={`answer-${dataset.name}`}
          />
        </>
      )}
    </Card>
  );
}

export function Answering(props: Props) {
  const { dataset, request, isResumed, onClose } = props;
  const { chunks, error } = useAnswer(props);
  if (chunks) return <FreeAnswer dataset={dataset} chunks={chunks} onClose={onClose} />;
  return (
    <Card title="Answer">
      {isResumed && !error && (
        <Notice title="A request was under way when the page was left.">
          <p>It is sent again with the same id, so it is paid for once.</p>
        </Notice>
      )}
      {error && <ErrorNotice error={error} what="The answer" />}
      {error?.isPassing && (
        <p>
          It is sent again with the same request id, so it is paid for once: <code>{request.request_id}</code>
        </p>
      )}
      {error?.reason === "BUDGET_FULL" && (
        <p>
          Nothing was charged. Accept a larger error, or <Link href="/refused">see what was refused</Link>.
        </p>
      )}
      {error && !error.isPassing && (
        <div>
          <Button onClick={onClose}>Back to the question</Button>
        </div>
      )}
      {!error && <SkeletonLines lines={8} label="The answer is being drawn" />}
    </Card>
  );
}
