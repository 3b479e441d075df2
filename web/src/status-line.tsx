import type { ReactElement } from 'react';
import type { PageStatus } from './page-status.js';

const WORDS: Record<PageStatus, string> = {
  loading: 'Opening the conversation…',
  ready: 'Ready',
  thinking: 'Thinking…',
  streaming: 'Writing…',
  stopping: 'Stopping…',
  waiting: 'Waiting for you',
  reconnecting: 'Reconnecting…',
};

export function StatusLine({ status }: { status: PageStatus }): ReactElement {
  return (
    <p className="status" role="status" data-testid="status" data-status={status}>
      <span className="status-dot" aria-hidden="true" />
      {WORDS[status]}
    </p>
  );
}
