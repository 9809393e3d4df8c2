import { DatasetList } from "../components/DatasetList.tsx";
import { Card, Page } from "../components/Page.tsx";

export function AllReleasesPage() {
  return (
    <Page title="Releases" lead="Answers that were paid for and stored. Looking at them again is free.">
      <Card title="Datasets"><DatasetList pattern="/datasets/:dataset/releases" caption="Datasets with releases" /></Card>
    </Page>
  );
}

export function ReleasesPage() {
  return null;
}
