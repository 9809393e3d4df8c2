// How far an operation is.
import type { Operation } from "../../api/types.ts";
import { Icon } from "../../components/icons.tsx";
import { progressText } from "../../operations.ts";
import { OPERATION_STATES } from "../../words.ts";

export function Progress({ operation }: { operation: Operation }) {
  const { state, percent } = operation;
  const text = progressText(operation);
  if (state === "RUNNING") {
    return (
      <div class="progress">
        <div
          class="progress-bar"
          role="progressbar"
          aria-label={`Progress of ${operation.kind} on ${operation.dataset}`}
          aria-valuemin={0}
          aria-valuemax={100}
          aria-valuenow={Math.floor(percent)}
          aria-valuetext={text}
        >
          <span style={{ width: `${Math.min(100, Math.max(0, percent))}%` }} />
        </div>
        <span class="number small">{text}</span>
      </div>
    );
  }
  if (state === "QUEUED")
    return (
      <span class="state quiet">
        <Icon name="clock" />
        {text}
      </span>
    );
  return null;
}

export function StateMark({ operation }: { operation: Operation }) {
  const word = OPERATION_STATES[operation.state];
  if (operation.state === "DONE")
    return (
      <span class="state good">
        <Icon name="check" />
        {word}
      </span>
    );
  if (operation.state === "FAILED")
    return (
      <span class="state bad">
        <Icon name="cross" />
        {word}
      </span>
    );
  if (operation.state === "INTERRUPTED")
    return (
      <span class="state warn">
        <Icon name="warning" />
        {word}
      </span>
    );
  return <span>{word}</span>;
}
