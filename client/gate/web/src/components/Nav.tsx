// The frame around every page: navigation, who is signed in, whether the server is reached.
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { streamState, type StreamState } from "../api/events.ts";
import { useInbox } from "../api/inbox.ts";
import { useChange } from "../api/use-change.ts";
import { usePrincipals } from "../api/principals.ts";
import { pendingParts } from "../people.ts";
import { match, place } from "../router.ts";
import { ROUTES } from "../routes.tsx";
import { leave, sessionState } from "../session.ts";
import { useStore } from "../store.ts";
import { chooseTheme, theme, type Theme } from "../theme.ts";
import { Button } from "./Button.tsx";
import { Brand } from "./icons.tsx";
import { Link } from "./Link.tsx";

const STREAM_WORDS: Record<StreamState, string> = {
  off: "connecting",
  live: "live",
  reconnecting: "reconnecting",
};

export function ThemeSwitch() {
  const current = useStore(theme);
  return (
    <label class="row small theme">
      <span>Colours</span>
      <select
        value={current}
        onChange={(event) => chooseTheme(event.currentTarget.value as Theme)}
        aria-label="Colours of the page"
      >
        <option value="system" selected={current === "system"}>
          as the system
        </option>
        <option value="light" selected={current === "light"}>
          light
        </option>
        <option value="dark" selected={current === "dark"}>
          dark
        </option>
      </select>
    </label>
  );
}

function InboxCount() {
  const { session } = useStore(sessionState);
  const { data: items } = useInbox();
  const { data: principals } = usePrincipals();
  const people = pendingParts(principals ?? []).filter(({ by }) => by !== session?.principal);
  const count = (items?.length ?? 0) + people.length;
  if (count === 0) return null;
  return (
    <span class="count" title={`${count} waiting`}>
      {count > 99 ? "99+" : count}
    </span>
  );
}

function isCurrent(pattern: string, path: string): boolean {
  if (pattern === "/") return path === "/" || path.startsWith("/datasets/");
  return match(pattern, path) !== undefined || path.startsWith(`${pattern}/`);
}

function Links() {
  const state = useStore(sessionState);
  const { path } = useStore(place);
  return (
    <nav class="nav" id="navigation" aria-label="Pages">
      <ul>
        {ROUTES.map(
          ({ pattern, nav }) =>
            nav &&
            (nav.visible?.(state) ?? true) && (
              <li key={pattern}>
                <Link href={pattern} current={isCurrent(pattern, path)}>
                  <span>{nav.title}</span>
                  {pattern === "/inbox" && <InboxCount />}
                </Link>
              </li>
            ),
        )}
      </ul>
    </nav>
  );
}

function Foot() {
  const { session } = useStore(sessionState);
  const stream = useStore(streamState);
  const { start, busy, error } = useChange(leave);
  return (
    <div class="side-foot">
      <div>
        <div class="quiet">Signed in as</div>
        <div class="who">{session?.principal}</div>
      </div>
      <div class="row">
        <Button kind="plain" busy={busy} onClick={() => void start()}>
          Sign out
        </Button>
        <span class={`stream ${stream}`} role="status">
          {STREAM_WORDS[stream]}
        </span>
      </div>
      {error && (
        <p class="still-here" role="alert">
          You are still signed in:{" "}
          {error.isUnreachable ? "the server does not answer. Try again in a moment." : error.message}
        </p>
      )}
      <ThemeSwitch />
      {session?.server && (
        <div class="quiet">
          curatord {session.server.version}, {session.server.ledger_backend}
        </div>
      )}
    </div>
  );
}

const LOST_MS = 2000;

// Says so when the server has not been reached for a while: what the page shows stays, and may be old.
function LostServer() {
  const stream = useStore(streamState);
  const [isLost, setLost] = useState(false);
  useEffect(() => {
    if (stream !== "reconnecting") {
      setLost(false);
      return undefined;
    }
    const timer = setTimeout(() => setLost(true), LOST_MS);
    return () => clearTimeout(timer);
  }, [stream]);
  return (
    <div role="status">
      {isLost && (
        <p class="lost">
          The server does not answer. What you see may be old; it is brought up to date by itself.
        </p>
      )}
    </div>
  );
}

export function Shell({ children }: { children: ComponentChildren }) {
  const { session } = useStore(sessionState);
  const current = useStore(place);
  const [isOpen, setOpen] = useState(false);
  useEffect(() => setOpen(false), [current]);
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <div class="shell">
        <header class={isOpen ? "side open" : "side"}>
          <Link href="/" class="brand">
            <Brand />
          </Link>
          <button
            type="button"
            class="button menu"
            aria-expanded={isOpen}
            aria-controls="navigation"
            onClick={() => setOpen(!isOpen)}
          >
            Menu
          </button>
          <Links />
          <Foot />
        </header>
        <div>
          {session?.server?.development_mode && (
            <aside class="banner" aria-label="Warning">
              <strong>Development server.</strong> It believes any name, so it has no security. Use invented
              data only.
            </aside>
          )}
          <main class="main" id="main" tabIndex={-1}>
            {children}
            <LostServer />
          </main>
        </div>
      </div>
    </>
  );
}
