import { CLIENT_7, openChat, toScript, untilAsked, type ChatClient } from './chat-client.js';
import { newSessionId } from './product.js';

export interface AskedChat {
  sessionId: string;
  client: ChatClient;
  /** Of the approval. */
  id: string;
}

/** A new chat whose agent performs a script, and has asked for an approval. */
export async function openAsked(url: string, ...script: object[]): Promise<AskedChat> {
  const sessionId = newSessionId();
  const client = openChat(CLIENT_7, { url, sessionId });
  await client.chat.sendMessage(toScript(...script));
  return { sessionId, client, id: await untilAsked(client) };
}
