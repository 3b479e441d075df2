import OpenAI, { APIError, type ClientOptions } from 'openai';
import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions';

/** Connects the stock OpenAI client, to a conversation if a session is given. */
export function connectOpenAI(
  url: string,
  sessionId?: string,
  options: Pick<ClientOptions, 'fetch' | 'maxRetries'> = { maxRetries: 0 },
): OpenAI {
  return new OpenAI({
    baseURL: `${url}/v1`,
    apiKey: 'none',
    defaultHeaders: sessionId === undefined ? {} : { 'x-session-id': sessionId },
    ...options,
  });
}

/** Returns a message that scripts the replies of the agent `lab`. */
export function toCompletionScript(...steps: object[]): ChatCompletionMessageParam {
  return { role: 'user', content: JSON.stringify({ script: steps }) };
}

/** Returns a request's refusal. Throws if it was accepted. */
export async function refusalOf(
  asked: Promise<unknown>,
): Promise<Pick<APIError, 'status' | 'code'>> {
  const error = await asked.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof APIError)) throw new Error(`not refused: ${String(error)}`);
  const { status, code } = error as Pick<APIError, 'status' | 'code'>;
  return { status, code };
}

export interface Choice {
  finish_reason: string | null;
  message: OpenAI.ChatCompletionMessage;
}

/** Returns the only choice of a completion by `lab`, streamed or whole. */
export async function complete(
  client: OpenAI,
  messages: ChatCompletionMessageParam[],
  isStreamed: boolean,
): Promise<Choice> {
  const body = { model: 'lab', messages };
  const completion = isStreamed
    ? await client.chat.completions.stream(body).finalChatCompletion()
    : await client.chat.completions.create(body);
  const [choice] = completion.choices;
  if (choice === undefined) throw new Error('the completion has no choice');
  return choice;
}
