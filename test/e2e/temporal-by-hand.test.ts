import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import {
  callsOf,
  CLIENT_7,
  loadChat,
  loadSnapshot,
  toScript,
  untilRests,
  type ChatClient,
} from '../support/chat-client.js';
import { openAsked } from '../support/asked-chat.js';
import { expectStoredAsShown } from '../support/compare-messages.js';
import { charge, delegate } from '../support/lab-calls.js';
import { openTemporal, sharedTemporal, useProduct } from '../support/product.js';
import { requireProgram } from '../support/require-program.js';
import { until } from '../support/until.js';

/** Operators act on workflows in Temporal without asking the product. */

const product = useProduct();
const client = openTemporal();

/** Returns the ids of a session's open workflows: its run's, or its sub-agents'. */
async function openWorkflows(sessionId: string, who: 'run' | 'children'): Promise<string[]> {
  const prefix = `run:${sessionId}${who === 'run' ? ':' : '.'}`;
  return until(`the ${who} of ${sessionId} is listed`, async () => {
    const ids: string[] = [];
    const query = `ExecutionStatus = "Running" AND WorkflowId STARTS_WITH "${prefix}"`;
    for await (const { workflowId } of client.workflow.list({ query })) ids.push(workflowId);
    return ids.length > 0 ? ids : undefined;
  });
}

async function resetToBeginning(workflowId: string): Promise<void> {
  await promisify(execFile)(requireProgram('TEMPORAL_CLI_PATH'), [
    'workflow',
    'reset',
    '--workflow-id',
    workflowId,
    '--type',
    'FirstWorkflowTask',
    '--reason',
    'by hand',
    '--address',
    sharedTemporal(),
  ]);
}

async function untilStatus(sessionId: string, status: string): Promise<void> {
  await until(
    `${sessionId} is ${status}`,
    async () => (await loadSnapshot(product.url, sessionId)).run?.status === status,
    40_000,
  );
}

async function answersAgain(sessionId: string): Promise<ChatClient> {
  const { url } = product;
  const { client: page, resumed } = await loadChat(CLIENT_7, { url, sessionId });
  await resumed;
  await page.chat.sendMessage(toScript({ say: 'Back. ' }));
  await untilRests(page, url);
  expect(page.errors).toEqual([]);
  expect(page.reply()).toBe('Back. ');
  await expectStoredAsShown(page, url, sessionId);
  return page;
}

async function ask(
  ...script: object[]
): Promise<{ sessionId: string; page: ChatClient; id: string }> {
  const { client: page, ...asked } = await openAsked(product.url, ...script);
  return { ...asked, page };
}

describe('a sub-agent’s workflow', () => {
  it('terminated while it asks: its parent is notified that it was lost, and continues', async () => {
    const { sessionId } = await ask(
      { calls: [delegate('d1', { calls: [charge('c1')] })] },
      { say: 'Without it. ' },
    );
    const [child = ''] = await openWorkflows(sessionId, 'children');
    await client.workflow.getHandle(child).terminate('by hand');
    await untilStatus(sessionId, 'completed');
    const { messages } = await loadSnapshot(product.url, sessionId);
    expect(callsOf(messages.at(-1))).toMatchObject([
      { toolCallId: 'd1', state: 'output-error', errorText: 'The sub-agent was lost.' },
      { toolCallId: 'c1', state: 'output-error' },
    ]);
    await answersAgain(sessionId);
  });

  it('cancelled while it asks: the conversation stops', async () => {
    const { sessionId } = await ask({ calls: [delegate('d1', { calls: [charge('c1')] })] });
    const [child = ''] = await openWorkflows(sessionId, 'children');
    await client.workflow.getHandle(child).cancel();
    await untilStatus(sessionId, 'interrupted');
    await answersAgain(sessionId);
  });
});

describe('the workflow of a run', () => {
  it.each(['terminated', 'cancelled', 'deleted'])('%s while its sub-agent asks', async (how) => {
    const { sessionId } = await ask({ calls: [delegate('d1', { calls: [charge('c1')] })] });
    const [run = ''] = await openWorkflows(sessionId, 'run');
    const handle = client.workflow.getHandle(run);
    if (how === 'terminated') await handle.terminate('by hand');
    else if (how === 'cancelled') await handle.cancel();
    else {
      await client.workflowService.deleteWorkflowExecution({
        namespace: 'default',
        workflowExecution: { workflowId: run },
      });
    }
    // Temporal cancels the sub-agent with the run, which stops the conversation.
    await untilStatus(sessionId, 'interrupted');
    await answersAgain(sessionId);
  });

  it('reset while it waits continues with the answer', async () => {
    const { sessionId, page, id } = await ask({ say: 'One. ', calls: [charge('c1')] });
    const [run = ''] = await openWorkflows(sessionId, 'run');
    await resetToBeginning(run);
    await page.chat.addToolApprovalResponse({ id, approved: true });
    await untilRests(page, product.url);
    expect(page.errors).toEqual([]);
    expect(page.reply()).toBe('One. done');
    expect(callsOf(page.chat.lastMessage)).toMatchObject([{ output: { charged: 5 } }]);
    await expectStoredAsShown(page, product.url, sessionId);
  });

  it('reset while its sub-agent asks: the answer is carried out, and both workflows end', async () => {
    const { sessionId, page, id } = await ask(
      { calls: [delegate('d1', { calls: [charge('c1')] })] },
      { say: 'Both are done. ' },
    );
    const [run = ''] = await openWorkflows(sessionId, 'run');
    const [child = ''] = await openWorkflows(sessionId, 'children');
    await resetToBeginning(run);
    await until('the parent has found it active', async () => {
      const { events = [] } = await client.workflow.getHandle(child).fetchHistory();
      return events?.some(
        (event) => event.workflowExecutionSignaledEventAttributes?.signalName === 'reportEnd',
      );
    });
    await page.chat.addToolApprovalResponse({ id, approved: true });
    await untilStatus(sessionId, 'completed');
    const { messages } = await loadSnapshot(product.url, sessionId);
    const calls = callsOf(messages.at(-1));
    expect(calls.find(({ toolCallId }) => toolCallId === 'c1')).toMatchObject({
      state: 'output-available',
      output: { charged: 5 },
    });
    expect(calls.find(({ toolCallId }) => toolCallId === 'd1')).toMatchObject({
      state: 'output-available',
    });
    // The record shows the end before the workflows close.
    for (const workflow of [run, child]) await client.workflow.getHandle(workflow).result();
  });

  it('reset after the answer, in the middle of a sentence, says everything once', async () => {
    const { sessionId, page, id } = await ask(
      { calls: [charge('c1')] },
      { say: 'A sentence that takes its time. ', deltas: 30, everyMs: 60 },
    );
    const [run = ''] = await openWorkflows(sessionId, 'run');
    void page.chat.addToolApprovalResponse({ id, approved: true });
    await until('it speaks', () => page.reply().length > 3);
    await resetToBeginning(run);
    await untilStatus(sessionId, 'completed');
    const { client: later, resumed } = await loadChat(CLIENT_7, { url: product.url, sessionId });
    await resumed;
    expect(later.reply()).toBe('A sentence that takes its time. ');
    expect(callsOf(later.chat.lastMessage)).toMatchObject([{ output: { charged: 5 } }]);
    await expectStoredAsShown(later, product.url, sessionId);
  });
});
