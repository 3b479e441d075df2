import type { GuardrailVerdict, Guardrails } from '../../../agents/guardrails.js';
import { orAborted } from '../../or-aborted.js';

/** A check threw, hung, or returned no verdict: nothing passes that was not checked. */
export class GuardrailError extends Error {
  override readonly name = 'GuardrailError';
}

const TIMEOUT_MS = 10_000;

/** What all checks together make of a text. */
export type Checked = { text: string } | { refused: string };

/**
 * Asks checks one after another; each gets what the one before made of the text.
 *
 * @throws GuardrailError
 */
export async function checkText<Subject extends object>(
  checks: readonly ((
    checked: Subject & { text: string; signal: AbortSignal },
  ) => GuardrailVerdict | PromiseLike<GuardrailVerdict>)[],
  subject: Subject,
  given: string,
  { timeoutMs = TIMEOUT_MS, signal }: Pick<Guardrails, 'timeoutMs'> & { signal: AbortSignal },
): Promise<Checked> {
  let text = given;
  for (const check of checks) {
    const within = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    try {
      const asked = (async () => check({ ...subject, text, signal: within }))();
      const verdict = readVerdict(await orAborted(asked, within));
      if ('refused' in verdict) return verdict;
      text = verdict.text ?? text;
    } catch (cause) {
      throw new GuardrailError('a guardrail failed', { cause });
    }
  }
  return { text };
}

/** It may come from plain JavaScript: what is no verdict must not pass for one. */
function readVerdict(verdict: unknown): { text?: string } | { refused: string } {
  if (verdict === undefined || verdict === null || verdict === true) return {};
  const { rewrite, refuse } = verdict as { rewrite?: unknown; refuse?: unknown };
  if (typeof refuse === 'string' && refuse !== '') return { refused: refuse };
  if (typeof rewrite === 'string') return { text: rewrite };
  throw new Error('what it returned is no verdict');
}
