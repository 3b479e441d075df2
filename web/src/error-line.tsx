import type { ReactElement } from 'react';
import type { Notice } from './page-store.js';

interface Props {
  notice: Notice | undefined;
  onRetry: () => void;
  onDismiss: () => void;
}

export function ErrorLine({ notice, onRetry, onDismiss }: Props): ReactElement | null {
  if (notice === undefined) return null;
  return (
    <div className="error-line" role="alert" data-testid="error-line">
      <span>{notice.text}</span>
      {notice.retry && (
        <button type="button" data-testid="retry" onClick={onRetry}>
          Retry
        </button>
      )}
      <button type="button" className="plain" aria-label="Dismiss" onClick={onDismiss}>
        ×
      </button>
    </div>
  );
}
