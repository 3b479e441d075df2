import { overdueCallsOf } from './open-calls.js';
import { withoutClock } from './without-clock.js';
import type { World } from './world.js';

/** Two worlds of one fingerprint have the same future: clocks and sequences make no difference. */
export function fingerprint(world: World): string {
  const { data, runs, executions, budget } = world;
  const overdue = overdueCallsOf(world).map(({ toolCallId }) => toolCallId);
  const rest = JSON.stringify([overdue, runs, executions, budget], withoutSequences);
  return `${data.keyspace.fingerprint(withoutClock)}${rest}`;
}

function withoutSequences(key: string, value: unknown): unknown {
  return key === 'known' || key === 'sequence' ? undefined : value;
}
