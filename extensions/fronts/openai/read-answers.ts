import type { SessionCalls } from '../../../store/contract/sessions.js';
import { parseOutput, readDecision, type Answers, type Decided } from '../posted-answers.js';

/**
 * Reads answers from the texts of `tool` messages. OpenAI's protocol has results only, so the server's record
 * tells which of them are decisions. For a call that is no longer open, the text's form decides. Pure.
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
