import { Page } from "../components/Page.tsx";
import { Empty } from "../components/Empty.tsx";

export function HistoryPage() {
  return (
    <Page title="History">
      <Empty title="This page is not built yet." />
    </Page>
  );
}
