import { Page } from "../components/Page.tsx";
import { Empty } from "../components/Empty.tsx";

export function ServerPage() {
  return (
    <Page title="Server">
      <Empty title="This page is not built yet." />
    </Page>
  );
}
