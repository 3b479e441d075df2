import { useState, type ReactElement, type ReactNode } from 'react';
import { useSending } from '../load-fault.js';
import { Modal } from '../modal.js';
import { ProblemNote } from './problem-note.js';

interface Props {
  title: string;
  verb: string;
  children?: ReactNode;
  /** False while there is nothing to confirm yet. */
  ready?: boolean;
  /** True if a reason is required. */
  needsReason?: boolean;
  /** Performs the act and closes the dialog. Rejects if the server refused; the dialog shows why. */
  onConfirm: (reason: string | undefined) => Promise<void>;
  onClose: () => void;
}

/** Asks for confirmation, and for a reason, before an act that cannot be undone. */
export function ConfirmDialog(props: Props): ReactElement {
  const { title, verb, children, ready = true, needsReason = false, onConfirm, onClose } = props;
  const [reason, setReason] = useState('');
  const { busy, error, send } = useSending();
  return (
    <Modal className="confirm" title={title} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void send(onConfirm(reason.trim() || undefined));
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
            onChange={(event) => setReason(event.target.value)}
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
