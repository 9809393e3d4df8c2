// All pages: their addresses, and which of them the navigation names. The order decides: the first pattern
// that fits.
import type { ComponentType } from "preact";
import type { Params } from "./router.ts";
import { hasRole, type SessionState } from "./session.ts";
import { AccessPage } from "./pages/access/Access.tsx";
import { AskPage } from "./pages/Ask.tsx";
import { AskChoicePage } from "./pages/AskChoice.tsx";
import { AuditPage } from "./pages/Audit.tsx";
import { DatasetPage } from "./pages/Dataset.tsx";
import { HistoryPage } from "./pages/History.tsx";
import { InboxPage } from "./pages/Inbox.tsx";
import { OperationsPage } from "./pages/Operations.tsx";
import { OverviewPage } from "./pages/Overview.tsx";
import { PeoplePage } from "./pages/People.tsx";
import { PrincipalPage } from "./pages/people/Principal.tsx";
import { RefusedPage } from "./pages/Refused.tsx";
import { ReleasePage } from "./pages/Release.tsx";
import { AllReleasesPage, ReleasesPage } from "./pages/Releases.tsx";
import { ServerPage } from "./pages/Server.tsx";
import { SynthesizePage } from "./pages/Synthesize.tsx";

export interface PageProps {
  params: Params;
}

export interface Route {
  pattern: string;
  page: ComponentType<PageProps>;
  // In the navigation, for those who may see something there.
  nav?: { title: string; visible?: (state: SessionState) => boolean };
}

// Nobody manages principals where any name is believed, so that the calls of these pages answer nothing
// there.
const isIdentified = (state: SessionState) => state.session?.server?.development_mode === false;

export const ROUTES: Route[] = [
  { pattern: "/", page: OverviewPage, nav: { title: "Overview" } },
  { pattern: "/inbox", page: InboxPage, nav: { title: "Inbox" } },
  { pattern: "/refused", page: RefusedPage, nav: { title: "Refused" } },
  { pattern: "/operations", page: OperationsPage, nav: { title: "Operations" } },
  { pattern: "/releases", page: AllReleasesPage, nav: { title: "Releases" } },
  { pattern: "/ask", page: AskChoicePage, nav: { title: "Ask" } },
  { pattern: "/people", page: PeoplePage, nav: { title: "People", visible: isIdentified } },
  { pattern: "/people/:principal", page: PrincipalPage },
  {
    pattern: "/audit",
    page: AuditPage,
    nav: { title: "Audit", visible: (state) => hasRole(state, "AUDITOR") },
  },
  { pattern: "/server", page: ServerPage, nav: { title: "Server" } },
  { pattern: "/datasets/:dataset", page: DatasetPage },
  { pattern: "/datasets/:dataset/history", page: HistoryPage },
  { pattern: "/datasets/:dataset/releases", page: ReleasesPage },
  { pattern: "/datasets/:dataset/access", page: AccessPage },
  { pattern: "/datasets/:dataset/ask", page: AskPage },
  { pattern: "/datasets/:dataset/synthesize", page: SynthesizePage },
  { pattern: "/releases/:release", page: ReleasePage },
];
