import { HelixError } from '../../protocol/errors.js';
import type { Row } from '../../protocol/rows.js';
import type { Store } from '../../stores/contract/store.js';
import { TWO_CALLS } from './read-call.js';

/** What a call of the agent asks the record. */
export interface Conversations {
  /**
   * Whether there is such a conversation.
   *
   * @throws HelixError `validation_error` if it waits for one of these results: a new message would
   * give the call up
   */
  isKnown: (
    sessionId: string,
    call: { owner: string; results: ReadonlySet<string> },
  ) => Promise<boolean>;
  /** The rows of the newest turn. */
  turn: (sessionId: string) => Promise<Row[]>;
  /** True if the run has not continued with the answer of this sequence: others are missing. */
  stillWaits: (sessionId: string, answered: number) => Promise<boolean>;
}

export function createConversations({ sessions }: Pick<Store, 'sessions'>): Conversations {
  return {
    isKnown: async (sessionId, { owner, results }) => {
      if (results.size === 0) return (await sessions.read(sessionId)) !== undefined;
      const view = await sessions.view(sessionId);
      const isAwaited = view?.openCalls.some(
        ({ state, spec }) => state === 'waiting' && results.has(spec.toolCallId),
      );
      if (view?.record.owner === owner && isAwaited === true) {
        throw new HelixError('validation_error', TWO_CALLS);
      }
      return view !== undefined;
    },
    turn: async (sessionId) => {
      const record = await sessions.read(sessionId);
      return sessions.rows(sessionId, record?.turnStartRow ?? 0);
    },
    stillWaits: async (sessionId, answered) => {
      const record = await sessions.read(sessionId);
      return record?.stream === 'paused' && record.pauseSequence < answered;
    },
  };
}
