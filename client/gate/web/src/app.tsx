// Which page is shown: that of the address, or the one for signing in.
import { SkeletonLines } from "./components/Empty.tsx";
import { Brand } from "./components/icons.tsx";
import { Link } from "./components/Link.tsx";
import { Shell } from "./components/Nav.tsx";
import { Notice } from "./components/Notice.tsx";
import { Page } from "./components/Page.tsx";
import { SignInPage } from "./pages/SignIn.tsx";
import { match, place } from "./router.ts";
import { ROUTES } from "./routes.tsx";
import { sessionState } from "./session.ts";
import { useStore } from "./store.ts";

function Current({ path }: { path: string }) {
  for (const { pattern, page: Component } of ROUTES) {
    const params = match(pattern, path);
    // A page begins anew for another dataset or release.
    if (params) return <Component key={path} params={params} />;
  }
  return (
    <Page title="There is no such page">
      <p>
        The address may be mistyped. <Link href="/">Go to the overview</Link>.
      </p>
    </Page>
  );
}

function Waiting({ isLost }: { isLost: boolean }) {
  return (
    <main class="door" id="main">
      <div class="door-card">
        <div class="brand">
          <Brand />
        </div>
        <h1>Curator</h1>
        {isLost ? (
          <Notice kind="warn" title="The dashboard cannot reach its server.">
            It is tried again by itself.
          </Notice>
        ) : (
          <SkeletonLines lines={3} />
        )}
      </div>
    </main>
  );
}

export function App() {
  const { session, error, wasLost } = useStore(sessionState);
  const { path } = useStore(place);
  if (!session) return <Waiting isLost={error !== undefined} />;
  if (!session.signed_in) return <SignInPage session={session} wasLost={wasLost} />;
  return (
    // Another person begins with a page of their own.
    <Shell key={session.principal ?? ""}>
      <Current path={path} />
    </Shell>
  );
}
