// A page: its title in the window and as its only h1, which has the focus after a navigation, and its width.
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

interface Props {
  title: string;
  // Of the window, when the heading alone says too little.
  windowTitle?: string;
  crumb?: ComponentChildren;
  lead?: ComponentChildren;
  // To the right of the heading.
  aside?: ComponentChildren;
  // Below the heading: DatasetTabs.
  tabs?: ComponentChildren;
  children: ComponentChildren;
}

let isFirst = true;

export function Page({ title, windowTitle, crumb, lead, aside, tabs, children }: Props) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${windowTitle ?? title} · Curator`;
  }, [title, windowTitle]);
  useEffect(() => {
    if (!isFirst) heading.current?.focus({ preventScroll: true });
    isFirst = false;
  }, []);
  return (
    <div class="page">
      <header class="page-head">
        {crumb && <p class="crumb">{crumb}</p>}
        <div class="title">
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          {aside && <div class="row">{aside}</div>}
        </div>
        {lead && <p class="lead">{lead}</p>}
      </header>
      {tabs}
      {children}
    </div>
  );
}

// Where what had the focus is gone, as after a navigation.
export function focusHeading(): void {
  document.querySelector<HTMLElement>("h1")?.focus();
}

// A part of a page with a heading of its own.
export function Card({
  title,
  aside,
  children,
}: {
  title?: string;
  aside?: ComponentChildren;
  children: ComponentChildren;
}) {
  return (
    <section class="card" {...(title === undefined ? {} : { "aria-label": title })}>
      {title !== undefined && (
        <div class="card-head">
          <h2>{title}</h2>
          {aside}
        </div>
      )}
      {children}
    </section>
  );
}
