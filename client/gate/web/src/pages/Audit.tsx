import { Page } from "../components/Page.tsx";
import { Empty } from "../components/Empty.tsx";

export function AuditPage() {
  return (
    <Page title="Audit">
      <Empty title="This page is not built yet." />
    </Page>
  );
}
