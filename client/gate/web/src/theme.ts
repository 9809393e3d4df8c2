// Light or dark: as the reader's system has it, unless chosen otherwise here.
import { createStore } from "./store.ts";

export type Theme = "system" | "light" | "dark";

const KEY = "curator.theme";

function stored(): Theme {
  try {
    const value = window.localStorage.getItem(KEY);
    return value === "light" || value === "dark" ? value : "system";
  } catch {
    return "system";
  }
}

export const theme = createStore<Theme>("system");

function apply(choice: Theme): void {
  if (choice === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = choice;
  theme.set(choice);
}

export function startTheme(): void {
  apply(stored());
}

export function chooseTheme(choice: Theme): void {
  apply(choice);
  try {
    if (choice === "system") window.localStorage.removeItem(KEY);
    else window.localStorage.setItem(KEY, choice);
  } catch {
    // A browser that keeps nothing shows the choice until it is reloaded.
  }
}
