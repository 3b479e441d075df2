import {
  EventType,
  HttpAgent,
  type BaseEvent,
  type Message,
  type RunFinishedEvent,
} from '@ag-ui/client';
import { EventSchemas } from '@ag-ui/core/schemas';
import { newSessionId } from './product.js';

export function connectAgUi(
  url: string,
  threadId = newSessionId(),
  initialMessages: Message[] = [],
  agent = 'lab',
): HttpAgent {
  return new HttpAgent({ url: `${url}/api/ag-ui/${agent}`, threadId, initialMessages });
}

/** Silences the client, which logs failed runs, for the tests of a file that expect some. */
export function silenceClient(): void {
  beforeEach(() => {
    jest.spyOn(console, 'error').mockReturnValue();
  });
}

/** Returns what answers the agent's first open question. */
export function decide(agent: HttpAgent, approved = true): Pick<NonNullable<Run>, 'resume'> {
  const [interrupt] = agent.pendingInterrupts;
  const interruptId = interrupt?.id ?? '';
  return { resume: [{ interruptId, status: 'resolved' as const, payload: { approved } }] };
}

let messages = 0;

/** Adds a message that scripts the replies of the agent `lab`. */
export function say(agent: HttpAgent, ...steps: object[]): void {
  messages += 1;
  const content = JSON.stringify({ script: steps });
  agent.addMessage({ id: `u${String(messages)}`, role: 'user', content });
}

type Run = Parameters<HttpAgent['runAgent']>[0];

/** Runs the agent and checks that every event belongs to the protocol. */
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

/** Returns the types of the events, with repetitions collapsed. */
export function typesOf(events: readonly BaseEvent[]): string[] {
  const types = events.map(({ type }): string => type);
  return types.filter((type, at) => type !== types[at - 1]);
}

export function outcomeOf(events: readonly BaseEvent[]): RunFinishedEvent['outcome'] {
  const end = events.at(-1) as RunFinishedEvent;
  expect(end.type).toBe(EventType.RUN_FINISHED);
  return end.outcome;
}

/** Returns the client's messages after the first. */
export const shown = ({ messages: all }: HttpAgent): unknown[] =>
  all.slice(1).map((message) => {
    const { role, content } = message;
    const calls = message.role === 'assistant' ? message.toolCalls : undefined;
    return [role, content, ...(calls ?? []).map((call) => call.function.name)];
  });

/** Returns the reply's text as the client has it. */
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
