// Stored answers: of one dataset, and the way there.
import { useEffect, useState } from "preact/hooks";
import { call } from "../api/client.ts";
import type { Release } from "../api/types.ts";
import { useCall } from "../api/use-call.ts";
import { useChange } from "../api/use-change.ts";
import { Button } from "../components/Button.tsx";
import { DatasetList } from "../components/DatasetList.tsx";
import { DatasetCrumb, DatasetTabs } from "../components/DatasetTabs.tsx";
import { Empty, SkeletonLines } from "../components/Empty.tsx";
import { SelectField, TextField } from "../components/Field.tsx";
import { Link } from "../components/Link.tsx";
import { ErrorNotice } from "../components/Notice.tsx";
import { Card, Page } from "../components/Page.tsx";
import { Table } from "../components/Table.tsx";
import { Name, Time } from "../components/Values.tsx";
import { bytesText } from "../numbers.ts";
import { withEarlier, withNewest } from "../releases.ts";
import { to } from "../router.ts";
import type { PageProps } from "../routes.tsx";

const PAGE_SIZE = 100;

export function AllReleasesPage() {
  return (
    <Page title="Releases" lead="Answers that were paid for and stored. Looking at them again is free.">
      <Card title="Datasets">
        <DatasetList pattern="/datasets/:dataset/releases" caption="Datasets with releases" />
      </Card>
    </Page>
  );
}

const KINDS = [
  { value: "", text: "all kinds" },
  { value: "workload", text: "answers" },
  { value: "synthesis", text: "synthetic data" },
];

function ReleaseTable({ dataset, releases }: { dataset: string; releases: Release[] }) {
  const [kind, setKind] = useState("");
  const [search, setSearch] = useState("");
  const shown = releases.filter(
    (release) =>
      (kind === "" || release.kind === kind) &&
      `${release.summary} ${release.principal} ${release.id}`.toLowerCase().includes(search.toLowerCase()),
  );
  return (
    <>
      <div class="filters">
        <SelectField label="Kind" value={kind} onChange={setKind} options={KINDS} />
        <TextField
          label="Summary, name or id"
          type="search"
          value={search}
          onInput={setSearch}
        />
      </div>
      <Table
        caption={`${shown.length} of ${releases.length} releases that are loaded, newest first`}
        file={`releases-${dataset}`}
        rows={shown}
        rowKey={(release) => release.id}
        empty={<Empty title="No release fits these filters." />}
        columns={[
          {
            key: "summary",
            title: "Release",
            value: (release) => release.summary,
            cell: (release) => (
              <Link href={to("/releases/:release", { release: release.id })}>
                {release.summary || release.id}
              </Link>
            ),
          },
          {
            key: "kind",
            title: "Kind",
            value: (release) => release.kind,
            cell: (release) => (release.kind === "workload" ? "answer" : release.kind),
          },
          {
            key: "principal",
            title: "Paid by",
            value: (release) => release.principal,
            cell: (release) => <Name value={release.principal} />,
          },
          {
            key: "create_time",
            title: "Made",
            value: (release) => release.create_time,
            cell: (release) => <Time value={release.create_time} />,
          },
          {
            key: "size_bytes",
            title: "Size",
            right: true,
            value: (release) => Number(release.size_bytes),
            cell: (release) => (
              <span title={`${release.size_bytes} bytes`}>{bytesText(Number(release.size_bytes))}</span>
            ),
          },
          {
            key: "id",
            title: "Id",
            value: (release) => release.id,
            cell: (release) => <code>{release.id}</code>,
          },
        ]}
      />
    </>
  );
}

// The newest page follows the history; earlier ones are loaded once.
function useReleases(dataset: string) {
  const newest = useCall("QueryService/ListReleases", { dataset, page_size: PAGE_SIZE }, { live: dataset });
  const [releases, setReleases] = useState<Release[]>([]);
  const [token, setToken] = useState<string>();
  const { data, error: newestError } = newest;
  const next = token ?? data?.next_page_token ?? "";
  useEffect(() => {
    if (data) setReleases((before) => withNewest(before, data.releases, data.next_page_token === ""));
    // What the reader may no longer see is not shown any longer.
    else if (newestError?.isHidden) setReleases([]);
  }, [data, newestError]);
  const { start, busy, error } = useChange(async () => {
    const page = await call("QueryService/ListReleases", {
      dataset,
      page_size: PAGE_SIZE,
      page_token: next,
    });
    setReleases((before) => withEarlier(before, page.releases));
    setToken(page.next_page_token);
  });
  return { newest, releases, hasMore: next !== "", loadMore: start, error, busy };
}

export function ReleasesPage({ params }: PageProps) {
  const dataset = params["dataset"] ?? "";
  const { newest, releases, hasMore, loadMore, error, busy } = useReleases(dataset);
  return (
    <Page
      title={dataset}
      windowTitle={`Releases of ${dataset}`}
      crumb={<DatasetCrumb />}
      tabs={<DatasetTabs dataset={dataset} />}
    >
      {newest.error && (
        <ErrorNotice error={newest.error} what="The list of releases" onRetry={newest.reload} />
      )}
      <Card title="Releases">
        {!newest.data && !newest.error && <SkeletonLines lines={8} />}
        {newest.data?.releases.length === 0 && releases.length === 0 && (
          <Empty title="Nothing was released yet, or nothing to you.">
            <p>
              Each answer that you pay for is kept here.{" "}
              <Link href={to("/datasets/:dataset/ask", { dataset })}>Ask a question</Link> to get one.
            </p>
          </Empty>
        )}
        {releases.length > 0 && <ReleaseTable dataset={dataset} releases={releases} />}
        {error && <ErrorNotice error={error} what="Earlier releases" />}
        {hasMore && (
          <div>
            <Button busy={busy} onClick={() => void loadMore()}>
              Load earlier releases
            </Button>
          </div>
        )}
      </Card>
    </Page>
  );
}
