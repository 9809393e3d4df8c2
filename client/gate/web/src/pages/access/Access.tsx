// Who has access to a dataset, for its owner; others with the right only read it.
import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { Grant, GranteeRole } from "../../api/types.ts";
import { useCall } from "../../api/use-call.ts";
import { useChange } from "../../api/use-change.ts";
import { useRequestId } from "../../api/use-request-id.ts";
import { AskDialog } from "../../components/AskDialog.tsx";
import { Button } from "../../components/Button.tsx";
import { ChangeNotice } from "../../components/ChangeNotice.tsx";
import { DatasetCrumb, DatasetTabs } from "../../components/DatasetTabs.tsx";
import { Dialog } from "../../components/Dialog.tsx";
import { Empty, SkeletonLines } from "../../components/Empty.tsx";
import { Check, FieldGroup, SelectField, TextField } from "../../components/Field.tsx";
import { ErrorNotice, Notice } from "../../components/Notice.tsx";
import { Card, Page } from "../../components/Page.tsx";
import { Table } from "../../components/Table.tsx";
import { Name, Time, useNow } from "../../components/Values.tsx";
import { expireTimeOf, expiryOptions, firstExpiry } from "../../expiry.ts";
import { newRequestId } from "../../pending.ts";
import { GRANTEE_ROLES } from "../../people.ts";
import type { PageProps } from "../../routes.tsx";
import { sessionState } from "../../session.ts";
import { useStore } from "../../store.ts";

const ROLE_NOTES: [GranteeRole, string][] = [
  ["ANALYST", "asks questions and creates syntheses"],
  ["SERVICE", "programs of your own that charge this dataset"],
  ["AUDITOR", "sees budgets and the history, and no answers"],
];

function rolesText({ roles }: Grant): string {
  return roles.map((role) => GRANTEE_ROLES[role]).join(", ");
}

function GrantDialog({
  dataset,
  grant,
  isDevelopment,
  onClose,
  onDone,
}: {
  dataset: string;
  grant: Grant | undefined;
  isDevelopment: boolean;
  onClose: () => void;
  onDone: (what: string) => void;
}) {
  const requestIdOf = useRequestId();
  const [principal, setPrincipal] = useState(grant?.principal ?? "");
  const [roles, setRoles] = useState<GranteeRole[]>(
    grant?.roles.filter((role) => role !== "FORMER") ?? ["ANALYST"],
  );
  const [openedAt] = useState(() => Date.now());
  const [expiry, setExpiry] = useState(() => firstExpiry(grant, openedAt));
  const offered: [GranteeRole, string][] = isDevelopment
    ? [...ROLE_NOTES, ["GRANTED_APPROVER", "approves changes of limits (in development mode)"]]
    : ROLE_NOTES;
  const toggle = (role: GranteeRole) =>
    setRoles((before) =>
      before.includes(role) ? before.filter((other) => other !== role) : [...before, role],
    );
  const { start, busy, error } = useChange(async () => {
    const end = expireTimeOf(expiry, grant, openedAt);
    const order = {
      dataset,
      principal: principal.trim(),
      roles,
      ...(end === undefined ? {} : { expire_time: end }),
    };
    await call("DatasetService/GrantAccess", { ...order, request_id: requestIdOf(order) });
    onDone(grant ? `The access of ${grant.principal} is changed.` : `${principal.trim()} has access now.`);
  });
  return (
    <Dialog
      title={grant ? `Access of ${grant.principal}` : `Give access to ${dataset}`}
      onClose={onClose}
      foot={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind="primary"
            busy={busy}
            disabled={principal.trim() === "" || roles.length === 0}
            onClick={() => void start()}
          >
            {grant ? "Save" : "Give access"}
          </Button>
        </>
      }
    >
      {grant ? (
        <p class="small quiet">It replaces what {grant.principal} has now.</p>
      ) : (
        <TextField label="Principal" value={principal} onInput={setPrincipal} />
      )}
      <FieldGroup label="Roles">
        <div class="stack-s">
          {offered.map(([role, note]) => (
            <Check
              key={role}
              label={GRANTEE_ROLES[role]}
              remark={note}
              checked={roles.includes(role)}
              onToggle={() => toggle(role)}
            />
          ))}
        </div>
      </FieldGroup>
      <SelectField
        label="Ends"
        value={expiry}
        onChange={setExpiry}
        options={expiryOptions(grant, openedAt)}
      />
      <ChangeNotice error={error} what={grant ? "Access was not changed." : "Access was not given."} />
    </Dialog>
  );
}

function RevokeDialog({
  dataset,
  grant,
  onClose,
  onDone,
}: {
  dataset: string;
  grant: Grant;
  onClose: () => void;
  onDone: (what: string) => void;
}) {
  const [requestId] = useState(newRequestId);
  const [withReleases, setWithReleases] = useState(false);
  const { principal } = grant;
  return (
    <AskDialog
      title={`Take access away from ${principal}?`}
      button="Take it away"
      danger
      problem="Access was not taken away."
      make={() =>
        call("DatasetService/RevokeAccess", {
          dataset,
          principal,
          with_releases: withReleases,
          request_id: requestId,
        })
      }
      onClose={onClose}
      onDone={() => onDone(`${principal} asks nothing new any more.`)}
    >
      <p>
        It works at the next call. What was charged before runs to its end and is stored; what was spent stays
        spent.
      </p>
      <Check
        label={`Also what was released to ${principal}`}
        remark="which may have copies"
        checked={withReleases}
        onToggle={() => setWithReleases(!withReleases)}
      />
    </AskDialog>
  );
}

