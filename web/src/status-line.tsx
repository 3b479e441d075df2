import type { ReactElement } from 'react';
import type { PageStatus } from './page-status.js';

const WORDS: Record<PageStatus, string> = {
  loading: 'Opening the conversation…',
  ready: 'Ready',
  starting: 'Starting…',
  thinking: 'Thinking…',
  streaming: 'Writing…',
  working: 'Running',
  stopping: 'Stopping…',
  waiting: 'Waiting for you',
  colleague: 'Waiting for a colleague',
  provider: 'Waiting for the provider of the model…',
  paused: 'This agent is paused. Your message waits until it is resumed.',
  later: 'Begins later',
  reconnecting: 'Reconnecting…',
};

interface Props {
  status: PageStatus;
  /** Titles of the running calls, or the start time of the run. */
  detail?: string | undefined;
}

export function StatusLine({ status, detail }: Props): ReactElement {
  return (
    <p className="status" role="status" data-testid="status" data-status={status}>
      <span className="status-dot" aria-hidden="true" />
      <span>
        {WORDS[status]}
        {detail !== undefined && `: ${detail}`}
      </span>
    </p>
  );
}
