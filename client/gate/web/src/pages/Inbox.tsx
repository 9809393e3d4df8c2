import { Page } from "../components/Page.tsx";
import { Empty } from "../components/Empty.tsx";

export function InboxPage() {
  return (
    <Page title="Inbox">
      <Empty title="This page is not built yet." />
    </Page>
  );
}
