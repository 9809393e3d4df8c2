// The answer of a statement in SQL: the rows that it shows, what they cost, and where all of it is stored.
import { useMemo } from "preact/hooks";
import { assemble, NO_ATTRIBUTES } from "../../answer.ts";
import type { AnswerChunk, AnswerHeader, Dataset } from "../../api/types.ts";
import { attempt } from "../../attempt.ts";
import { CostFacts } from "../../components/CostFacts.tsx";
import { DataFacts } from "../../components/DataFacts.tsx";
import { Link } from "../../components/Link.tsx";
import { Notice } from "../../components/Notice.tsx";
import { StatisticsNotes, StatisticsTable } from "../../components/StatisticsView.tsx";
import { to } from "../../router.ts";
import { clippedOfSql } from "../../sql.ts";
import { groupsText, rowsOf, type StatisticsRows } from "../../statistics.ts";
import type { AnswerRequest } from "../Ask.tsx";
import { AnswerCard, FreeNotice } from "./AnswerCard.tsx";

function Facts({ dataset, header }: { dataset: string; header: AnswerHeader }) {
  return (
    <dl class="facts">
      <CostFacts dataset={dataset} costs={header.costs} />
      {header.request_id !== "" && (
        <div>
          <dt>Request</dt>
          <dd>
            <code>{header.request_id}</code>
          </dd>
        </div>
      )}
      {header.release_id !== "" && (
        <div>
          <dt>Release, with all groups</dt>
          <dd>
            <Link href={to("/releases/:release", { release: header.release_id })}>{header.release_id}</Link>
          </dd>
        </div>
      )}
    </dl>
  );
}

interface Read {
  header: AnswerHeader;
  shown: StatisticsRows;
}

function read(chunks: AnswerChunk[], dataset: Dataset, request: AnswerRequest): Read {
  const { header, tables } = assemble(chunks, dataset.schema ?? NO_ATTRIBUTES);
  const [table] = tables;
  if (!table?.isStatistics || tables.length !== 1) throw new Error("It is not one set of statistics.");
  return { header, shown: rowsOf(table, request.selection ?? {}) };
}

interface Props {
  dataset: Dataset;
  request: AnswerRequest;
  chunks: AnswerChunk[];
  onClose: () => void;
}

function Unread({ problem, header }: { problem: Error; header: AnswerHeader | undefined }) {
  return (
    <Notice kind="bad" title="The answer cannot be shown here.">
      <p>{problem.message}</p>
      {header && header.release_id !== "" && (
        <p>
          It is stored, and can be looked at for free:{" "}
          <Link href={to("/releases/:release", { release: header.release_id })}>{header.release_id}</Link>
        </p>
      )}
    </Notice>
  );
}

export function SqlAnswer({ dataset, request, chunks, onClose }: Props) {
  const answer = useMemo(() => attempt(() => read(chunks, dataset, request)), [chunks, dataset, request]);
  return (
    <AnswerCard onClose={onClose}>
      {answer instanceof Error ? (
        <Unread problem={answer} header={chunks[0]?.header} />
      ) : (
        <>
          {answer.header.free_from.length > 0 && <FreeNotice from={answer.header.free_from} />}
          <DataFacts of={answer.header} />
          <StatisticsTable
            caption={groupsText(answer.shown)}
            file={`answer-${dataset.name}`}
            of={answer.shown}
            empty={<p>No group is shown: HAVING, LIMIT or OFFSET leave none.</p>}
          />
          <StatisticsNotes
            clipped={clippedOfSql(request, dataset.schema ?? NO_ATTRIBUTES)}
            of={answer.shown}
          />
          <Facts dataset={dataset.name} header={answer.header} />
        </>
      )}
    </AnswerCard>
  );
}
