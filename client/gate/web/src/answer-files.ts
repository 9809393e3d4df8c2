// An answer, and each of its tables, as the rows of a CSV file.
import type { Answer, AnswerTable, Row } from "./answer.ts";
import type { Schema } from "./api/types.ts";
import type { Cell } from "./csv.ts";
import { exactText } from "./numbers.ts";

export interface FileRows {
  header: string[];
  rows: Cell[][];
}

const FIXED_COLUMNS = [
  "query_set",
  "query_class",
  "query",
  "estimate",
  "standard_deviation",
  "low",
  "high",
  "confidence_level",
  "method",
  "noise",
  "post_processing",
];

function exact(value: number | undefined): string | undefined {
  return value === undefined ? undefined : exactText(value);
}

// The name of an attribute's column, where other columns have the names `taken`.
export function attributeColumn(name: string, taken: string[]): string {
  return taken.includes(name) ? `${name} (attribute)` : name;
}

// Header and rows of the file that `curator release show --output csv` writes: the same columns for every
// method and class of queries, then one for each attribute that is asked about.
export function answerCsv({ header, tables }: Answer, schema: Schema): FileRows {
  const attributesOf = (table: AnswerTable) =>
    table.columns.slice(table.firstAttribute, table.isStatistics ? -1 : undefined);
  const occurring = new Set(tables.flatMap(attributesOf));
  const known = schema.attributes.map((attribute) => attribute.name).filter((name) => occurring.delete(name));
  const attributes = [...known, ...occurring];
  const rows = tables.flatMap((table) => {
    const own = attributesOf(table);
    const positions = attributes.map((name) =>
      own.includes(name) ? own.indexOf(name) + table.firstAttribute : -1,
    );
    const words = table.columns.join(",");
    const wordsOf = ({ labels }: Row) => {
      if (table.isStatistics) return labels.at(-1);
      return table.firstAttribute > 0 ? labels[0] : words;
    };
    return table.rows.map((row): Cell[] => [
      String(table.querySet),
      table.queryClass,
      wordsOf(row),
      row.count,
      exact(row.deviation),
      exact(row.lower),
      exact(row.upper),
      table.level > 0 ? exact(table.level) : undefined,
      table.method,
      table.mechanism,
      header.post_processing,
      ...positions.map((at) => (at < 0 ? undefined : row.labels[at])),
    ]);
  });
  const columns = attributes.map((name) => attributeColumn(name, FIXED_COLUMNS));
  return { header: [...FIXED_COLUMNS, ...columns], rows };
}

// Of one table, with the columns that it has.
export function tableCsv({ columns, rows, firstAttribute, isStatistics, level }: AnswerTable): FileRows {
  const hasDeviation = rows.some((row) => row.deviation !== undefined);
  const numbers = [
    isStatistics ? "value" : "count",
    ...(hasDeviation ? ["standard_deviation"] : []),
    ...(level > 0 ? ["lower", "upper"] : []),
  ];
  const taken = [...columns.slice(0, firstAttribute), ...numbers];
  return {
    header: [
      ...columns.map((name, i) => (i < firstAttribute ? name : attributeColumn(name, taken))),
      ...numbers,
    ],
    rows: rows.map((row) => [
      ...row.labels,
      row.count,
      ...(hasDeviation ? [exact(row.deviation)] : []),
      ...(level > 0 ? [exact(row.lower), exact(row.upper)] : []),
    ]),
  };
}
