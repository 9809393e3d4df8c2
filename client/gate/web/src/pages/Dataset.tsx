import { Page } from "../components/Page.tsx";
import { Empty } from "../components/Empty.tsx";

export function DatasetPage() {
  return (
    <Page title="Dataset">
      <Empty title="This page is not built yet." />
    </Page>
  );
}
