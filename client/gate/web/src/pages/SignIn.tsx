// In place of any page while nobody is signed in. The address stays, so that the page is there after signing
// in.
import { useState } from "preact/hooks";
import { loginAddress } from "../api/client.ts";
import { asApiError, type ApiError } from "../api/error.ts";
import type { Session } from "../api/types.ts";
import { Button } from "../components/Button.tsx";
import { TextField } from "../components/Field.tsx";
import { Brand } from "../components/icons.tsx";
import { ThemeSwitch } from "../components/Nav.tsx";
import { Notice } from "../components/Notice.tsx";
import { loginErrorText } from "../login-error.ts";
import { place } from "../router.ts";
import { signInWith } from "../session.ts";
import { useStore } from "../store.ts";

function useSignIn(proofOf: (text: string) => { name: string } | { token: string }) {
  const [text, setText] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError>();
  const submit = async (event: Event) => {
    event.preventDefault();
    if (busy || text.trim() === "") return;
    setBusy(true);
    setError(undefined);
    try {
      await signInWith(proofOf(text.trim()));
    } catch (thrown) {
      setError(asApiError(thrown));
      setBusy(false);
    }
  };
  return { text, setText, busy, error, submit };
}

function problemOf(error: ApiError | undefined, wrong: string): string | undefined {
  if (!error) return undefined;
  if (error.isUnreachable) return "The server does not answer. Try again in a moment.";
  return error.status === 401 ? wrong : error.message;
}

function ByName() {
  const { text, setText, busy, error, submit } = useSignIn((name) => ({ name }));
  return (
    <form onSubmit={submit}>
      <Notice kind="warn" title="This has no security.">
        <p>The server runs in development mode and believes any name that is typed here.</p>
      </Notice>
      <TextField
        label="Name"
        value={text}
        onInput={setText}
        autocomplete="username"
        autofocus
        problem={problemOf(error, "The server does not accept this name.")}
      />
      <Button type="submit" kind="primary" busy={busy}>
        Sign in by name
      </Button>
    </form>
  );
}

function ByToken() {
  const { text, setText, busy, error, submit } = useSignIn((token) => ({ token }));
  return (
    <form onSubmit={submit}>
      <TextField
        label="API token"
        type="password"
        value={text}
        onInput={setText}
        hint="It is sent once, and neither kept in the browser nor readable for this page afterwards."
        problem={problemOf(error, "The token is not valid: it may have expired or been removed.")}
      />
      <Button type="submit" busy={busy}>
        Sign in with the token
      </Button>
    </form>
  );
}

function hostOf(issuer: string): string {
  try {
    return new URL(issuer).host;
  } catch {
    return issuer;
  }
}

function Logins({ logins }: { logins: NonNullable<Session["sign_in"]>["logins"] }) {
  const { path, query } = useStore(place);
  const kept = new URLSearchParams(query);
  kept.delete("login_error");
  const here = kept.size > 0 ? `${path}?${kept}` : path;
  return (
    <div class="stack">
      {logins.map(({ alias, issuer }) => (
        <a key={alias} class="button primary" href={loginAddress(alias, here)}>
          Continue with {alias} ({hostOf(issuer)})
        </a>
      ))}
    </div>
  );
}

export function SignInPage({ session, wasLost }: { session: Session; wasLost: boolean }) {
  const { query } = useStore(place);
  const ways = session.sign_in ?? { name: false, token: false, logins: [] };
  const loginError = query.get("login_error");
  return (
    <main class="door" id="main">
      <div class="door-card">
        <div class="brand">
          <Brand />
        </div>
        <h1>Sign in</h1>
        {wasLost && <Notice title="Your session has ended.">Sign in again to go on where you were.</Notice>}
        {loginError && (
          <Notice kind="bad" title="You are not signed in.">
            <p>{loginErrorText(loginError)}</p>
          </Notice>
        )}
        {session.server === null && (
          <Notice kind="warn" title="The server does not answer.">
            It is tried again by itself.
          </Notice>
        )}
        {ways.logins.length > 0 && <Logins logins={ways.logins} />}
        {ways.name && <ByName />}
        {ways.token && (ways.name || ways.logins.length > 0) && <div class="or">or</div>}
        {ways.token && <ByToken />}
        <div class="row door-foot">
          <ThemeSwitch />
        </div>
      </div>
    </main>
  );
}
