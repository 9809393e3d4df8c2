// A question with a reason, before something is changed.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { useChange } from "../api/use-change.ts";
import { Button } from "./Button.tsx";
import { ChangeNotice } from "./ChangeNotice.tsx";
import { Dialog } from "./Dialog.tsx";
import { TextField } from "./Field.tsx";
import { TextArea } from "./TextArea.tsx";

interface Props {
  title: string;
  button: string;
  danger?: boolean;
  // "The principal was not disabled."
  problem: string;
  // Asks for a reason, which may be left out where it is not "needed".
  reason?: "needed" | "optional";
  // What the reader has to type first, for what cannot be undone.
  typed?: string;
  make: (reason: string) => Promise<unknown>;
  onClose: () => void;
  onDone: () => void;
  children: ComponentChildren;
}

export function AskDialog({
  title,
  button,
  danger,
  problem,
  reason,
  typed,
  make,
  onClose,
  onDone,
  children,
}: Props) {
  const [text, setText] = useState("");
  const [written, setWritten] = useState("");
  const { start, busy, error } = useChange(async () => {
    await make(text.trim());
    onDone();
  });
  const isReady =
    (reason !== "needed" || text.trim() !== "") && (typed === undefined || written.trim() === typed);
  return (
    <Dialog
      title={title}
      onClose={onClose}
      foot={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind={danger ? "danger" : "primary"}
            busy={busy}
            disabled={!isReady}
            onClick={() => void start()}
          >
            {button}
          </Button>
        </>
      }
    >
      {children}
      {reason && (
        <TextArea
          label={reason === "needed" ? "Reason" : "Reason (may be empty)"}
          hint="The server's history keeps it for ever: names of people do not belong here."
          value={text}
          onInput={setText}
        />
      )}
      {typed !== undefined && (
        <TextField label={`Type ${typed} to confirm`} value={written} onInput={setWritten} />
      )}
      <ChangeNotice error={error} what={problem} />
    </Dialog>
  );
}
