import type { Redis } from 'ioredis';

/**
 * All that this measurement knows of how sessions lie in Redis (see NAMES in the scripts of the
 * store). Sessions grow here by copies of what the store itself has written, so most of what a later
 * layout adds is copied as well; what counts turns, rows or sub-agents has to be added below.
 */
export interface Place {
  redis: Redis;
  prefix: string;
}

/** Sub-agents with numbers from here on belong to a case, those below to a session's past. */
export const NEW_SUB_AGENT = 90_001;

/** Patterns of a session's keys: all of them, or those that a case may change. */
export function patternsOf(prefix: string, sessionId: string): { all: string[]; own: string[] } {
  const base = `${prefix}:{${sessionId}}:`;
  return { all: [`${base}*`], own: [`${base}[a-z]*`, `${base}90[0-9][0-9][0-9]-*`] };
}

const AT_ONCE = 5_000;

/** Sends commands in pipelines of bounded size. */
export async function send(redis: Redis, commands: readonly (string | number)[][]): Promise<void> {
  for (let at = 0; at < commands.length; at += AT_ONCE) {
    const part = commands.slice(at, at + AT_ONCE).map((command) => command.map(String));
    const replies = await redis.pipeline(part).exec();
    const failure = replies?.find(([error]) => error !== null)?.[0];
    if (failure) throw failure;
  }
}

type Fields = Record<string, unknown>;

function withFields(json: string, fields: Fields): string {
  return JSON.stringify({ ...(JSON.parse(json) as Fields), ...fields });
}

/**
 * Makes the one turn that a session at rest has, of a user's row and a reply, into `turns` of them.
 * Their entries of the log are gone, as those of old turns are.
 */
export async function growTurns(
  { redis, prefix }: Place,
  sessionId: string,
  turns: number,
): Promise<void> {
  const key = (name: string): string => `${prefix}:{${sessionId}}:${name}`;
  const [user = '', reply = ''] = await redis.lrange(key('rows'), 0, 1);
  const [run = ''] = await redis.hvals(key('runs'));
  const [checkpoint = ''] = await redis.lrange(key('checkpoints'), 0, 0);
  const [hash = ''] = await redis.hvals(key('messages'));
  const hasPlaces = (await redis.exists(key('places'))) === 1;
  const commands: (string | number)[][] = [];
  for (let turn = 2; turn <= turns; turn += 1) {
    const { id, runId, messageId, checkpointId } = pastTurn(sessionId, turn);
    const [startRow, startSequence] = [2 * (turn - 1), ENTRIES_OF_TURN * (turn - 1)];
    const streamSequence = startSequence + ENTRIES_OF_TURN;
    const newRun = { runId, turn, startRow, startSequence, messageId };
    const newCheckpoint = { id: checkpointId, runId, messageCount: startRow + 2, streamSequence };
    commands.push(
      ['rpush', key('rows'), withFields(user, { id }), withFields(reply, { messageId, runId })],
      ['hset', key('messages'), id, hash],
      ['hset', key('runs'), runId, withFields(run, newRun)],
      ['rpush', key('checkpoints'), withFields(checkpoint, newCheckpoint)],
    );
    if (!hasPlaces) continue;
    commands.push([
      ...['hset', key('places'), `m:${id}`, `${String(startRow)} ${String(turn)}`],
      ...[`t:${String(turn)}`, `${String(startRow)} ${String(startSequence)} ${messageId}`],
      ...[`c:${checkpointId}`, turn - 1, `e:${checkpointId}`, streamSequence],
    ]);
  }
  const { runId, messageId, checkpointId } = pastTurn(sessionId, turns);
  const before = ENTRIES_OF_TURN * (turns - 1);
  commands.push([
    ...['hset', key('root'), 'run', runId, 'runN', turns, 'turn', turns, 'replied', turns],
    ...['turnRow', 2 * (turns - 1), 'uiCount', 2 * turns, 'messageId', messageId],
    ...['turnSeq', before, 'runSeq', before, 'pauseSeq', before, 'seq', ENTRIES_OF_TURN * turns],
    ...['checkpoint', checkpointId],
  ]);
  await send(redis, commands);
}

const ENTRIES_OF_TURN = 5;

/** The ids of a turn that `growTurns` has made. */
export function pastTurn(
  sessionId: string,
  turn: number,
): { id: string; runId: string; messageId: string; checkpointId: string } {
  const n = String(turn);
  return {
    id: `u-past-${n}`,
    runId: `${sessionId}:${n}-past`,
    messageId: `msg-${String(2 * turn - 1)}`,
    checkpointId: `cpv1-${sessionId}-s1-${n}-past`,
  };
}

/** Makes the one sub-agent that a session had, `1-<nonce>`, into `count` of them. */
export async function growSubAgents(
  { redis, prefix }: Place,
  sessionId: string,
  count: number,
): Promise<void> {
  const base = `${prefix}:{${sessionId}}:`;
  const [first] = Object.entries(await redis.hgetall(`${base}children`));
  const [part, run] = first ?? ['', ''];
  const calls = Object.keys(await redis.hgetall(`${base}owners`));
  const keys = await redis.keys(`${base}${part}:*`);
  const commands: (string | number)[][] = [];
  for (let n = 2; n <= count; n += 1) {
    const copy = part.replace(/^\d+/, String(n));
    commands.push(
      ...keys.map((key) => ['copy', key, key.replace(`${base}${part}`, base + copy)]),
      ['hset', `${base}children`, copy, run],
      ...calls.map((call) => ['hset', `${base}owners`, `${call}-${String(n)}`, `${copy} past`]),
    );
  }
  await send(redis, commands);
}

/** Calls of turns that are long over. */
export async function growCalls(
  { redis, prefix }: Place,
  sessionId: string,
  count: number,
): Promise<void> {
  const ids = Array.from({ length: count }, (_, n) => `call-past-${String(n)}`);
  const key = `${prefix}:{${sessionId}}:settled`;
  const commands: string[][] = [];
  for (let at = 0; at < count; at += 500) commands.push(['sadd', key, ...ids.slice(at, at + 500)]);
  await send(redis, commands);
}
