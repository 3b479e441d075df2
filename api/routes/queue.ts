import type { Response } from 'express';
import { editQueuedMessage, notQueued, toQueue } from '../../ai-sdk/index.js';
import { QueueEdit, QueueQuery, SessionPath } from '../../protocol/http.js';
import { QueueReply } from '../../protocol/replies.js';
import { toPerson } from '../../protocol/responder.js';
import type { SessionRecord } from '../../store/contract/sessions.js';
import type { RouteDeps } from '../deps.js';
import { defineRoute, inJson, SESSION_AND_RUN, type Route } from './route.js';

const queue = {
  path: '/api/chat/:sessionId/queue',
  access: 'owner',
  params: SessionPath,
  replies: inJson(200, 'The messages that wait for their turn.', QueueReply, SESSION_AND_RUN),
} as const;

export const QUEUE_ROUTES: readonly Route[] = [
  defineRoute({
    ...queue,
    method: 'get',
    id: 'getQueue',
    audits: 'none',
    summary: 'List queued messages',
    handle: sendQueue,
  }),
  defineRoute({
    ...queue,
    method: 'patch',
    id: 'editQueue',
    audits: 'act',
    entry: 'edit',
    summary: 'Edit a queued message',
    body: QueueEdit,
    refusals: ['message_not_found', 'message_too_large'],
    handle: async (call) => {
      const { sessionId } = call.record;
      const asker = toPerson(call.caller.userId, call.caller);
      await editQueuedMessage(call.deps.stateStore, { sessionId, ...call.body, asker });
      await sendQueue(call);
    },
  }),
  defineRoute({
    ...queue,
    method: 'delete',
    id: 'clearQueue',
    audits: 'act',
    entry: 'edit',
    summary: 'Remove one queued message, or all',
    query: QueueQuery,
    refusals: ['message_not_found'],
    handle: async (call) => {
      const { sessionId } = call.record;
      const { id: messageId } = call.query;
      const { count } = await call.deps.stateStore.queue.remove({
        sessionId,
        messageId,
        now: Date.now(),
      });
      if (messageId !== undefined && count === 0) throw notQueued();
      await sendQueue(call);
    },
  }),
];

async function sendQueue({
  deps: { stateStore: store },
  record,
  response,
}: {
  deps: RouteDeps;
  record: SessionRecord;
  response: Response;
}): Promise<void> {
  const waiting = toQueue(await store.queue.read(record.sessionId));
  response.json({ queue: waiting } satisfies QueueReply);
}
