import type { Redis } from 'ioredis';
import type { ChatClient } from './chat-client.js';
import { until } from './until.js';

/** A call of the lab agent's tool that carries out steps and waits. */
export function waits(...plan: object[]): object {
  return { tool: 'wait', id: 'w1', args: { plan } };
}

/** How often each step of a session's tools was executed. */
export async function readExecutions(
  redis: Pick<Redis, 'hgetall'>,
  sessionId: string,
): Promise<Record<string, number>> {
  const all = Object.entries(await redis.hgetall('lab:charges'));
  const own = all.filter(([key]) => key.startsWith(`${sessionId}:`));
  return Object.fromEntries(own.map(([key, count]) => [key.split('#')[1] ?? '', Number(count)]));
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
