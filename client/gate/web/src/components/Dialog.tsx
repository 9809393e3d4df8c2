// A question that must be answered first. The browser keeps the focus inside and closes it on Escape.
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";

interface Props {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
  // Buttons.
  foot?: ComponentChildren;
}

export function Dialog({ title, onClose, children, foot }: Props) {
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
      onCancel={(event) => {
        event.preventDefault();
        onClose();
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
