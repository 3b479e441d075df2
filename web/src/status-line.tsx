import type { ReactElement } from 'react';
import type { PageStatus } from './page-status.js';

/** Texts of the statuses, with the kind of their dot. */
const SHOWN: Record<PageStatus, readonly [text: string, dot?: 'rests' | 'works' | 'waits']> = {
  loading: ['Opening the conversation…'],
  ready: ['Ready', 'rests'],
  starting: ['Starting…', 'works'],
  thinking: ['Thinking…', 'works'],
  streaming: ['Writing…', 'works'],
  working: ['Running', 'works'],
  stopping: ['Stopping…'],
  waiting: ['Waiting for you', 'waits'],
  colleague: ['Waiting for a colleague', 'waits'],
  provider: ['Waiting for the provider of the model…', 'waits'],
  paused: ['This agent is paused. Your message waits until it is resumed.', 'waits'],
  later: ['Begins later', 'waits'],
  reconnecting: ['Reconnecting…', 'waits'],
};

interface Props {
  status: PageStatus;
  /** Titles of the running calls, or the start time of the run. */
  detail?: string | undefined;
}

export function StatusLine({ status, detail }: Props): ReactElement {
  const [text, dot = ''] = SHOWN[status];
  return (
    <p className={`status ${dot}`} role="status" data-testid="status" data-status={status}>
      <span className="status-dot" aria-hidden="true" />
      <span>
        {text}
        {detail !== undefined && `: ${detail}`}
      </span>
    </p>
  );
}
