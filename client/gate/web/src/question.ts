// Questions that the page can put together, as workloads of the protocol.
import type { Attribute, Predicate, QuerySet, Spend, Workload } from "./api/types.ts";
import { binsOf, runSizeOf } from "./answer.ts";

export type Shape = "alone" | "pairs" | "together" | "upto";

// Whether "up to each value" says more than how many there are in all, and values have an order of some kind.
function hasRuns(attribute: Attribute | undefined): boolean {
  return attribute === undefined || runSizeOf(attribute) > 1;
}

// What can be asked about these attributes, of records that fulfil a condition if there is one.
export function shapesFor(names: string[], attributes: Attribute[], hasCondition = false): Shape[] {
  const shapes = shapesOfAll(names, attributes);
  return hasCondition ? shapes.filter((shape) => shape !== "upto") : shapes;
}

function shapesOfAll(names: string[], attributes: Attribute[]): Shape[] {
  if (names.length === 0) return ["alone", "upto"];
  if (names.length === 1) {
    const [name] = names;
    return hasRuns(attributes.find((attribute) => attribute.name === name)) ? ["alone", "upto"] : ["alone"];
  }
  return names.length === 2 ? ["alone", "together"] : ["alone", "pairs", "together"];
}

export const SHAPE_WORDS: Record<Shape, string> = {
  alone: "each attribute alone",
  pairs: "every pair of them",
  together: "all of them in one table",
  upto: "up to each value",
};

function pairsOf(names: string[]): string[][] {
  return names.flatMap((first, i) => names.slice(i + 1).map((second) => [first, second]));
}

export function setsOf(shape: Shape, names: string[]): string[][] {
  if (shape === "pairs") return pairsOf(names);
  return shape === "together" ? [names] : names.map((name) => [name]);
}

// Of the records alone that fulfil a condition, if there is one. "Up to each value" takes none.
export function workloadOf(shape: Shape, names: string[], where?: Predicate): Workload {
  if (where) {
    const sets = names.length === 0 ? [[]] : setsOf(shape, names);
    return { query_sets: sets.map((by) => ({ predicates: { predicates: [where], by } })) };
  }
  const querySet: QuerySet =
    shape === "upto"
      ? { prefixes: { attribute: names[0] ?? "" } }
      : { marginals: { sets: setsOf(shape, names).map((set) => ({ names: set })) } };
  return { query_sets: [querySet] };
}

// How many numbers the answer will have.
export function numbersOf(shape: Shape, names: string[], attributes: Attribute[]): number {
  const sizeOf = shape === "upto" ? runSizeOf : binsOf;
  const bins = new Map(attributes.map((attribute) => [attribute.name, sizeOf(attribute)]));
  const cells = (set: string[]) => set.reduce((product, name) => product * (bins.get(name) ?? 1), 1);
  return setsOf(shape, names).reduce((sum, set) => sum + cells(set), 0);
}

// "rho 0.03", "epsilon 1, delta 1e-9", "nothing".
export function spendText(spend: Spend | undefined): string {
  if (!spend) return "nothing";
  if (spend.rho !== "") return `rho ${spend.rho}`;
  if (spend.epsilon === "") return "nothing";
  return spend.delta === "" ? `epsilon ${spend.epsilon}` : `epsilon ${spend.epsilon}, delta ${spend.delta}`;
}

// Without the parts that are empty, as a request has it.
export function spendOf(spend: Spend): Partial<Spend> {
  return Object.fromEntries(Object.entries(spend).filter(([, amount]) => amount !== ""));
}

// A slider of errors: each step is a twentieth of a power of ten.
export const ERROR_STEPS = { least: 0, most: 100 };

export function errorOfStep(step: number): number {
  return Number((10 ** (step / 20)).toPrecision(2));
}

// The error, in records, that is so many percent of so many records. None where one of the two is no number.
export function errorOfShare(records: string, percentage: string): number | undefined {
  const rows = Number(records);
  const share = Number(percentage);
  const isGiven = records.trim() !== "" && percentage.trim() !== "";
  if (!isGiven || !Number.isInteger(rows) || rows < 1 || !(share > 0) || share > 100) return undefined;
  return (rows * share) / 100;
}

export function stepOfError(error: number): number {
  return Math.round(Math.min(Math.max(20 * Math.log10(error), ERROR_STEPS.least), ERROR_STEPS.most));
}
