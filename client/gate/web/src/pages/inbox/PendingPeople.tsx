// Credentials and roles that wait for an administrator.
import { call } from "../../api/client.ts";
import { usePrincipals } from "../../api/principals.ts";
import { useChange } from "../../api/use-change.ts";
import { Button } from "../../components/Button.tsx";
import { ChangeNotice } from "../../components/ChangeNotice.tsx";
import { Link } from "../../components/Link.tsx";
import { ErrorNotice } from "../../components/Notice.tsx";
import { Time } from "../../components/Values.tsx";
import { identityKind, identityWords, pendingParts, roleWords, type PendingPart } from "../../people.ts";
import { to } from "../../router.ts";

function keyOf(part: PendingPart): string {
  return part.kind === "credential" ? part.credential.id : `${part.role.role} ${part.principal} ${part.role.dataset}`;
}

async function approve(part: PendingPart): Promise<unknown> {
  if (part.kind === "credential") return await call("IdentityService/ApproveCredential", { credential_id: part.credential.id });
  const { role, principal, dataset } = part.role;
  return await call("IdentityService/ApproveRole", { role, principal, dataset });
}

async function refuse(part: PendingPart): Promise<unknown> {
  if (part.kind === "credential") {
    return await call("IdentityService/RemoveCredential", { credential_id: part.credential.id, reason: "not approved" });
  }
  const { role, principal, dataset } = part.role;
  return await call("IdentityService/UnbindRole", { role, principal, dataset });
}

function PendingItem({ part, me, onDone }: { part: PendingPart; me: string; onDone: (what: string) => void }) {
  const approving = useChange(async () => {
    await approve(part);
    onDone(`You approved it for ${part.principal}.`);
  });
  const refusing = useChange(async () => {
    await refuse(part);
    onDone(`You removed it. ${part.principal} does not have it.`);
  });
  const isOwn = part.by === me;
  return (
    <li class="decision">
      <div class="decision-head">
        <h3>
          {part.kind === "credential" ? `A new ${identityKind(part.credential)} for ` : `${roleWords(part.role)}: `}
          <Link href={to("/people/:principal", { principal: part.principal })}>{part.principal}</Link>
        </h3>
        <span class="quiet small">
          {part.kind === "credential" ? "added" : "proposed"} by {part.by}
          {part.kind === "credential" && <>, <Time value={part.credential.add_time} relative /></>}
        </span>
      </div>
      {part.kind === "credential" && (
        <p><code>{identityWords(part.credential)}</code>{part.credential.label && ` (${part.credential.label})`}</p>
      )}
      <p class="small quiet">
        {part.kind === "credential"
          ? `Whoever holds it acts as ${part.principal}. Approve it only when you know that it is theirs.`
          : `${part.principal} has the role from the moment of your approval.`}
      </p>
      {isOwn
        ? <p class="small">You {part.kind === "credential" ? "added" : "proposed"} it, so another administrator approves it.</p>
        : (
          <div class="row">
            <Button kind="primary" busy={approving.busy} onClick={() => void approving.start()}>Approve</Button>
            <Button kind="danger" busy={refusing.busy} onClick={() => void refusing.start()}>Refuse</Button>
          </div>
        )}
      <ChangeNotice error={approving.error} what="It was not approved." />
      <ChangeNotice error={refusing.error} what="It was not removed." />
    </li>
  );
}

// As items of a list; nothing where nothing waits.
export function PendingPeople({ me, onDone }: { me: string; onDone: (what: string) => void }) {
  const { data, error, reload } = usePrincipals();
  const done = (what: string) => {
    onDone(what);
    reload();
  };
  const parts = pendingParts(data ?? []);
  return (
    <>
      {error && <ErrorNotice error={error} what="What waits among people" onRetry={reload} />}
      {parts.length > 0 && (
        <ul class="decisions" aria-label="Credentials and roles">
          {parts.map((part) => <PendingItem key={keyOf(part)} part={part} me={me} onDone={done} />)}
        </ul>
      )}
    </>
  );
}
