import type { FrontendSnapshot } from '../../protocol/http.js';

/** Loads the conversation that a chat shows; undefined if it does not exist. */
export type SnapshotLoader<M> = (
  chatId: string,
) => Promise<
  | (Pick<FrontendSnapshot<Record<string, unknown>, M>, 'messages' | 'status'> &
      Partial<Pick<FrontendSnapshot<Record<string, unknown>, M>, 'streamSequence'>>)
  | undefined
>;
