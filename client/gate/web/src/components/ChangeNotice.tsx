// Why a change was not made, beside the button that was to make it.
import type { ApiError } from "../api/error.ts";
import { loginAddress } from "../api/client.ts";
import { place } from "../router.ts";
import { sessionState } from "../session.ts";
import { useStore } from "../store.ts";
import { ErrorFields, Notice } from "./Notice.tsx";

// "10 minutes", "90 seconds"
export function ageWords(seconds: number): string {
  if (seconds >= 120 && seconds % 60 === 0) return `${seconds / 60} minutes`;
  return seconds === 60 ? "minute" : `${seconds} seconds`;
}

// An approval needs a login that is not old, which only the identity provider can give. `back` is the
// address to return to.
function FreshLogin({ error, back }: { error: ApiError; back: string }) {
  const { session } = useStore(sessionState);
  const logins = session?.sign_in?.logins ?? [];
  const age = Number(error.metadata["max_age_seconds"]);
  const since = age > 0 ? ageWords(age) : "minutes";
  return (
    <Notice kind="warn" title={`To approve, log in again: the server wants a login of the last ${since}.`}>
      <p>
        This keeps others from approving on a computer that you left open. You come back here afterwards;
        nothing was approved yet.
      </p>
      {logins.length === 0 && (
        <p>
          This server has no identity provider for the dashboard: API tokens and certificates approve nothing.
        </p>
      )}
      <div class="row">
        {logins.map(({ alias }) => (
          <a key={alias} class="button primary" href={loginAddress(alias, back, true)}>
            Log in again with {alias}
          </a>
        ))}
      </div>
    </Notice>
  );
}

interface Props {
  error: ApiError | undefined;
  // "The limit was not raised."
  what: string;
  // Where a fresh login returns to; the present address unless given.
  back?: string;
}

export function ChangeNotice({ error, what, back }: Props) {
  const { path, query } = useStore(place);
  if (!error) return null;
  if (error.reason === "LOGIN_TOO_OLD") {
    return <FreshLogin error={error} back={back ?? (query.size > 0 ? `${path}?${query}` : path)} />;
  }
  return (
    <Notice kind={error.isPassing ? "warn" : "bad"} title={what}>
      <p>
        {error.isUnreachable
          ? "The server does not answer. Nothing may have changed; try again in a moment."
          : error.message}
      </p>
      {error.code === "ALREADY_EXISTS" && (
        <p>Another one with this name or id is there already: look whether an earlier attempt has made it.</p>
      )}
      <ErrorFields error={error} />
    </Notice>
  );
}
