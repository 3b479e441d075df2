import { HttpAgent } from '@ag-ui/client';

/** Asks an agent by AG-UI and approves its calls. */
export async function askByAgUi(url: string, threadId: string, question: string): Promise<string> {
  const agent = new HttpAgent({ url: `${url}/api/ag-ui/support`, threadId });
  agent.addMessage({ id: `u-${threadId}`, role: 'user', content: question });
  await agent.runAgent();
  while (agent.pendingInterrupts.length > 0) {
    await agent.runAgent({
      resume: agent.pendingInterrupts.map(({ id }) => ({
        interruptId: id,
        status: 'resolved',
        payload: { approved: true },
      })),
    });
  }
  const texts = agent.messages.map((message) =>
    message.role === 'assistant' ? (message.content ?? '') : '',
  );
  return texts.join('\n');
}
