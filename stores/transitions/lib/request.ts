/** What Node sends with a transition beside its keys; user content travels as arguments of its own. */

/** Number of the argument that holds a text of user content; absent where there is none. */
export type Content = number;

/** Identity of a writer: a higher token fences lower ones off. */
export interface WriterRequest {
  sessionId: string;
  runId: string;
  name: string;
  token: number;
  agentType: string;
  agentId?: string;
  step: number;
}

/** The reply of a transition that did a page of its work: it is to be sent again, as it was. */
export const MORE = '{"kind":"more"}';

/** A reply that is only a word. */
export function only(kind: string): string {
  return `{"kind":"${kind}"}`;
}

/** The content that a request names; '' if it names none. */
export function contentAt(args: readonly string[], at: Content | undefined): string {
  return at === undefined ? '' : (args[at] as string);
}
