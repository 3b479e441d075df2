import { useState, type ReactElement, type ReactNode } from 'react';
import { Modal } from '../modal.js';
import { ProblemNote, useSending } from './problem-note.js';

interface Props {
  title: string;
  /** What the button does, such as `Stop the run`. */
  verb: string;
  children?: ReactNode;
  /** False while there is nothing to confirm yet. */
  ready?: boolean;
  /** Whether a reason has to be given. */
  needsReason?: boolean;
  /** Whether the dialog is replaced, not closed, once it was confirmed. */
  stays?: boolean;
  /** Rejects if the act was refused; the dialog says why and stays. */
  onConfirm: (reason: string | undefined) => Promise<void>;
  onClose: () => void;
}

/** Asks before something is done that cannot be taken back, and why it is done. */
export function ConfirmDialog(props: Props): ReactElement {
  const {
    title,
    verb,
    children,
    ready = true,
    needsReason = false,
    stays = false,
    onConfirm,
    onClose,
  } = props;
  const [reason, setReason] = useState('');
  const { busy, error, send } = useSending();
  const text = reason.trim();

  const confirm = async (): Promise<void> => {
    await onConfirm(text === '' ? undefined : text);
    if (!stays) onClose();
  };

  return (
    <Modal className="confirm" title={title} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void send(confirm());
        }}
      >
        {children}
        <label>
          {needsReason ? 'Reason' : 'Reason (optional), for the record'}
          <input
            data-testid="reason"
            value={reason}
            required={needsReason}
            maxLength={2_000}
            onChange={(event) => {
              setReason(event.target.value);
            }}
          />
        </label>
        <ProblemNote error={error} what="The server" />
        <div className="acts">
          <button type="submit" className="primary" data-testid="confirm" disabled={busy || !ready}>
            {verb}
          </button>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
        </div>
      </form>
    </Modal>
  );
}
