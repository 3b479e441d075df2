import { cjson } from './host.js';
import { only } from './request.js';
import { isTerminal, readRoot } from './root.js';
import type { Session } from './session.js';

/**
 * The reply for a step that is already committed: the newest outcome. `superseded` for a run that
 * was ended elsewhere, which has nothing left to do, and for one that continues after earlier
 * steps, whose outcomes it does not know.
 */
export function doneOrSuperseded(session: Session): string {
  const { outcome, status } = readRoot(session, ['outcome', 'status']);
  if (outcome === undefined || outcome === '') return only('superseded');
  if (isTerminal(status) && (cjson.decode(outcome) as { kind: string }).kind !== 'ended') {
    return only('superseded');
  }
  return `{"kind":"done","outcome":${outcome}}`;
}
