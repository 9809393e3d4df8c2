// Drawings as plain shapes: a component renders them in the page, and a file gets the same ones.

export interface Shape {
  tag: string;
  attributes?: Record<string, string | number>;
  text?: string;
  children?: Shape[];
}

// Colours of files: always for a white ground.
const FILE_STYLE =
  "text{font-family:sans-serif;font-size:12px;fill:#1a2230}.tick{fill:#515c6d;font-size:11px}" +
  ".heading{font-size:15px;font-weight:bold}.grid{stroke:#dde1e8}.zero{stroke:#8a93a3}" +
  ".interval{stroke:#2f5fd0;stroke-width:2;fill:none}.dot{fill:#2f5fd0}.hit{fill:none}" +
  ".line-spent{stroke:#2f5fd0;stroke-width:2;fill:none}.line-limit{stroke:#7a3fb5;stroke-width:2;fill:none}" +
  ".line-limit-ahead{stroke:#7a3fb5;stroke-width:2;stroke-dasharray:5 4}" +
  ".line-forecast{stroke:#515c6d;stroke-width:1.5;stroke-dasharray:5 4;fill:none}" +
  ".area-spent{fill:#2f5fd0;fill-opacity:.12}.area-held{fill:#c98a12;fill-opacity:.4}" +
  ".area-forecast{fill:#515c6d;fill-opacity:.15}.marker{stroke:#7a3fb5;stroke-dasharray:2 3}";

function escaped(text: string): string {
  return (
    text
      .replaceAll("&", "&amp;")
      .replaceAll("<", "&lt;")
      .replaceAll(">", "&gt;")
      .replaceAll('"', "&quot;")
      // XML has no place for control characters.
      .replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "?")
  );
}

export function markup({ tag, attributes = {}, text, children = [] }: Shape): string {
  const written = Object.entries(attributes)
    .map(([key, value]) => ` ${key}="${escaped(String(value))}"`)
    .join("");
  const inside = (text === undefined ? "" : escaped(text)) + children.map(markup).join("");
  return inside === "" ? `<${tag}${written}/>` : `<${tag}${written}>${inside}</${tag}>`;
}

export function px(value: number): string {
  return String(Math.round(value * 100) / 100);
}

const HEADING = 48;

interface Heading {
  title: string;
  // In a line of its own.
  remark: string;
}

// A file with a heading above the drawing.
export function svgFile({ title, remark }: Heading, width: number, height: number, shapes: Shape[]): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n${markup({
    tag: "svg",
    attributes: {
      xmlns: "http://www.w3.org/2000/svg",
      width: px(width),
      height: px(height + HEADING),
      viewBox: `0 0 ${px(width)} ${px(height + HEADING)}`,
      role: "img",
    },
    children: [
      { tag: "title", text: `${title} (${remark})` },
      { tag: "style", text: FILE_STYLE },
      { tag: "rect", attributes: { width: "100%", height: "100%", fill: "#fff" } },
      { tag: "text", attributes: { class: "heading", x: 8, y: 20 }, text: title },
      label("tick", "start", 8, 38, remark),
      { tag: "g", attributes: { transform: `translate(0 ${HEADING})` }, children: shapes },
    ],
  })}\n`;
}

export function line(name: string, x1: number, y1: number, x2: number, y2: number): Shape {
  return { tag: "line", attributes: { class: name, x1: px(x1), y1: px(y1), x2: px(x2), y2: px(y2) } };
}

export function label(
  name: string,
  anchor: "start" | "middle" | "end",
  x: number,
  y: number,
  text: string,
): Shape {
  return { tag: "text", attributes: { class: name, "text-anchor": anchor, x: px(x), y: px(y) }, text };
}
