// Answers as the server sends them.
import assert from "node:assert/strict";
import { assemble, type AnswerTable } from "../src/answer.ts";
import type { AnswerChunk, AnswerHeader, Double, Schema } from "../src/api/types.ts";

export function header(part: Partial<AnswerHeader> = {}): AnswerChunk {
  return {
    header: {
      release_id: "r",
      charge_id: "c",
      request_id: "q",
      replayed: false,
      costs: [],
      marginal_count: 0,
      event: "",
      query_set_count: 0,
      free_from: [],
      could_be_free_from: [],
      post_processing: "",
      confidence_level: 0.95,
      domain_from_records: false,
      rows_from_query: false,
      ...part,
    },
  };
}

export type SentStatistic = [labels: string[], value: Double, low: Double, high: Double];

// Of one set of statistics by `by`. As protobuf writes its JSON: what is no number is a word.
export function statisticsChunks(
  rows: SentStatistic[],
  by = ["region"],
  part: Partial<AnswerHeader> = {},
): AnswerChunk[] {
  return [
    header({ query_set_count: 1, ...part }),
    {
      query_set: {
        query_set: 0,
        query_class: "statistics",
        columns: [...by, "statistic"],
        answer_count: String(rows.length),
        strategy: "STRATEGY_UNSPECIFIED",
        strategy_words: "",
        measurement_count: "0",
      },
    },
    {
      answers: {
        offset: "0",
        counts: [],
        estimates: rows.map(([, value]) => value),
        standard_deviations: rows.map(([, value]) => (value === "NaN" ? "NaN" : 7)),
        confidence_half_widths: [],
        labels: rows.flatMap(([labels]) => labels),
        interval_lows: rows.map(([, , low]) => low),
        interval_highs: rows.map(([, , , high]) => high),
      },
    },
  ];
}

export function onlyTable(chunks: AnswerChunk[], schema: Schema): AnswerTable {
  const { tables } = assemble(chunks, schema);
  assert.equal(tables.length, 1);
  return tables[0] as AnswerTable;
}
