import { getRun } from 'workflow/api';

export default (event: { req: Request }): Response => {
  const url = new URL(event.req.url);
  const run = getRun(url.pathname.split('/').at(-1) ?? '');
  const startIndex = Number(url.searchParams.get('words') ?? 0);
  const readable = run.getReadable<string>({ startIndex });
  return new Response(readable.pipeThrough(new TextEncoderStream()));
};
