// Credentials and roles that wait for an administrator.
import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import { AskDialog } from "../../components/AskDialog.tsx";
import { Button } from "../../components/Button.tsx";
import { Link } from "../../components/Link.tsx";
import { Time } from "../../components/Values.tsx";
import { identityKind, identityWords, roleWords, type PendingPart } from "../../people.ts";
import { to } from "../../router.ts";

function keyOf(part: PendingPart): string {
  return part.kind === "credential"
    ? part.credential.id
    : `${part.role.role} ${part.principal} ${part.role.dataset}`;
}

// "a new API token for bob", "bob as approver of demo"
function nameOf(part: PendingPart): string {
  return part.kind === "credential"
    ? `a new ${identityKind(part.credential)} for ${part.principal}`
    : `${part.principal} as ${roleWords(part.role)}`;
}

async function approve(part: PendingPart): Promise<unknown> {
  if (part.kind === "credential")
    return await call("IdentityService/ApproveCredential", { credential_id: part.credential.id });
  const { role, principal, dataset } = part.role;
  return await call("IdentityService/ApproveRole", { role, principal, dataset });
}

async function refuse(part: PendingPart, reason: string): Promise<unknown> {
  if (part.kind === "credential") {
    return await call("IdentityService/RemoveCredential", { credential_id: part.credential.id, reason });
  }
  const { role, principal, dataset } = part.role;
  return await call("IdentityService/UnbindRole", { role, principal, dataset });
}

function Title({ part }: { part: PendingPart }) {
  const link = <Link href={to("/people/:principal", { principal: part.principal })}>{part.principal}</Link>;
  return (
    <h3>
      {part.kind === "credential" ? (
        <>
          A new {identityKind(part.credential)} for {link}
        </>
      ) : (
        <>
          Make {link} {roleWords(part.role)}
        </>
      )}
    </h3>
  );
}

function PendingItem({
  part,
  isOwn,
  onAsk,
}: {
  part: PendingPart;
  isOwn: boolean;
  onAsk: (what: "approve" | "refuse") => void;
}) {
  const isCredential = part.kind === "credential";
  return (
    <li class="decision">
      <div class="decision-head">
        <Title part={part} />
        <span class="tag">waits for {isOwn ? "another" : "an"} administrator</span>
      </div>
      <p class="small quiet">
        {isCredential ? "Added" : "Proposed"} by <strong>{part.by}</strong>
        {isCredential && (
          <>
            , <Time value={part.credential.add_time} relative />
          </>
        )}
      </p>
      {isCredential && (
        <p>
          <code>{identityWords(part.credential)}</code>
          {part.credential.label && ` (${part.credential.label})`}
        </p>
      )}
      <div class="row">
        {!isOwn && (
          <Button kind="primary" label={`Approve ${nameOf(part)}`} onClick={() => onAsk("approve")}>
            Approve…
          </Button>
        )}
        <Button label={`${isOwn ? "Remove" : "Refuse"} ${nameOf(part)}`} onClick={() => onAsk("refuse")}>
          {isOwn ? "Remove…" : "Refuse…"}
        </Button>
      </div>
    </li>
  );
}

function Asked({
  part,
  what,
  onClose,
  onDone,
}: {
  part: PendingPart;
  what: "approve" | "refuse";
  onClose: () => void;
  onDone: (what: string) => void;
}) {
  const name = nameOf(part);
  if (what === "approve") {
    return (
      <AskDialog
        title={`Approve ${name}?`}
        button="Approve"
        problem="It was not approved."
        make={() => approve(part)}
        onClose={onClose}
        onDone={() => onDone(`You approved ${name}.`)}
      >
        {part.kind === "credential" ? (
          <p>
            Its holder can do all that {part.principal} may do. Approve it only when you know that it is{" "}
            {part.principal}'s.
          </p>
        ) : (
          <p>
            {part.principal} has the role from your approval on. The server's history names you as who
            approved it.
          </p>
        )}
      </AskDialog>
    );
  }
  return (
    <AskDialog
      title={`Refuse ${name}?`}
      button="Refuse"
      danger
      {...(part.kind === "credential" ? { reason: "optional" as const } : {})}
      problem="It was not refused."
      make={(reason) => refuse(part, reason)}
      onClose={onClose}
      onDone={() => onDone(`${name} is refused.`.replace(/^a/, "A"))}
    >
      <p>It ends here. {part.by} can add it again.</p>
    </AskDialog>
  );
}

interface Props {
  parts: PendingPart[];
  // The reader began them, so others approve them.
  isOwn?: boolean;
  onDone: (what: string) => void;
}

export function PendingPeople({ parts, isOwn = false, onDone }: Props) {
  const [asking, setAsking] = useState<{ part: PendingPart; what: "approve" | "refuse" }>();
  if (parts.length === 0) return null;
  return (
    <>
      <ul class="decisions" aria-label="Credentials and roles">
        {parts.map((part) => (
          <PendingItem
            key={keyOf(part)}
            part={part}
            isOwn={isOwn}
            onAsk={(what) => setAsking({ part, what })}
          />
        ))}
      </ul>
      {asking && (
        <Asked
          {...asking}
          onClose={() => setAsking(undefined)}
          onDone={(what) => {
            setAsking(undefined);
            onDone(what);
          }}
        />
      )}
    </>
  );
}
