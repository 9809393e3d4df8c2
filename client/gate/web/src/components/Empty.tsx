// In place of nothing: why there is nothing, and what to do.
import type { ComponentChildren } from "preact";
import { Command } from "./Command.tsx";

export function Empty({
  title,
  children,
  command,
}: {
  title: string;
  children?: ComponentChildren;
  command?: string;
}) {
  return (
    <div class="empty">
      <strong>{title}</strong>
      {children}
      {command && <Command text={command} />}
    </div>
  );
}

// In place of what is being loaded, in its size. The height is in rem.
export function Skeleton({ height = 1.25, width = "100%" }: { height?: number; width?: string }) {
  return <span class="skeleton" style={{ height: `${height}rem`, width }} aria-hidden="true" />;
}

export function SkeletonLines({ lines, label = "Loading" }: { lines: number; label?: string }) {
  return (
    <div class="skeleton-lines" role="status" aria-label={label}>
      {Array.from({ length: lines }, (_, i) => (
        <Skeleton key={i} height={1.75} width={`${100 - ((i * 37) % 30)}%`} />
      ))}
    </div>
  );
}
