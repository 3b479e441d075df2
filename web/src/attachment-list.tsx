import type { ReactElement } from 'react';
import type { Attachment } from './attachment.js';
import { FileView } from './file-view.js';

interface Props {
  attachments: readonly Attachment[];
  onRemove: (key: string) => void;
}

/** The files of the message that is being written. */
export function AttachmentList({ attachments, onRemove }: Props): ReactElement | null {
  if (attachments.length === 0) return null;
  return (
    <ul className="attachments" aria-label="Files of your message" data-testid="attachments">
      {attachments.map(({ key, name, part, fault }) => (
        <li key={key} data-testid="attachment" data-state={fault ?? (part ? 'ready' : 'sending')}>
          {part === undefined ? <span className="file">{name}</span> : <FileView file={part} />}
          {fault !== undefined && (
            <span className="fault" role="alert">
              {fault}
            </span>
          )}
          {fault === undefined && part === undefined && <span role="status">Sending…</span>}
          <button
            type="button"
            aria-label={`Remove ${name}`}
            onClick={() => {
              onRemove(key);
            }}
          >
            ×
          </button>
        </li>
      ))}
    </ul>
  );
}
