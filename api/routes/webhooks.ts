import type { Request } from 'express';
import { z } from 'zod';
import { HelixError } from '../../protocol/errors.js';
import { isDeeperThan, LIMITS, tryParseJson } from '../../protocol/limits.js';
import { readBody } from '../middleware/read-body.js';
import { defineRoute, type Route } from './route.js';

/** The address of a webhook is the permission, so a request needs no account and no origin. */
export const WEBHOOK_ROUTES: readonly Route[] = [
  defineRoute({
    method: 'post',
    path: '/api/hooks/:token',
    id: 'callWebhook',
    audits: 'act',
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
      await deps.executor.callWebhook(params.token, await readPayload(request));
      response.json({ status: 'accepted' });
    },
  }),
];

/** Reads a webhook's body as JSON, whatever its content type; null without a body. */
async function readPayload(request: Request): Promise<unknown> {
  const text = new TextDecoder().decode(await readBody(request, LIMITS.webhookBytes));
  if (text === '') return null;
  if (isDeeperThan(LIMITS.jsonDepth, text)) {
    throw new HelixError('validation_error', 'The body is nested too deeply.');
  }
  const payload = tryParseJson(text);
  if (payload === undefined) throw new HelixError('validation_error', 'A webhook takes JSON.');
  return payload;
}
