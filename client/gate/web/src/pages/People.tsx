import { Page } from "../components/Page.tsx";
import { Empty } from "../components/Empty.tsx";

export function PeoplePage() {
  return (
    <Page title="People">
      <Empty title="This page is not built yet." />
    </Page>
  );
}
