import { sessionOfRun, toShownSessionId } from '../../protocol/ids.js';
import { newSessionId } from './product.js';
import { postJson } from './post-json.js';

/** Begins a run of the lab agent and reads its reply to the end. Returns the run's id. */
export async function runLab(
  { url }: { readonly url: string },
  script: object[],
  sessionId = newSessionId(),
  agent = 'lab',
  id = 'u1',
): Promise<string> {
  const content = JSON.stringify({ script });
  const response = await postJson(`${url}/api/chat/${sessionId}?agent=${agent}`, {
    message: { id, role: 'user', content },
  });
  await response.text();
  return response.headers.get('x-run-id') ?? '';
}

export const ask = (tool: string, args: object = {}): object => ({
  calls: [{ tool, id: 'c1', args }],
});

/** Returns the public id of a run's conversation. */
export const sessionOf = (runId: string): string => toShownSessionId(sessionOfRun(runId));

export async function readOperator<T>({ url }: { readonly url: string }, path: string): Promise<T> {
  const response = await fetch(`${url}/api/operator/${path}`);
  if (!response.ok) throw new Error(`${path}: ${String(response.status)}`);
  return (await response.json()) as T;
}
