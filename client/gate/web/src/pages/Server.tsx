// The server itself: what runs, by which key it signs, and for operators how it does.
import { useEffect, useState } from "preact/hooks";
import { useCall } from "../api/use-call.ts";
import { bytesOfBase64, hexOf, hexOfBase64 } from "../bytes.ts";
import { SkeletonLines } from "../components/Empty.tsx";
import { Gloss } from "../components/Gloss.tsx";
import { ErrorNotice, Notice } from "../components/Notice.tsx";
import { Card, Page } from "../components/Page.tsx";
import { hasRole, sessionState } from "../session.ts";
import { useStore } from "../store.ts";
import { Metrics } from "./server/Metrics.tsx";

// "a1b2 c3d4 …": the SHA-256 of the key, in groups that can be read out.
function useFingerprint(key: string | undefined): string | undefined {
  const [fingerprint, setFingerprint] = useState<string>();
  useEffect(() => {
    setFingerprint(undefined);
    // Browsers have no WebCrypto on insecure origins.
    if (!key || !globalThis.crypto?.subtle) return;
    void crypto.subtle
      .digest("SHA-256", bytesOfBase64(key))
      .then((hash) => setFingerprint(hexOf(new Uint8Array(hash)).replace(/(.{4})(?=.)/g, "$1 ")));
  }, [key]);
  return fingerprint;
}

function ReceiptKey() {
  const { data, error, reload } = useCall("BudgetService/GetReceiptKey", {}, { poll: false });
  const fingerprint = useFingerprint(data?.public_key);
  return (
    <Card title="Key of receipts">
      {error && <ErrorNotice error={error} what="The key" onRetry={reload} />}
      {!data && !error && <SkeletonLines lines={3} />}
      {data && (
        <dl class="facts wide">
          <div>
            <dt>Ledger</dt>
            <dd>
              <code>{data.ledger_id}</code>
            </dd>
          </div>
          <div>
            <dt>Public key (Ed25519)</dt>
            <dd>
              <code>{hexOfBase64(data.public_key)}</code>
            </dd>
          </div>
          {fingerprint && (
            <div>
              <dt>Its fingerprint (SHA-256)</dt>
              <dd>
                <code>{fingerprint}</code>
              </dd>
            </div>
          )}
        </dl>
      )}
      <p class="small quiet">
        Every <Gloss term="receipt" /> is signed with it. Compare it once with what the operator published, by
        another way than this page; then receipts prove charges even against the server.
      </p>
    </Card>
  );
}

export function ServerPage() {
  const state = useStore(sessionState);
  const { session } = state;
  const server = session?.server;
  return (
    <Page title="Server" lead="What runs, by which key it signs, and how it does.">
      <Card title="Program">
        {server ? (
          <dl class="facts">
            <div>
              <dt>Version of curatord</dt>
              <dd>{server.version}</dd>
            </div>
            <div>
              <dt>Ledger</dt>
              <dd>{server.ledger_backend}</dd>
            </div>
            <div>
              <dt>Mode</dt>
              <dd>{server.development_mode ? "development: no security" : "production"}</dd>
            </div>
          </dl>
        ) : (
          <Notice kind="warn" title="The server did not answer when this page was loaded." />
        )}
      </Card>
      <ReceiptKey />
      {hasRole(state, "OPERATOR") ? (
        <Metrics />
      ) : (
        <Notice title="Operators see more here.">
          <p>
            Certificates, the queue, the anchor and the times of the ledger are for those who run the server.
            An administrator makes operators.
          </p>
        </Notice>
      )}
    </Page>
  );
}
