import { useId, useLayoutEffect, useRef, type ReactElement, type ReactNode } from 'react';

interface Props {
  className: string;
  title: string;
  children: ReactNode;
  /** True if the dialog ends with a close button. */
  hasClose?: boolean;
  onClose: () => void;
}

/** A modal dialog that is open while it is mounted; it traps the focus and gives it back. */
export function Modal({ className, title, children, hasClose, onClose }: Props): ReactElement {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useLayoutEffect(() => {
    const element = dialog.current;
    element?.showModal();
    // A browser gives the focus back when a dialog closes, but not when it leaves the page.
    return () => element?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      className={className}
      aria-labelledby={id}
      onClose={({ currentTarget }) => {
        if (!currentTarget.open) onClose();
      }}
    >
      <h2 id={id}>{title}</h2>
      {children}
      {hasClose === true && (
        <form method="dialog">
          <button type="submit">Close</button>
        </form>
      )}
    </dialog>
  );
}
