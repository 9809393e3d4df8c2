// A link to another page: changes the address without loading the document again.
import type { ComponentChildren } from "preact";
import { navigate } from "../router.ts";

interface Props {
  href: string;
  class?: string;
  current?: boolean;
  children: ComponentChildren;
}

export function Link({ href, class: className, current, children }: Props) {
  const onClick = (event: MouseEvent) => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    navigate(href);
    window.scrollTo(0, 0);
  };
  return (
    <a href={href} class={className} aria-current={current ? "page" : undefined} onClick={onClick}>
      {children}
    </a>
  );
}
