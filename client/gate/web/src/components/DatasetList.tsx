// The reader's datasets as links to one of their pages, for pages that begin with the choice of a dataset.
import { useAllDatasets } from "../api/datasets.ts";
import { to } from "../router.ts";
import { DATASET_STATES } from "../words.ts";
import { Empty, SkeletonLines } from "./Empty.tsx";
import { Link } from "./Link.tsx";
import { ErrorNotice } from "./Notice.tsx";
import { Table } from "./Table.tsx";

export function DatasetList({ pattern, caption }: { pattern: string; caption: string }) {
  const { data, error, reload } = useAllDatasets();
  if (error && !data) return <ErrorNotice error={error} what="The list of datasets" onRetry={reload} />;
  if (!data) return <SkeletonLines lines={4} />;
  return (
    <Table
      caption={caption}
      hideCaption
      rows={data.datasets}
      rowKey={(dataset) => dataset.name}
      columns={[
        {
          key: "name",
          title: "Dataset",
          value: (dataset) => dataset.name,
          cell: (dataset) => <Link href={to(pattern, { dataset: dataset.name })}>{dataset.name}</Link>,
        },
        { key: "owner", title: "Owner", value: (dataset) => dataset.owner, cell: (dataset) => dataset.owner },
        {
          key: "state",
          title: "State",
          value: (dataset) => DATASET_STATES[dataset.state],
          cell: (dataset) => DATASET_STATES[dataset.state],
        },
      ]}
      empty={
        <Empty title="You have access to no dataset.">
          <p>An owner gives access to a dataset by name.</p>
        </Empty>
      }
    />
  );
}
