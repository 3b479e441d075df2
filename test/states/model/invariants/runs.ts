import { runNumberOf } from '../../../../protocol/ids.js';
import { first } from './calls.js';
import { invariant } from './invariant.js';
import { agentsOf } from './stored.js';

/** One run at a time, and each message once. */
export const RUNS_AND_MESSAGES = [
  invariant(
    'P4',
    'all runs before the newest have ended, and the newest if its status says so',
    (after) =>
      first(agentsOf(after), ({ root, ended, isOver }) => {
        const newest = Number(root['runN']);
        const over = ended.map(runNumberOf).sort().join();
        const expected = Array.from({ length: isOver ? newest : newest - 1 }, (_, at) => at + 1);
        return over === expected.join() ? undefined : `ended are ${over} of ${String(newest)}`;
      }),
  ),
  invariant('P4', 'the log has one end of each ended run', ({ conversation, entries }) => {
    const logged = entries.filter(({ message }) => message.type === 'stream_end').length;
    const ended = conversation?.ended.length ?? 0;
    return logged === ended ? undefined : `${String(logged)} ends of ${String(ended)} runs`;
  }),
  invariant(
    'P4',
    'an accepted message is in the transcript once, or in the queue',
    ({ conversation }) => {
      if (conversation === undefined) return undefined;
      const { rows, messages, queued } = conversation;
      const written = rows.flatMap((row) => (row.role === 'user' ? [row.id] : []));
      if (new Set(written).size !== written.length) return `there are ${written.join()}`;
      // A result that came too late reaches the model as a message.
      const shown = written.filter((id) => !id.startsWith('late-'));
      if (shown.length + queued === messages.length) return undefined;
      return `${messages.join()} were accepted, ${shown.join()} are there`;
    },
  ),
  invariant('P4', 'a run begins only when the one before has ended', (after, before) => {
    const old = before.conversation?.root['run'];
    if (old === undefined || old === after.conversation?.root['run']) return undefined;
    return after.conversation?.ended.includes(old) === true ? undefined : `${old} has not`;
  }),
  invariant(
    'P4',
    'steps are committed one after the other, each after its claim',
    (after, before) =>
      first(agentsOf(after), ({ sessionId, root }) => {
        const [claimed, committed] = [Number(root['claimed'] ?? 0), Number(root['committed'] ?? 0)];
        if (claimed !== committed && claimed !== committed + 1) {
          return `${String(claimed)} is claimed, ${String(committed)} committed`;
        }
        const old = agentsOf(before).find((agent) => agent.sessionId === sessionId);
        if (old === undefined || old.root['run'] !== root['run']) return undefined;
        const step = committed - Number(old.root['committed'] ?? 0);
        return step === 0 || step === 1 ? undefined : `${String(step)} steps at once`;
      }),
  ),
];
