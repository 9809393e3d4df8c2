// Cancels an operation of the reader's, or stops another one's, after a question.
import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { Operation } from "../../api/types.ts";
import { useChange } from "../../api/use-change.ts";
import { Button } from "../../components/Button.tsx";
import { ChangeNotice } from "../../components/ChangeNotice.tsx";
import { Dialog } from "../../components/Dialog.tsx";
import { TextArea } from "../../components/TextArea.tsx";
import { costOfCancelling } from "../../operations.ts";

interface Props {
  operation: Operation;
  // Whose it is, when it is not the reader's.
  principal: string | undefined;
  onClose: () => void;
  onDone: (what: string) => void;
}

export function EndDialog({ operation, principal, onClose, onDone }: Props) {
  const [reason, setReason] = useState("");
  const isOther = principal !== undefined;
  const { start, busy, error } = useChange(async () => {
    if (isOther)
      await call("OperationService/StopOperation", { operation_id: operation.id, reason: reason.trim() });
    else await call("OperationService/CancelOperation", { operation_id: operation.id });
    onDone(
      isOther ? `You stopped the ${operation.kind} of ${principal}.` : `You cancelled the ${operation.kind}.`,
    );
  });
  return (
    <Dialog
      title={isOther ? `Stop the ${operation.kind} of ${principal}?` : `Cancel the ${operation.kind}?`}
      onClose={onClose}
      foot={
        <>
          <Button onClick={onClose}>Let it go on</Button>
          <Button
            kind="danger"
            busy={busy}
            disabled={isOther && reason.trim() === ""}
            onClick={() => void start()}
          >
            {isOther ? "Stop it" : "Cancel it"}
          </Button>
        </>
      }
    >
      {operation.summary && <p>{operation.summary}</p>}
      <p>{costOfCancelling(operation)}</p>
      {isOther && (
        <TextArea
          label="Reason"
          hint="The dataset's history keeps it for ever."
          value={reason}
          onInput={setReason}
        />
      )}
      <ChangeNotice error={error} what={isOther ? "It was not stopped." : "It was not cancelled."} />
    </Dialog>
  );
}
