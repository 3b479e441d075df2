import { runNumberOf } from '../../../../protocol/ids.js';
import { agentsOf, first, invariant } from './stored.js';

/** One run at a time, and every message exactly once. */
export const RUNS_AND_MESSAGES = [
  invariant(
    'P4',
    'all runs before the newest have ended, and the newest if its status says so',
    (after) =>
      first(agentsOf(after), ({ record, ended, isOver }) => {
        const newest = record.run.n;
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
      const { rows, messages, record } = conversation;
      const queued = record.queue.flatMap((entry) => entry.messages).length;
      const written = rows.flatMap((row) => (row.role === 'user' ? [row.id] : []));
      if (new Set(written).size !== written.length) return `there are ${written.join()}`;
      // A result that came too late reaches the model as a message.
      const shown = written.filter((id) => !id.startsWith('late-'));
      if (shown.length + queued === messages.length) return undefined;
      return `${messages.join()} were accepted, ${shown.join()} are there`;
    },
  ),
  invariant('P4', 'what stands beside the record belongs to what is in it', (after) =>
    first(agentsOf(after), ({ record, calls, beside }) => {
      if (record.run.calls !== calls.length) return `${String(record.run.calls)} calls are counted`;
      const queued = record.queue.flatMap(({ messages }) => messages.map(({ id }) => `q:${id}`));
      const known = new Set([...queued, ...record.notices]);
      const ids = new Set(calls.map(({ id }) => id));
      const isState = (name: string): boolean => /^[vs]:/.test(name);
      const isOf = (name: string): boolean => known.has(name) || ids.has(name.replace(/^\w+:/, ''));
      const stray = beside.find((name) => !isState(name) && !isOf(name));
      return stray ?? queued.find((name) => !beside.includes(name));
    }),
  ),
  invariant('P4', 'a run begins only when the one before has ended', (after, before) => {
    const old = before.conversation?.record.run.id;
    const { conversation } = after;
    if (old === undefined || conversation === undefined) return undefined;
    return conversation.record.run.id === old || conversation.ended.includes(old)
      ? undefined
      : `${old} has not`;
  }),
  invariant(
    'P4',
    'steps are committed one after the other, each after its claim',
    (after, before) =>
      first(agentsOf(after), ({ sessionId, record }) => {
        const { id, claimed, committed } = record.run;
        if (claimed !== committed && claimed !== committed + 1) {
          return `${String(claimed)} is claimed, ${String(committed)} committed`;
        }
        const old = agentsOf(before).find((agent) => agent.sessionId === sessionId);
        if (old?.record.run.id !== id) return undefined;
        const step = committed - old.record.run.committed;
        return step === 0 || step === 1 ? undefined : `${String(step)} steps at once`;
      }),
  ),
];
