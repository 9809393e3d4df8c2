// One principal, for administrators.
import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { PrincipalInfo } from "../../api/types.ts";
import { useCall } from "../../api/use-call.ts";
import { AskDialog } from "../../components/AskDialog.tsx";
import { Button } from "../../components/Button.tsx";
import { SkeletonLines } from "../../components/Empty.tsx";
import { Link } from "../../components/Link.tsx";
import { ErrorNotice, Notice } from "../../components/Notice.tsx";
import { Card, Page } from "../../components/Page.tsx";
import { Time } from "../../components/Values.tsx";
import { navigate } from "../../router.ts";
import type { PageProps } from "../../routes.tsx";
import { isAdministrator, sessionState } from "../../session.ts";
import { useStore } from "../../store.ts";
import { Credentials } from "./Credentials.tsx";
import { IdentityDialog } from "./Identity.tsx";
import { NewToken } from "./NewToken.tsx";
import { Quotas } from "./Quotas.tsx";
import { Roles } from "./Roles.tsx";

type Asking = "disable" | "enable" | "forget" | "token" | "identity";

function Asked({
  asking,
  name,
  onClose,
  onDone,
}: {
  asking: Asking;
  name: string;
  onClose: () => void;
  onDone: (what: string) => void;
}) {
  if (asking === "token") return <NewToken principal={name} onClose={onClose} onDone={onDone} />;
  if (asking === "identity") return <IdentityDialog principal={name} onClose={onClose} onDone={onDone} />;
  if (asking === "disable") {
    return (
      <AskDialog
        title={`Disable ${name}?`}
        button="Disable"
        danger
        reason="needed"
        problem="It was not disabled."
        make={(reason) => call("IdentityService/DisablePrincipal", { name, reason })}
        onClose={onClose}
        onDone={() => onDone(`${name} is disabled.`)}
      >
        <p>
          Its calls are refused from now on, on every server within two seconds. What it was charged for runs
          to its end. It can be enabled again.
        </p>
      </AskDialog>
    );
  }
  if (asking === "enable") {
    return (
      <AskDialog
        title={`Enable ${name} again?`}
        button="Enable"
        reason="needed"
        problem="It was not enabled."
        make={(reason) => call("IdentityService/EnablePrincipal", { name, reason })}
        onClose={onClose}
        onDone={() => onDone(`${name} is enabled.`)}
      >
        <p>It has its credentials, roles and grants again.</p>
      </AskDialog>
    );
  }
  return (
    <AskDialog
      title={`Forget ${name} for good?`}
      button="Forget"
      danger
      reason="optional"
      typed={name}
      problem="It was not forgotten."
      make={(reason) => call("IdentityService/ForgetPrincipal", { name, reason })}
      onClose={onClose}
      onDone={() => navigate("/people", { replace: true })}
    >
      <Notice kind="bad" title="This cannot be undone.">
        <p>
          What says whose its charges, releases and entries are is destroyed: they stay, under a pseudonym
          that is nobody's. Its credentials and roles end. It must have been disabled for a day, and own no
          dataset that is not archived.
        </p>
      </Notice>
    </AskDialog>
  );
}

function Facts({ principal, onAsk }: { principal: PrincipalInfo; onAsk: (asking: Asking) => void }) {
  return (
    <Card
      title="Principal"
      aside={
        <span class="row">
          {principal.disabled ? (
            <>
              <Button onClick={() => onAsk("enable")}>Enable…</Button>
              <Button kind="danger" onClick={() => onAsk("forget")}>
                Forget…
              </Button>
            </>
          ) : (
            <Button kind="danger" onClick={() => onAsk("disable")}>
              Disable…
            </Button>
          )}
        </span>
      }
    >
      <dl class="facts">
        <div>
          <dt>Kind</dt>
          <dd>{principal.kind.toLowerCase()}</dd>
        </div>
        <div>
          <dt>State</dt>
          <dd>{principal.disabled ? <strong>disabled</strong> : "active"}</dd>
        </div>
        <div>
          <dt>Created</dt>
          <dd>
            <Time value={principal.create_time} />
            {principal.created_by && `, by ${principal.created_by}`}
          </dd>
        </div>
      </dl>
    </Card>
  );
}

export function PrincipalPage({ params }: PageProps) {
  const name = params["principal"] ?? "";
  const state = useStore(sessionState);
  const me = state.session?.principal ?? "";
  const isAllowed = isAdministrator(state);
  const { data, error, reload } = useCall("IdentityService/GetPrincipal", isAllowed ? { name } : undefined);
  const [asking, setAsking] = useState<Asking>();
  const [done, setDone] = useState("");
  const changed = (what: string) => {
    setAsking(undefined);
    setDone(what);
    reload();
  };
  const ask = (next: Asking) => {
    setDone("");
    setAsking(next);
  };
  return (
    <Page
      title={name}
      crumb={
        <>
          <Link href="/people">People</Link> / Principal
        </>
      }
    >
      <div class="said" aria-live="polite">
        {done && <Notice kind="good" title={done} />}
      </div>
      {!isAllowed && (
        <Notice title="Administrators manage principals.">
          <p>
            Your own account is under <Link href="/people">People</Link>.
          </p>
        </Notice>
      )}
      {error && <ErrorNotice error={error} what="The principal" onRetry={reload} />}
      {isAllowed && !data && !error && (
        <div class="card">
          <SkeletonLines lines={5} />
        </div>
      )}
      {data && (
        <>
          <Facts principal={data} onAsk={ask} />
          <Card
            title="Credentials"
            aside={
              <span class="row">
                <Button onClick={() => ask("identity")}>Link an identity…</Button>
                <Button onClick={() => ask("token")}>New API token…</Button>
              </span>
            }
          >
            <Credentials
              principal={name}
              credentials={data.credentials}
              me={me}
              mayApprove
              onChange={changed}
            />
          </Card>
          <Card title="Roles">
            <Roles principal={data} me={me} onChange={changed} />
          </Card>
          <Card title="What it may use">
            <Quotas principal={name} />
          </Card>
        </>
      )}
      {asking && <Asked asking={asking} name={name} onClose={() => setAsking(undefined)} onDone={changed} />}
    </Page>
  );
}
