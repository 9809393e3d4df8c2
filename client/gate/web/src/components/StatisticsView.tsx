// Statistics of groups: a table with a row for each group, and what has to be said of its numbers.
import type { ComponentChildren } from "preact";
import {
  cellText,
  cellValue,
  notesOf,
  statisticsCsv,
  type StatisticsCell,
  type StatisticsRows,
} from "../statistics.ts";
import { Table } from "./Table.tsx";

interface TableProps {
  caption: string;
  // Without ".csv".
  file: string;
  of: StatisticsRows;
  empty?: ComponentChildren;
}

// Beside many columns a long label has a few lines, and not one for each word.
function shownCell(cell: StatisticsCell): ComponentChildren {
  const text = cellText(cell);
  if (typeof cell !== "string") return text;
  return <span style={{ display: "inline-grid", minWidth: `min(${text.length}ch, 9rem)` }}>{text}</span>;
}

// A statistic shows its interval, which the CSV file has in columns of its own.
export function StatisticsTable({ caption, file, of, empty }: TableProps) {
  return (
    <Table<{ cells: StatisticsCell[]; key: string }>
      caption={caption}
      file={file}
      csv={(rows) => statisticsCsv({ ...of, rows: rows.map(({ cells }) => cells) })}
      rows={of.rows.map((cells, i) => ({ cells, key: String(i) }))}
      rowKey={({ key }) => key}
      empty={empty}
      columns={of.columns.map(({ name, isStatistic }, i) => ({
        key: String(i),
        title: name,
        right: isStatistic,
        value: ({ cells }) => cellValue(cells[i] as StatisticsCell),
        cell: ({ cells }) => shownCell(cells[i] as StatisticsCell),
      }))}
    />
  );
}

// `clipped`: "income clipped to 0..200000", of each measure.
export function StatisticsNotes({ clipped, of }: { clipped: string[]; of: StatisticsRows }) {
  return (
    <>
      {clipped.length > 0 && <p class="small">These are the statistics of {clipped.join(" and of ")}.</p>}
      {notesOf(of).map((note) => (
        <p class="small quiet" key={note}>
          {note}
        </p>
      ))}
    </>
  );
}
