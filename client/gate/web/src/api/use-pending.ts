// The request that is being paid for on a page: the one that the reader has begun, or one that was under way
// when the page was left.
import { useEffect, useState } from "preact/hooks";
import { focusHeading } from "../components/Page.tsx";
import { forgetPendingRequest, pendingRequest } from "../pending.ts";
import { sessionState } from "../session.ts";
import { useStore } from "../store.ts";

export interface Pending<Request> {
  request: Request | undefined;
  isResumed: boolean;
  pseudonym: string;
  begin: (request: Request) => void;
  end: () => void;
}

// `place`: where it is kept.
export function usePending<Request>(place: string): Pending<Request> {
  const { who } = useStore(sessionState);
  const pseudonym = who?.pseudonym ?? "";
  const [request, setRequest] = useState<Request>();
  const [isResumed, setResumed] = useState(false);
  useEffect(() => {
    const pending = pseudonym === "" ? undefined : pendingRequest(place, pseudonym);
    if (!pending) return;
    setRequest(pending.body as Request);
    setResumed(true);
  }, [place, pseudonym]);
  const end = () => {
    forgetPendingRequest(place);
    setRequest(undefined);
    setResumed(false);
    focusHeading();
  };
  return { request, isResumed, pseudonym, begin: setRequest, end };
}
