// Renders a drawing as elements of the page.
import { h } from "preact";
import type { Shape } from "../svg.ts";

export function Shapes({ shapes }: { shapes: Shape[] }) {
  return (
    <>
      {shapes.map(({ tag, attributes, text, children }, i) =>
        h(tag, { key: i, ...attributes }, text, children && <Shapes shapes={children} />),
      )}
    </>
  );
}
