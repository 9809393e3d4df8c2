// Makes an API token, which is shown once.
import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import { useChange } from "../../api/use-change.ts";
import { Button } from "../../components/Button.tsx";
import { ChangeNotice } from "../../components/ChangeNotice.tsx";
import { Dialog } from "../../components/Dialog.tsx";
import { SelectField, TextField } from "../../components/Field.tsx";
import { ShownOnce } from "../../components/ShownOnce.tsx";

const DAY_MS = 86400000;

interface Props {
  // Whose token it is; the reader's own when it is empty.
  principal: string;
  onClose: () => void;
  onDone: (what: string) => void;
}

export function NewToken({ principal, onClose, onDone }: Props) {
  const [label, setLabel] = useState("");
  const [days, setDays] = useState("90");
  const [token, setToken] = useState("");
  const { start, busy, error } = useChange(async () => {
    const expires = new Date(Date.now() + Number(days) * DAY_MS).toISOString();
    setToken(
      (await call("IdentityService/CreateApiToken", { principal, label: label.trim(), expire_time: expires }))
        .token,
    );
  });
  if (token !== "") {
    return (
      <ShownOnce
        title="The new API token"
        secret={token}
        note="Put it into a file that only its program can read, and name the file in CURATOR_TOKEN_FILE."
        onClose={() => {
          setToken("");
          onDone(`The API token ${label.trim()} was made.`);
        }}
      />
    );
  }
  return (
    <Dialog
      title={principal ? `New API token for ${principal}` : "New API token"}
      onClose={onClose}
      foot={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" busy={busy} disabled={label.trim() === ""} onClick={() => void start()}>
            Make the token
          </Button>
        </>
      }
    >
      <p class="small quiet">
        {principal
          ? `You see the secret, so another administrator approves it where ${principal} may have rights.`
          : "A program that has it acts as you, with all your rights, until it ends or you remove it."}
      </p>
      <TextField label="Label" value={label} onInput={setLabel} hint="What it is for: nightly report" />
      <SelectField
        label="Ends in"
        value={days}
        onChange={setDays}
        options={[7, 30, 90, 180, 366].map((count) => ({ value: String(count), text: `${count} days` }))}
      />
      <ChangeNotice error={error} what="The token was not made." />
    </Dialog>
  );
}
