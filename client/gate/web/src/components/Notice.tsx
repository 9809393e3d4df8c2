// What went wrong, in the place where its result would have been.
import type { ComponentChildren } from "preact";
import type { ApiError } from "../api/error.ts";
import { Button } from "./Button.tsx";

export function Notice({
  kind,
  title,
  children,
}: {
  kind?: "bad" | "warn" | "good";
  title?: string;
  children?: ComponentChildren;
}) {
  return (
    <div class={kind ? `notice ${kind}` : "notice"} role={kind === "bad" ? "alert" : "status"}>
      {title && <strong>{title}</strong>}
      {children}
    </div>
  );
}

function titleOf(error: ApiError, what: string): string {
  if (error.isUnreachable) return `${what} cannot be loaded: the server does not answer.`;
  if (error.reason === "QUOTA")
    return `${what} cannot be loaded now: you have used what you may of the server.`;
  if (error.code === "PERMISSION_DENIED") return `You may not see this: ${what.toLowerCase()}.`;
  if (error.code === "NOT_FOUND") return "There is nothing here, or you may not see it.";
  return `${what} cannot be loaded.`;
}

interface Props {
  error: ApiError;
  // What was to be loaded: "The budget".
  what: string;
  onRetry?: () => void;
}

// Which fields of the request were wrong, and why.
export function ErrorFields({ error }: { error: ApiError }) {
  if (error.fields.length === 0) return null;
  return (
    <ul>
      {error.fields.map(({ field, description }) => (
        <li key={field}>
          <code>{field}</code>: {description}
        </li>
      ))}
    </ul>
  );
}

// Of a failed load. What passes by itself is tried again without the reader: useCall does that.
export function ErrorNotice({ error, what, onRetry }: Props) {
  return (
    <Notice kind={error.isPassing || error.isHidden ? "warn" : "bad"} title={titleOf(error, what)}>
      {!error.isUnreachable && error.code !== "NOT_FOUND" && <p>{error.message}</p>}
      <ErrorFields error={error} />
      {error.isPassing && <p class="quiet">It is tried again by itself until it succeeds.</p>}
      {onRetry && !error.isHidden && (
        <div>
          <Button onClick={onRetry}>Try again</Button>
        </div>
      )}
    </Notice>
  );
}
