// A table: sortable by its columns, numbers to the right, with a caption, and downloadable as CSV.
import type { ComponentChildren, RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { FileRows } from "../answer-files.ts";
import { compareCells } from "../cells.ts";
import { csvOf, type Cell } from "../csv.ts";
import { download } from "../download.ts";
import { Button } from "./Button.tsx";

export interface Column<Row> {
  key: string;
  title: string;
  cell: (row: Row) => ComponentChildren;
  // Exact, for the CSV file and for sorting; a column without it is in neither.
  value?: (row: Row) => Cell;
  // By default numbers, exact decimals and times by size, and texts by alphabet.
  compare?: (left: Row, right: Row) => number;
  right?: boolean;
  sortable?: boolean;
}

interface Props<Row> {
  caption: string;
  // Says nothing that the heading above it has not said.
  hideCaption?: boolean;
  columns: Column<Row>[];
  rows: Row[];
  rowKey: (row: Row) => string;
  rowClass?: (row: Row) => string | undefined;
  // Without ".csv"; no download without it.
  file?: string;
  // What the file has of these rows; by default the values of the columns.
  csv?: (rows: Row[]) => FileRows;
  empty?: ComponentChildren;
  // On narrow screens each cell is a line with its column's title: where no column may be out of sight.
  stacks?: boolean;
}

interface Order {
  key: string;
  down: boolean;
}

const MOST_ROWS = 500;

function sorted<Row>(rows: Row[], columns: Column<Row>[], order: Order | undefined): Row[] {
  const column = columns.find((candidate) => candidate.key === order?.key);
  if (!order || !column) return rows;
  const compare = column.compare ?? ((a: Row, b: Row) => compareCells(column.value?.(a), column.value?.(b)));
  const direction = order.down ? -1 : 1;
  return [...rows].sort((a, b) => direction * compare(a, b));
}

// The column with the buttons stays in sight while the others scroll below it.
function cellClass<Row>({ key, right }: Column<Row>): string | undefined {
  return [right ? "right" : "", key === "actions" ? "sticky" : ""].filter(Boolean).join(" ") || undefined;
}

function HeadCell<Row>({
  column,
  order,
  onSort,
}: {
  column: Column<Row>;
  order: Order | undefined;
  onSort: () => void;
}) {
  const canSort = column.sortable !== false && (column.value !== undefined || column.compare !== undefined);
  const direction = order?.key !== column.key ? undefined : order.down ? "descending" : "ascending";
  return (
    <th scope="col" class={cellClass(column)} aria-sort={direction}>
      {canSort ? (
        <button type="button" class="sort" onClick={onSort}>
          {column.title}
          <span aria-hidden="true">
            {direction === "descending" ? "▼" : direction === "ascending" ? "▲" : ""}
          </span>
        </button>
      ) : (
        column.title
      )}
    </th>
  );
}

// Whether the table is wider than its frame: only then the frame is a stop for the keyboard.
function useScrolls(frame: RefObject<HTMLDivElement | null>): boolean {
  const [scrolls, setScrolls] = useState(false);
  useEffect(() => {
    const element = frame.current;
    if (!element) return undefined;
    const update = () => setScrolls(element.scrollWidth > element.clientWidth);
    update();
    const observer = new ResizeObserver(update);
    observer.observe(element);
    if (element.firstElementChild) observer.observe(element.firstElementChild);
    return () => observer.disconnect();
  }, [frame]);
  return scrolls;
}

export function Table<Row>({
  caption,
  hideCaption,
  columns,
  rows,
  rowKey,
  rowClass,
  file,
  csv,
  empty,
  stacks,
}: Props<Row>) {
  const [order, setOrder] = useState<Order>();
  const [showsAll, setShowsAll] = useState(false);
  const frame = useRef<HTMLDivElement>(null);
  const scrolls = useScrolls(frame);
  if (rows.length === 0 && empty !== undefined) return <>{empty}</>;
  const all = sorted(rows, columns, order);
  const shown = showsAll ? all : all.slice(0, MOST_ROWS);
  const save = () => {
    const exported = columns.filter((column) => column.value !== undefined);
    const { header, rows: cells } = csv?.(all) ?? {
      header: exported.map((column) => column.key),
      rows: all.map((row) => exported.map((column) => column.value?.(row))),
    };
    download(`${file}.csv`, "text/csv", csvOf(header, cells));
  };
  return (
    <div class="table-frame">
      {(file !== undefined || !hideCaption) && (
        <div class="table-bar">
          <strong class={hideCaption ? "visually-hidden" : "small"} aria-hidden="true">
            {caption}
          </strong>
          {file !== undefined && (
            <Button kind="plain" onClick={save} label={`Download CSV: ${caption}`}>
              Download CSV
            </Button>
          )}
        </div>
      )}
      <div
        class={`table-scroll${stacks ? " stacks" : ""}${scrolls ? " scrolls" : ""}`}
        ref={frame}
        {...(scrolls ? { tabIndex: 0, role: "region" as const, "aria-label": caption } : {})}
      >
        <table>
          <caption class="visually-hidden">{caption}</caption>
          <thead>
            <tr>
              {columns.map((column) => (
                <HeadCell
                  key={column.key}
                  column={column}
                  order={order}
                  onSort={() =>
                    setOrder({
                      key: column.key,
                      down: order?.key === column.key ? !order.down : column.right === true,
                    })
                  }
                />
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((row) => (
              <tr key={rowKey(row)} class={rowClass?.(row)}>
                {columns.map((column, i) =>
                  i === 0 ? (
                    <th key={column.key} scope="row" class={column.right ? "right" : undefined}>
                      {column.cell(row)}
                    </th>
                  ) : (
                    <td
                      key={column.key}
                      class={cellClass(column)}
                      data-title={stacks ? column.title : undefined}
                    >
                      {column.cell(row)}
                    </td>
                  ),
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {shown.length < all.length && (
        <div class="table-more">
          <span>
            {shown.length} of {all.length} rows
          </span>
          <Button kind="plain" onClick={() => setShowsAll(true)}>
            Show all
          </Button>
        </div>
      )}
    </div>
  );
}
