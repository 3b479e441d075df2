import type { Want } from '../../session/fields.js';
import { begin } from '../../session/begin.js';
import { HelixError } from '../../protocol/errors.js';
import { childPartOf } from '../../protocol/ids.js';
import { LAYOUT } from '../../session/record.js';
import type { Session } from '../../session/tree.js';
import type { Change, ChangeOptions, Listener } from '../change.js';
import { wellFormed } from './inputs.js';

interface Asking {
  writer?: { name: string };
  /** Of a claim. */
  wants?: object;
  toolCallId?: string;
  messages?: readonly { id: string }[];
}

/** Makes a change of a session with its input; that of a record which a newer build has laid out is refused. */
export type Make = <Input extends object, Reply>(
  sessionId: string,
  decide: (session: Session, input: Input) => Reply,
  input: Input,
  options?: Pick<ChangeOptions, 'isFreeing' | 'mayGrow' | 'noted'>,
) => Promise<Reply>;

export function createMake(change: Change, listener?: Listener): Make {
  return (sessionId, decide, input, options = {}) => {
    const given = wellFormed(input);
    const wants = wantsOf(decide, childPartOf(sessionId), given);
    return change(sessionId, (session) => decide(checked(session), given), {
      ...{ wants, listener },
      ...options,
    });
  };
}

/** @throws HelixError `unavailable` if a newer build has laid out the record, which sub-agents' sessions share */
export function checked(session: Session): Session {
  if ((session.tree.conversation.record?.layout ?? 0) <= LAYOUT) return session;
  throw newerLayout();
}

export function newerLayout(): HelixError {
  return new HelixError(
    'unavailable',
    'This conversation was written by a newer build; only servers of that build can continue it.',
  );
}

/** What most changes ask for, by what they are given, so that it is read at once. */
function wantsOf(decide: unknown, part: string, input: object): Want[] {
  const { writer, wants: asked, toolCallId: id, messages = [] } = input as Asking;
  // A step takes in the results of the calls before it.
  const contents = asked === undefined ? [] : ['row'];
  const wants: Want[] = [
    ['rowCount', part],
    ['calls', part, ...contents],
  ];
  const name = writer?.name;
  if (name !== undefined) {
    for (const kind of ['w', 'b', 'e', 't'])
      wants.push(['field', 'writers', part, `${kind}:${name}`]);
  }
  if (id !== undefined) {
    wants.push(['field', 'record', part, `call:${id}`], ['field', 'index', part, `s:${id}`]);
    wants.push(['field', 'index', '', `o:${id}`]);
    // What an execution is given.
    const given = name === undefined ? [] : ['spec', 'decision', 'approver'];
    for (const what of given) wants.push(['field', 'content', part, `${what}:${id}`]);
  }
  for (const message of messages) wants.push(['field', 'index', part, `m:${message.id}`]);
  if (decide === begin) wants.push(['field', 'files', '', 'whose'], ['entryCount']);
  return wants;
}
