// Answers as dots with interval bars. Each mark is an element with its exact numbers: data-value, data-lower,
// data-upper.
import { useRef } from "preact/hooks";
import { drawBars, type Mark, type Span } from "../error-bars.ts";
import { Shapes } from "./Shapes.tsx";
import { useWidth } from "./use-width.ts";

export function ErrorBars({ marks, span, label }: { marks: Mark[]; span?: Span; label: string }) {
  const frame = useRef<HTMLDivElement>(null);
  const width = useWidth(frame);
  const drawing = drawBars(marks, Math.max(width, 240), span);
  return (
    <div ref={frame} style={{ minHeight: `${drawing.height}px` }}>
      {width > 0 && (
        <svg class="bars" viewBox={`0 0 ${drawing.width} ${drawing.height}`} role="img" aria-label={label}>
          <Shapes shapes={drawing.shapes} />
        </svg>
      )}
    </div>
  );
}
