import type { OperatorEvents } from '../../../protocol/operator.js';
import type { ApiClient } from '../../api/client.js';
import { readPages } from '../../api/pages.js';
import type { Kind } from '../../output/output.js';
import { runPath } from './run-filter.js';

export type RunEvent = OperatorEvents['events'][number];

const MOST_CHARS = 80;
/** Fields that every chunk has. */
const BASE = new Set(['type', 'agentId', 'agentType', 'timestamp', 'step', 'streamId']);

export const EVENTS: Kind<RunEvent> = {
  fields: ['sequence', 'writer', 'message'],
  columns: [
    { title: 'SEQUENCE', show: ({ sequence }) => sequence },
    { title: 'TIME', show: ({ message }, shown) => shown.time(Number(message['timestamp'])) },
    { title: 'STEP', show: ({ message }) => toText(message['step']) },
    { title: 'WRITER', show: ({ writer }) => (writer === '' ? undefined : writer) },
    { title: 'TYPE', show: ({ message }) => message.type },
    { title: 'CONTENT', show: ({ message }) => toContent(message) },
  ],
  none: 'The log has nothing of this run any more.',
};

/** The log entries of a run, oldest first. */
export function readEvents(api: ApiClient, runId: string): AsyncGenerator<RunEvent, void> {
  return readPages(async ({ cursor }) => {
    const query = { after: cursor };
    const page = await api.get<OperatorEvents>(runPath(runId, '/events'), { query });
    return { items: page.events, cursor: page.next === undefined ? undefined : String(page.next) };
  }, undefined);
}

/** What is particular to an entry, as one short line. */
function toContent(message: RunEvent['message']): string {
  const own = Object.entries(message).filter(([name]) => !BASE.has(name));
  const text = JSON.stringify(Object.fromEntries(own));
  return text.length > MOST_CHARS ? `${text.slice(0, MOST_CHARS)}…` : text;
}

function toText(value: unknown): string | undefined {
  return typeof value === 'number' ? String(value) : undefined;
}
