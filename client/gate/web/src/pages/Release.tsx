import { Page } from "../components/Page.tsx";
import { Empty } from "../components/Empty.tsx";

export function ReleasePage() {
  return (
    <Page title="Release">
      <Empty title="This page is not built yet." />
    </Page>
  );
}
