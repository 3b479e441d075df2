import { z } from 'zod';
import { ConfigReply, ReadinessReply } from '../../protocol/replies.js';
import type { Operation } from './operation.js';

/** What is about this server, not about a session. */
export const SERVICE_OPERATIONS: readonly Operation[] = [
  {
    method: 'get',
    path: '/api/config',
    id: 'getConfig',
    summary: 'What a page needs to know about this server',
    replies: { 200: { description: 'Its agents, and links.', content: { json: ConfigReply } } },
  },
  {
    method: 'get',
    path: '/api/openapi.json',
    id: 'getOpenApi',
    summary: 'This document',
    replies: {
      200: {
        description: 'An OpenAPI 3.1 document.',
        content: { json: z.record(z.string(), z.unknown()) },
      },
    },
  },
  {
    method: 'get',
    path: '/healthz',
    id: 'getHealth',
    summary: 'Whether this process answers',
    replies: {
      200: {
        description: 'It does.',
        content: { json: z.object({ status: z.literal('ok') }) },
      },
    },
  },
  {
    method: 'get',
    path: '/metrics',
    id: 'getMetrics',
    summary: 'What this process has done',
    replies: {
      200: { description: 'Metrics.', content: { text: "Prometheus' text format." } },
    },
  },
  {
    method: 'get',
    path: '/readyz',
    id: 'getReadiness',
    summary: 'Whether this process takes messages, and what is away',
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
  },
];
