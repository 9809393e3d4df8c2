// Who is signed in, and which roles of the server they have.
import {
  call,
  getSession,
  onSessionLoss,
  renewSessionWith,
  setCsrf,
  signIn,
  signOut,
} from "./api/client.ts";
import { asApiError, type ApiError } from "./api/error.ts";
import { forgetWatched, startEvents, stopEvents } from "./api/events.ts";
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
const SERVER_RETRY_MS = 5000;
const LOOK_AGAIN_MS = 1000;

// At most one load is under way, and at most one is to come.
let loading: Promise<void> | undefined;
let sessionTimer: ReturnType<typeof setTimeout> | undefined;
let whoTimer: ReturnType<typeof setTimeout> | undefined;
// A session ended while the page was open, and nobody has signed in since.
let isLost = false;
// A session ends when somebody signs in in another window: their cookie may come a moment after that.
let looksAgain = false;

function update(part: Partial<SessionState>): void {
  sessionState.set({ ...sessionState.get(), ...part });
}

async function loadWho(): Promise<void> {
  clearTimeout(whoTimer);
  const principal = sessionState.get().session?.principal;
  const isCurrent = () => sessionState.get().session?.principal === principal;
  try {
    const who = await call("IdentityService/WhoAmI", {});
    if (isCurrent()) update({ who });
  } catch (error) {
    if (!isCurrent() || !asApiError(error).isPassing) return;
    clearTimeout(whoTimer);
    whoTimer = setTimeout(() => void loadWho(), RETRY_MS);
  }
}

function take(session: Session): void {
  const before = sessionState.get().session;
  setCsrf(session.csrf ?? "");
  // Somebody else may have signed in, in another window: nothing of the person before is shown to them.
  if (before?.principal !== session.principal) {
    forgetAnswers();
    forgetVerifications();
    forgetWatched();
  }
  const samePerson = session.signed_in && before?.principal === session.principal;
  if (session.signed_in) isLost = false;
  update({ session, error: undefined, wasLost: isLost, ...(samePerson ? {} : { who: undefined }) });
  if (session.signed_in) {
    startEvents();
    if (!samePerson) void loadWho();
  } else {
    clearTimeout(whoTimer);
    stopEvents();
  }
}

function loadLater(ms: number): void {
  clearTimeout(sessionTimer);
  sessionTimer = setTimeout(() => void loadSession(), ms);
}

async function load(): Promise<void> {
  clearTimeout(sessionTimer);
  try {
    const session = await getSession();
    take(session);
    // How to sign in is known when the server answers.
    if (session.server === null && !session.signed_in) loadLater(SERVER_RETRY_MS);
    else if (looksAgain && !session.signed_in) loadLater(LOOK_AGAIN_MS);
    looksAgain = false;
  } catch (error) {
    update({ error: asApiError(error) });
    loadLater(RETRY_MS);
  }
}

export function loadSession(): Promise<void> {
  loading ??= load().finally(() => (loading = undefined));
  return loading;
}

// A load that is under way may have begun before what has changed.
async function loadChanged(): Promise<void> {
  await loading;
  await loadSession();
}

export async function signInWith(proof: { name: string } | { token: string }): Promise<void> {
  await signIn(proof);
  await loadChanged();
}

// A request that is paid for stays kept until the session is over for sure.
export async function leave(): Promise<void> {
  try {
    await signOut();
  } catch (error) {
    if (!asApiError(error).isSessionLoss) throw error;
  }
  forgetPendingRequests();
  await loadChanged();
}

onSessionLoss(() => {
  if (!sessionState.get().session?.signed_in) return;
  isLost = true;
  looksAgain = true;
  void loadSession();
});

// A person who has signed in in another window meanwhile is signed in here, too.
if (typeof document !== "undefined") {
  document.addEventListener("visibilitychange", () => {
    const { session } = sessionState.get();
    if (document.visibilityState === "visible" && session && !session.signed_in) void loadSession();
  });
}

// The token against forgery is another one after signing in again in another window.
renewSessionWith(async () => {
  const { session } = sessionState.get();
  await loadSession();
  const now = sessionState.get().session;
  return now?.signed_in === true && now.principal === session?.principal;
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
