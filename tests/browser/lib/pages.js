// All pages of the dashboard, by the patterns of client/gate/web/src/routes.tsx. `path`: with what tests have made. `who`: a reader of
// it. `states`: what a reader may open on it, each tested as a page of its own.
const release = (kind) => (world) => `/releases/${world.releases[kind]}`;

async function chooseAttribute(person) {
  await person.pressOn("label.choice input[type=checkbox]");
  await person.page.waitForSelector(".price-row");
}

async function showTable(person) {
  await person.pressOn("figure.chart .chart-tools button");
  await person.page.waitForSelector("figure.chart table");
}

function openDialog(name) {
  return async (person) => {
    await person.press(name);
    await person.page.waitForSelector("dialog[open]");
  };
}

async function priceStatistics(person) {
  await person.press("sums, means and other statistics of groups", "radio");
  for (const name of ["number of records", "mean", "variance", "region 5 values"]) await person.press(name, "checkbox");
  await person.sees("95\u00a0% within");
}

async function writeSql(person, sql) {
  await person.press("what a statement in SQL selects", "radio");
  await person.fill("Statement", sql);
  await person.press("Show what it costs");
}

async function priceSql(person) {
  await writeSql(person, "SELECT sex, COUNT(*) AS n FROM demo WHERE education <> 'none' GROUP BY sex HAVING COUNT(*) > 10 ORDER BY n");
  await person.sees("groups with n > 10");
  await person.sees("95\u00a0% within");
}

async function mistakeSql(person) {
  await writeSql(person, "SELECT sex, COUNT(*) FROM demo WHERE educatoin = 'none' GROUP BY sex");
  await person.sees("LINE 1:");
  // The answer of a mistake is an error in the browser's console.
  person.problems = person.problems.filter((problem) => !problem.includes("Failed to load resource"));
}

const ASKING = {
  "a price": chooseAttribute,
  "statistics and their price": priceStatistics,
  "a statement in SQL and its price": priceSql,
  "a mistake in SQL": mistakeSql,
};

async function priceSynthesis(person) {
  await person.fill("Amount of rho", "0.001");
  await person.sees("would be left");
}

// With everything open that can be, and a mistake.
async function mistakeSynthesis(person) {
  await person.press("attributes that you choose", "radio");
  await person.press("sex 2 values", "checkbox");
  for (const details of await person.page.$$("details > summary")) await details.press("Enter");
  await person.fill("Amount of rho", "0");
  await person.sees("Must be greater than 0.", ".problem");
  person.problems = person.problems.filter((problem) => !problem.includes("Failed to load resource"));
}

const SYNTHESIZING = { "a price": priceSynthesis, "a mistake": mistakeSynthesis };

export const PAGES = [
  { pattern: "/", who: "ana" },
  { pattern: "/inbox", who: "olga", states: { "a proposal": openDialog("Propose a change…") } },
  { pattern: "/refused", who: "ana" },
  { pattern: "/operations", who: "ana" },
  { pattern: "/releases", who: "ana" },
  { pattern: "/ask", who: "ana" },
  { pattern: "/people", who: "ada", isOfProduction: true },
  { pattern: "/people/:principal", path: () => "/people/ana", who: "ada", isOfProduction: true },
  { pattern: "/audit", who: "olga" },
  { pattern: "/server", who: "olga" },
  { pattern: "/datasets/:dataset", path: () => "/datasets/demo", who: "ana", states: { "the chart as a table": showTable } },
  { pattern: "/datasets/:dataset/history", path: () => "/datasets/demo/history", who: "olga" },
  { pattern: "/datasets/:dataset/releases", path: () => "/datasets/demo/releases", who: "ana" },
  { pattern: "/datasets/:dataset/access", path: () => "/datasets/demo/access", who: "olga" },
  { pattern: "/datasets/:dataset/ask", path: () => "/datasets/demo/ask", who: "ana", states: ASKING },
  { pattern: "/datasets/:dataset/synthesize", path: () => "/datasets/demo/synthesize", who: "ana", states: SYNTHESIZING },
  { pattern: "/releases/:release", path: release("oneWay"), who: "ana", states: { "the chart as a table": showTable } },
  { pattern: "/releases/:release", path: release("twoWay"), who: "ana" },
  { pattern: "/releases/:release", path: release("queries"), who: "ana" },
  { pattern: "/releases/:release", path: release("statistics"), who: "ana" },
  { pattern: "/releases/:release", path: release("synthesis"), who: "ana" },
  // What is not in routes.tsx.
  { pattern: "sign in", path: () => "/", who: "" },
  { pattern: "no such page", path: () => "/no/such/page", who: "ana" },
  { pattern: "no such dataset", path: () => "/datasets/nothing", who: "ana", mayFail: true },
];

export function pathOf({ pattern, path }, world) {
  return path ? path(world) : pattern;
}
