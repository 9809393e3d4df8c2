// Synthetic data while it is made: the charge, the operation, and the release in which it ends. The request
// is kept until the operation has ended, so that a reload and an interruption find it again.
import { useEffect, useRef } from "preact/hooks";
import type { Operation } from "../../api/types.ts";
import { useCall } from "../../api/use-call.ts";
import { usePaidRequest, type PaidFailure } from "../../api/use-paid-request.ts";
import { Button } from "../../components/Button.tsx";
import { SkeletonLines } from "../../components/Empty.tsx";
import { Link } from "../../components/Link.tsx";
import { ErrorFields, ErrorNotice, Notice } from "../../components/Notice.tsx";
import { Card } from "../../components/Page.tsx";
import { FailedRequest, isTooMuch, PaidNotices } from "../../components/PaidRequest.tsx";
import { isUnderWay } from "../../operations.ts";
import { forgetPendingRequest } from "../../pending.ts";
import { spendText } from "../../question.ts";
import { to } from "../../router.ts";
import { Progress, StateMark } from "../operations/Progress.tsx";
import { useFastPoll } from "../operations/use-fast-poll.ts";
import type { SynthesisRequest } from "../Synthesize.tsx";

interface Props {
  request: SynthesisRequest;
  // Where it is kept.
  place: string;
  pseudonym: string;
  isResumed: boolean;
  onClose: () => void;
}

function Refusal({ failure: { error, outcome } }: { failure: PaidFailure }) {
  return (
    <Notice
      kind={error.isPassing ? "warn" : "bad"}
      title={outcome === "unknown" ? "It is not known whether it has begun." : "It has not begun."}
    >
      <p>{error.isUnreachable ? "The server does not answer." : error.message}</p>
      <ErrorFields error={error} />
    </Notice>
  );
}

function Ending({ operation, onAgain }: { operation: Operation; onAgain: () => void }) {
  if (operation.state === "DONE")
    return (
      <Notice kind="good" title="The synthetic data is ready.">
        <span>
          <Link href={to("/releases/:release", { release: operation.release_id })}>Show the release</Link>
        </span>
      </Notice>
    );
  if (operation.state === "FAILED")
    return (
      <Notice kind="bad" title="There is no synthetic data.">
        <p>{operation.error}</p>
      </Notice>
    );
  if (operation.state === "INTERRUPTED")
    return (
      <Notice kind="warn" title="The server stopped before it had finished.">
        <p>Sent again with the id that it had, it goes on and costs nothing more.</p>
        <div>
          <Button kind="primary" onClick={onAgain}>
            Send it again
          </Button>
        </div>
      </Notice>
    );
  return null;
}

function OperationFacts({ operation, request }: { operation: Operation; request: SynthesisRequest }) {
  return (
    <dl class="facts">
      <div>
        <dt>State</dt>
        <dd>
          <StateMark operation={operation} />
        </dd>
      </div>
      <div>
        <dt>Method</dt>
        <dd>{request.spec.method}</dd>
      </div>
      <div>
        <dt>Amount</dt>
        <dd>{spendText({ epsilon: "", delta: "", rho: "", ...request.spec.spend })}</dd>
      </div>
      <div>
        <dt>Request</dt>
        <dd>
          <code>{request.request_id}</code>
        </dd>
      </div>
    </dl>
  );
}

interface UnderWayProps {
  started: Operation;
  request: SynthesisRequest;
  place: string;
  onAgain: () => void;
  onClose: () => void;
}

function UnderWay({ started, request, place, onAgain, onClose }: UnderWayProps) {
  const { data, error, reload } = useCall("OperationService/GetOperation", { operation_id: started.id });
  const operation = data ?? started;
  const isRunning = isUnderWay(operation);
  useFastPoll(isRunning, reload);
  const isEnded = operation.state === "DONE" || operation.state === "FAILED";
  useEffect(() => {
    if (isEnded) forgetPendingRequest(place);
  }, [isEnded, place]);
  return (
    <>
      {error && <ErrorNotice error={error} what="The progress" onRetry={reload} />}
      <div class="said" aria-live="polite">
        {!isRunning && <Ending operation={operation} onAgain={onAgain} />}
      </div>
      {isRunning && <Progress operation={operation} />}
      <OperationFacts operation={operation} request={request} />
      {isRunning && (
        <p class="quiet small">
          It is paid for, and goes on when you close this page. <Link href="/operations">Operations</Link> has
          it, and can cancel it.
        </p>
      )}
      <div class="actions">
        <Button onClick={onClose}>Make another one</Button>
      </div>
    </>
  );
}

export function Making({ request, place, pseudonym, isResumed, onClose }: Props) {
  const {
    answer: started,
    failure,
    isKept,
    sendAgain,
  } = usePaidRequest({
    method: "SynthesisService/CreateSynthesis",
    request,
    place,
    pseudonym,
    isResumed,
  });
  // The dialog that was answered has gone, and the focus with it.
  const frame = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!isResumed) frame.current?.focus();
  }, []);
  return (
    <div ref={frame} tabIndex={-1} class="focus-frame">
      <Card title="Synthesis">
        <PaidNotices isKept={isKept} isResumed={isResumed && !failure && !started} what="synthesis" />
        {failure && (
          <FailedRequest
            failure={failure}
            requestId={request.request_id}
            back="Back to the choice"
            onAgain={sendAgain}
            onClose={onClose}
          >
            <Refusal failure={failure} />
            {isTooMuch(failure) && (
              <p>
                Nothing was charged. Spend less, or <Link href="/refused">see what was refused</Link>.
              </p>
            )}
          </FailedRequest>
        )}
        {!failure && !started && <SkeletonLines lines={4} label="The synthesis is being paid for" />}
        {started && (
          <UnderWay
            key={started.id}
            started={started}
            request={request}
            place={place}
            onAgain={sendAgain}
            onClose={onClose}
          />
        )}
      </Card>
    </div>
  );
}
