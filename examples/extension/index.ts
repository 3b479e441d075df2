import { z } from 'zod';
import { defineRoute } from '../../api/index.js';
import type { Extension } from '../../extensions/index.js';

const Answered = z.record(z.string(), z.number()).meta({ description: 'Answers by tool.' });

/** Counts people's answers: logs each one, serves the numbers by a route, and adds a command that prints them. */
export function answered(): Extension {
  const counts = new Map<string, number>();
  return {
    name: 'answered',
    listener: (sessionId, events, { logger }) => {
      for (const event of events) {
        if (event.kind !== 'wait_ended' || event.how !== 'answered') continue;
        const { toolName } = event.call;
        counts.set(toolName, (counts.get(toolName) ?? 0) + 1);
        logger.info?.({ sessionId, toolName, ...event.answer }, 'a call was answered');
      }
    },
    routes: [
      defineRoute({
        method: 'get',
        path: '/api/answered',
        id: 'countAnswered',
        audits: 'none',
        summary: 'Count what people have answered in this process',
        replies: { 200: { description: 'The numbers.', content: { json: Answered } } },
        handle: ({ response }) => {
          response.json(Object.fromEntries(counts) satisfies z.infer<typeof Answered>);
        },
      }),
    ],
    commands: [
      {
        name: 'answered',
        description: 'Count what people have answered.',
        run: async (_args, { connect, terminal }) => {
          terminal.print(JSON.stringify(await connect().get('/api/answered')));
        },
      },
    ],
  };
}

export const extension = answered();
