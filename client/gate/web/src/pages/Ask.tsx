import { Page } from "../components/Page.tsx";
import { Empty } from "../components/Empty.tsx";

export function AskPage() {
  return (
    <Page title="Ask">
      <Empty title="This page is not built yet." />
    </Page>
  );
}
