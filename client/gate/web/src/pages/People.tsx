// The reader's account, and for administrators everybody's.
import { useState } from "preact/hooks";
import { Empty } from "../components/Empty.tsx";
import { Notice } from "../components/Notice.tsx";
import { Page } from "../components/Page.tsx";
import { isAdministrator, sessionState } from "../session.ts";
import { useStore } from "../store.ts";
import { Account } from "./people/Account.tsx";
import { Principals } from "./people/Principals.tsx";

export function PeoplePage() {
  const state = useStore(sessionState);
  const [done, setDone] = useState("");
  if (state.session?.server?.development_mode) {
    return (
      <Page title="People">
        <Empty title="This server believes any name.">
          <p>
            In development mode there are no accounts, credentials and roles to manage. Start curatord with a
            configuration to have them.
          </p>
        </Empty>
      </Page>
    );
  }
  return (
    <Page
      title="People"
      lead="Who you are to the server, what proves it, and how much of the server you may use."
    >
      <div class="said" aria-live="polite">
        {done && <Notice kind="good" title={done} />}
      </div>
      <Account onChange={setDone} />
      {isAdministrator(state) && <Principals />}
    </Page>
  );
}
