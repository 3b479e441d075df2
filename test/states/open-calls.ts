import type { CallKind } from '../../protocol/run.js';
import { SESSION, type World } from './world.js';

/** Calls that wait for a person or a page. */
export function openCallsOf({ data }: World): { toolCallId: string; kind: CallKind }[] {
  const session = data.sessions.get(SESSION);
  return [...(session?.calls ?? [])].flatMap(([toolCallId, { kind, state }]) =>
    state === 'waiting' ? [{ toolCallId, kind }] : [],
  );
}
