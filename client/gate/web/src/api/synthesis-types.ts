// The messages of proto/curator/v1/synthesis.proto that the pages use, as types.ts has the others.
import type { Cost, Int64, Spend, Workload } from "./types.ts";

export interface SynthesisSummary {
  method: string;
  attributes: string[];
  records: Int64;
  settings: Record<string, string>;
  transcript: string[];
  event: string;
  protects: string;
}

// A way to make synthetic data.
export interface Synthesizer {
  method: string;
  summary: string;
  settings: { key: string; summary: string; default_value: string }[];
}

export interface SynthesisSpec {
  method: string;
  spend: Partial<Spend>;
  // Those that are not left to the method.
  settings?: Record<string, string>;
  // All two-way marginals when absent.
  workload?: Workload;
}

export interface SynthesisEstimate {
  costs: Cost[];
  event: string;
  // A line for each step.
  schedule: string[];
  // All of them, with what the method chose.
  settings: Record<string, string>;
  fits: boolean;
  model_cells: Int64;
  protects: string;
  predicted_cpu_seconds: Int64;
  predicted_memory_bytes: Int64;
  refused_by_rule: string;
  domain_from_records: boolean;
  rows_from_query: boolean;
}
