import { cjson } from './host.js';
import { only } from './request.js';
import { isTerminal } from './root.js';

/**
 * The reply to a step that is committed: the newest outcome. A run that ended elsewhere has nothing
 * more to do, whatever its last step had left; and one that continues behind earlier steps knows
 * nothing of what they left.
 */
export function doneOrSuperseded(outcome: string | undefined, status: string | undefined): string {
  if (outcome === undefined || outcome === '') return only('superseded');
  if (isTerminal(status) && (cjson.decode(outcome) as { kind: string }).kind !== 'ended') {
    return only('superseded');
  }
  return `{"kind":"done","outcome":${outcome}}`;
}
