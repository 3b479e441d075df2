/** Shapes of the requests that Node sends; user content travels in arguments of its own. */

/** Number of the argument that holds a text of user content; absent if there is no such text. */
export type Content = number;

/** Identity of a writer; a higher token fences lower ones off. */
export interface WriterRequest {
  sessionId: string;
  runId: string;
  name: string;
  token: number;
  agentType: string;
  agentId?: string;
  step: number;
}

/** Reply of a transition that did one page of its work: the same request must be sent again. */
export const MORE = '{"kind":"more"}';

/** A reply that consists of its kind only. */
export function only(kind: string): string {
  return `{"kind":"${kind}"}`;
}

/** The content that a request refers to; '' if the reference is absent. */
export function contentAt(args: readonly string[], at: Content | undefined): string {
  return at === undefined ? '' : (args[at] as string);
}
