import type { Conversations } from '../../protocol/replies.js';
import { Refusal, request, type Fetch } from './api-client.js';
import { pageFetch } from './page-fetch.js';

export type ListedConversation = Conversations['conversations'][number];

/** A page of the caller's conversations, the most recently changed first. */
export async function loadConversations(
  { search, cursor }: { search: string; cursor?: string | undefined },
  signal?: AbortSignal,
  send: Fetch = pageFetch,
): Promise<Conversations> {
  const query = new URLSearchParams({ limit: '30' });
  if (search.trim() !== '') query.set('q', search.trim());
  if (cursor !== undefined) query.set('cursor', cursor);
  const response = await request(send, `/api/conversations?${query.toString()}`, {
    signal: signal ?? null,
  });
  if (!response.ok) throw new Refusal(response.status, await response.text());
  return (await response.json()) as Conversations;
}
