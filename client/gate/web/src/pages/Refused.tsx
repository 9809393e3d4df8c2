import { Page } from "../components/Page.tsx";
import { Empty } from "../components/Empty.tsx";

export function RefusedPage() {
  return (
    <Page title="Refused">
      <Empty title="This page is not built yet." />
    </Page>
  );
}
