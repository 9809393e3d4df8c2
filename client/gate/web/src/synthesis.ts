// What an analyst asks for when making synthetic data, as the page holds it and as the protocol has it.
import type { ApiError } from "./api/error.ts";
import type { SynthesisSpec, Synthesizer } from "./api/synthesis-types.ts";
import type { Budget, Rule, Spend, Workload } from "./api/types.ts";
import { compare, hundredths, shorten } from "./decimal.ts";
import { rootBelow } from "./refusals.ts";
import { sentence } from "./words.ts";

export type Unit = "rho" | "epsilon";

export interface Draft {
  // What is preselected when empty.
  method: string;
  // As typed, by method and key.
  settings: Record<string, Record<string, string>>;
  unit: Unit;
  amount: string;
  // Where the rule counts a delta with epsilon.
  delta: string;
  workload: "usual" | "chosen";
  attributes: string[];
  k: number;
}

export const NO_DRAFT: Draft = {
  method: "",
  settings: {},
  unit: "rho",
  amount: "",
  delta: "",
  workload: "usual",
  attributes: [],
  k: 2,
};

// The server's own choice, where it has one.
const PRESELECTED = "auto";

export function chosenMethod(draft: Draft, list: Synthesizer[]): Synthesizer | undefined {
  const find = (method: string) => list.find((each) => each.method === method);
  return find(draft.method) ?? find(PRESELECTED) ?? list[0];
}

// What an account under this rule is paid in.
export function unitsOf(rule: Rule | undefined): Unit[] {
  return rule === "RULE_PURE" || rule === "RULE_ADVANCED" ? ["epsilon"] : ["rho", "epsilon"];
}

export function takesDelta(rule: Rule | undefined): boolean {
  return rule === "RULE_ADVANCED";
}

export function unitOf({ unit }: Draft, rule: Rule | undefined): Unit {
  const units = unitsOf(rule);
  return units.includes(unit) ? unit : (units[0] as Unit);
}

// All accounts of a dataset count by the same rule.
export function ruleOf(budget: Budget | undefined): Rule | undefined {
  return budget?.accounts.find(({ promise }) => promise !== undefined)?.promise?.rule;
}

// The least that the accounts which pay for `principal` have left of the counter that an amount in `unit` is
// taken from, with that counter; undefined where no counter has this unit.
function leastLeft(
  budget: Budget,
  unit: Unit,
  principal: string,
): { counter: string; left: string } | undefined {
  const names = unit === "rho" ? ["rho"] : ["epsilon", "epsilon_squared"];
  return budget.accounts
    .filter(({ analyst }) => analyst === undefined || analyst === principal)
    .flatMap(({ counters }) => counters.filter(({ name }) => names.includes(name)))
    .map(({ name, remaining }) => ({ counter: name, left: remaining }))
    .sort((a, b) => compare(a.left, b.left))[0];
}

const SHARES = [5, 10, 25, 50];
const SHARE_DIGITS = 3;

export interface Share {
  percent: number;
  amount: string;
}

// Amounts that are these shares of what is left, rounded down so that they fit.
export function sharesOfLeft(budget: Budget | undefined, unit: Unit, principal: string): Share[] {
  const least = budget && leastLeft(budget, unit, principal);
  if (!least) return [];
  return SHARES.map((percent) => {
    const part = hundredths(least.left, percent);
    const amount = least.counter === "epsilon_squared" ? rootBelow(part) : part;
    return { percent, amount: shorten(amount, SHARE_DIGITS, "down") };
  }).filter(({ amount }) => compare(amount, "0") > 0);
}

function spendOfDraft(draft: Draft, rule: Rule | undefined): Partial<Spend> {
  const delta = draft.delta.trim();
  return {
    [unitOf(draft, rule)]: draft.amount.trim(),
    ...(takesDelta(rule) && delta !== "" ? { delta } : {}),
  };
}

// The number of attributes in a marginal: not more than there are.
export function wayOf({ k, attributes }: Draft): number {
  return Math.min(k, Math.max(1, attributes.length));
}

function workloadOfDraft(draft: Draft): Workload {
  return {
    query_sets: [{ marginals: { all_k_way: { k: wayOf(draft), attributes: draft.attributes } } }],
  };
}

// Settings that were typed; the others are left to the method.
function settingsOf(draft: Draft, { method, settings }: Synthesizer): Record<string, string> {
  const typed = draft.settings[method] ?? {};
  return Object.fromEntries(
    settings.map(({ key }) => [key, (typed[key] ?? "").trim()]).filter(([, value]) => value !== ""),
  ) as Record<string, string>;
}

// What the reader has yet to give, in words; undefined when nothing is missing.
export function missingOf(draft: Draft): string | undefined {
  if (draft.workload === "chosen" && draft.attributes.length === 0)
    return "Choose at least one attribute to see the price.";
  return draft.amount.trim() === "" ? "Give an amount to see the price." : undefined;
}

// Undefined while something is missing.
export function specOf(
  draft: Draft,
  method: Synthesizer | undefined,
  rule: Rule | undefined,
): SynthesisSpec | undefined {
  if (!method || missingOf(draft) !== undefined) return undefined;
  const settings = settingsOf(draft, method);
  return {
    method: method.method,
    spend: spendOfDraft(draft, rule),
    ...(Object.keys(settings).length > 0 ? { settings } : {}),
    ...(draft.workload === "chosen" ? { workload: workloadOfDraft(draft) } : {}),
  };
}

// What the server finds wrong, by the field of the page that it is about.
export interface Problems {
  method?: string;
  amount?: string;
  delta?: string;
  workload?: string;
  settings: Record<string, string>;
  // Everything that is wrong is about one of these fields.
  isPlaced: boolean;
}

const NO_PROBLEMS: Problems = { settings: {}, isPlaced: false };

type Place = { part: "method" | "amount" | "delta" | "workload" } | { setting: string };

function placeOf(
  field: string,
  { method, settings }: Synthesizer,
  rule: Rule | undefined,
): Place | undefined {
  // A method names itself where nothing of its own would mend what is wrong.
  if (field === "method" || field === method) return { part: "method" };
  if (field === "spend.delta" && takesDelta(rule)) return { part: "delta" };
  if (field === "spend" || field.startsWith("spend.")) return { part: "amount" };
  if (/^workload(?=$|[.[])/.test(field)) return { part: "workload" };
  const key = field.startsWith("settings.") ? field.slice("settings.".length) : undefined;
  return settings.some((setting) => setting.key === key) ? { setting: key as string } : undefined;
}

export function problemsOf(
  error: ApiError | undefined,
  method: Synthesizer | undefined,
  rule: Rule | undefined,
): Problems {
  if (!error || !method) return NO_PROBLEMS;
  const problems: Problems = { settings: {}, isPlaced: error.fields.length > 0 };
  const joined = (before: string | undefined, text: string) => (before ? `${before} ${text}` : text);
  for (const { field, description } of error.fields) {
    const place = placeOf(field, method, rule);
    const text = sentence(description);
    if (!place) problems.isPlaced = false;
    else if ("setting" in place)
      problems.settings[place.setting] = joined(problems.settings[place.setting], text);
    else problems[place.part] = joined(problems[place.part], text);
  }
  return problems;
}
