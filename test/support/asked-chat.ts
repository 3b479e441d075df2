import { CLIENT_7, openChat, toScript, untilAsked, type ChatClient } from './chat-client.js';
import { newSessionId } from './product.js';

export interface AskedChat {
  sessionId: string;
  client: ChatClient;
  /** Id of the approval. */
  id: string;
}

/** Opens a chat whose agent has performed a script and asked for an approval. */
export async function openAsked(url: string, ...script: object[]): Promise<AskedChat> {
  const sessionId = newSessionId();
  const client = openChat(CLIENT_7, { url, sessionId });
  await client.chat.sendMessage(toScript(...script));
  return { sessionId, client, id: await untilAsked(client) };
}
