// Statistics of groups: a table with a row for each group, and a chart of each statistic.
import type { Schema } from "../api/types.ts";
import { clippedWords, groupsOf, statisticText, type AnswerTable, type Group } from "../answer.ts";
import { levelText } from "../confidence.ts";
import { counted, exactText } from "../numbers.ts";
import { Table } from "./Table.tsx";

function exactOrNone(value: number | undefined): string | undefined {
  return value === undefined || Number.isNaN(value) ? undefined : exactText(value);
}

// A statistic shows its interval; the CSV file and the order of rows have its number alone.
export function StatisticsTable({ table, file }: { table: AnswerTable; file: string }) {
  const { names, groups } = groupsOf(table);
  const by = table.columns.slice(0, -1);
  const intervals = table.level > 0 ? `, ${levelText(table.level)} intervals` : "";
  return (
    <Table<Group>
      caption={`${table.title} (${counted(groups.length, "group")}${intervals})`}
      file={`${file}-${table.name}`}
      rows={groups}
      rowKey={(group) => JSON.stringify(group.labels)}
      columns={[
        ...by.map((name, i) => ({
          key: `by ${name}`,
          title: name,
          value: (group: Group) => group.labels[i],
          cell: (group: Group) => group.labels[i] ?? "",
        })),
        ...names.map((name, i) => ({
          key: `statistic ${i}`,
          title: name,
          right: true,
          value: (group: Group) => exactOrNone(group.answers[i]?.value),
          cell: (group: Group) => {
            const answer = group.answers[i];
            return answer ? statisticText(answer) : "";
          },
        })),
      ]}
    />
  );
}

// What has to be said of the numbers: to what values were clipped, and why one is missing or an interval has
// no end.
export function StatisticsNotes({ table, schema }: { table: AnswerTable; schema: Schema }) {
  const clipped = clippedWords(table, schema);
  return (
    <>
      {clipped.length > 0 && <p class="small">These are the statistics of {clipped.join(" and of ")}.</p>}
      <NumberNotes table={table} />
    </>
  );
}

export function NumberNotes({ table }: { table: AnswerTable }) {
  const isInfinite = (end: number | undefined) => end === Infinity || end === -Infinity;
  const isUnbounded = table.rows.some(({ lower, upper }) => isInfinite(lower) || isInfinite(upper));
  return (
    <>
      {table.rows.some(({ value }) => Number.isNaN(value)) && (
        <p class="small quiet">
          None: the noisy number of values in the group is too small for the statistic.
        </p>
      )}
      {isUnbounded && (
        <p class="small quiet">
          Unbounded: the noisy number of values in the group is not clear of 0, or the answer is a quantile
          that was selected from the values.
        </p>
      )}
    </>
  );
}
