import type { Response } from 'express';
import { z } from 'zod';
import { isAddressable } from '../../ai-sdk/index.js';
import { ConfigReply, ReadinessReply } from '../../protocol/replies.js';
import type { ApiMetrics } from '../metrics/api-metrics.js';
import { defineRoute, type Route } from './route.js';

/** What is about this server, not about a session. */
export const SERVICE_ROUTES: readonly Route[] = [
  defineRoute({
    method: 'get',
    path: '/api/config',
    id: 'getConfig',
    summary: 'What a page needs to know about this server',
    replies: { 200: { description: 'Its agents, and links.', content: { json: ConfigReply } } },
    handle: ({ deps: { agents, defaultAgent, temporalUi, namespace }, response }) => {
      response.json({
        agents: agents.getRegisteredTypes().filter((name) => isAddressable(agents, name)),
        defaultAgent: defaultAgent ?? null,
        temporalUi,
        namespace,
      } satisfies ConfigReply);
    },
  }),
  defineRoute({
    method: 'get',
    path: '/api/openapi.json',
    id: 'getOpenApi',
    summary: 'This document',
    access: 'everyone',
    replies: {
      200: {
        description: 'An OpenAPI 3.1 document.',
        content: { json: z.record(z.string(), z.unknown()) },
      },
    },
    handle: ({ deps, response }) => {
      response.type('application/json').send(deps.readOpenApi());
    },
  }),
  defineRoute({
    method: 'get',
    path: '/healthz',
    id: 'getHealth',
    summary: 'Whether this process answers',
    access: 'everyone',
    replies: {
      200: {
        description: 'It does.',
        content: { json: z.object({ status: z.literal('ok') }) },
      },
    },
    handle: ({ response }) => {
      response.json({ status: 'ok' });
    },
  }),
  defineRoute({
    method: 'get',
    path: '/readyz',
    id: 'getReadiness',
    summary: 'Whether this process takes messages, and what is away',
    access: 'everyone',
    replies: {
      200: {
        description:
          'It does: Redis answers, and Temporal and a worker were seen. What is away is named.',
        content: { json: ReadinessReply },
      },
      503: {
        description: 'It does not: Redis is away, or Temporal or a worker was never seen.',
        content: { json: ReadinessReply },
      },
    },
    handle: async ({ deps, response }) => {
      const readiness = await deps.readReadiness();
      response.status(readiness.status === 'ok' ? 200 : 503).json(readiness);
    },
  }),
];

/** Served on the port of the API, unless metrics have a port of their own. */
export const METRICS_ROUTE: Route = defineRoute({
  method: 'get',
  path: '/metrics',
  id: 'getMetrics',
  summary: 'What this process has done',
  access: 'everyone',
  replies: {
    200: { description: 'Metrics.', content: { text: "Prometheus' text format." } },
  },
  handle: ({ deps, response }) => sendMetrics(deps.metrics, response),
});

export async function sendMetrics(metrics: ApiMetrics, response: Response): Promise<void> {
  response.set('content-type', metrics.contentType).send(await metrics.read());
}
