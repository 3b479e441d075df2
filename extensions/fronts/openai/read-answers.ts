import type { SessionCalls } from '../../../store/contract/sessions.js';
import { parseOutput, readDecision, type Answers, type Decided } from '../posted-answers.js';

/**
 * The texts of `tool` messages as answers. OpenAI's protocol has results only, so the server's record says
 * which of them are decisions; a call that it does not list any more was decided if the text decides. Pure.
 *
 * @param texts by call
 */
export function readAnswers(
  texts: ReadonlyMap<string, string>,
  { openCalls }: Pick<SessionCalls, 'openCalls'>,
): Omit<Answers, 'inputs'> {
  const kinds = new Map(openCalls.map(({ spec }) => [spec.toolCallId, spec.kind]));
  const results = new Map<string, { text: string }>();
  const decisions = new Map<string, Decided>();
  for (const [toolCallId, text] of texts) {
    const isClients = kinds.get(toolCallId) === 'client';
    const decision = isClients ? undefined : readDecision(parseOutput(text));
    if (decision === undefined) results.set(toolCallId, { text });
    else decisions.set(toolCallId, decision);
  }
  return { results, decisions };
}
