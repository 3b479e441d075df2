import type { StoredCall } from './stored-session.js';
import { recordOf, type World } from './world.js';

/** Calls that wait for a person or a page. */
export function openCallsOf(world: World): StoredCall[] {
  return (recordOf(world)?.calls ?? []).filter(({ state }) => state === 'waiting');
}

/** Those of them whose time is over. */
export function overdueCallsOf(world: World): StoredCall[] {
  const { now } = world.clock;
  return openCallsOf(world).filter(({ deadline }) => deadline !== undefined && deadline <= now);
}
