// An error as the gate answers it. Every failed call of the page rejects with one of these.

import { sentence } from "../words.ts";

export interface ErrorBody {
  code?: string;
  message?: string;
  reason?: string;
  metadata?: Record<string, string>;
  fields?: { field: string; description: string }[];
  quota?: { subject: string; description: string }[];
  retry_seconds?: number;
}

export class ApiError extends Error {
  readonly code: string;
  readonly reason: string;
  readonly metadata: Record<string, string>;
  readonly fields: { field: string; description: string }[];
  readonly quota: { subject: string; description: string }[];
  readonly retrySeconds: number | undefined;

  constructor(
    readonly status: number,
    body: ErrorBody,
  ) {
    super(sentence(body.message ?? "") || "The server gave no reason.");
    this.name = "ApiError";
    this.code = body.code ?? "UNKNOWN";
    this.reason = body.reason ?? "";
    this.metadata = body.metadata ?? {};
    this.fields = body.fields ?? [];
    this.quota = body.quota ?? [];
    this.retrySeconds = body.retry_seconds;
  }

  // The session is over: the reader has to sign in again.
  get isSessionLoss(): boolean {
    return this.status === 401 && (this.reason === "NO_SESSION" || this.reason === "");
  }

  // The reader may not see this, or it does not exist: the two are not told apart by the server.
  get isHidden(): boolean {
    return this.code === "PERMISSION_DENIED" || this.code === "NOT_FOUND";
  }

  // Waiting may help, so the page repeats the call by itself. A request that was wrong stays wrong.
  get isPassing(): boolean {
    return (
      this.status === 0 ||
      this.status === 499 ||
      this.status >= 502 ||
      this.reason === "QUOTA" ||
      (this.code === "RESOURCE_EXHAUSTED" && this.reason !== "BUDGET_FULL") ||
      this.code === "ABORTED"
    );
  }

  // Neither the gate nor the server behind it answers.
  get isUnreachable(): boolean {
    return this.status === 0 || this.code === "UNAVAILABLE";
  }
}

export function unreachable(): ApiError {
  return new ApiError(0, {
    code: "UNAVAILABLE",
    reason: "UNREACHABLE",
    message: "The dashboard cannot reach its server.",
  });
}

export function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  return new ApiError(500, {
    code: "INTERNAL",
    message: error instanceof Error ? error.message : String(error),
  });
}
