// A question that must be answered first. The browser keeps the focus inside and closes it on Escape.
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";

interface Props {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
  // Buttons.
  foot?: ComponentChildren;
  // Escape does not close it: only its buttons do.
  isLocked?: boolean;
}

export function Dialog({ title, onClose, children, foot, isLocked = false }: Props) {
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    const shown = dialog.current;
    shown?.showModal();
    heading.current?.focus();
    return () => shown?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-labelledby={id}
      onKeyDown={(event) => {
        // A browser closes it at the second Escape, whatever "cancel" is answered.
        if (isLocked && event.key === "Escape") event.preventDefault();
      }}
      onCancel={(event) => {
        event.preventDefault();
        if (!isLocked) onClose();
      }}
    >
      <div class="dialog-body">
        <h2 id={id} ref={heading} tabIndex={-1}>
          {title}
        </h2>
        {children}
        {foot && <div class="dialog-foot">{foot}</div>}
      </div>
    </dialog>
  );
}
