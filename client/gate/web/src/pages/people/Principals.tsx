// All principals, for administrators.
import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import { usePrincipals } from "../../api/principals.ts";
import type { PrincipalInfo } from "../../api/types.ts";
import { useChange } from "../../api/use-change.ts";
import { Button } from "../../components/Button.tsx";
import { ChangeNotice } from "../../components/ChangeNotice.tsx";
import { Dialog } from "../../components/Dialog.tsx";
import { SkeletonLines } from "../../components/Empty.tsx";
import { ChoiceField, TextField } from "../../components/Field.tsx";
import { Link } from "../../components/Link.tsx";
import { ErrorNotice } from "../../components/Notice.tsx";
import { Card } from "../../components/Page.tsx";
import { Table } from "../../components/Table.tsx";
import { Name, Time } from "../../components/Values.tsx";
import { counted } from "../../numbers.ts";
import { pendingParts, roleWords } from "../../people.ts";
import { navigate, to } from "../../router.ts";

function NewPrincipal({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState("");
  const [kind, setKind] = useState<"PERSON" | "SERVICE">("PERSON");
  const { start, busy, error } = useChange(async () => {
    const made = await call("IdentityService/CreatePrincipal", { name: name.trim(), kind });
    navigate(to("/people/:principal", { principal: made.name }));
  });
  return (
    <Dialog
      title="New principal"
      onClose={onClose}
      foot={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" busy={busy} disabled={name.trim() === ""} onClick={() => void start()}>
            Create
          </Button>
        </>
      }
    >
      <p class="small quiet">It has no rights, and nobody can call as it until you link an identity to it.</p>
      <TextField
        label="Name"
        value={name}
        onInput={setName}
        hint="Letters, digits and . _ @ -, the first not @. It is never renamed."
      />
      <ChoiceField
        label="Kind"
        name="principal-kind"
        value={kind}
        onChange={(value) => setKind(value as typeof kind)}
        options={[
          { value: "PERSON", text: "person" },
          { value: "SERVICE", text: "service" },
        ]}
      />
      <ChangeNotice error={error} what="It was not created." />
    </Dialog>
  );
}

function stateWords(principal: PrincipalInfo): string {
  const pending = pendingParts([principal]).length;
  return (
    [principal.disabled ? "disabled" : "", pending > 0 ? `${pending} waiting for approval` : ""]
      .filter(Boolean)
      .join(", ") || "active"
  );
}

export function Principals() {
  const { data, error, reload } = usePrincipals();
  const [wanted, setWanted] = useState("");
  const [isNew, setNew] = useState(false);
  const shown = data?.filter(({ name }) => name.toLowerCase().includes(wanted.trim().toLowerCase())) ?? [];
  return (
    <Card title="People and services" aside={<Button onClick={() => setNew(true)}>New principal…</Button>}>
      {error && <ErrorNotice error={error} what="The list of principals" onRetry={reload} />}
      {!data && !error && <SkeletonLines lines={5} />}
      {data && (
        <>
          <div class="filters">
            <TextField label="Name contains" type="search" value={wanted} onInput={setWanted} />
          </div>
          <Table
            caption="Principals"
            hideCaption
            file="principals"
            rows={shown}
            rowKey={({ name }) => name}
            rowClass={({ disabled }) => (disabled ? "outdated" : undefined)}
            empty={<p class="quiet">No name contains “{wanted}”.</p>}
            columns={[
              {
                key: "name",
                title: "Name",
                value: ({ name }) => name,
                cell: ({ name }) => (
                  <Link href={to("/people/:principal", { principal: name })}>
                    <Name value={name} />
                  </Link>
                ),
              },
              {
                key: "kind",
                title: "Kind",
                value: ({ kind }) => kind.toLowerCase(),
                cell: ({ kind }) => kind.toLowerCase(),
              },
              { key: "state", title: "State", value: stateWords, cell: stateWords },
              {
                key: "roles",
                title: "Roles",
                value: ({ roles }) =>
                  roles
                    .filter(({ pending }) => !pending)
                    .map(roleWords)
                    .join(", "),
                cell: ({ roles }) =>
                  roles
                    .filter(({ pending }) => !pending)
                    .map(roleWords)
                    .join(", "),
              },
              {
                key: "credentials",
                title: "Credentials",
                right: true,
                value: ({ credentials }) => credentials.length,
                cell: ({ credentials }) => credentials.length,
              },
              {
                key: "created",
                title: "Created",
                value: ({ create_time }) => create_time ?? "",
                cell: ({ create_time, created_by }) => (
                  <>
                    <Time value={create_time} />
                    {created_by && `, by ${created_by}`}
                  </>
                ),
              },
            ]}
          />
          <p class="small quiet">
            {counted(data.length, "principal")}. Every change is an entry in the server's own history.
          </p>
        </>
      )}
      {isNew && <NewPrincipal onClose={() => setNew(false)} />}
    </Card>
  );
}
