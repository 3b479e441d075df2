import { defineRoute, type Route, SESSION_AND_RUN, streamReply } from '../../../api/extension.js';
import { toCaller, toReplyHeaders } from '../../../ai-sdk/index.js';
import { AgUiInput, AgUiPath } from './protocol.js';
import type { PostedMessage } from '../../../protocol/http.js';
import type { SessionCalls } from '../../../store/contract/sessions.js';
import { beginRun, createRunFrames, type AgUiRun } from './reply-run.js';
import { readInput } from './read-input.js';
import { POSTED_REFUSALS, toPostedAnswers } from '../posted-answers.js';
import { readOwnCalls } from '../replies.js';

export const AG_UI_ROUTES: readonly Route[] = [
  defineRoute({
    method: 'post',
    path: '/api/ag-ui/:agent',
    id: 'runAgUi',
    audits: 'act',
    summary: 'Run an agent, answer its calls, or follow its run, as events of AG-UI',
    params: AgUiPath,
    body: AgUiInput,
    replies: {
      200: {
        description: 'The events of the run, up to its end or to questions for people.',
        content: { events: 'Frames `data: <event>` as JSON.' },
        headers: SESSION_AND_RUN,
      },
    },
    refusals: ['agent_not_found', ...POSTED_REFUSALS, 'stream_truncated'],
    handle: async ({ deps, response, params, body, caller }) => {
      const { threadId: sessionId } = body;
      const { newest, fault, ...answers } = readInput(body);
      const hasAnswers = answers.decisions.size + answers.results.size > 0;
      if (fault !== undefined && (newest.length > 0 || !hasAnswers)) throw fault;
      const before = await readOwnCalls(deps, sessionId, caller);
      const answered = toPostedAnswers(answers, before);
      const messages = [...(answered.length > 0 ? answered : toCutReply(body, before)), ...newest];
      const run: AgUiRun = {
        deps,
        caller,
        input: body,
        params: { ...toCaller(caller), sessionId, agent: params.agent, messages },
        before,
        answered: new Set(
          [...answers.results.keys()].filter((toolCallId) => !answers.decisions.has(toolCallId)),
        ),
      };
      const begun = await beginRun(run);
      // The valid answers were accepted before this refusal.
      if (fault !== undefined) throw fault;
      const headers = toReplyHeaders(sessionId, begun.decided);
      response.set(headers);
      await streamReply(
        { deps, response, caller },
        (signal) => createRunFrames(run, begun, signal),
        { sessionId, headers },
      );
    },
  }),
];

/** Returns the reply in progress if the client shows part of it; a new message from that client gives it up. */
function toCutReply({ messages }: AgUiInput, session: SessionCalls | undefined): PostedMessage[] {
  const { messageId: id = '', stream } = session?.record ?? {};
  if (stream !== 'active' || !messages.some((message) => message.id.startsWith(`${id}-`)))
    return [];
  return [{ id, role: 'assistant', parts: [] }];
}
