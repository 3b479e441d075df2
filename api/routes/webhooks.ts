import { z } from 'zod';
import { HelixError } from '../../protocol/errors.js';
import { readPayload } from '../read-payload.js';
import { defineRoute, type Route } from './route.js';

/**
 * Takes what is sent to the webhook of a tool. There is no caller: the address is the permission, so
 * a request from elsewhere needs no account and no origin.
 */
export const WEBHOOK_ROUTES: readonly Route[] = [
  defineRoute({
    method: 'post',
    path: '/api/hooks/:token',
    id: 'callWebhook',
    summary: 'Give a tool what it waits for; the first request counts, and may be repeated',
    access: 'everyone',
    params: z.object({ token: z.string() }),
    payload: true,
    replies: {
      200: {
        description: 'The tool has it, from this request or from an earlier one.',
        content: { json: z.object({ status: z.literal('accepted') }) },
      },
    },
    refusals: [
      'validation_error',
      'invalid_result',
      'body_too_large',
      'not_found',
      'webhook_closed',
      'too_many_requests',
      'unavailable',
      'internal_error',
    ],
    handle: async ({ deps, request, response, params }) => {
      const { callWebhook } = deps.executor;
      if (callWebhook === undefined) {
        throw new HelixError('not_found', 'There is no such webhook.');
      }
      await callWebhook(params.token, await readPayload(request));
      response.json({ status: 'accepted' });
    },
  }),
];
