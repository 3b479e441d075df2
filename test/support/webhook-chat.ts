import type { ChatClient } from './chat-client.js';
import { until } from './until.js';

/** A call of the lab agent that waits for its webhook. */
export const WAITS = { tool: 'wait', id: 'w1', args: {} };

/** Waits for the webhook's address, which the tool emits as an event. */
export async function untilSent(client: ChatClient, origin: string): Promise<string> {
  const path = await until(
    'the address',
    () => /\/api\/hooks\/[\w-]+/.exec(JSON.stringify(client.messages()))?.[0],
  );
  return origin + path;
}

export async function callHook(
  url: string,
  body: string,
): Promise<[status: number, code: unknown]> {
  const response = await fetch(url, { method: 'POST', body });
  const { code, status } = (await response.json()) as { code?: string; status?: string };
  return [response.status, code ?? status];
}
