import { start } from 'workflow/api';
import { turn } from '../workflows/turn';

/** The first frame names the run, so that readers can find it again. */
export default async (event: { req: Request }): Promise<Response> => {
  const run = await start(turn, [await event.req.json()]);
  const named = new TransformStream<string, string>({
    start: (controller) => {
      controller.enqueue(`id: ${run.runId}\n\n`);
    },
  });
  return new Response(run.readable.pipeThrough(named).pipeThrough(new TextEncoderStream()));
};
