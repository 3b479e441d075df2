import type { Response } from 'express';
import { z } from 'zod';
import { ConfigReply, ReadinessReply } from '../../protocol/replies.js';
import { toAgentCards } from '../agent-cards.js';
import { FILE_TYPES, maxFileBytes } from '../file-settings.js';
import { defineRoute, inJson, type Route } from './route.js';

export const SERVICE_ROUTES: readonly Route[] = [
  defineRoute({
    method: 'get',
    path: '/api/config',
    id: 'getConfig',
    audits: 'none',
    summary: 'Get the settings of this server that a page needs',
    replies: { 200: { description: 'Agents and links.', content: { json: ConfigReply } } },
    handle: ({ deps, response, caller }) => {
      const { agents, defaultAgent, temporalUi, namespace } = deps;
      const maxBytes = deps.takesFiles ? maxFileBytes(deps.files) : 0;
      const { types = FILE_TYPES } = deps.files ?? {};
      const cards = toAgentCards(agents);
      response.json({
        agents: cards.map(({ name }) => name),
        cards,
        defaultAgent: defaultAgent ?? null,
        temporalUi,
        namespace,
        roles: [...(caller.roles ?? [])],
        separateApprovers: caller.isEveryone !== true,
        ...(maxBytes > 0 && { files: { maxBytes, types: [...types] } }),
      } satisfies ConfigReply);
    },
  }),
  defineRoute({
    method: 'get',
    path: '/healthz',
    id: 'getHealth',
    audits: 'none',
    summary: 'Check whether this process answers',
    access: 'everyone',
    replies: inJson(200, 'The process answers.', z.object({ status: z.literal('ok') })),
    handle: ({ response }) => {
      response.json({ status: 'ok' });
    },
  }),
  defineRoute({
    method: 'get',
    path: '/readyz',
    id: 'getReadiness',
    audits: 'none',
    summary: 'Check whether this process accepts messages, and which parts are away',
    access: 'everyone',
    replies: {
      200: {
        description:
          'It does: Redis answers, and Temporal and a worker were seen. Parts that are away are named.',
        content: { json: ReadinessReply },
      },
      503: {
        description: 'It does not: Redis is away, or Temporal or a worker was never seen.',
        content: { json: ReadinessReply },
      },
    },
    handle: ({ deps, response }) => sendReadiness(deps.readReadiness, response),
  }),
];

export async function sendReadiness(
  read: () => Promise<ReadinessReply>,
  response: Response,
): Promise<void> {
  const readiness = await read();
  response.status(readiness.status === 'ok' ? 200 : 503).json(readiness);
}
