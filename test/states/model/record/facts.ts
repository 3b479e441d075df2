import { childPartOf } from '../../../../protocol/ids.js';
import { isTerminal, type Next } from '../../../../protocol/run.js';
import { nextOf } from '../../../../session/next.js';
import type { Call } from '../../../../session/record.js';
import type { Entry } from '../../../../session/fields.js';
import type { SessionRecord } from '../../../../store/contract/sessions.js';
import { toRecord } from '../../../../store/redis/stored-session.js';
import { RUNS, type RunName } from '../plan.js';
import { fieldsOf, treeOf, type Data } from './data.js';

/** Data that actors may have read from a record before they send a request. */
export interface Facts {
  /** Sequence of the newest entry. */
  sequence: number;
  /** Absent before the first message. */
  record: SessionRecord | undefined;
  sub: SessionRecord | undefined;
  accepted: number;
  /** Calls of the newest committed step of each agent. */
  calls: ReadonlyMap<string, Call>;
  /** Expired client calls of earlier steps. */
  lapsed: readonly string[];
  /** Tokens of open writers by name. */
  owners: ReadonlyMap<string, number>;
  /** Returns a writer's uncommitted text. */
  textOf: (writer: string) => string;
  nextOf: (run: RunName) => Next;
}

export const SUB = childPartOf(RUNS.sub.sessionId);

export function factsOf(data: Data): Facts {
  const tree = treeOf(data);
  const nexts = new Map<RunName, Next>();
  const sessions = [tree.conversation, tree.session(SUB)];
  const [record, sub] = sessions.map((session) => toRecord(session, 0));
  const index = [...(fieldsOf(data, '', 'index') ?? [])];
  const isLapsed = (name: string, text: string): boolean =>
    name.startsWith('s:') && (JSON.parse(text) as { kind?: string }).kind === 'client';
  return {
    sequence: data.sequence,
    record,
    sub,
    accepted: index.filter(([name]) => name.startsWith('m:')).length,
    calls: new Map(sessions.flatMap((each) => each.openCalls()).map((call) => [call.id, call])),
    lapsed: index.flatMap(([name, text]) => (isLapsed(name, text) ? [name.slice(2)] : [])),
    owners: new Map([...ownersIn(data, ''), ...ownersIn(data, SUB)]),
    textOf: (writer) => textsByWriter(data.log).get(writer) ?? '',
    nextOf: (run) => {
      let next = nexts.get(run);
      if (next === undefined) {
        const { sessionId, runId } = RUNS[run];
        // A tree caches all that it reads and there are many records, so it is not kept.
        next = nextOf(treeOf(data).session(childPartOf(sessionId)), runId, { lists: true });
        nexts.set(run, next);
      }
      return next;
    },
  };
}

/** Returns true while a run may change the record: until it has ended. */
export function isLive({ record, sub }: Facts, run: RunName): boolean {
  if (record === undefined || isTerminal(record.status)) return false;
  if (run === 'sub') return sub === undefined || !isTerminal(sub.status);
  return record.runId === RUNS[run].runId;
}

/** Returns a run's record if the run is its session's newest. */
export function recordOf({ record, sub }: Facts, run: RunName): SessionRecord | undefined {
  const found = run === 'sub' ? sub : record;
  return found?.runId === RUNS[run].runId ? found : undefined;
}

/** Returns the tokens of a session's writers by name. */
export function ownersIn(data: Data, part: string): [string, number][] {
  const writers = [...(fieldsOf(data, part, 'writers') ?? [])];
  return writers.flatMap(([name, token]): [string, number][] =>
    name.startsWith('t:') ? [[name.slice(2), Number(token)]] : [],
  );
}

const WORD = /"delta":"([^"]*)"|"eventName":"progress","data":(\d+)/;

/** Returns each writer's log text in the newest run: deltas of models, events of tools. */
export function textsByWriter(log: readonly Entry[]): Map<string, string> {
  const texts = new Map<string, string>();
  for (const [, writer, message] of log) {
    // Writers of the next run have the same names.
    if (writer === '' && message.includes('"type":"stream_end"')) texts.clear();
    const found = writer === '' ? null : WORD.exec(message);
    if (found === null) continue;
    const [, delta, data = ''] = found;
    texts.set(writer, `${texts.get(writer) ?? ''}${delta ?? data}`);
  }
  return texts;
}
