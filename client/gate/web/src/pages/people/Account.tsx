// The reader's own account, for everybody.
import { useState } from "preact/hooks";
import { useCall } from "../../api/use-call.ts";
import { Button } from "../../components/Button.tsx";
import { SkeletonLines } from "../../components/Empty.tsx";
import { ErrorNotice } from "../../components/Notice.tsx";
import { Card } from "../../components/Page.tsx";
import { ShortId, Time } from "../../components/Values.tsx";
import { roleWords } from "../../people.ts";
import { sessionState } from "../../session.ts";
import { useStore } from "../../store.ts";
import { Credentials } from "./Credentials.tsx";
import { IdentityDialog } from "./Identity.tsx";
import { NewToken } from "./NewToken.tsx";
import { Quotas } from "./Quotas.tsx";

export function Account({ onChange }: { onChange: (what: string) => void }) {
  const { session } = useStore(sessionState);
  const { data, error, reload } = useCall("IdentityService/WhoAmI", {});
  const [adding, setAdding] = useState<"token" | "identity">();
  const principal = data?.principal;
  const changed = (what: string) => {
    setAdding(undefined);
    onChange(what);
    reload();
  };
  return (
    <>
      <Card title="Your account">
        {error && <ErrorNotice error={error} what="Your account" onRetry={reload} />}
        {!data && !error && <SkeletonLines lines={3} />}
        {data && (
          <dl class="facts">
            <div>
              <dt>Name</dt>
              <dd>
                <strong>{principal?.name}</strong>
              </dd>
            </div>
            <div>
              <dt>In histories and receipts</dt>
              <dd>
                <ShortId value={data.pseudonym} length={14} />
              </dd>
            </div>
            <div>
              <dt>Signed in by</dt>
              <dd>{{ name: "name", token: "API token", login: "login" }[session?.kind ?? "name"]}</dd>
            </div>
            <div>
              <dt>Session ends</dt>
              <dd>
                <Time value={session?.expires} relative />
              </dd>
            </div>
            <div>
              <dt>Roles</dt>
              <dd>
                {principal?.roles
                  .filter(({ pending }) => !pending)
                  .map(roleWords)
                  .join(", ") || "none of the server's; datasets are under Overview"}
              </dd>
            </div>
          </dl>
        )}
      </Card>
      {principal && (
        <Card
          title="Your credentials"
          aside={
            <span class="row">
              <Button onClick={() => setAdding("identity")}>Add an identity…</Button>
              <Button onClick={() => setAdding("token")}>New API token…</Button>
            </span>
          }
        >
          <Credentials
            principal={principal.name}
            credentials={principal.credentials}
            current={data.credential_id}
            me={principal.name}
            mayApprove={false}
            onChange={changed}
          />
        </Card>
      )}
      <Card title="What you may use">
        <Quotas principal="" />
      </Card>
      {adding === "token" && <NewToken principal="" onClose={() => setAdding(undefined)} onDone={changed} />}
      {adding === "identity" && <IdentityDialog onClose={() => setAdding(undefined)} onDone={changed} />}
    </>
  );
}
