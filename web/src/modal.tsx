import { useEffect, useId, useRef, type ReactElement, type ReactNode } from 'react';

interface Props {
  className: string;
  title: string;
  children: ReactNode;
  /** True if the dialog ends with a close button. */
  hasClose?: boolean;
  onClose: () => void;
}

/** A modal dialog that is open while it is mounted; it traps the focus. */
export function Modal({ className, title, children, hasClose, onClose }: Props): ReactElement {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  return (
    <dialog ref={dialog} className={className} aria-labelledby={id} onClose={onClose}>
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
