import { Page } from "../components/Page.tsx";
import { Empty } from "../components/Empty.tsx";

export function OperationsPage() {
  return (
    <Page title="Operations">
      <Empty title="This page is not built yet." />
    </Page>
  );
}
