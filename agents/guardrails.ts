import type { HookPlace } from './step-hooks.js';

/**
 * What a guardrail decides: nothing or true lets the text pass, `rewrite` puts another in its place,
 * `refuse` ends the reply with a text for the person.
 */
export type GuardrailVerdict =
  undefined | true | null | { readonly rewrite: string } | { readonly refuse: string };

/** A message of the user, before the model gets it. */
export interface InputUnderCheck extends HookPlace {
  readonly text: string;
  /** Fires when the check is no longer waited for. */
  readonly signal: AbortSignal;
}

/** A part of the model's reply, before anybody sees it. */
export interface OutputUnderCheck extends InputUnderCheck {
  readonly kind: 'text' | 'reasoning';
  /** What has passed of this step's reply before, of the same kind. */
  readonly soFar: string;
}

type Check<Checked> = (checked: Checked) => GuardrailVerdict | PromiseLike<GuardrailVerdict>;

export type InputGuardrail = Check<InputUnderCheck>;
export type OutputGuardrail = Check<OutputUnderCheck>;

/** Checks of what the model gets and of what people see, each in their order. */
export interface Guardrails {
  /** Of each new message of the user. */
  readonly input?: readonly InputGuardrail[];
  /** Of the model's text and reasoning. */
  readonly output?: readonly OutputGuardrail[];
  /**
   * How much is held back for a check: a whole block of text, its sentences, or pieces of at least so
   * many characters. Default: `'block'`, since a check sees nothing of what follows.
   */
  readonly every?: 'block' | 'sentence' | number;
  /** How long one check may take, ms. Default: 10,000. */
  readonly timeoutMs?: number;
}
