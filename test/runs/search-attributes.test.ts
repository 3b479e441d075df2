import { randomBytes } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { createRunWorkflows } from '../../runs/run-workflows.js';
import { createIdleRuns } from '../support/idle-workflows.js';
import { registerSearchAttributes } from '../../runs/search-attributes.js';
import { workflowIdOf } from '../../protocol/ids.js';
import { newSessionId, userMessage } from '../support/session-driver.js';
import { sharedTemporalAddress } from '../support/run-harness.js';
import { createTestAgent } from '../support/test-agent.js';
import { openTestStores, type TestStores } from '../support/test-stores.js';
import { until } from '../support/until.js';

const KEYWORD = 2 as number;
/** Another application has registered one of the generic names with another type. */
const namespace = `types-${randomBytes(4).toString('hex')}`;
const { agent } = createTestAgent();

let stores: TestStores;
let connection: Connection;
let client: Client;

beforeAll(async () => {
  stores = await openTestStores();
  connection = await Connection.connect({ address: sharedTemporalAddress() });
  client = new Client({ connection, namespace });
  await connection.workflowService.registerNamespace({
    namespace,
    workflowExecutionRetentionPeriod: { seconds: 86_400 as never },
  });
  await until('the namespace takes attributes', () =>
    connection.operatorService
      .addSearchAttributes({ namespace, searchAttributes: { AgentTurn: KEYWORD as never } })
      .then(
        () => true,
        () => false,
      ),
  );
});
afterAll(() => connection.close());

const isKnown = async (): Promise<boolean> => {
  const found = await connection.operatorService.listSearchAttributes({ namespace });
  const type: number | undefined = found.customAttributes['AgentTurn'];
  return type === KEYWORD;
};

const inputOf = (sessionId: string, runId: string) => ({
  sessionId,
  runId,
  agent: agent.name,
  turn: 1,
  maxSteps: 5,
  searchAttributes: true,
});

describe('a search attribute of another type', () => {
  it('a search attribute of another type is noticed, and runs start without attributes', async () => {
    await until('it is listed', isKnown);
    const warned: [fields: object, message: string][] = [];
    const logger = { warn: (...line: [object, string]) => void warned.push(line) };
    expect(await registerSearchAttributes(connection, namespace, logger)).toBe(false);
    expect(warned).toEqual([
      [{ namespace, attributes: ['AgentTurn'] }, expect.stringContaining('another type')],
    ]);
    expect(await registerSearchAttributes(connection, 'default')).toBe(true);
  });

  it('an operator who must register search attributes by hand gets the commands', async () => {
    const lines: { commands?: string[] }[] = [];
    const logger = { warn: (fields: object) => void lines.push(fields) };
    expect(await registerSearchAttributes(connection, 'no-such-namespace', logger)).toBe(false);
    expect(lines).toHaveLength(1);
    expect(lines[0]?.commands).toContain(
      'temporal operator search-attribute create --namespace no-such-namespace --name AgentTurn --type Int',
    );
  });

  it('a search attribute of another type that is added later does not refuse a run, which starts without attributes', async () => {
    const workflows = createRunWorkflows(client, 'no-worker');
    for (const turn of ['1', '2']) {
      const sessionId = newSessionId();
      const runId = `${sessionId}:${turn}-x`;
      await until('the namespace takes workflows', () =>
        workflows.start(inputOf(sessionId, runId), { details: '' }).then(
          () => true,
          (error: unknown) => {
            // Not all of Temporal knows the new namespace yet.
            if ((error as Error).message.includes('not found')) return false;
            throw error;
          },
        ),
      );
      expect(await workflows.state(runId)).toBe('running');
      const { typedSearchAttributes } = await client.workflow
        .getHandle(workflowIdOf(runId))
        .describe();
      expect(typedSearchAttributes.getAll()).toEqual([]);
    }
  });
});

it('a run that Temporal refuses for good ends with a typed error, and the next message is accepted', async () => {
  const workflows = createRunWorkflows(client, 'q'.repeat(2_000));
  const executor = createIdleRuns(stores, { agents: [agent], workflows });
  const sessionId = newSessionId();
  const post = (id: string) =>
    executor.execute({
      sessionId,
      agent: agent.name,
      owner: 'ann',
      messages: [userMessage(id, 'hello')],
    });
  expect(await post('u1')).toMatchObject({ kind: 'begun' });
  await executor.idle();
  expect(await stores.store.sessions.read(sessionId)).toMatchObject({
    status: 'failed',
    error: { code: 'engine_unavailable', retryable: true },
  });
  expect(await post('u2')).toMatchObject({ kind: 'begun' });
  await executor.idle();
});
