import { cjson, redis, toNumber } from './host.js';
import { int, withField } from './json.js';
import { FIRST_LAYOUT } from './layout.js';
import type { Turn } from './places.js';
import type { Session } from './session.js';

/** The fields of an ended run's record that rewinds need. */
export interface EndedRun {
  runId: string;
  startRow?: number;
  startSequence: number;
  turn: number;
  messageId: string;
  /** Release 0.2.0 marks each run that a rewind drops. */
  rewound?: boolean;
}

/** A rewind: it dropped the runs up to `upTo` that began at `row` or after it. */
export interface Rewind {
  upTo: number;
  row: number;
  isWholeTurn: boolean;
}

/** A session with more runs than this does not mark them for release 0.2.0. */
const MOST_MARKED = 300;

/** Notes a rewind, so that runs of dropped turns are listed as rewound. */
export function noteRewind(session: Session, { row }: Turn, runN: number, mode: string): void {
  const rewind = { upTo: runN, row, isWholeTurn: mode === 'retry' };
  redis.call('RPUSH', session.rewinds, `${int(runN)} ${int(row)} ${mode}`);
  const { runs, settings } = session;
  if (settings.layout > FIRST_LAYOUT || runN > MOST_MARKED) return;
  for (const id of redis.call('HKEYS', runs)) {
    const json = redis.call('HGET', runs, id) as string;
    const run = cjson.decode(json) as EndedRun;
    if (run.rewound === true || !wasRewound(run, [rewind])) continue;
    redis.call('HSET', runs, id, withField(json, 'rewound', 'true'));
  }
}

export function readRewinds(session: Session): Rewind[] {
  const rewinds: Rewind[] = [];
  for (const rewind of redis.call('LRANGE', session.rewinds, '0', '-1')) {
    const [upTo = '', row = '', mode = ''] = rewind.split(' ');
    rewinds.push({ upTo: toNumber(upTo), row: toNumber(row), isWholeTurn: mode === 'retry' });
  }
  return rewinds;
}

export function wasRewound(run: EndedRun, rewinds: readonly Rewind[]): boolean {
  if (run.rewound === true) return true;
  const startRow = run.startRow ?? 0;
  const number = numberOf(run.runId);
  for (const { upTo, row, isWholeTurn } of rewinds) {
    if (number <= upTo && (startRow > row || (startRow === row && isWholeTurn))) return true;
  }
  return false;
}

/** Run ids are `<sessionId>:<number>-<nonce>`; a session id contains no colon. */
function numberOf(runId: string): number {
  const rest = runId.slice(runId.indexOf(':') + 1);
  return toNumber(rest.slice(0, rest.indexOf('-')));
}
