// A secret that the server shows once. It is in this component's state alone, and gone with it.
import { useState } from "preact/hooks";
import { Button } from "./Button.tsx";
import { Dialog } from "./Dialog.tsx";
import { Notice } from "./Notice.tsx";

interface Props {
  title: string;
  secret: string;
  // What to do with it.
  note: string;
  onClose: () => void;
}

export function ShownOnce({ title, secret, note, onClose }: Props) {
  const [state, setState] = useState<"" | "copied" | "failed">("");
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(secret);
      setState("copied");
    } catch {
      setState("failed");
    }
  };
  return (
    <Dialog
      title={title}
      onClose={onClose}
      isLocked={state !== "copied"}
      foot={
        <Button kind="primary" onClick={onClose}>
          I have kept it
        </Button>
      }
    >
      <Notice kind="warn" title="It is shown this once.">
        <p>The server keeps only a hash of it, and this page forgets it when you close this.</p>
      </Notice>
      <pre class="command secret" tabIndex={0} aria-label="The secret">
        {secret}
      </pre>
      <div class="row">
        <Button onClick={() => void copy()}>Copy</Button>
        <span class="small quiet" role="status">
          {state === "copied" && "Copied."}
          {state === "failed" && "The browser does not allow it: select the text and copy it."}
        </span>
      </div>
      <p class="small">{note}</p>
    </Dialog>
  );
}
