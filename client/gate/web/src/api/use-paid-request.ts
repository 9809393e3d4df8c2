// Sends a request that is paid for, until its answer is there. It is kept before it is sent, and always has
// the same id: it is paid for once, however often it is sent.
import { useEffect, useRef, useState } from "preact/hooks";
import { forgetPendingRequest, keepPendingRequest, outcomeOf, type Outcome } from "../pending.ts";
import { call } from "./client.ts";
import { asApiError, type ApiError } from "./error.ts";
import { onLive } from "./events.ts";
import type { RequestOf, ResponseOf } from "./types.ts";

const FIRST_RETRY_MS = 1000;
const LAST_RETRY_MS = 30000;

export type PaidMethod = "QueryService/AnswerWorkload" | "SynthesisService/CreateSynthesis";

export interface PaidFailure {
  error: ApiError;
  outcome: Outcome;
  // It is sent again by itself.
  isRepeated: boolean;
}

export interface PaidRequest<M extends PaidMethod> {
  answer?: ResponseOf<M>;
  failure?: PaidFailure;
  // In the browser's storage, where a reload finds it.
  isKept: boolean;
  sendAgain: () => void;
}

interface Sending<M extends PaidMethod> {
  method: M;
  request: RequestOf<M>;
  // Under which it is kept.
  place: string;
  pseudonym: string;
  // It was under way when the page was left.
  isResumed: boolean;
  // Also when the page has been left meanwhile.
  onAnswer?: () => void;
}

export function usePaidRequest<M extends PaidMethod>({
  method,
  request,
  place,
  pseudonym,
  isResumed,
  onAnswer,
}: Sending<M>): PaidRequest<M> {
  const [sent, setSent] = useState<{ answer?: ResponseOf<M>; failure?: PaidFailure }>({});
  const [isKept, setKept] = useState(true);
  const again = useRef(() => {});
  useEffect(() => {
    let isOver = false;
    let isSending = false;
    // One that was under way when the page was left may have been charged.
    let wasUnknown = isResumed;
    // Otherwise the reader sends it again.
    let isRepeated = true;
    let isAnswered = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let retryMs = FIRST_RETRY_MS;
    const send = async () => {
      if (isSending || isOver) return;
      isSending = true;
      clearTimeout(timer);
      try {
        const answer = await call(method, request);
        onAnswer?.();
        isAnswered = true;
        wasUnknown = true;
        if (!isOver) setSent({ answer });
      } catch (thrown) {
        const error = asApiError(thrown);
        const outcome = outcomeOf(error, wasUnknown);
        wasUnknown ||= outcome === "unknown";
        if (outcome === "refused") forgetPendingRequest(place);
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
    setKept(keepPendingRequest(place, { pseudonym, requestId: request.request_id, body: request }));
    again.current = () => {
      isAnswered = false;
      setSent({});
      void send();
    };
    void send();
    const leaveLive = onLive(() => {
      if (isRepeated && !isAnswered) void send();
    });
    return () => {
      isOver = true;
      clearTimeout(timer);
      leaveLive();
    };
  }, []);
  return { ...sent, isKept, sendAgain: () => again.current() };
}
