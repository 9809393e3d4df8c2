// The roles of a principal; an administrator binds, approves and unbinds them.
import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { PrincipalInfo, RoleBinding } from "../../api/types.ts";
import { useChange } from "../../api/use-change.ts";
import { AskDialog } from "../../components/AskDialog.tsx";
import { Button } from "../../components/Button.tsx";
import { ChangeNotice } from "../../components/ChangeNotice.tsx";
import { Dialog } from "../../components/Dialog.tsx";
import { SelectField } from "../../components/Field.tsx";
import { Icon } from "../../components/icons.tsx";
import { Table } from "../../components/Table.tsx";
import { ROLES, roleWords, type Role } from "../../people.ts";

const NOTES: Record<Role, string> = {
  ROLE_UNSPECIFIED: "",
  ADMINISTRATOR: "Manages principals, credentials and roles, and sees no data.",
  APPROVER: "Approves changes of limits of all datasets. A second administrator has to approve it.",
  OPERATOR: "Sees that the server works, and all operations.",
  CREATOR: "Creates datasets.",
  AUDITOR:
    "Sees all budgets, histories and the audit, and no answers. A second administrator has to approve it.",
};

const BOUND: Role[] = ["CREATOR", "OPERATOR", "AUDITOR", "APPROVER", "ADMINISTRATOR"];

function BindDialog({
  principal,
  onClose,
  onDone,
}: {
  principal: string;
  onClose: () => void;
  onDone: (what: string) => void;
}) {
  const [role, setRole] = useState<Role>("CREATOR");
  const { start, busy, error } = useChange(async () => {
    const bound = await call("IdentityService/BindRole", { role, principal, dataset: "" });
    onDone(
      bound.pending
        ? `${principal} is to be ${ROLES[role]}: another administrator has to approve it.`
        : `${principal} is ${roleWords(bound)} now.`,
    );
  });
  return (
    <Dialog
      title={`A role for ${principal}`}
      onClose={onClose}
      foot={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" busy={busy} onClick={() => void start()}>
            Give it
          </Button>
        </>
      }
    >
      <SelectField
        label="Role"
        value={role}
        onChange={(value) => setRole(value as Role)}
        options={BOUND.map((each) => ({ value: each, text: roleWords({ role: each, dataset: "" }) }))}
        hint={NOTES[role]}
      />
      <p class="small quiet">
        Approvers of one dataset are proposed by its owner, on the dataset's page Access.
      </p>
      <ChangeNotice error={error} what="The role was not given." />
    </Dialog>
  );
}

type Asking = { what: "approve" | "unbind"; binding: RoleBinding };

export function Roles({
  principal,
  me,
  onChange,
}: {
  principal: PrincipalInfo;
  me: string;
  onChange: (what: string) => void;
}) {
  const [isBinding, setBinding] = useState(false);
  const [asking, setAsking] = useState<Asking>();
  const close = () => {
    setBinding(false);
    setAsking(undefined);
  };
  const done = (what: string) => {
    close();
    onChange(what);
  };
  const choice = ({ role, dataset }: RoleBinding) => ({ role, principal: principal.name, dataset });
  return (
    <>
      <Table
        caption={`Roles of ${principal.name}`}
        hideCaption
        rows={principal.roles}
        stacks
        rowKey={({ role, dataset }) => `${role} ${dataset}`}
        empty={<p class="quiet">None given by administrators.</p>}
        columns={[
          { key: "role", title: "Role", value: roleWords, cell: roleWords },
          {
            key: "state",
            title: "State",
            value: ({ pending }) => (pending ? "pending" : "active"),
            cell: ({ pending }) => (
              <span class={`state ${pending ? "warn" : "good"}`}>
                <Icon name={pending ? "clock" : "check"} />
                {pending ? "pending" : "active"}
              </span>
            ),
          },
          {
            key: "by",
            title: "Given by",
            value: ({ bound_by }) => bound_by,
            cell: ({ bound_by, approved_by }) => (
              <>
                {bound_by}
                {approved_by && `, approved by ${approved_by}`}
              </>
            ),
          },
          {
            key: "actions",
            title: "Action",
            right: true,
            cell: (binding) => (
              <span class="row actions-of">
                {binding.pending && binding.bound_by !== me && (
                  <Button
                    kind="plain"
                    label={`Approve ${roleWords(binding)}`}
                    onClick={() => setAsking({ what: "approve", binding })}
                  >
                    Approve…
                  </Button>
                )}
                <Button
                  kind="plain"
                  label={`Take away ${roleWords(binding)}`}
                  onClick={() => setAsking({ what: "unbind", binding })}
                >
                  Take away…
                </Button>
              </span>
            ),
          },
        ]}
      />
      <div>
        <Button onClick={() => setBinding(true)}>Give a role…</Button>
      </div>
      {isBinding && <BindDialog principal={principal.name} onClose={close} onDone={done} />}
      {asking?.what === "approve" && (
        <AskDialog
          title={`Make ${principal.name} ${roleWords(asking.binding)}?`}
          button="Approve"
          problem="It was not approved."
          make={() => call("IdentityService/ApproveRole", choice(asking.binding))}
          onClose={close}
          onDone={() => done(`${principal.name} is ${roleWords(asking.binding)} now.`)}
        >
          <p>Proposed by {asking.binding.bound_by}. It holds from your approval on.</p>
        </AskDialog>
      )}
      {asking?.what === "unbind" && (
        <AskDialog
          title={`Is ${principal.name} no longer to be ${roleWords(asking.binding)}?`}
          button="Take it away"
          danger
          problem="It was not taken away."
          make={() => call("IdentityService/UnbindRole", choice(asking.binding))}
          onClose={close}
          onDone={() => done(`${principal.name} is no longer ${roleWords(asking.binding)}.`)}
        >
          <p>It works at the next call, on every server within two seconds.</p>
        </AskDialog>
      )}
    </>
  );
}
