// Adds an identity: to another principal by an administrator, or to oneself by a code.
import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import { useChange } from "../../api/use-change.ts";
import { Button } from "../../components/Button.tsx";
import { ChangeNotice } from "../../components/ChangeNotice.tsx";
import { Dialog } from "../../components/Dialog.tsx";
import { ChoiceField, TextField } from "../../components/Field.tsx";
import { ShownOnce } from "../../components/ShownOnce.tsx";
import { sessionState } from "../../session.ts";
import { useStore } from "../../store.ts";

interface Props {
  // Of another principal; undefined: the reader's own.
  principal?: string;
  onClose: () => void;
  onDone: (what: string) => void;
}

export function IdentityDialog({ principal, onClose, onDone }: Props) {
  const { session } = useStore(sessionState);
  const [kind, setKind] = useState<"OIDC" | "CERTIFICATE">("OIDC");
  const [issuer, setIssuer] = useState(session?.sign_in?.logins[0]?.issuer ?? "");
  const [subject, setSubject] = useState("");
  const [label, setLabel] = useState("");
  const [code, setCode] = useState("");
  const { start, busy, error } = useChange(async () => {
    const identity = { kind, issuer: kind === "OIDC" ? issuer.trim() : "", subject: subject.trim() };
    if (principal === undefined) {
      setCode((await call("IdentityService/OpenEnrolment", { identity })).code);
      return;
    }
    const added = await call("IdentityService/LinkIdentity", { principal, identity, label: label.trim() });
    onDone(
      added.pending
        ? `It was linked to ${principal}, and waits for another administrator.`
        : `It was linked to ${principal}.`,
    );
  });
  if (code !== "") {
    return (
      <ShownOnce
        title="The code"
        secret={`curator enrol ${code}`}
        note="Run this within 15 minutes, logged in as the identity that you add. It is yours from then on."
        onClose={() => {
          setCode("");
          onDone("The code was made. The identity is yours once it has used the code.");
        }}
      />
    );
  }
  const isReady = subject.trim() !== "" && (kind === "CERTIFICATE" || issuer.trim() !== "");
  return (
    <Dialog
      title={principal ? `Link an identity to ${principal}` : "Add an identity of yours"}
      onClose={onClose}
      foot={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" busy={busy} disabled={!isReady} onClick={() => void start()}>
            {principal ? "Link it" : "Make a code"}
          </Button>
        </>
      }
    >
      <ChoiceField
        label="Kind"
        name="identity-kind"
        value={kind}
        onChange={(value) => setKind(value as typeof kind)}
        options={[
          { value: "OIDC", text: "login at an issuer" },
          { value: "CERTIFICATE", text: "client certificate" },
        ]}
      />
      {kind === "OIDC" && (
        <TextField
          label="Issuer"
          value={issuer}
          onInput={setIssuer}
          hint="Its address, as in its tokens: https://idp.example"
        />
      )}
      <TextField
        label="Subject"
        value={subject}
        onInput={setSubject}
        hint={
          kind === "OIDC"
            ? "The “sub” of its tokens."
            : "The only URI among the certificate's alternative names."
        }
      />
      {principal && <TextField label="Label" value={label} onInput={setLabel} hint="For people: laptop" />}
      <ChangeNotice error={error} what={principal ? "It was not linked." : "The code was not made."} />
    </Dialog>
  );
}
