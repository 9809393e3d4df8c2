// What proves that a call is a principal's.
import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { Credential } from "../../api/types.ts";
import { AskDialog } from "../../components/AskDialog.tsx";
import { Button } from "../../components/Button.tsx";
import { Icon } from "../../components/icons.tsx";
import { Table } from "../../components/Table.tsx";
import { Time, useNow } from "../../components/Values.tsx";
import {
  basisWords,
  credentialState,
  identityKind,
  identityWords,
  type CredentialState,
} from "../../people.ts";

const MARKS: Record<CredentialState, { kind: string; icon: "check" | "clock" | "cross" }> = {
  active: { kind: "good", icon: "check" },
  pending: { kind: "warn", icon: "clock" },
  expired: { kind: "quiet", icon: "cross" },
};

interface Props {
  principal: string;
  credentials: Credential[];
  // The one that this session proved itself by.
  current?: string;
  me: string;
  mayApprove: boolean;
  onChange: (what: string) => void;
}

type Asking = { what: "approve" | "remove"; credential: Credential };

function nameOf(credential: Credential): string {
  return credential.label || identityKind(credential);
}

function Asked({
  asking,
  principal,
  isCurrent,
  onClose,
  onDone,
}: {
  asking: Asking;
  principal: string;
  isCurrent: boolean;
  onClose: () => void;
  onDone: (what: string) => void;
}) {
  const { what, credential } = asking;
  const name = nameOf(credential);
  if (what === "approve") {
    return (
      <AskDialog
        title={`Approve ${name}?`}
        button="Approve"
        problem="It was not approved."
        make={() => call("IdentityService/ApproveCredential", { credential_id: credential.id })}
        onClose={onClose}
        onDone={() => onDone(`You approved ${name} for ${principal}.`)}
      >
        <p>
          Its holder can do all that {principal} may do. {credential.added_by} added it; approve it only when
          you know that it is {principal}'s.
        </p>
      </AskDialog>
    );
  }
  return (
    <AskDialog
      title={`Remove ${name}?`}
      button="Remove"
      danger
      reason="optional"
      problem="It was not removed."
      make={(reason) => call("IdentityService/RemoveCredential", { credential_id: credential.id, reason })}
      onClose={onClose}
      onDone={() => onDone(`You removed ${name}.`)}
    >
      <p>
        It proves nothing from now on, on every server within two seconds. It cannot be put back; another one
        can be made.
      </p>
      {isCurrent && (
        <p>
          <strong>This session proved itself by it, and ends.</strong>
        </p>
      )}
    </AskDialog>
  );
}

export function Credentials({ principal, credentials, current = "", me, mayApprove, onChange }: Props) {
  const now = useNow();
  const [asking, setAsking] = useState<Asking>();
  return (
    <>
      <Table
        caption={`Credentials of ${principal}`}
        hideCaption
        rows={credentials}
        stacks
        rowKey={({ id }) => id}
        empty={<p class="quiet">None: nobody can call as {principal}.</p>}
        columns={[
          {
            key: "label",
            title: "Credential",
            value: nameOf,
            cell: (credential) => (
              <>
                {nameOf(credential)}
                {credential.id === current && <span class="tag">this session</span>}
              </>
            ),
          },
          {
            key: "kind",
            title: "Kind",
            value: identityKind,
            cell: (credential) => <span class="nowrap">{identityKind(credential)}</span>,
          },
          {
            key: "identity",
            title: "Names",
            value: identityWords,
            cell: ({ identity }) => (
              <span class="identity">
                <code>{identity?.subject ?? ""}</code>
                {identity?.kind === "OIDC" && <span class="quiet small">{identity.issuer}</span>}
              </span>
            ),
          },
          {
            key: "state",
            title: "State",
            value: (credential) => credentialState(credential, now),
            cell: (credential) => {
              const state = credentialState(credential, now);
              return (
                <span class={`state ${MARKS[state].kind}`}>
                  <Icon name={MARKS[state].icon} />
                  {state}
                </span>
              );
            },
          },
          {
            key: "added",
            title: "Added",
            value: ({ add_time }) => add_time ?? "",
            cell: (credential) => (
              <span title={basisWords(credential.basis)}>
                <Time value={credential.add_time} />
                {credential.added_by && `, by ${credential.added_by}`}
                {credential.approved_by && `, approved by ${credential.approved_by}`}
              </span>
            ),
          },
          {
            key: "expires",
            title: "Ends",
            value: ({ expire_time }) => expire_time ?? "",
            cell: ({ expire_time }) => <Time value={expire_time} relative />,
          },
          {
            key: "actions",
            title: "Action",
            right: true,
            cell: (credential) => (
              <span class="row actions-of">
                {mayApprove && credential.pending && credential.added_by !== me && (
                  <Button
                    kind="plain"
                    label={`Approve ${nameOf(credential)}`}
                    onClick={() => setAsking({ what: "approve", credential })}
                  >
                    Approve…
                  </Button>
                )}
                <Button
                  kind="plain"
                  label={`Remove ${nameOf(credential)}`}
                  onClick={() => setAsking({ what: "remove", credential })}
                >
                  Remove…
                </Button>
              </span>
            ),
          },
        ]}
      />
      {asking && (
        <Asked
          asking={asking}
          principal={principal}
          isCurrent={asking.credential.id === current}
          onClose={() => setAsking(undefined)}
          onDone={(what) => {
            setAsking(undefined);
            onChange(what);
          }}
        />
      )}
    </>
  );
}