// An approver of one dataset is proposed by its owner, and approved by an administrator.
function ApproverDialog({
  dataset,
  onClose,
  onDone,
}: {
  dataset: string;
  onClose: () => void;
  onDone: (what: string) => void;
}) {
  const [principal, setPrincipal] = useState("");
  const { start, busy, error } = useChange(async () => {
    await call("IdentityService/BindRole", { role: "APPROVER", principal: principal.trim(), dataset });
    onDone(`Proposed: an administrator has to approve ${principal.trim()} as an approver.`);
  });
  return (
    <Dialog
      title={`Propose an approver of ${dataset}`}
      onClose={onClose}
      foot={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" busy={busy} disabled={principal.trim() === ""} onClick={() => void start()}>
            Propose
          </Button>
        </>
      }
    >
      <p class="small quiet">
        An approver decides what you propose. It must be another person, who does not spend from this dataset.
      </p>
      <TextField label="Principal" value={principal} onInput={setPrincipal} />
      <ChangeNotice error={error} what="The approver was not proposed." />
    </Dialog>
  );
}

function Grants({
  grants,
  isOwner,
  onEdit,
  onRevoke,
}: {
  grants: Grant[];
  isOwner: boolean;
  onEdit: (grant: Grant) => void;
  onRevoke: (grant: Grant) => void;
}) {
  const now = useNow();
  const hasEnded = ({ roles, expire_time: end }: Grant) =>
    roles.every((role) => role === "FORMER") || (end !== undefined && Date.parse(end) / 1000 <= now);
  return (
    <Table
      caption="Principals with access, and their roles"
      hideCaption
      stacks
      file="grants"
      rows={grants}
      rowKey={({ principal }) => principal}
      rowClass={(grant) => (hasEnded(grant) ? "outdated" : undefined)}
      columns={[
        {
          key: "principal",
          title: "Who",
          value: ({ principal }) => principal,
          cell: ({ principal }) => <Name value={principal} />,
        },
        { key: "roles", title: "Roles", value: rolesText, cell: rolesText },
        {
          key: "ends",
          title: "Ends",
          value: ({ expire_time: end }) => end ?? "",
          cell: ({ expire_time: end }) => <Time value={end} relative />,
        },
        {
          key: "actions",
          title: "Action",
          right: true,
          cell: (grant) =>
            isOwner && (
              <span class="row actions-of">
                <Button
                  kind="plain"
                  label={`Change the access of ${grant.principal}`}
                  onClick={() => onEdit(grant)}
                >
                  Change…
                </Button>
                {!hasEnded(grant) && (
                  <Button
                    kind="plain"
                    label={`Take away the access of ${grant.principal}`}
                    onClick={() => onRevoke(grant)}
                  >
                    Take away…
                  </Button>
                )}
              </span>
            ),
        },
      ]}
    />
  );
}

type Open = { what: "grant"; grant?: Grant } | { what: "revoke"; grant: Grant } | { what: "approver" };

export function AccessPage({ params }: PageProps) {
  const name = params["dataset"] ?? "";
  const { session } = useStore(sessionState);
  const isDevelopment = session?.server?.development_mode ?? false;
  const { data: dataset } = useCall("DatasetService/GetDataset", { dataset: name });
  const { data, error, reload } = useCall(
    "DatasetService/ListGrants",
    { dataset: name, page_size: 1000 },
    { live: name },
  );
  const [open, setOpen] = useState<Open>();
  const [done, setDone] = useState("");
  const isOwner = dataset !== undefined && dataset.owner === session?.principal;
  const close = () => setOpen(undefined);
  const begin = (next: Open) => {
    setDone("");
    setOpen(next);
  };
  const finish = (what: string) => {
    close();
    setDone(what);
    reload();
  };
  return (
    <Page
      title={name}
      windowTitle={`Access to ${name}`}
      crumb={<DatasetCrumb />}
      tabs={<DatasetTabs dataset={name} />}
    >
      <div class="said" aria-live="polite">
        {done && <Notice kind="good" title={done} />}
      </div>
      <Card
        title="Who has access"
        aside={
          isOwner && (
            <span class="row">
              {!isDevelopment && (
                <Button onClick={() => begin({ what: "approver" })}>Propose an approver…</Button>
              )}
              <Button kind="primary" onClick={() => begin({ what: "grant" })}>
                Give access…
              </Button>
            </span>
          )
        }
      >
        {error?.isHidden && !data && <p class="quiet">The owner of a dataset sees who has access to it.</p>}
        {error && !error.isHidden && <ErrorNotice error={error} what="The list of access" onRetry={reload} />}
        {!data && !error && <SkeletonLines lines={4} />}
        {data?.grants.length === 0 && (
          <Empty title={`Nobody but ${isOwner ? "you" : "its owner"} has access.`}>
            <p>Analysts ask questions once the owner has given them access.</p>
          </Empty>
        )}
        {data && data.grants.length > 0 && (
          <Grants
            grants={data.grants}
            isOwner={isOwner}
            onEdit={(grant) => begin({ what: "grant", grant })}
            onRevoke={(grant) => begin({ what: "revoke", grant })}
          />
        )}
      </Card>
      {open?.what === "grant" && (
        <GrantDialog
          dataset={name}
          grant={open.grant}
          isDevelopment={isDevelopment}
          onClose={close}
          onDone={finish}
        />
      )}
      {open?.what === "revoke" && (
        <RevokeDialog dataset={name} grant={open.grant} onClose={close} onDone={finish} />
      )}
      {open?.what === "approver" && <ApproverDialog dataset={name} onClose={close} onDone={finish} />}
    </Page>
  );
}
