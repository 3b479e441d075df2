import { redis } from './host.js';
import { int } from './json.js';
import type { Turn } from './places.js';
import type { Session } from './session.js';

/**
 * Notes a rewind, so that runs of dropped turns are listed as rewound: those up to `runN` that began
 * at its row or after it.
 */
export function noteRewind(session: Session, { row }: Turn, runN: number, mode: string): void {
  redis.call('RPUSH', session.rewinds, `${int(runN)} ${int(row)} ${mode}`);
}
