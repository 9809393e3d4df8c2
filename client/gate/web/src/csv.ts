// CSV files as the command line writes them.

export type Cell = string | number | undefined;

// Those that a terminal would obey; line ends and tabs are a field's own.
const CONTROL_CHARACTERS = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/g;

function field(value: Cell): string {
  const text = (value === undefined ? "" : String(value)).replace(CONTROL_CHARACTERS, "?");
  return /[",\r\n\t]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function csvOf(header: string[], rows: Cell[][]): string {
  return [header, ...rows].map((row) => `${row.map(field).join(",")}\n`).join("");
}

// The rows of a CSV text; quoted fields may hold commas, quotes and line breaks.
export function parseCsv(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let at = 0;
  while (at < text.length) {
    let value = "";
    if (text[at] === '"') {
      at += 1;
      for (;;) {
        const end = text.indexOf('"', at);
        if (end < 0) return rows;
        value += text.slice(at, end);
        at = end + 1;
        if (text[at] !== '"') break;
        value += '"';
        at += 1;
      }
    } else {
      const end = /[,\r\n]/.exec(text.slice(at))?.index ?? text.length - at;
      value = text.slice(at, at + end);
      at += end;
    }
    row.push(value);
    const separator = text[at];
    if (separator === ",") {
      at += 1;
      if (at < text.length) continue;
      row.push("");
    }
    if (text[at] === "\r") at += 1;
    if (text[at] === "\n") at += 1;
    rows.push(row);
    row = [];
  }
  return rows;
}
