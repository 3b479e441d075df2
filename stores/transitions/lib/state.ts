import { byteLength, redis, toNumber } from './host.js';
import { int } from './json.js';
import { dropFields, num, readRoot, setFields, type Root } from './root.js';
import type { Session } from './session.js';
import { countStored, sizeOfFields } from './size.js';

/** Number of turns whose states are kept; a session cannot be rewound further. */
const TURNS_KEPT = 20;

/** Replaces the agent's own state. A version that a checkpoint refers to is kept. */
export function putState(session: Session, state: string): number {
  const { stateV, checkpointV } = readRoot(session, ['stateV', 'checkpointV']);
  const version = num(stateV);
  if (version !== num(checkpointV)) dropStates(session, [int(version)]);
  const next = version + 1;
  redis.call('HSET', session.states, int(next), state);
  countStored(session, byteLength(state));
  setFields(session, ['stateV', int(next)]);
  return next;
}

/** Fields that note with which state a turn began; also deletes the states of old turns. */
export function stateOfTurn(
  session: Session,
  { turn = '0', turnV, stateV, keptV }: Root<'turn' | 'turnV' | 'stateV' | 'keptV'>,
): string[] {
  if (turnV?.startsWith(`${turn} `) === true) return [];
  const version = stateV ?? '0';
  const kept = keptV === undefined ? [] : keptV.split(' ');
  kept.push(`${turn}:${version}`);
  let from = 0;
  if (kept.length > TURNS_KEPT) {
    from = 1;
    forgetBefore(session, versionIn(kept[1] as string), toNumber(version));
  }
  const newest: string[] = [];
  for (let at = from; at < kept.length; at += 1) newest.push(kept[at] as string);
  return ['turnV', `${turn} ${version}`, 'keptV', newest.join(' ')];
}

/** Entries are `<turn>:<version>`. */
function versionIn(entry: string): number {
  return toNumber(entry.slice(entry.indexOf(':') + 1));
}

/** After a rewind, later turns have not begun. */
export function forgetTurnsAfter(session: Session, turn: number): void {
  const { keptV } = readRoot(session, ['keptV']);
  if (keptV === undefined) return;
  const stay: string[] = [];
  for (const entry of keptV.split(' ')) {
    if (toNumber(entry.slice(0, entry.indexOf(':'))) <= turn) stay.push(entry);
  }
  if (stay.length === 0) dropFields(session, ['keptV']);
  else setFields(session, ['keptV', stay.join(' ')]);
}

function forgetBefore(session: Session, oldest: number, current: number): void {
  const old: string[] = [];
  for (const version of redis.call('HKEYS', session.states)) {
    const n = toNumber(version);
    if (n < oldest && n !== current) old.push(version);
  }
  dropStates(session, old);
}

export function dropStates(session: Session, versions: readonly string[]): void {
  if (versions.length === 0) return;
  countStored(session, -sizeOfFields(session.states, versions));
  redis.call('HDEL', session.states, ...versions);
}
