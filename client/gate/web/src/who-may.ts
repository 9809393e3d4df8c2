// Which buttons a reader gets. The server decides; these only keep away what it would refuse.
import type { Dataset, InboxItem, RoleBinding } from "./api/types.ts";
import type { SessionState } from "./session.ts";

function hasBudget(dataset: Dataset): boolean {
  return !dataset.public && dataset.state !== "DATASET_STATE_ARCHIVED";
}

export function mayPropose(dataset: Dataset, me: string): boolean {
  return hasBudget(dataset) && dataset.owner === me;
}

function readsOnly({ role, dataset, pending }: RoleBinding, name: string): boolean {
  return !pending && (role === "APPROVER" || role === "AUDITOR") && (dataset === "" || dataset === name);
}

// For who spends from the dataset. Grants are known to its owner alone, so this leaves out only who surely
// does not: owners, approvers and auditors.
export function mayRequest(dataset: Dataset, state: SessionState, inbox: InboxItem[]): boolean {
  if (!hasBudget(dataset) || dataset.owner === state.session?.principal) return false;
  if (inbox.some((item) => item.dataset === dataset.name)) return false;
  return !(state.who?.principal?.roles ?? []).some((binding) => readsOnly(binding, dataset.name));
}
