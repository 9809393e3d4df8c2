import { render } from "preact";
import { App } from "./app.tsx";
import { startRouter } from "./router.ts";
import { loadSession } from "./session.ts";
import { startTheme } from "./theme.ts";

// Before the first painting, so that the page does not flash in the other colours.
startTheme();

document.addEventListener("DOMContentLoaded", () => {
  startRouter();
  void loadSession();
  const root = document.getElementById("app");
  if (root) render(<App />, root);
});
