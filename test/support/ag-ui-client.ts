import {
  EventType,
  HttpAgent,
  type BaseEvent,
  type Message,
  type RunFinishedEvent,
} from '@ag-ui/client';
import { EventSchemas } from '@ag-ui/core/schemas';
import { newSessionId } from './product.js';

/** The client of AG-UI as people have it. */
export function connectAgUi(
  url: string,
  threadId = newSessionId(),
  initialMessages: Message[] = [],
  agent = 'lab',
): HttpAgent {
  return new HttpAgent({ url: `${url}/api/ag-ui/${agent}`, threadId, initialMessages });
}

let messages = 0;

/** Adds a message of which the agent `lab` makes its replies. */
export function say(agent: HttpAgent, ...steps: object[]): void {
  messages += 1;
  const content = JSON.stringify({ script: steps });
  agent.addMessage({ id: `u${String(messages)}`, role: 'user', content });
}

type Run = Parameters<HttpAgent['runAgent']>[0];

/** Runs the agent; every event is one of the protocol. */
export async function run(agent: HttpAgent, parameters: Run = {}): Promise<BaseEvent[]> {
  const events: BaseEvent[] = [];
  await agent.runAgent(parameters, {
    onEvent: ({ event }) => {
      EventSchemas.parse(event);
      events.push(event);
    },
  });
  return events;
}

/** Types of the events, repeated ones once. */
export function typesOf(events: readonly BaseEvent[]): string[] {
  const types = events.map(({ type }): string => type);
  return types.filter((type, at) => type !== types[at - 1]);
}

export function outcomeOf(events: readonly BaseEvent[]): RunFinishedEvent['outcome'] {
  const end = events.at(-1) as RunFinishedEvent;
  expect(end.type).toBe(EventType.RUN_FINISHED);
  return end.outcome;
}

/** The client's messages after the first. */
export const shown = ({ messages: all }: HttpAgent): unknown[] =>
  all.slice(1).map((message) => {
    const { role, content } = message;
    const calls = message.role === 'assistant' ? message.toolCalls : undefined;
    return [role, content, ...(calls ?? []).map((call) => call.function.name)];
  });

/** The text that the client has of the reply. */
export function spoken({ messages: all }: HttpAgent): string {
  const last = all.at(-1);
  return last?.role === 'assistant' ? (last.content ?? '') : '';
}

export const locate = (id: string): object => ({
  tool: 'locate',
  id,
  args: { question: 'where?' },
});

export const remember = (id: string, value: number): object => ({
  tool: 'remember',
  id,
  args: { key: `k${String(value)}`, value },
});
