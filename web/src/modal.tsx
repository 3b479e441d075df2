import { useEffect, useId, useRef, type ReactElement, type ReactNode } from 'react';

interface Props {
  className: string;
  title: string;
  children: ReactNode;
  /** Whether it ends with a button that closes it. */
  hasClose?: boolean;
  onClose: () => void;
}

/** A dialog that is open for as long as it is shown, and has the keyboard to itself. */
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
