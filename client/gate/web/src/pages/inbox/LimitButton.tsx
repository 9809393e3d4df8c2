// On a dataset's page: its owner proposes a change of a limit, and who spends from it asks for a raise.
import { useState } from "preact/hooks";
import type { Dataset } from "../../api/types.ts";
import { Button } from "../../components/Button.tsx";
import { Link } from "../../components/Link.tsx";
import { sessionState } from "../../session.ts";
import { useStore } from "../../store.ts";
import { mayPropose, mayRequest } from "../../who-may.ts";
import { LimitDialog } from "./LimitDialog.tsx";

export function LimitButton({ dataset }: { dataset: Dataset }) {
  const state = useStore(sessionState);
  const [isOpen, setOpen] = useState(false);
  const [isDone, setDone] = useState(false);
  const isOwner = mayPropose(dataset, state.session?.principal ?? "");
  if (!isOwner && !mayRequest(dataset, state, [])) return null;
  return (
    <>
      <span class="small" role="status">
        {isDone && (
          <>
            {isOwner ? "Proposed" : "Sent"}: it is in the <Link href="/inbox">inbox</Link>.
          </>
        )}
      </span>
      <Button
        onClick={() => {
          setDone(false);
          setOpen(true);
        }}
      >
        {isOwner ? "Propose a change of a limit…" : "Request a raise…"}
      </Button>
      {isOpen && (
        <LimitDialog
          kind={isOwner ? "propose" : "request"}
          datasets={[dataset]}
          start={{ dataset: dataset.name }}
          onClose={() => setOpen(false)}
          onDone={() => {
            setOpen(false);
            setDone(true);
          }}
        />
      )}
    </>
  );
}
