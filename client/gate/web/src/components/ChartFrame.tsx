// Around every chart: its title, the same numbers as a table, and files.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { isTime } from "../cells.ts";
import { csvOf, type Cell } from "../csv.ts";
import { download } from "../download.ts";
import { Button } from "./Button.tsx";
import { Table } from "./Table.tsx";
import { Time } from "./Values.tsx";

interface Props {
  title: string;
  // In a few words, behind the title.
  remark?: string;
  // Of the files, without their ending.
  file: string;
  data: () => { header: string[]; rows: Cell[][] };
  svg: () => string;
  // What the marks mean.
  legend?: ComponentChildren;
  children: ComponentChildren;
}

const NUMBER_OR_NONE = /^(-?([\d.]+(e[+-]?\d+)?|inf))?$/i;

// "standard_deviation" as "Standard deviation".
function headingOf(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1).replaceAll("_", " ");
}

// Times in the reader's zone; files have them as the server says them.
function shownCell(cell: Cell): ComponentChildren {
  return isTime(cell) ? <Time value={String(cell)} seconds /> : (cell ?? "");
}

export function ChartFrame({ title, remark, file, data, svg, legend, children }: Props) {
  const [isTable, setTable] = useState(false);
  const shown = isTable ? data() : undefined;
  return (
    <figure class="chart" aria-label={title}>
      <div class="chart-head">
        <h3>
          {title}
          {remark && <span class="remark"> {remark}</span>}
        </h3>
        <div class="chart-tools">
          <Button
            kind="plain"
            onClick={() => setTable(!isTable)}
            label={`${isTable ? "Show as chart" : "Show as table"}: ${title}`}
          >
            {isTable ? "Show as chart" : "Show as table"}
          </Button>
          <Button
            kind="plain"
            label={`CSV: ${title}`}
            onClick={() => {
              const { header, rows } = data();
              download(`${file}.csv`, "text/csv", csvOf(header, rows));
            }}
          >
            CSV
          </Button>
          <Button
            kind="plain"
            label={`SVG: ${title}`}
            onClick={() => download(`${file}.svg`, "image/svg+xml", svg())}
          >
            SVG
          </Button>
        </div>
      </div>
      {shown ? (
        <Table<{ cells: Cell[]; key: string }>
          caption={title}
          hideCaption
          rows={shown.rows.map((cells, i) => ({ cells, key: String(i) }))}
          rowKey={(row) => row.key}
          columns={shown.header.map((name, i) => ({
            key: name,
            title: headingOf(name),
            value: (row) => row.cells[i],
            cell: (row) => shownCell(row.cells[i]),
            right:
              shown.rows.length > 0 &&
              shown.rows.every((cells) => NUMBER_OR_NONE.test(String(cells[i] ?? ""))),
          }))}
        />
      ) : (
        <>
          {legend && <ul class="chart-key">{legend}</ul>}
          {children}
        </>
      )}
    </figure>
  );
}
