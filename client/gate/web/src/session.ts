// Who is signed in, and which roles of the server they have.
import { call, getSession, onSessionLoss, setCsrf, signIn, signOut } from "./api/client.ts";
import { asApiError, type ApiError } from "./api/error.ts";
import { startEvents, stopEvents } from "./api/events.ts";
import type { RoleBinding, Session, WhoAmI } from "./api/types.ts";
import { forgetAnswers } from "./api/use-call.ts";
import { forgetVerifications } from "./api/verification.ts";
import { forgetPendingRequests } from "./pending.ts";
import { createStore } from "./store.ts";

export interface SessionState {
  // Absent until the first answer.
  session: Session | undefined;
  // Absent until it is known, or when nobody is signed in.
  who: WhoAmI | undefined;
  // Why the session cannot be read; it is read again by itself.
  error: ApiError | undefined;
  // The session ended while the page was open.
  wasLost: boolean;
}

export const sessionState = createStore<SessionState>({
  session: undefined,
  who: undefined,
  error: undefined,
  wasLost: false,
});

const RETRY_MS = 3000;

function update(part: Partial<SessionState>): void {
  sessionState.set({ ...sessionState.get(), ...part });
}

async function loadWho(): Promise<void> {
  try {
    update({ who: await call("IdentityService/WhoAmI", {}) });
  } catch (error) {
    if (asApiError(error).isPassing) setTimeout(() => void loadWho(), RETRY_MS);
  }
}

function take(session: Session, wasLost = false): void {
  const before = sessionState.get().session;
  setCsrf(session.csrf ?? "");
  if (before?.principal !== session.principal) {
    forgetAnswers();
    forgetVerifications();
  }
  const samePerson = session.signed_in && before?.principal === session.principal;
  update({ session, error: undefined, wasLost, ...(samePerson ? {} : { who: undefined }) });
  if (session.signed_in) {
    startEvents();
    if (!samePerson) void loadWho();
  } else {
    stopEvents();
  }
}

export async function loadSession(wasLost = false): Promise<void> {
  try {
    const session = await getSession();
    take(session, wasLost && !session.signed_in);
  } catch (error) {
    update({ error: asApiError(error) });
    setTimeout(() => void loadSession(wasLost), RETRY_MS);
  }
}

export async function signInWith(proof: { name: string } | { token: string }): Promise<void> {
  await signIn(proof);
  await loadSession();
}

export async function leave(): Promise<void> {
  forgetPendingRequests();
  await signOut();
  await loadSession();
}

onSessionLoss(() => {
  if (sessionState.get().session?.signed_in) void loadSession(true);
});

export type RoleName = RoleBinding["role"];

// Whether the reader has this role, of the server or of any dataset. In development mode the roles of the
// server are everybody's.
export function hasRole(state: SessionState, role: RoleName): boolean {
  if (state.session?.server?.development_mode) return true;
  return state.who?.principal?.roles.some((binding) => binding.role === role && !binding.pending) ?? false;
}

// Manages principals. Nobody does in development mode.
export function isAdministrator(state: SessionState): boolean {
  return state.session?.server?.development_mode === false && hasRole(state, "ADMINISTRATOR");
}
