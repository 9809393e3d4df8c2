// What is said of a request that is paid for, while it is sent.
import type { ComponentChildren } from "preact";
import type { PaidFailure } from "../api/use-paid-request.ts";
import { Button } from "./Button.tsx";
import { Notice } from "./Notice.tsx";

// Nothing was charged, because there was not enough left.
export function isTooMuch({ error, outcome }: PaidFailure): boolean {
  return error.reason === "BUDGET_FULL" && outcome === "refused";
}

// `what`: "question".
export function PaidNotices({
  isKept,
  isResumed,
  what,
}: {
  isKept: boolean;
  isResumed: boolean;
  what: string;
}) {
  return (
    <>
      {!isKept && (
        <Notice kind="warn" title="This browser keeps nothing: do not reload.">
          <p>After a reload this page could not find the {what} again, and you would pay for another one.</p>
        </Notice>
      )}
      {isResumed && (
        <Notice title={`A ${what} was under way when the page was left.`}>
          <p>It is sent again with the same id, so it is paid for once.</p>
        </Notice>
      )}
    </>
  );
}

interface Props {
  failure: PaidFailure;
  requestId: string;
  // The button that leaves a request that was refused.
  back: string;
  onAgain: () => void;
  onClose: () => void;
  // What went wrong.
  children: ComponentChildren;
}

export function FailedRequest({ failure, requestId, back, onAgain, onClose, children }: Props) {
  const { outcome, isRepeated } = failure;
  return (
    <>
      {children}
      {isRepeated && (
        <p>
          It is sent again with the same request id, so it is paid for once: <code>{requestId}</code>
        </p>
      )}
      {outcome === "unknown" && !isRepeated && (
        <p>
          It may have been charged. Sent again with the same request id it is paid for once, and its answer
          comes if there is one: <code>{requestId}</code>
        </p>
      )}
      {!isRepeated && (
        <div class="actions">
          {outcome !== "refused" && (
            <Button kind="primary" onClick={onAgain}>
              Send it again
            </Button>
          )}
          <Button onClick={onClose}>{outcome === "refused" ? back : "Give it up"}</Button>
        </div>
      )}
    </>
  );
}
