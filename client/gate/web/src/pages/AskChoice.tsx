import { DatasetList } from "../components/DatasetList.tsx";
import { Card, Page } from "../components/Page.tsx";

export function AskChoicePage() {
  return (
    <Page
      title="Ask"
      lead="Choose the dataset that the question is about. The price is shown before anything is paid."
    >
      <Card title="Datasets">
        <DatasetList pattern="/datasets/:dataset/ask" caption="Datasets to ask about" />
      </Card>
    </Page>
  );
}
