import type { Verification } from "../api/types.ts";
import type { Loaded } from "../api/use-call.ts";
import { counted } from "../numbers.ts";
import { Icon } from "./icons.tsx";
import { Time } from "./Values.tsx";

// "The history holds, 3 hours ago".
export function VerificationMark({ verification: { data, error } }: { verification: Loaded<Verification> }) {
  if (data?.ok) {
    return (
      <span class="row">
        <span class="state good">
          <Icon name="check" />
          History verified
        </span>
        <span class="quiet">
          {counted(data.entries_checked, "entry", "entries")}, <Time value={data.verify_time} relative />
        </span>
      </span>
    );
  }
  if (data) {
    return (
      <span class="stack-s">
        <span class="state bad">
          <Icon name="cross" />
          The history contradicts itself or its anchor
        </span>
        {data.findings.map((finding) => (
          <span key={finding}>{finding}</span>
        ))}
      </span>
    );
  }
  if (error?.isHidden) return <span class="quiet">You may not have the history verified.</span>;
  if (error)
    return (
      <span class="state warn">
        <Icon name="clock" />
        Not verified now: {error.isPassing ? "waiting" : error.message}
      </span>
    );
  return (
    <span class="state quiet">
      <Icon name="clock" />
      Being verified
    </span>
  );
}
