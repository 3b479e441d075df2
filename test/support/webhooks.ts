import type { ChatClient } from './chat-client.js';
import { until } from './until.js';

/** A call of the lab agent's tool that a webhook answers. */
export function waits(tool: 'wait' | 'waitBriefly' = 'wait'): object {
  return { tool, id: 'w1', args: {} };
}

/** The address that a tool has given out, as an event. */
export async function untilSent(client: ChatClient, origin: string): Promise<string> {
  const path = await until(
    'the address',
    () => /\/api\/hooks\/[\w-]+/.exec(JSON.stringify(client.messages()))?.[0],
  );
  return origin + path;
}

/** Sends a request to it. */
export async function callHook(
  url: string,
  body: string,
): Promise<[status: number, code: unknown]> {
  const response = await fetch(url, { method: 'POST', body });
  const { code, status } = (await response.json()) as { code?: string; status?: string };
  return [response.status, code ?? status];
}
