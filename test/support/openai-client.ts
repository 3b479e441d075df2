import OpenAI, { APIError } from 'openai';
import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions';

/** The client of OpenAI as people have it; with a session it talks in that conversation. */
export function connectOpenAI(url: string, sessionId?: string): OpenAI {
  return new OpenAI({
    baseURL: `${url}/v1`,
    apiKey: 'none',
    maxRetries: 0,
    defaultHeaders: sessionId === undefined ? {} : { 'x-session-id': sessionId },
  });
}

/** A message of which the agent `lab` makes its replies. */
export function toCompletionScript(...steps: object[]): ChatCompletionMessageParam {
  return { role: 'user', content: JSON.stringify({ script: steps }) };
}

/** How a request was refused. Throws if it was not. */
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

/** The one choice of a completion by `lab`, streamed or whole. */
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
