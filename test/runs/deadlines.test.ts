import type { UncheckedAnswer } from '../../protocol/answers.js';
import { workflowIdOf } from '../../protocol/ids.js';
import { createRunHarness, useRuns } from '../support/run-harness.js';
import { drive } from '../support/session-driver.js';
import { until } from '../support/until.js';
import { createAsker } from './asker.js';

const { agent } = createAsker();
const { runs, stores } = useRuns([agent]);

const answer = async (given: UncheckedAnswer): Promise<string> =>
  (await runs.executor.submitToolResult(given)).kind;

describe('answers to calls with a deadline', () => {
  it('answers after the deadline reach the model once, in the next turn', async () => {
    const sessionId = runs.newSessionId();
    const id = `${sessionId}-h`;
    const run = await runs.begin(sessionId, agent.name, JSON.stringify([['hurry', id]]));
    expect(await runs.result(run)).toMatchObject({ status: 'completed' });
    expect(await stores.store.sessions.rows(sessionId, 2, 3)).toMatchObject([
      { error: 'client_tool_deadline_exceeded', errorCode: 'client_tool_timeout' },
    ]);
    expect(await answer({ sessionId, toolCallId: id, result: 'here' })).toBe('late');
    expect(await answer({ sessionId, toolCallId: id, result: 'there' })).toBe('late');
    const next = await runs.begin(sessionId, agent.name, 'and?');
    expect(await runs.result(next)).toMatchObject({ status: 'completed' });
    const rows = await stores.store.sessions.rows(sessionId, 4);
    expect(rows.map(({ role }) => role)).toEqual(['user', 'user', 'assistant']);
    expect(JSON.stringify(rows[0])).toContain('here');
    expect(JSON.stringify(rows)).not.toContain('there');
  });

  it('an extension of the deadline by the API alone gives answers more time', async () => {
    const sessionId = runs.newSessionId();
    const id = `${sessionId}-h`;
    const run = await runs.begin(sessionId, agent.name, JSON.stringify([['ask', id]]));
    const record = await runs.untilStatus(sessionId, 'waiting_tool');
    const extended = await runs.executor.extendDeadline({
      sessionId,
      toolCallId: id,
      byMs: 60_000,
    });
    expect(extended).toMatchObject({ kind: 'extended', deadline: (record.deadline ?? 0) + 60_000 });
    // The timer of the run fires as set, and finds nothing due.
    const handle = runs.client.workflow.getHandle(workflowIdOf(run.runId));
    await until('the timer has fired', async () => {
      const { events = [] } = await handle.fetchHistory();
      return events?.filter((event) => event.timerStartedEventAttributes).length === 2;
    });
    expect(await answer({ sessionId, toolCallId: id, result: 'in time' })).toBe('stored');
    expect(await runs.result(run)).toMatchObject({ status: 'completed' });
    expect(await stores.store.sessions.rows(sessionId, 2, 3)).toMatchObject([
      { output: 'in time' },
    ]);
  });
});

describe('a deadline that passes while no worker runs', () => {
  it('the next access settles a deadline that passed while no worker ran, and a worker continues', async () => {
    const away = await createRunHarness(stores, [agent]);
    const session = drive(stores);
    const { runId, ...run } = await away.begin(session.id, agent.name, 'where?');
    await session.ask(runId, 1, [
      { toolCallId: 'c', toolName: 'hurry', kind: 'client', input: {}, deadlineMs: 1 },
    ]);
    await until('the deadline passes', () => away.executor.expireCalls(session.id));
    expect(await away.executor.expireCalls(session.id)).toBe(false);
    expect(await stores.store.sessions.read(session.id)).toMatchObject({
      status: 'running',
      stream: 'active',
    });
    await away.startWorker();
    expect(await away.result({ ...run, runId })).toMatchObject({ status: 'completed' });
    expect(await stores.store.sessions.rows(session.id, 2, 3)).toMatchObject([
      { errorCode: 'client_tool_timeout' },
    ]);
  });
});
